"""Loops that write observations: what the front ends call."""

from __future__ import annotations

from typing import Any

from domino_env.encoding.writers import write_observation
from domino_env.engine._jit import kernel
from domino_env.engine.batch import random_move
from domino_env.engine.legal import write_mask

__all__ = ["observe", "observe_rows", "observe_turns", "observe_with_mask", "play_random_observed"]


@kernel
def observe(games: Any, i: Any, rules: Any, seat: Any, out: Any) -> None:
    """What ``seat`` sees of game ``i``, into ``out`` (D,) float32."""
    write_observation(games[i], rules[0], seat, out)


@kernel
def observe_with_mask(games: Any, i: Any, rules: Any, seat: Any, out: Any, mask: Any) -> None:
    """As ``observe``, and the mask of ``seat`` into ``mask`` (A,) int8: all zero where it is not on turn."""
    write_observation(games[i], rules[0], seat, out)
    if seat == games[i].seat:
        write_mask(games[i], rules[0], mask)
    else:
        mask[:] = 0


@kernel
def observe_rows(games: Any, rows: Any, rules: Any, seats: Any, out: Any) -> None:
    """What seat ``seats[k]`` sees of game ``rows[k]``, into ``out[k]``; (K, D) float32."""
    for k in range(len(rows)):
        write_observation(games[rows[k]], rules[0], seats[k], out[k])


@kernel
def observe_turns(games: Any, rules: Any, out: Any, masks: Any) -> None:
    """Observation (N, D) and mask (N, A) of the seat on turn, for all games."""
    for i in range(len(games)):
        write_observation(games[i], rules[0], games[i].seat, out[i])
        write_mask(games[i], rules[0], masks[i])


@kernel
def play_random_observed(games: Any, rules: Any, num_moves: Any, out: Any, masks: Any, skip_forced: Any) -> Any:
    """As ``engine.batch.play_random``, with the observation of the seat on turn written at each move too."""
    finished = 0
    table = rules[0]
    for i in range(len(games)):
        game = games[i]
        for _ in range(num_moves):
            finished += random_move(game, table, skip_forced)
            write_mask(game, table, masks[i])
            write_observation(game, table, game.seat, out[i])
    return finished
