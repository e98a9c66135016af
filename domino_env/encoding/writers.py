"""Compiled writers of the observation: one function per section, in the order of ``sections.py``.

Each takes ``(game, rules, seat, out, at)``, writes its numbers into the zeroed float32 row ``out`` from index ``at`` on,
and returns the index behind them. Seats are relative: 0 is the seat that looks, 1 the one to its left.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from domino_env.engine._jit import jit, lowest_bit
from domino_env.engine.boneyard import drawable
from domino_env.engine.knowledge import known_voids
from domino_env.engine.layout import ends_sum
from domino_env.engine.packed import DRAW_NEVER, SCORE_NONE
from domino_env.engine.scoring import play_points
from domino_env.engine.state import ARMS
from domino_env.tiles import LOW

__all__ = ["write_observation"]


@jit
def write_observation(game: Any, rules: Any, seat: Any, out: Any) -> None:
    """Write what ``seat`` may know into ``out`` (size,) float32."""
    out[:] = 0.0
    at = _write_tiles(game, rules, seat, out)
    at = _write_arms(game, rules, out, at)
    at = _write_points(game, rules, seat, out, at)
    at = _write_hands(game, rules, seat, out, at)
    at = _write_scores(game, rules, seat, out, at)
    _write_turn(game, rules, seat, out, at)


@jit
def _set_tiles(out: Any, at: Any, mask: Any) -> None:
    while mask != 0:
        out[at + lowest_bit(mask)] = 1.0
        mask &= mask - 1


@jit
def _relative(rules: Any, seat: Any, other: Any) -> Any:
    distance = other - seat
    return distance if distance >= 0 else distance + rules.num_players


@jit
def _write_tiles(game: Any, rules: Any, seat: Any, out: Any) -> Any:
    """Sections hand and table."""
    _set_tiles(out, 0, game.hands[seat])
    at = rules.num_tiles
    for other in range(rules.num_players):
        _set_tiles(out, at + _relative(rules, seat, other) * rules.num_tiles, game.played[other])
    return at + rules.num_players * rules.num_tiles


@jit
def _write_arms(game: Any, rules: Any, out: Any, at: Any) -> Any:
    """Sections arms and ends_sum."""
    for arm in range(rules.arms):
        pip = game.arm_pip[arm]
        if pip >= 0:
            out[at + pip] = 1.0
            after = at + rules.max_pip + 1
            out[after] = game.arm_cross[arm]
            out[after + 1] = np.float32(game.arm_count[arm]) / np.float32(2 * rules.max_pip)
            if arm >= 2 and game.arm_tiles[arm] == 0:
                out[after + 2] = 1.0
        at += rules.max_pip + (4 if rules.arms == ARMS else 3)
    out[at] = np.float32(ends_sum(game)) / np.float32(2 * rules.max_pip * rules.arms)
    return at + 1


@jit
def _write_points(game: Any, rules: Any, seat: Any, out: Any, at: Any) -> Any:
    """Section play_points."""
    if rules.scoring == SCORE_NONE:
        return at
    if seat == game.seat:
        scale = np.float32(rules.most_points)
        for arm in range(rules.arms):
            first = at + arm * rules.num_tiles
            mask = game.plays[arm]
            while mask != 0:
                tile = lowest_bit(mask)
                mask &= mask - 1
                out[first + tile] = np.float32(play_points(game, rules, arm, tile, False)) / scale
            first = at + rules.flat_action + arm * (rules.max_pip + 1)
            mask = game.flats[arm]
            while mask != 0:
                tile = lowest_bit(mask)
                mask &= mask - 1
                out[first + LOW[tile]] = np.float32(play_points(game, rules, arm, tile, True)) / scale
    return at + rules.draw_action


@jit
def _write_hands(game: Any, rules: Any, seat: Any, out: Any, at: Any) -> Any:
    """Sections hand_sizes, drawable and voids."""
    tiles = np.float32(rules.num_tiles)
    for other in range(rules.num_players):
        out[at + _relative(rules, seat, other)] = np.float32(game.hand_sizes[other]) / tiles
    at += rules.num_players
    if rules.draw_when != DRAW_NEVER:
        out[at] = np.float32(drawable(game, rules)) / tiles
        at += 1
    pips = rules.max_pip + 1
    for other in range(rules.num_players):
        if other != seat:
            first = at + (_relative(rules, seat, other) - 1) * pips
            voids = known_voids(game, other)
            while voids != 0:
                out[first + lowest_bit(voids)] = 1.0
                voids &= voids - 1
    return at + (rules.num_players - 1) * pips


@jit
def _write_scores(game: Any, rules: Any, seat: Any, out: Any, at: Any) -> Any:
    """Section scores, clipped to the target."""
    for other in range(rules.num_players):
        share = np.float32(game.score[other]) / np.float32(rules.target)
        out[at + _relative(rules, seat, other)] = min(max(share, np.float32(-1.0)), np.float32(1.0))
    return at + rules.num_players


@jit
def _write_turn(game: Any, rules: Any, seat: Any, out: Any, at: Any) -> None:
    """Sections draws, must_place, leader, on_turn and passes."""
    if rules.draw_when != DRAW_NEVER:
        out[at] = np.float32(game.draws) / np.float32(rules.draw_limit)
        at += 1
    if rules.lucky:
        if seat == game.seat and game.drawn_tile >= 0:
            out[at + game.drawn_tile] = 1.0
        at += rules.num_tiles
    out[at + _relative(rules, seat, game.leader)] = 1.0
    at += rules.num_players
    out[at + _relative(rules, seat, game.seat)] = 1.0
    at += rules.num_players
    out[at] = np.float32(game.passes) / np.float32(rules.num_players)
