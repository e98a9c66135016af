"""Rewards: from the points of a game to numbers that sum to zero over the seats."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from domino_env.engine._jit import jit, kernel
from domino_env.engine.batch import clear_gain
from domino_env.engine.state import GAME_OVER
from domino_env.errors import OptionsError

__all__ = ["Reward", "take_reward", "write_rewards"]


class Reward(StrEnum):
    """What a reward is made of."""

    POINTS = "points"
    """Own points less the mean of the others' (with sides: less the other side's), as they are made, divided by the target."""
    WIN = "win"
    """At the end +1 shared by the winners, -1 shared by the others; 0 if all tie."""

    @classmethod
    def parse(cls, value: object) -> Reward:
        """The member of that name; ``OptionsError`` where there is none."""
        try:
            return cls(value)  # type: ignore[arg-type]
        except ValueError:
            raise OptionsError(f"reward={value!r}, but it is 'points' or 'win'") from None


@jit
def write_rewards(game: Any, rules: Any, by_win: Any, out: Any) -> None:
    """Write (num_players,) rewards for what happened since the last call, and count points anew."""
    seats = rules.num_players
    if by_win:
        _write_win(game, rules, out)
    else:
        total = 0
        for seat in range(seats):
            total += game.gain[seat]
        sign = -1.0 if rules.lowest_wins else 1.0
        for seat in range(seats):
            if rules.sides:
                margin = float(game.gain[seat] - game.gain[(seat + 1) % 4])
            else:
                margin = game.gain[seat] - (total - game.gain[seat]) / (seats - 1)
            out[seat] = sign * margin / rules.target
    clear_gain(game)


@jit
def _write_win(game: Any, rules: Any, out: Any) -> None:
    seats = rules.num_players
    winners = 0
    for seat in range(seats):
        winners += game.winners >> seat & 1
    for seat in range(seats):
        if game.phase != GAME_OVER or winners == seats:
            out[seat] = 0.0
        elif game.winners >> seat & 1:
            out[seat] = 1.0 / winners
        else:
            out[seat] = -1.0 / (seats - winners)


@kernel
def take_reward(games: Any, i: Any, rules: Any, by_win: Any, out: Any) -> None:
    """``write_rewards`` of game ``i``."""
    write_rewards(games[i], rules[0], by_win, out)
