"""One game played move by move, with everything that happened written down. No RL word: front ends stand on it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from domino_env.engine import batch
from domino_env.engine._jit import direct
from domino_env.engine.packed import DRAW, numbers, pack_rules
from domino_env.engine.state import GAME_OVER, PLAYING, ROUND_OVER, new_games
from domino_env.errors import IllegalMoveError, OptionsError, RulesError
from domino_env.notation.log import END_NAMES, Event, RoundLog
from domino_env.notation.moves import move_index, move_text, tile_text
from domino_env.notation.state_bytes import pack_game, unpack_game
from domino_env.rule_terms import NextLeader, Opening
from domino_env.rules import Rules

__all__ = ["END_NAMES", "Event", "PlayedGame", "RoundLog"]


@functools.cache
def _fast_move() -> Callable[..., tuple[int, int, int, int, int]]:
    return direct(batch.make_move, new_games(1), 0, pack_rules(Rules(), 2, True), 0)


class PlayedGame:
    """A game in one engine row, and its log. ``one_round``: the game is one round, which the target does not end."""

    def __init__(self, rules: Rules, num_players: int, one_round: bool) -> None:
        self.rules = rules
        self.num_players = rules.check_players(num_players)
        self.one_round = one_round
        self.packed = pack_rules(rules, num_players, one_round)
        self.num_actions = int(numbers(self.packed).num_actions)
        self.games = new_games(1)
        self.rounds: list[RoundLog] = []
        self.seed: int | None = None
        self._events: list[Event] = []
        self.phase, self.seat, self.num_legal = PLAYING, 0, 0
        self.scored = False  # whether points may have changed since somebody last cleared this
        self.first_deal = 0  # number of the deal that this game began with

    @property
    def row(self) -> Any:
        """The game's row: read its fields, do not write them."""
        return self.games.view(np.recarray)[0]

    def _note(self, status: tuple[int, int, int, int, int]) -> None:
        self.phase, self.seat, self.num_legal = status[:3]

    @property
    def started(self) -> bool:
        """Whether a first round was dealt."""
        return bool(self.rounds)

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.phase == GAME_OVER

    def start(self, seed: int) -> None:
        """A new game from ``seed`` (0 to 2**64-1)."""
        batch.start(self.games, np.zeros(1, np.int64), self.packed, np.array([seed], np.uint64))
        self._note(batch.status(self.games, 0))
        self.seed = seed
        self.first_deal = 0
        self._open_log()

    def start_again(self) -> None:
        """A new game from where this game's generator stands."""
        self.first_deal = int(self.games["deals"][0])
        self._note(batch.start_again(self.games, 0, self.packed))
        self.seed = None
        self._open_log()

    def set_up(self, order: Sequence[int], leader: int, scores: Sequence[int]) -> None:
        """A new game from a given order of all tiles (hands by seat, then boneyard), leader (-1: as the rules have it) and scores.

        Raises ``OptionsError`` where ``leader`` does not hold the tile that must be led.
        """
        tiles = np.array(order, np.int8)
        if leader >= 0 and numbers(self.packed).forced_lead:
            seat, tile = batch.forced_lead_of(self.games.copy(), 0, self.packed, tiles)
            if seat != leader:
                raise OptionsError(f"leader={leader}, but seat {seat} holds the tile that must be led, {tile_text(tile)}")
        self._note(batch.set_up(self.games, 0, self.packed, tiles, leader, np.array(scores, np.int64)))
        self._open_log()

    def _open_log(self) -> None:
        self.rounds = []
        self._open_round()

    def _open_round(self) -> None:
        order = self.games["order"][0, : self.rules.num_tiles].tolist()
        self.rounds.append(RoundLog(order, int(self.games["leader"][0]), self.scores()))
        self._events = self.rounds[-1].events

    def make_move(self, action: int) -> None:
        """One move of the seat on turn, and no more. ``IllegalMoveError`` leaves the game as it was."""
        if type(action) is not int or not 0 <= action < self.num_actions:
            raise IllegalMoveError(self._why_illegal(action))
        status = _fast_move()(self.games, 0, self.packed, action)
        if status[0] < 0:
            raise IllegalMoveError(self._why_illegal(action))
        seat = self.seat
        self.phase, self.seat, self.num_legal, points, tile = status
        self._events.append(Event(seat, action, tile, points))
        if points:
            self.scored = True
        if self.phase != PLAYING:
            self.scored = True
            self._close_round()

    def _close_round(self) -> None:
        log = self.rounds[-1]
        log.end = int(self.games["end"][0])
        log.bonus = self.games["bonus"][0, : self.num_players].tolist()
        log.scores = self.scores()

    def deal_if_due(self) -> None:
        """Deal the next round of a match where one is due."""
        if self.phase == ROUND_OVER:
            self._note(batch.start_next_round(self.games, 0, self.packed))
            self._open_round()

    def deal_next(self, order: Sequence[int], leader: int = -1) -> None:
        """Deal the round that is due in a given order of all tiles; ``leader`` leads it where the rules draw lots (-1: draw them)."""
        if not (self.rules.opening == Opening.ANY and self.rules.next_leader == NextLeader.OPENING):
            leader = -1
        self._note(batch.deal_next(self.games, 0, self.packed, np.array(order, np.int8), leader))
        self._open_round()

    def skip_forced(self) -> None:
        """Make moves while just one is legal, dealing rounds that are due, until somebody decides or the game is over."""
        for _ in range(batch.MOST_SKIPPED):
            if self.phase == ROUND_OVER:
                self.deal_if_due()
            elif self.phase == PLAYING and self.num_legal == 1:
                self.make_move(self.legal_actions()[0])
            else:
                return
        raise RulesError(batch.NO_DECISION)

    def _why_illegal(self, action: int) -> str:
        if self.over:
            return f"action {action}, but the game is over"
        if type(action) is not int or not 0 <= action < self.num_actions:
            return f"action {action!r}, but action ids are 0 to {self.num_actions - 1}"
        return f"action {action} ({self.move_text(action)}) is not legal for seat {self.seat}; legal: {', '.join(self.legal_moves())}"

    def legal_actions(self) -> list[int]:
        """Action ids that the seat on turn may take, ascending; empty when the game is over."""
        mask = np.zeros(self.num_actions, np.int8)
        batch.mask_of(self.games, 0, self.packed, mask)
        return np.flatnonzero(mask).tolist()

    def legal_moves(self) -> list[str]:
        """Texts of ``legal_actions``."""
        return [self.move_text(action) for action in self.legal_actions()]

    def points_of(self, action: int) -> int | None:
        """Points that a legal move would make at once; None for a draw, whose points would tell the tile."""
        if int(numbers(self.packed).action_arm[action]) == DRAW:
            return None
        after = self.copy()
        after.make_move(action)
        return after.rounds[-1].events[-1].points

    @property
    def leading(self) -> bool:
        """Whether the next move is a lead."""
        return bool(self.games["table"][0] == 0)

    def move_text(self, action: int) -> str:
        """Text of an action id in this position."""
        return move_text(self.packed, action, self.leading)

    def move_index(self, text: str) -> int:
        """Action id of a text in this position."""
        return move_index(self.packed, text, self.leading)

    def scores(self) -> list[int]:
        """Score by seat."""
        return self.games["score"][0, : self.num_players].tolist()  # type: ignore[no-any-return]

    def winners(self) -> list[int]:
        """Seats that won; empty until the game is over."""
        winners = int(self.games["winners"][0])
        return [seat for seat in range(self.num_players) if winners >> seat & 1]

    def copy(self) -> PlayedGame:
        """The same game, generator included, that can be played on by itself."""
        other = object.__new__(PlayedGame)
        other.__dict__.update(self.__dict__)
        other.games = self.games.copy()
        other.rounds = [*self.rounds[:-1], self.rounds[-1].copy()] if self.rounds else []
        other._events = other.rounds[-1].events if other.rounds else []
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> PlayedGame:
        return self.copy()

    def to_bytes(self) -> bytes:
        """The game and its log, with a digest; holds no code. ``from_bytes`` of a game with the same rules reads it."""
        return pack_game(self)

    def from_bytes(self, data: bytes) -> None:
        """Become the game that ``to_bytes`` wrote. ``OptionsError``, and nothing changes, for other bytes or those of other rules."""
        self.games, self.seed, self.first_deal, self.rounds = unpack_game(self, data)
        self._note(batch.status(self.games, 0))
        self.scored = True
        self._events = self.rounds[-1].events if self.rounds else []
