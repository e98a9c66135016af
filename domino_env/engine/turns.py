"""Whose turn it is, who leads, and when nobody can go on (RULES.md section 2)."""

from __future__ import annotations

from typing import Any

from domino_env.engine._jit import jit, lowest_bit
from domino_env.engine.boneyard import drawable, had_drawable
from domino_env.engine.layout import open_tiles
from domino_env.engine.packed import LEAD_LEFT, LEAD_OPENING
from domino_env.engine.rng import lot
from domino_env.engine.state import BLOCKED, EXHAUSTED, GOING_ON, NONE, OUT
from domino_env.tiles import DOUBLES, WEIGHT

__all__ = ["find_end", "find_leader", "forced_lead", "next_turn", "seats_in"]


@jit
def next_turn(game: Any, rules: Any) -> None:
    """The turn passes to the left, over players who are out."""
    seat = game.seat
    for _ in range(rules.num_players):
        seat = seat + 1 if seat + 1 < rules.num_players else 0
        if game.hand_sizes[seat] > 0:
            break
    game.seat = seat
    game.draws = 0
    game.unresolved = 0


@jit
def seats_in(game: Any, rules: Any) -> Any:
    """Number of players who still hold tiles."""
    if not rules.play_on:
        return rules.num_players
    count = 0
    for seat in range(rules.num_players):
        if game.hand_sizes[seat] > 0:
            count += 1
    return count


@jit
def find_end(game: Any, rules: Any, turn_over: Any) -> Any:
    """How the round ends after the move just made, the target aside: out before blocked before exhausted."""
    if game.hand_sizes[game.seat] == 0 and not rules.play_on:
        return OUT
    if seats_in(game, rules) == 0:
        return OUT
    if _nobody_can_go_on(game, rules):
        return BLOCKED
    if rules.stop_exhausted and turn_over and drawable(game, rules) == 0 and had_drawable(rules):
        return EXHAUSTED
    return GOING_ON


@jit
def _nobody_can_go_on(game: Any, rules: Any) -> Any:
    """Nobody can play and nobody may draw; or, where the stuck need not draw, everybody passed in a row."""
    if drawable(game, rules) > 0:
        return not rules.must_draw and game.passes >= seats_in(game, rules)
    fitting = open_tiles(game, rules)
    for seat in range(rules.num_players):
        if game.hands[seat] & fitting != 0:
            return False
    return True


@jit
def forced_lead(game: Any, rules: Any) -> Any:
    """``(seat, tile)`` of the lead that the opening demands: the lowest double dealt, else the tile with the fewest pips."""
    best_seat = NONE
    best_tile = NONE
    best = 1000
    for seat in range(rules.num_players):
        doubles = game.hands[seat] & DOUBLES
        if doubles != 0:
            tile = lowest_bit(doubles)
            if tile < best:
                best_seat, best_tile, best = seat, tile, tile
    if best_seat != NONE:
        return best_seat, best_tile
    for seat in range(rules.num_players):
        mask = game.hands[seat]
        while mask != 0:
            tile = lowest_bit(mask)
            mask &= mask - 1
            rank = WEIGHT[tile] * 64 + tile
            if rank < best or best_seat == NONE:
                best_seat, best_tile, best = seat, tile, rank
    return best_seat, best_tile


@jit
def find_leader(game: Any, rules: Any) -> None:
    """Set leader and lead_tile of the round just dealt."""
    game.lead_tile = NONE
    if game.round_index == 0 or rules.next_leader == LEAD_OPENING:
        if rules.forced_lead:
            game.leader, game.lead_tile = forced_lead(game, rules)
        else:
            game.leader = lot(game.key, game.deals, rules.num_players)
    elif rules.next_leader == LEAD_LEFT or game.round_winner == NONE:
        game.leader = (game.leader + 1) % rules.num_players
    else:
        game.leader = game.round_winner
