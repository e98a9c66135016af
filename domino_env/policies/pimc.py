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
from domino_env.policies.thoughts import POINTS, Thoughts, one_hot

if TYPE_CHECKING:
    from domino_env.policies.protocol import Batch
    from domino_env.rules import Rules

__all__ = ["PIMCPolicy"]

MOST_WORLDS = 1 << 16
MOST_DEPTH = 8
_TO_THE_END = 64
"""Choices that no endgame is longer than."""
MOST_ENDGAME = 12
"""Tiles in all hands at most where alpha-beta may look to the end."""
_POSITIONS = 1 << 20
"""Positions of alpha-beta for a decision, shared out among its moves and worlds: about a second. The rest is played out by greedy."""


class PIMCPolicy:
    """Plays the move that brings most on average over ``worlds`` worlds.

    Where so few worlds are left that all of them fit, each is looked at, with its weight; else they are drawn. What a move brings in a
    world is found by alpha-beta for ``depth`` further choices, and beyond by playouts of greedy; once the hands together hold no more
    than ``endgame`` tiles, by alpha-beta to the end of the round. Alpha-beta is for two seats without lucky draws; else there is none.
    It looks at about a million positions at most for a decision, so that it ends where tiles may be drawn at will.

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
        return self._look(batch)[0]

    def think(self, batch: Batch) -> Thoughts:
        """Its moves, and what each legal one brings on average over the worlds; forced moves are not looked into."""
        actions, values, errors = self._look(batch)
        best = np.take_along_axis(values, actions[:, None], axis=1)[:, 0]
        return Thoughts(one_hot(actions, values.shape[1]), actions, False, best, values, errors, POINTS)

    def _look(self, batch: Batch) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Actions (N,), what each move brings (N, A), and the standard error of how far it lies behind the best (N, A)."""
        actions = np.empty(len(batch), np.int64)
        values, errors = (np.full(batch.action_mask.shape, np.nan) for _ in range(2))
        brought = np.empty((self.worlds, int(batch.seen["num_legal"].max(initial=0))))
        worlds, weights, rows = new_games(self.worlds), np.empty(self.worlds), new_games(_TO_THE_END + 3)
        looks = np.array([self.depth, self.endgame])
        _decide(batch.seen, batch.packed, batch.random, looks, worlds, weights, brought, rows, *scratch(), actions, values, errors)
        return actions, values, errors

    def check(self, rules: Rules, num_players: int) -> None:
        """Fits every game."""


@kernel
def _decide(
    seen: Any,
    rules: Any,
    bits: Any,
    looks: Any,
    worlds: Any,
    weights: Any,
    brought: Any,
    rows: Any,
    table: Any,
    classes: Any,
    out: Any,
    values: Any,
    errors: Any,
) -> None:
    for k in range(len(seen)):
        if seen[k].num_legal == 1:
            out[k] = nth_legal(seen[k], rules[0], 0)
            continue
        count = spread_worlds(seen[k], rules[0], bits[k], worlds, weights, table, classes)
        depth = _depth(seen[k], rules[0], looks[0], looks[1])
        _value_moves(worlds, count, rules[0], seen[k].seat, depth, rows, brought)
        out[k] = _judge(seen[k], rules[0], weights, count, brought, values[k], errors[k])


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
def _value_moves(worlds: Any, num_worlds: Any, rules: Any, seat: Any, depth: Any, rows: Any, brought: Any) -> None:
    """Write what each legal move brings in each world to ``brought`` (W, moves), by its number among the legal ones."""
    count = worlds[0].num_legal
    most = max(1, _POSITIONS // (num_worlds * count))
    for w in range(num_worlds):
        for n in range(count):
            rows[0] = worlds[w]
            step(rows[0], rules, nth_legal(worlds[w], rules, n))
            brought[w, n] = value_of(rows, 0, rules, seat, depth, most)


@jit
def _judge(game: Any, rules: Any, weights: Any, num_worlds: Any, brought: Any, values: Any, errors: Any) -> Any:
    """The move that brings most on average; writes the means and the standard errors of how far each lies behind it, by action id."""
    total, best, most = 0.0, 0, -np.inf
    for w in range(num_worlds):
        total += weights[w]
    for n in range(game.num_legal):
        brings = 0.0
        for w in range(num_worlds):
            brings += weights[w] * brought[w, n]
        values[nth_legal(game, rules, n)] = brings / total
        if brings > most:
            best, most = n, brings
    for n in range(game.num_legal):
        errors[nth_legal(game, rules, n)] = _paired_error(weights, num_worlds, total, brought, best, n)
    return np.int64(nth_legal(game, rules, best))


@jit
def _paired_error(weights: Any, num_worlds: Any, total: Any, brought: Any, best: Any, n: Any) -> Any:
    """Standard error of the mean of ``brought[:, best] - brought[:, n]``; one world tells nothing of it."""
    if n == best:
        return 0.0
    if num_worlds == 1:
        return np.inf
    mean = 0.0
    for w in range(num_worlds):
        mean += weights[w] * (brought[w, best] - brought[w, n]) / total
    squares = 0.0
    for w in range(num_worlds):
        squares += (weights[w] * (brought[w, best] - brought[w, n] - mean)) ** 2
    return np.sqrt(squares * num_worlds / (num_worlds - 1)) / total
