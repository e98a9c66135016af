"""The compiled part of a match: starting games, finding whose turn it is, moving on."""

from __future__ import annotations

from typing import Any

from domino_env.engine._jit import kernel
from domino_env.engine.batch import advance, clear_gain, go_on
from domino_env.engine.deal import start_game
from domino_env.engine.rng import seed_key
from domino_env.engine.state import PLAYING

__all__ = ["find_turns", "move_on", "start_games"]


@kernel
def start_games(games: Any, rules: Any, seeds: Any) -> None:
    """Start every game from its seed (uint64), forced moves made, so that somebody decides or it is over."""
    for i in range(len(games)):
        game = games[i]
        game.key = seed_key(seeds[i])
        game.deals = 0
        game.moves = 0
        clear_gain(game)
        start_game(game, rules[0])
        go_on(game, rules[0], True)


@kernel
def find_turns(games: Any, owners: Any, owner: Any, out: Any) -> Any:
    """Write to ``out`` (N,) int64 the games where a seat of ``owner`` is to move; ``owners`` (N, P) int8. Returns how many."""
    count = 0
    for i in range(len(games)):
        if games[i].phase == PLAYING and owners[i, games[i].seat] == owner:
            out[count] = i
            count += 1
    return count


@kernel
def move_on(games: Any, rows: Any, rules: Any, actions: Any) -> None:
    """One legal move in each of ``rows`` (int64), and the forced ones after it."""
    for k in range(len(rows)):
        advance(games[rows[k]], rules[0], actions[k], True)
