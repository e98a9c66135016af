"""What a play counts (the table rows "points for a tile" of RULES.md section 3), and where points are written."""

from __future__ import annotations

from typing import Any

from domino_env.engine._jit import jit
from domino_env.engine.layout import new_end, sum_after
from domino_env.engine.packed import SCORE_EQUAL_ENDS, SCORE_FLAT, SCORE_NONE
from domino_env.tiles import IS_DOUBLE

__all__ = ["add_points", "makes_sum", "play_points"]


@jit
def play_points(game: Any, rules: Any, arm: Any, tile: Any, flat: Any) -> Any:
    """Points that the seat on turn would make by placing ``tile`` on ``arm`` (``flat``: lengthwise); before the move."""
    if rules.scoring == SCORE_NONE:
        return 0
    if rules.scoring == SCORE_EQUAL_ENDS:
        return _equal_ends_points(game, rules, arm, tile, flat)
    if rules.scoring == SCORE_FLAT and game.table == 0 and IS_DOUBLE[tile] == 1:
        return rules.lead_double_points
    points = rules.sum_points[sum_after(game, arm, tile, flat)]
    if points == 0:
        return 0
    if tile == game.drawn_tile:
        return rules.lucky_hit_points
    if rules.scoring == SCORE_FLAT:
        return rules.double_points if IS_DOUBLE[tile] == 1 else rules.hit_points
    return points


@jit
def _equal_ends_points(game: Any, rules: Any, arm: Any, tile: Any, flat: Any) -> Any:
    if game.table == 0:
        return rules.lead_double_points if IS_DOUBLE[tile] == 1 else 0
    other = 1 - arm
    if new_end(game, arm, tile) != game.arm_pip[other]:
        return 0
    if rules.standing_double:
        double = (IS_DOUBLE[tile] == 1 and not flat) or game.arm_cross[other] == 1
    else:
        double = IS_DOUBLE[tile] == 1
    return rules.double_points if double else rules.hit_points


@jit
def makes_sum(game: Any, rules: Any, arm: Any, tile: Any, flat: Any) -> Any:
    """Whether placing ``tile`` would make a sum that scores."""
    return rules.sum_points[sum_after(game, arm, tile, flat)] > 0


@jit
def add_points(game: Any, rules: Any, seat: Any, points: Any) -> None:
    """Write points down for a seat, with sides for both partners."""
    game.score[seat] += points
    game.gain[seat] += points
    if rules.sides:
        partner = (seat + 2) % 4
        game.score[partner] += points
        game.gain[partner] += points
