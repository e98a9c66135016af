"""Looking ahead in one world, where everything is known: playouts by greedy, and alpha-beta above them where two seats play."""

from __future__ import annotations

from typing import Any

import numpy as np

from domino_env.engine._jit import jit
from domino_env.engine.legal import nth_legal
from domino_env.engine.state import PLAYING
from domino_env.engine.step import step
from domino_env.policies.scripted import greedy_action

__all__ = ["margin", "value_of"]

MOST_PLAYOUT = 1_000
"""Moves after which a playout is broken off; a round hardly ever has a tenth of them."""
WORST, BEST = -1e9, 1e9


@jit
def margin(game: Any, rules: Any, seat: Any) -> Any:
    """Points that ``seat`` has made since ``gain`` was cleared, less the mean of the others' (with sides: the other side's)."""
    total = 0
    for other in range(rules.num_players):
        total += game.gain[other]
    if rules.sides:
        ahead = float(game.gain[seat] - game.gain[(seat + 1) % 4])
    else:
        ahead = game.gain[seat] - (total - game.gain[seat]) / (rules.num_players - 1)
    return -ahead if rules.lowest_wins else ahead


@jit
def value_of(rows: Any, at: Any, rules: Any, seat: Any, depth: Any, most: Any) -> Any:
    """What the round in ``rows[at]`` brings ``seat`` from here on, in points of ``margin``: by alpha-beta for ``depth`` moves that are
    choices where two seats play, then by playouts of greedy; those too from the position number ``most`` on. ``rows`` (depth + 2 or
    more, from ``at`` on) are overwritten.
    """
    if rules.num_players > 2 or depth == 0:
        return _playout(rows[at], rules, seat)
    return _alpha_beta(rows, at, rules, seat, depth, most)


@jit
def _playout(game: Any, rules: Any, seat: Any) -> Any:
    for _ in range(MOST_PLAYOUT):
        if game.phase != PLAYING:
            break
        step(game, rules, greedy_action(game, rules))
    return margin(game, rules, seat)


@jit
def _alpha_beta(rows: Any, at: Any, rules: Any, seat: Any, depth: Any, most: Any) -> Any:
    """Value for ``seat`` by alpha-beta; forced moves cost no depth. A loop, not a recursion: numba does not keep those on disk."""
    tried = np.zeros(depth + 1, np.int64)
    best, low, high = np.empty(depth + 1), np.empty(depth + 1), np.empty(depth + 1)
    low[0], high[0] = WORST, BEST
    level, positions = 0, 0
    coming = True  # down to a new position; else back up with the value of the move tried last
    value = 0.0
    while level >= 0:
        game = rows[at + level]
        if coming:
            _make_forced(game, rules)
            positions += 1
            if game.phase != PLAYING or level == depth or positions >= most:
                value = _playout(game, rules, seat)
                coming = False
                level -= 1
                continue
            tried[level] = 0
            best[level] = WORST if game.seat == seat else BEST
        elif game.seat == seat:
            best[level] = max(best[level], value)
            low[level] = max(low[level], value)
        else:
            best[level] = min(best[level], value)
            high[level] = min(high[level], value)
        coming = tried[level] < game.num_legal and low[level] < high[level]
        if coming:
            rows[at + level + 1] = game
            step(rows[at + level + 1], rules, nth_legal(game, rules, tried[level]))
            tried[level] += 1
            low[level + 1], high[level + 1] = low[level], high[level]
            level += 1
        else:
            value = best[level]
            level -= 1
    return value


@jit
def _make_forced(game: Any, rules: Any) -> None:
    while game.phase == PLAYING and game.num_legal == 1:
        step(game, rules, nth_legal(game, rules, 0))
