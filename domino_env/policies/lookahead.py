"""Looking ahead in one world, where everything is known: playouts by greedy, and alpha-beta above them where two seats play."""

from __future__ import annotations

from typing import Any

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
def value_of(rows: Any, at: Any, rules: Any, seat: Any, depth: Any) -> Any:
    """What the round in ``rows[at]`` brings ``seat`` from here on, in points of ``margin``: by alpha-beta for ``depth`` moves that are
    choices where two seats play, then by playouts of greedy. ``rows`` (depth + 2 or more, from ``at`` on) are overwritten.
    """
    if rules.num_players > 2 or depth == 0:
        return _playout(rows[at], rules, seat)
    return _alpha_beta(rows, at, rules, seat, depth, WORST, BEST)


@jit
def _playout(game: Any, rules: Any, seat: Any) -> Any:
    for _ in range(MOST_PLAYOUT):
        if game.phase != PLAYING:
            break
        step(game, rules, greedy_action(game, rules))
    return margin(game, rules, seat)


@jit
def _alpha_beta(rows: Any, at: Any, rules: Any, seat: Any, depth: Any, low: Any, high: Any) -> Any:
    """Value for ``seat``, exact between ``low`` and ``high``; forced moves cost no depth."""
    game = rows[at]
    while game.phase == PLAYING and game.num_legal == 1:
        step(game, rules, nth_legal(game, rules, 0))
    if game.phase != PLAYING:
        return margin(game, rules, seat)
    if depth == 0:
        return _playout(game, rules, seat)
    mine = game.seat == seat
    best = WORST if mine else BEST
    for n in range(game.num_legal):
        rows[at + 1] = rows[at]
        step(rows[at + 1], rules, nth_legal(rows[at], rules, n))
        value = _alpha_beta(rows, at + 1, rules, seat, depth - 1, low, high)
        if mine:
            best = max(best, value)
            low = max(low, value)
        else:
            best = min(best, value)
            high = min(high, value)
        if low >= high:
            break
    return best
