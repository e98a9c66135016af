"""Perfect-information Monte Carlo: look ahead in worlds drawn uniformly among those that the seat cannot tell from the true one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from domino_env.engine._jit import jit, kernel
from domino_env.engine.legal import nth_legal
from domino_env.engine.state import new_games
from domino_env.engine.step import step
from domino_env.engine.worlds import scratch, spread_worlds
from domino_env.errors import PolicyError
from domino_env.policies.lookahead import value_of

if TYPE_CHECKING:
    from domino_env.policies.protocol import Batch
    from domino_env.rules import Rules

__all__ = ["PIMCPolicy"]

MOST_WORLDS = 1 << 16
MOST_DEPTH = 8
_TO_THE_END = 64
"""Choices that no endgame is longer than."""
MOST_ENDGAME = 12
"""Tiles in all hands at most where alpha-beta looks to the end; with more it would take seconds."""


class PIMCPolicy:
    """Plays the move that brings most on average over ``worlds`` worlds.

    Where so few worlds are left that all of them fit, each is looked at, with its weight; else they are drawn. What a move brings in a
    world is found by alpha-beta for ``depth`` further choices, and beyond by playouts of greedy; once the hands together hold no more
    than ``endgame`` tiles, by alpha-beta to the end of the round. Alpha-beta is for two seats without lucky draws; else there is none.

    It sees what its seat sees: worlds come from the log and the hand, so the true hidden tiles never change a move, and the random bits
    of the decision make it the same every time. Raises ``PolicyError`` for numbers out of range.
    """

    def __init__(self, worlds: int = 64, depth: int = 0, endgame: int = 0) -> None:
        limits = (("worlds", worlds, 1, MOST_WORLDS), ("depth", depth, 0, MOST_DEPTH), ("endgame", endgame, 0, MOST_ENDGAME))
        for name, value, low, high in limits:
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
                raise PolicyError(f"search:pimc: {name}={value!r}, but it is a whole number from {low} to {high}")
        self.worlds, self.depth, self.endgame = int(worlds), int(depth), int(endgame)
        more = "".join(f"&{name}={value}" for name, value in (("depth", depth), ("endgame", endgame)) if value)
        self.name = f"search:pimc?worlds={worlds}{more}"

    def act(self, batch: Batch) -> npt.NDArray[np.int64]:
        """(N,) int64 action ids."""
        actions = np.empty(len(batch), np.int64)
        rows = new_games(_TO_THE_END + 3)
        worlds, weights = new_games(self.worlds), np.empty(self.worlds)
        looks = np.array([self.depth, self.endgame])
        _decide(batch.seen, batch.packed, batch.random, looks, worlds, weights, rows, *scratch(), actions)
        return actions

    def check(self, rules: Rules, num_players: int) -> None:
        """Fits every game."""


@kernel
def _decide(seen: Any, rules: Any, bits: Any, looks: Any, worlds: Any, weights: Any, rows: Any, table: Any, classes: Any, out: Any) -> None:
    values = np.zeros(rules[0].num_actions)
    for k in range(len(seen)):
        if seen[k].num_legal == 1:
            out[k] = nth_legal(seen[k], rules[0], 0)
            continue
        count = spread_worlds(seen[k], rules[0], bits[k], worlds, weights, table, classes)
        depth = _depth(seen[k], rules[0], looks[0], looks[1])
        _value_moves(worlds, weights, count, rules[0], seen[k].seat, depth, rows, values)
        out[k] = _best_move(seen[k], rules[0], values)


@jit
def _depth(game: Any, rules: Any, depth: Any, endgame: Any) -> Any:
    """Choices to look ahead. Where a draw is a gamble, looking ahead would know what it brings."""
    if rules.lucky:
        return np.int64(0)
    tiles = 0
    for seat in range(rules.num_players):
        tiles += game.hand_sizes[seat]
    return np.int64(_TO_THE_END if tiles <= endgame else depth)


@jit
def _value_moves(worlds: Any, weights: Any, num_worlds: Any, rules: Any, seat: Any, depth: Any, rows: Any, values: Any) -> None:
    """Write what each legal move brings, summed over the worlds by their weights, by its number among the legal ones."""
    count = worlds[0].num_legal
    values[:count] = 0.0
    for w in range(num_worlds):
        for n in range(count):
            rows[0] = worlds[w]
            step(rows[0], rules, nth_legal(worlds[w], rules, n))
            values[n] += weights[w] * value_of(rows, 0, rules, seat, depth)


@jit
def _best_move(game: Any, rules: Any, values: Any) -> Any:
    best = 0
    for n in range(1, game.num_legal):
        if values[n] > values[best]:
            best = n
    return np.int64(nth_legal(game, rules, best))
