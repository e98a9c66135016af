"""A game told position by position, as one onlooker may see it, and the decisions in it that can be thought about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from domino_env.engine import batch as engine
from domino_env.engine.state import PLAYING, Games, new_games
from domino_env.notation.game import PlayedGame
from domino_env.notation.records import replay_moves
from domino_env.pages.words import end_words, move_words
from domino_env.rendering.onlooker import Onlooker
from domino_env.rendering.svg import table_svg

__all__ = ["Decision", "Story"]

Json = dict[str, Any]


@dataclass(eq=False)
class Decision:
    """A position in which a seat that the onlooker sees has more than one legal move."""

    position: int
    """Number in ``Story.positions``."""
    seat: int
    row: Games
    """(1,) GAME."""
    actions: list[int]
    """Legal action ids, ascending."""
    moves: list[str]
    """Their texts."""
    points: list[int | None]
    """What each play makes at once; None for a draw, which would tell the tile."""
    played: int | None = None
    """Number of the move that was made, in ``actions``; None where the record ends here."""


class Story:
    """All positions of a record, as JSON for the page, after each deal and each move: as ``seat`` may see them, with ``reveal`` all of it.

    Raises ``RecordError`` where the record breaks a rule, ``OptionsError`` for a seat that the game has not.
    """

    def __init__(self, record: Mapping[str, Any], seat: int | None, reveal: bool) -> None:
        self.seat, self.reveal = seat, reveal
        self.positions: list[Json] = []
        self.decisions: list[Decision] = []
        key = _key(record.get("seed"))
        game: PlayedGame | None = None
        for game in replay_moves(record):
            self._add(game, key)
        assert game is not None
        self.game = game

    def _add(self, game: PlayedGame, key: np.uint64) -> None:
        view = Onlooker(game, self.seat, self.reveal)
        if view.log.events:
            self._tell_move(game, view)
        playing = game.phase == PLAYING
        decides = playing and view.may_see(game.seat)
        position: Json = {
            "round": len(game.rounds) - 1,
            "event": len(view.log.events),
            "turn": game.seat if playing else None,
            "choices": game.num_legal if decides else None,
            "table": table_svg(game, symbols=False),
            "hands": [view.hand(seat) for seat in range(game.num_players)],
            "notes": ["; ".join(view.notes(seat)) for seat in range(game.num_players)],
            "scores": game.scores(),
            "lucky": [view.lucky_score(seat) for seat in range(game.num_players)],
            "boneyard": view.boneyard(),
            "ends": view.ends(),
            "next": None,
            "over": None if playing else end_words(game),
        }
        self.positions.append(position)
        if decides and game.num_legal > 1:
            self._add_decision(game, key)

    def _tell_move(self, game: PlayedGame, view: Onlooker) -> None:
        """Write the move just made into the position before it."""
        event = view.log.events[-1]
        text, words = move_words(game, len(view.log.events) - 1, view.may_see(event.seat))
        self.positions[-1]["next"] = {"seat": event.seat, "text": text, "words": words, "points": event.points}
        if self.decisions and self.decisions[-1].position == len(self.positions) - 1:
            decision = self.decisions[-1]
            decision.played = decision.actions.index(event.action)

    def _add_decision(self, game: PlayedGame, key: np.uint64) -> None:
        row = game.games.copy()
        row["key"] = key  # so that policies have the random bits that they had in the game
        actions = game.legal_actions()
        moves = [game.move_text(action) for action in actions]
        points = [game.points_of(action) for action in actions]
        self.decisions.append(Decision(len(self.positions) - 1, game.seat, row, actions, moves, points))


def _key(seed: object) -> np.uint64:
    """The key of the generator of a game that was started from ``seed``; a seed that is none is refused elsewhere."""
    games = new_games(1)
    if type(seed) is int and 0 <= seed < 2**64:
        engine.seed_games(games, np.zeros(1, np.int64), np.array([seed], np.uint64))
    return np.uint64(games["key"][0])
