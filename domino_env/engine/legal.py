"""What the seat on turn may do, and the ids of actions.

``arm * T + tile`` places a tile (doubles crosswise), then ``arm * (max_pip + 1) + pip`` a double lengthwise where the
player may choose, then draw, then pass. The lead uses arm 0. A play in between is told by ``(arm, tile, flat)``.
"""

from __future__ import annotations

from typing import Any

from domino_env.engine._jit import count_bits, jit, lowest_bit
from domino_env.engine.boneyard import may_draw, may_lie_flat
from domino_env.engine.layout import BITS
from domino_env.engine.packed import DRAW, PASS
from domino_env.engine.scoring import makes_sum
from domino_env.engine.state import ARMS, PLAYING
from domino_env.tiles import DOUBLES, LOW, SUITS

__all__ = ["action_of", "clear_legal", "find_legal", "is_legal", "nth_legal", "split_action", "write_mask"]


@jit
def clear_legal(game: Any) -> None:
    """Nobody may move."""
    for arm in range(ARMS):
        game.plays[arm] = 0
        game.flats[arm] = 0
    game.may_draw = 0
    game.may_pass = 0
    game.num_legal = 0


@jit
def find_legal(game: Any, rules: Any) -> None:
    """Write what the seat on turn may do. Whoever can play may not pass."""
    if game.drawn_tile >= 0:
        _find_scoring_places(game, rules)
    elif game.table == 0:
        _find_leads(game, rules)
    else:
        _find_plays(game, rules)
    count = 0
    for arm in range(rules.arms):
        count += count_bits(game.plays[arm]) + count_bits(game.flats[arm])
    game.may_draw = 0
    game.may_pass = 0
    if game.drawn_tile < 0:
        stuck = count == 0
        if may_draw(game, rules, stuck):
            game.may_draw = 1
        if stuck and not (game.may_draw and rules.must_draw):
            game.may_pass = 1
    game.num_legal = count + game.may_draw + game.may_pass


@jit
def _find_leads(game: Any, rules: Any) -> None:
    for arm in range(1, rules.arms):
        game.plays[arm] = 0
        game.flats[arm] = 0
    game.plays[0] = BITS[game.lead_tile] if game.lead_tile >= 0 else game.hands[game.seat]
    game.flats[0] = game.plays[0] & DOUBLES if may_lie_flat(game, rules) else 0


@jit
def _find_plays(game: Any, rules: Any) -> None:
    hand = game.hands[game.seat]
    flat = DOUBLES if may_lie_flat(game, rules) else 0
    for arm in range(rules.arms):
        pip = game.arm_pip[arm]
        fitting = hand & SUITS[pip] if pip >= 0 else 0
        game.plays[arm] = fitting
        game.flats[arm] = fitting & flat


@jit
def _find_scoring_places(game: Any, rules: Any) -> None:
    """A lucky draw that hit must be placed for a sum that scores (RULES.md 3.6)."""
    tile = game.drawn_tile
    flat = may_lie_flat(game, rules) and BITS[tile] & DOUBLES != 0
    for arm in range(rules.arms):
        game.plays[arm] = 0
        game.flats[arm] = 0
        pip = game.arm_pip[arm]
        if pip >= 0 and SUITS[pip] & BITS[tile] != 0:
            if makes_sum(game, rules, arm, tile, False):
                game.plays[arm] = BITS[tile]
            if flat and makes_sum(game, rules, arm, tile, True):
                game.flats[arm] = BITS[tile]


@jit
def split_action(rules: Any, action: Any) -> Any:
    """``(arm, tile, flat)`` of an action id; arm is DRAW or PASS for the moves without a tile."""
    return rules.action_arm[action], rules.action_tile[action], rules.action_flat[action] == 1


@jit
def action_of(rules: Any, arm: Any, tile: Any, flat: Any) -> Any:
    """Action id of a play."""
    return rules.flat_action + arm * (rules.max_pip + 1) + LOW[tile] if flat else arm * rules.num_tiles + tile


@jit
def is_legal(game: Any, rules: Any, action: Any) -> Any:
    """Whether the seat on turn may make this move."""
    if game.phase != PLAYING or action < 0 or action >= rules.num_actions:
        return False
    arm, tile, flat = split_action(rules, action)
    if arm == DRAW:
        return game.may_draw == 1
    if arm == PASS:
        return game.may_pass == 1
    return (game.flats[arm] if flat else game.plays[arm]) & BITS[tile] != 0


@jit
def _nth_tile(mask: Any, n: Any) -> Any:
    for _ in range(n):
        mask &= mask - 1
    return lowest_bit(mask)


@jit
def nth_legal(game: Any, rules: Any, n: Any) -> Any:
    """Action number ``n`` (0..num_legal-1) among the legal ones: plays by arm, lengthwise doubles by arm, draw, pass."""
    for arm in range(rules.arms):
        count = count_bits(game.plays[arm])
        if n < count:
            return arm * rules.num_tiles + _nth_tile(game.plays[arm], n)
        n -= count
    for arm in range(rules.arms):
        count = count_bits(game.flats[arm])
        if n < count:
            return action_of(rules, arm, _nth_tile(game.flats[arm], n), True)
        n -= count
    return rules.draw_action if game.may_draw and n == 0 else rules.pass_action


@jit
def write_mask(game: Any, rules: Any, out: Any) -> None:
    """Write (num_actions,) int8: 1 exactly where the seat on turn may make the move."""
    out[:] = 0
    for arm in range(rules.arms):
        mask = game.plays[arm]
        first = arm * rules.num_tiles
        while mask != 0:
            out[first + lowest_bit(mask)] = 1
            mask &= mask - 1
        mask = game.flats[arm]
        first = rules.flat_action + arm * (rules.max_pip + 1)
        while mask != 0:
            out[first + LOW[lowest_bit(mask)]] = 1
            mask &= mask - 1
    out[rules.draw_action] = game.may_draw
    out[rules.pass_action] = game.may_pass
