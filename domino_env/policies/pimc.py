"""Perfect-information Monte Carlo: look ahead in worlds drawn uniformly among those that the seat cannot tell from the true one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from domino_env.engine._jit import jit, kernel
from domino_env.engine.legal import nth_legal
from domino_env.engine.state import new_games
from domino_env.engine.step import step
from domino_env.engine.worlds import fill_worlds, scratch
from domino_env.errors import PolicyError
from domino_env.policies.lookahead import value_of

if TYPE_CHECKING:
    from domino_env.policies.protocol import Batch
    from domino_env.rules import Rules

__all__ = ["PIMCPolicy"]

MOST_WORLDS = 1 << 16
MOST_DEPTH = 64


class PIMCPolicy:
    """Plays the move that brings most on average over ``worlds`` worlds.

    What a move brings in a world is found by alpha-beta for ``depth`` further choices (two seats, and no lucky draws; else it is 0), and
    beyond by playouts of greedy. It sees what its seat sees: worlds are drawn from the log and the hand, so the true hidden tiles never
    change a move, and the random bits of the decision make it the same every time. Raises ``PolicyError`` for numbers out of range.
    """

    def __init__(self, worlds: int = 64, depth: int = 0) -> None:
        for name, value, low, high in (("worlds", worlds, 1, MOST_WORLDS), ("depth", depth, 0, MOST_DEPTH)):
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
                raise PolicyError(f"search:pimc: {name}={value!r}, but it is a whole number from {low} to {high}")
        self.worlds, self.depth = int(worlds), int(depth)
        self.name = f"search:pimc?worlds={worlds}" + (f"&depth={depth}" if depth else "")

    def act(self, batch: Batch) -> npt.NDArray[np.int64]:
        """(N,) int64 action ids."""
        actions = np.empty(len(batch), np.int64)
        _decide(batch.seen, batch.packed, batch.random, self.depth, new_games(self.worlds), new_games(self.depth + 3), *scratch(), actions)
        return actions

    def check(self, rules: Rules, num_players: int) -> None:
        """Fits every game."""


@kernel
def _decide(seen: Any, rules: Any, bits: Any, depth: Any, worlds: Any, rows: Any, table: Any, classes: Any, out: Any) -> None:
    values = np.zeros(rules[0].num_actions)
    for k in range(len(seen)):
        if seen[k].num_legal == 1:
            out[k] = nth_legal(seen[k], rules[0], 0)
            continue
        fill_worlds(seen[k], rules[0], bits[k], worlds, table, classes)
        # where a draw is a gamble, looking ahead would know what it brings
        _value_moves(worlds, rules[0], seen[k].seat, 0 if rules[0].lucky else depth, rows, values)
        out[k] = _best_move(seen[k], rules[0], values)


@jit
def _value_moves(worlds: Any, rules: Any, seat: Any, depth: Any, rows: Any, values: Any) -> None:
    """Write what each legal move brings, summed over the worlds, by its number among the legal ones."""
    count = worlds[0].num_legal
    values[:count] = 0.0
    for w in range(len(worlds)):
        for n in range(count):
            rows[0] = worlds[w]
            step(rows[0], rules, nth_legal(worlds[w], rules, n))
            values[n] += value_of(rows, 0, rules, seat, depth)


@jit
def _best_move(game: Any, rules: Any, values: Any) -> Any:
    best = 0
    for n in range(1, game.num_legal):
        if values[n] > values[best]:
            best = n
    return np.int64(nth_legal(game, rules, best))
