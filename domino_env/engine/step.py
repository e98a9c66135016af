"""One move, phase by phase. Read this first."""

from __future__ import annotations

from typing import Any

from domino_env.engine._jit import jit
from domino_env.engine.boneyard import draw_tile
from domino_env.engine.hands import settle_lowest, settle_out
from domino_env.engine.knowledge import note_move, note_play, note_stuck
from domino_env.engine.layout import place
from domino_env.engine.legal import clear_legal, find_legal, split_action
from domino_env.engine.packed import DRAW, PASS, SCORE_NONE
from domino_env.engine.scoring import add_points, play_points
from domino_env.engine.state import GAME_OVER, GOING_ON, NONE, OUT, ROUND_OVER, TARGET
from domino_env.engine.turns import find_end, next_turn

__all__ = ["step"]


@jit
def step(game: Any, rules: Any, action: Any) -> None:
    """Make a legal move of the seat on turn. Afterwards the phase says whether the round or the game is over."""
    game.moves += 1
    game.last_points = 0
    game.last_tile = NONE
    arm, tile, flat = split_action(rules, action)
    note_move(game, action)
    if arm == DRAW:
        draw_tile(game, rules)
    elif arm == PASS:
        pass_turn(game, rules)
    else:
        play_tile(game, rules, arm, tile, flat)
    end = find_end(game, rules, arm != DRAW)
    if end == GOING_ON and not target_reached(game, rules, False):
        if arm != DRAW:
            next_turn(game, rules)
        find_legal(game, rules)
    else:
        end_round(game, rules, end)


@jit
def play_tile(game: Any, rules: Any, arm: Any, tile: Any, flat: Any) -> None:
    """Points are written down the moment they are made."""
    points = play_points(game, rules, arm, tile, flat)
    note_play(game, tile)
    place(game, rules, arm, tile, flat)
    game.drawn_tile = NONE
    game.passes = 0
    if rules.play_on and game.first_out == NONE and _party_is_out(game, rules):
        game.first_out = game.seat
        points += rules.out_points
    game.last_points = points
    if points != 0:
        add_points(game, rules, game.seat, points)


@jit
def _party_is_out(game: Any, rules: Any) -> Any:
    """The seat on turn, with sides both hands of its side, holds no tile."""
    if game.hand_sizes[game.seat] > 0:
        return False
    return not rules.sides or game.hand_sizes[(game.seat + 2) % 4] == 0


@jit
def pass_turn(game: Any, rules: Any) -> None:
    """Only a pass in a turn without a draw counts toward a block (RULES.md section 2, point 5)."""
    note_stuck(game, rules)
    game.passes = game.passes + 1 if game.draws == 0 else 0


@jit
def target_reached(game: Any, rules: Any, round_over: Any) -> Any:
    """Whether the target decides the match now."""
    if rules.one_round or (rules.target_at_round_end and not round_over):
        return False
    for seat in range(rules.num_players):
        if game.score[seat] >= rules.target:
            return True
    return False


@jit
def end_round(game: Any, rules: Any, end: Any) -> None:
    """Settle the hands, look at the target, close the round and perhaps the game."""
    for seat in range(rules.num_players):
        game.bonus[seat] = 0
    if end == OUT and not rules.play_on:
        settle_out(game, rules)
    elif not target_reached(game, rules, False):
        if game.first_out != NONE:
            game.round_winner = game.first_out
        else:
            settle_lowest(game, rules)
    over = target_reached(game, rules, True)
    game.end = TARGET if over else end
    game.round_index += 1
    game.phase = GAME_OVER if over or rules.one_round else ROUND_OVER
    if game.phase == GAME_OVER:
        game.winners = best_seats(game, rules)
    clear_legal(game)


@jit
def best_seats(game: Any, rules: Any) -> Any:
    """Bit per seat with the best score, of the round where the game is one round."""
    winners = 0
    best = 0
    for seat in range(rules.num_players):
        score = game.score[seat] - (game.start_score[seat] if rules.one_round else 0)
        if rules.lowest_wins:
            score = -score
        if winners == 0 or score > best:
            winners = 0
            best = score
        if score == best:
            winners |= 1 << seat
    if rules.one_round and rules.scoring == SCORE_NONE and game.round_winner != NONE and winners >> game.round_winner & 1:
        # where only the end of a round counts, a round that was won for 0 points is no tie
        winners = 1 << game.round_winner
        if rules.sides:
            winners |= 1 << (game.round_winner + 2) % 4
    return winners
