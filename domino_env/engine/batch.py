"""What the outside calls: kernels that take ``games`` (N,), an index or rows, and ``rules`` (1,).

Kernels of one game return its status, ``(phase, seat on turn, legal moves, points of the last move, tile drawn or -1)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from domino_env.engine._jit import jit, kernel
from domino_env.engine.deal import clear_game, deal, next_round, start_game, start_round
from domino_env.engine.legal import is_legal, nth_legal, write_mask
from domino_env.engine.rng import below, decision_bits, seed_key
from domino_env.engine.state import GAME_OVER, PLAYING, ROUND_OVER, SEATS
from domino_env.engine.step import step
from domino_env.engine.turns import find_leader, forced_lead
from domino_env.errors import RulesError

MOST_SKIPPED = 10_000
"""Forced moves, or games without a decision, in a row after which the search for a decision is given up."""
NO_DECISION = "these rules leave nobody a decision, so skip_forced=True cannot be used with them"

__all__ = [
    "MOST_SKIPPED",
    "NO_DECISION",
    "advance",
    "clear_gain",
    "deal_next",
    "first_illegal",
    "forced_lead_of",
    "go_on",
    "make_move",
    "mask_of",
    "masks_of",
    "play_random",
    "random_move",
    "seed_games",
    "set_up",
    "start",
    "start_again",
    "start_deciding",
    "start_next_round",
    "status",
]


@kernel
def start(games: Any, rows: Any, rules: Any, seeds: Any) -> None:
    """Start the games ``rows`` (int64) anew from ``seeds`` (uint64), one each."""
    for k in range(len(rows)):
        game = games[rows[k]]
        game.key = seed_key(seeds[k])
        game.deals = 0
        game.moves = 0
        start_game(game, rules[0])


@kernel
def seed_games(games: Any, rows: Any, seeds: Any) -> None:
    """Seed the games ``rows`` without dealing."""
    for k in range(len(rows)):
        games[rows[k]].key = seed_key(seeds[k])
        games[rows[k]].deals = 0
        games[rows[k]].moves = 0


@jit
def _deal_order(game: Any, rules: Any, order: Any, leader: Any) -> None:
    game.order[: len(order)] = order
    deal(game, rules)
    find_leader(game, rules)
    if leader >= 0:
        game.leader = leader
    game.deals += 1
    start_round(game, rules)


@kernel
def set_up(games: Any, i: Any, rules: Any, order: Any, leader: Any, scores: Any) -> Any:
    """Start game ``i`` with a given order (int8), leader (-1: as the rules have it) and scores (num_players,)."""
    game = games[i]
    clear_game(game)
    for seat in range(rules[0].num_players):
        game.score[seat] = scores[seat]
    _deal_order(game, rules[0], order, leader)
    return _status(game)


@kernel
def forced_lead_of(games: Any, i: Any, rules: Any, order: Any) -> Any:
    """``(seat, tile)`` that the opening demands for an order; leaves game ``i`` dealt."""
    game = games[i]
    game.order[: len(order)] = order
    deal(game, rules[0])
    return forced_lead(game, rules[0])


@jit
def clear_gain(game: Any) -> None:
    """Count points from here on."""
    for seat in range(SEATS):
        game.gain[seat] = 0


@kernel
def start_again(games: Any, i: Any, rules: Any) -> Any:
    """Start game ``i`` anew from where its generator stands."""
    start_game(games[i], rules[0])
    return _status(games[i])


@jit
def _status(game: Any) -> Any:
    return (
        np.int64(game.phase),
        np.int64(game.seat),
        np.int64(game.num_legal),
        np.int64(game.last_points),
        np.int64(game.last_tile),
    )


@kernel
def status(games: Any, i: Any) -> Any:
    """Status of game ``i``."""
    return _status(games[i])


@kernel
def make_move(games: Any, i: Any, rules: Any, action: Any) -> Any:
    """One legal move in game ``i``, and no more: the next deal of a match stays due. Returns its status.

    A move that is not legal does nothing and returns phase -1.
    """
    game = games[i]
    if not is_legal(game, rules[0], action):
        return np.int64(-1), np.int64(game.seat), np.int64(0), np.int64(0), np.int64(0)
    step(game, rules[0], action)
    return _status(game)


@kernel
def start_next_round(games: Any, i: Any, rules: Any) -> Any:
    """Deal the round that is due in game ``i``."""
    next_round(games[i], rules[0])
    return _status(games[i])


@kernel
def deal_next(games: Any, i: Any, rules: Any, order: Any, leader: Any) -> Any:
    """Deal the round that is due in game ``i`` in a given order (int8); ``leader`` leads it (-1: as the rules have it)."""
    game = games[i]
    _deal_order(game, rules[0], order, leader)
    return _status(game)


@jit
def advance(game: Any, rules: Any, action: Any, skip_forced: Any) -> None:
    """One legal move, then what follows by itself: the next deal of a match, and forced moves where they are skipped."""
    step(game, rules, action)
    go_on(game, rules, skip_forced)


@jit
def go_on(game: Any, rules: Any, skip_forced: Any) -> None:
    """Deal what is due and, where they are skipped, make forced moves, until somebody decides or the game is over.

    Raises ``RulesError`` where that takes so long that these rules seem to leave nobody a decision.
    """
    for _ in range(MOST_SKIPPED):
        if game.phase == ROUND_OVER:
            next_round(game, rules)
        elif game.phase == PLAYING and skip_forced and game.num_legal == 1:
            step(game, rules, nth_legal(game, rules, 0))
        else:
            return
    raise RulesError(NO_DECISION)


@jit
def start_deciding(game: Any, rules: Any, skip_forced: Any) -> None:
    """Start the next game in which somebody has a decision. Raises ``RulesError`` where none is found."""
    for _ in range(MOST_SKIPPED):
        start_game(game, rules)
        go_on(game, rules, skip_forced)
        if game.phase != GAME_OVER:
            return
    raise RulesError(NO_DECISION)


@kernel
def play_random(games: Any, rules: Any, num_moves: Any, masks: Any, skip_forced: Any) -> Any:
    """Every game makes ``num_moves`` random legal moves, its mask written at each; returns how many rounds ended."""
    finished = 0
    table = rules[0]
    for i in range(len(games)):
        game = games[i]
        for _ in range(num_moves):
            finished += random_move(game, table, skip_forced)
            write_mask(game, table, masks[i])
    return finished


@jit
def random_move(game: Any, rules: Any, skip_forced: Any) -> Any:
    """A random legal move; a game that is over starts anew. Returns how many rounds ended."""
    before = game.round_index
    action = nth_legal(game, rules, below(decision_bits(game.key, game.moves), game.num_legal))
    advance(game, rules, action, skip_forced)
    ended = game.round_index - before
    if game.phase == GAME_OVER:
        start_deciding(game, rules, skip_forced)
    return ended


@kernel
def mask_of(games: Any, i: Any, rules: Any, out: Any) -> None:
    """Mask of game ``i`` into ``out`` (num_actions,) int8."""
    write_mask(games[i], rules[0], out)


@kernel
def masks_of(games: Any, rules: Any, out: Any) -> None:
    """Masks of all games into ``out`` (N, num_actions) int8."""
    for i in range(len(games)):
        write_mask(games[i], rules[0], out[i])


@kernel
def first_illegal(games: Any, rows: Any, rules: Any, actions: Any) -> Any:
    """Index in ``rows`` of the first game whose action is not legal, or -1."""
    for k in range(len(rows)):
        if not is_legal(games[rows[k]], rules[0], np.int64(actions[k])):
            return k
    return -1
