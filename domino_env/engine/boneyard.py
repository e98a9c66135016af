"""Drawing: what is left to draw, who may, what a drawn tile does (rows "boneyard" and "stuck" of RULES.md section 3)."""

from __future__ import annotations

from typing import Any

from domino_env.engine._jit import jit
from domino_env.engine.knowledge import note_draw, note_hit
from domino_env.engine.layout import BITS
from domino_env.engine.packed import DRAW_ANYTIME, DRAW_NEVER
from domino_env.engine.scoring import add_points, makes_sum
from domino_env.engine.state import NONE
from domino_env.tiles import IS_DOUBLE, SUITS

__all__ = ["can_score", "draw_tile", "drawable", "had_drawable", "may_draw"]


@jit
def drawable(game: Any, rules: Any) -> Any:
    """Tiles that may still be drawn: the boneyard less the reserve, 0 where nobody draws."""
    return rules.first_reserved - game.next_tile


@jit
def had_drawable(rules: Any) -> Any:
    """Whether the deal left a tile to draw."""
    return rules.first_reserved > rules.num_players * rules.hand_size


@jit
def may_draw(game: Any, rules: Any, stuck: Any) -> Any:
    """Whether the seat on turn may draw now. The lead comes first: nobody draws before it."""
    if rules.draw_when == DRAW_NEVER or game.table == 0 or game.draws >= rules.draw_limit:
        return False
    return drawable(game, rules) > 0 and (stuck or rules.draw_when == DRAW_ANYTIME)


@jit
def draw_tile(game: Any, rules: Any) -> None:
    """The seat on turn takes the next tile; a lucky draw hits (the tile must be placed) or costs points."""
    note_draw(game, rules)
    tile = game.order[game.next_tile]
    game.next_tile += 1
    game.hands[game.seat] |= BITS[tile]
    game.hand_sizes[game.seat] += 1
    game.draws += 1
    game.passes = 0
    game.last_tile = tile
    if rules.lucky:
        if can_score(game, rules, tile):
            game.drawn_tile = tile
            note_hit(game)
        else:
            _miss(game, rules)


@jit
def can_score(game: Any, rules: Any, tile: Any) -> Any:
    """Whether ``tile`` can be placed now for a sum that scores."""
    for arm in range(rules.arms):
        pip = game.arm_pip[arm]
        if pip >= 0 and SUITS[pip] & BITS[tile]:
            if makes_sum(game, rules, arm, tile, False):
                return True
            if may_lie_flat(game, rules) and IS_DOUBLE[tile] == 1 and makes_sum(game, rules, arm, tile, True):
                return True
    return False


@jit
def may_lie_flat(game: Any, rules: Any) -> Any:
    """Whether a double may be laid lengthwise now: where the player chooses, and not as the spinner."""
    return rules.choice and (rules.arms == 2 or game.spinner != NONE)


@jit
def _miss(game: Any, rules: Any) -> None:
    points = rules.lucky_miss_points
    game.last_points = -points
    add_points(game, rules, game.seat, -points)
    game.penalties[game.seat] += points
    if rules.sides:
        game.penalties[(game.seat + 2) % 4] += points
