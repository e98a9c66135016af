"""A game of a batch by itself: its row alone, with the log of the round made from it."""

from __future__ import annotations

from domino_env.engine import batch
from domino_env.engine.packed import Packed, numbers
from domino_env.engine.state import LOG, LOG_SEAT, Games
from domino_env.errors import OptionsError
from domino_env.notation.game import PlayedGame
from domino_env.notation.log import RoundLog
from domino_env.rules import Rules

__all__ = ["game_of_row"]


def game_of_row(rules: Rules, num_players: int, packed: Packed, row: Games) -> PlayedGame:
    """The game of ``row`` (1,), which is copied. Of the rounds before the open one nothing is known but their number.

    Raises ``OptionsError`` where the round has more moves than a row keeps.
    """
    size = int(row["log_size"][0])
    if size > LOG:
        raise OptionsError(f"a round of {size} moves, but a row keeps the first {LOG}: it cannot be shown")
    game = PlayedGame(rules, num_players, bool(numbers(packed).one_round))
    order, leader = row["order"][0, : rules.num_tiles].tolist(), int(row["leader"][0])
    game.set_up(order, leader, row["start_score"][0, :num_players].tolist())
    for move in row["log"][0, :size].tolist():
        game.make_move(move & ((1 << LOG_SEAT) - 1))
    game.rounds = [RoundLog([], 0, []) for _ in range(int(row["round_index"][0]))] + game.rounds
    game.games = row.copy()
    game._note(batch.status(game.games, 0))
    return game
