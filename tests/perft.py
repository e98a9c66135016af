"""Perft: numbers of sequences of moves by depth from a fixed deal, by the engine and by plain recursion over ``PlayedGame``.

One round from seed 0; a drawn tile is the next of the boneyard. A sequence stops where the round ends, so it is not counted deeper.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from domino_env.engine._jit import kernel
from domino_env.engine.legal import nth_legal
from domino_env.engine.state import GOING_ON, new_games
from domino_env.engine.step import step
from domino_env.notation.game import PlayedGame
from domino_env.variants import VARIANTS

DEPTH = 12
COLUMNS = ("sequences", "rounds_over", "points")
"""By depth: sequences of so many moves, how many of them end the round, and the points that their last moves make (bonus included)."""
PERFT_CASES = [(variant, seats) for variant, rules in VARIANTS.items() for seats in rules.players]


def perft_game(variant: str, num_players: int) -> PlayedGame:
    """The round that is counted."""
    game = PlayedGame(VARIANTS[variant], num_players, one_round=True)
    game.start(0)
    return game


@kernel
def _count(games: Any, rules: Any, depth: Any, tried: Any, counts: Any) -> None:
    """Depth-first over ``games`` (depth + 1,), the first of which is the start; ``tried`` holds how many moves each level has made."""
    table = rules[0]
    level = 0
    while level >= 0:
        if level == depth or tried[level] >= games[level].num_legal:
            tried[level] = 0
            level -= 1
            continue
        games[level + 1] = games[level]
        game = games[level + 1]
        step(game, table, nth_legal(games[level], table, tried[level]))
        tried[level] += 1
        counts[0, level] += 1
        counts[1, level] += 1 if game.end != GOING_ON else 0
        for seat in range(table.num_players):
            counts[2, level] += game.score[seat] - games[level].score[seat]
        level += 1


def perft(game: PlayedGame, depth: int) -> dict[str, list[int]]:
    """The columns for 1 to ``depth`` moves, counted by the compiled engine on rows."""
    games = new_games(depth + 1)
    games[0] = game.games[0]
    counts = np.zeros((len(COLUMNS), depth), np.int64)
    _count(games, game.packed, depth, np.zeros(depth + 1, np.int64), counts)
    return {name: counts[column].tolist() for column, name in enumerate(COLUMNS)}


def naive_perft(game: PlayedGame, depth: int) -> dict[str, list[int]]:
    """The same numbers by the plain definition: every legal action on a copy of the game."""
    columns = {name: [0] * depth for name in COLUMNS}
    _visit(game, 0, depth, columns)
    return columns


def _visit(game: PlayedGame, level: int, depth: int, columns: dict[str, list[int]]) -> None:
    for action in game.legal_actions() if level < depth else []:
        twin = game.copy()
        twin.make_move(action)
        made = [twin.rounds[-1].events[-1].points, *twin.rounds[-1].bonus]
        columns["sequences"][level] += 1
        columns["rounds_over"][level] += int(twin.over)
        columns["points"][level] += sum(made)
        _visit(twin, level + 1, depth, columns)
