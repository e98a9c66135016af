"""Dealing: from an order of the tiles to hands, boneyard and lead. The order is data; ``rng`` makes it."""

from __future__ import annotations

from typing import Any

from domino_env.engine._jit import jit
from domino_env.engine.layout import BITS, clear_layout
from domino_env.engine.legal import find_legal
from domino_env.engine.rng import shuffle
from domino_env.engine.state import GOING_ON, LOG, NONE, PLAYING, SEATS
from domino_env.engine.turns import find_leader

__all__ = ["deal", "next_round", "start_game", "start_round"]


@jit
def start_game(game: Any, rules: Any) -> None:
    """A new game: scores at 0, first round dealt from the game's own generator."""
    clear_game(game)
    next_round(game, rules)


@jit
def clear_game(game: Any) -> None:
    """Scores and counters of a game that has not begun."""
    game.round_index = 0
    game.winners = 0
    game.end = GOING_ON
    for seat in range(SEATS):
        game.score[seat] = 0
        game.gain[seat] = 0
        game.penalties[seat] = 0
        game.bonus[seat] = 0


@jit
def next_round(game: Any, rules: Any) -> None:
    """Shuffle, deal, find the leader."""
    shuffle(game.key, game.deals, rules.num_tiles, game.order)
    deal(game, rules)
    find_leader(game, rules)
    game.deals += 1
    start_round(game, rules)


@jit
def deal(game: Any, rules: Any) -> None:
    """Hands and boneyard from ``game.order``; an empty table."""
    clear_layout(game)
    for seat in range(SEATS):
        game.hands[seat] = 0
        game.played[seat] = 0
        game.hand_sizes[seat] = 0
        game.voids[seat] = 0
        game.start_score[seat] = game.score[seat]
    for seat in range(rules.num_players):
        game.hand_sizes[seat] = rules.hand_size
        for i in range(seat * rules.hand_size, (seat + 1) * rules.hand_size):
            game.hands[seat] |= BITS[game.order[i]]
    game.next_tile = rules.num_players * rules.hand_size


@jit
def start_round(game: Any, rules: Any) -> None:
    """The leader is on turn; everything that counts within a round is at 0."""
    game.phase = PLAYING
    game.seat = game.leader
    game.draws = 0
    game.drawn_tile = NONE
    game.unresolved = 0
    game.passes = 0
    game.first_out = NONE
    game.round_winner = NONE
    for k in range(min(game.log_size, LOG)):
        game.log[k] = 0  # equal games are equal bytes
    game.log_size = 0
    game.last_points = 0
    game.last_tile = NONE
    find_legal(game, rules)
