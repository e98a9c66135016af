"""One game at a table with one person: moves are checked, kept on disk before they count, and told as the person may see them."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np

from domino_env.encoding import Encoding
from domino_env.engine.state import PLAYING, ROUND_OVER
from domino_env.errors import DominoError, NotationError
from domino_env.notation.game import PlayedGame
from domino_env.notation.records import save_record, to_record
from domino_env.policies import Batch, Policy, decide, load_policy, policy_name, reset_policy
from domino_env.rendering.onlooker import game_title
from domino_env.web.journal import Journal, JournalError, KeepingError
from domino_env.web.seen import event_words, frame, round_sheet
from domino_env.web.setup import Setup

__all__ = ["NEXT", "LateError", "RefusedError", "Table"]

Json = dict[str, Any]

NEXT = "next"
"""The step that deals the next round."""
MOST_FRAMES = 64
"""A page that has missed more steps than these is shown the last one only."""
_log = logging.getLogger(__name__)


class LateError(DominoError):
    """A move for a position that is no longer, or not yet, on the table."""


class RefusedError(DominoError):
    """What may not be told, or done, yet."""


class Table:
    """A game at a table. All methods may be called from any thread; policies think in ``workers``, so none of them waits.

    ``steps``: what a journal holds of the game. ``record``: where the record is saved when the game is over. Raises ``FieldError`` for
    policies that cannot be used, ``JournalError`` for steps that are none.
    """

    def __init__(
        self, name: str, setup: Setup, journal: Journal, workers: Executor, *, steps: Sequence[str] = (), record: Path | None = None
    ) -> None:
        self.name, self.setup, self.seat, self.record_path = name, setup, setup.seat, record
        self._journal, self._workers, self._lock = journal, workers, RLock()
        self._policies = setup.load_policies()
        self._hints: dict[str, Policy] = {}
        self.game = PlayedGame(setup.rules, len(setup.specs), setup.one_round)
        self._encoding = Encoding(setup.rules, len(setup.specs))
        self.game.start(setup.seed)
        for policy in self._policies:
            if policy is not None:
                reset_policy(policy, np.zeros(1, np.int64))
        self.steps: list[str] = []
        self._thinking, self._fault = False, ""
        for number, step in enumerate(steps):
            with _telling(f"game {name}: step {number}: "):
                self._make(step)
        self.frames = [frame(self.game, self.seat)]

    # What the page asks

    def about(self) -> Json:
        """What stays the same for the whole game."""
        names = ["you" if policy is None else policy_name(policy) for policy in self._policies]
        return {"id": self.name, "title": game_title(self.game), "seat": self.seat, "names": names}

    def view(self, since: int) -> Json:
        """Every position after step ``since``, with the moves of this round and the rounds before.

        The last position alone for a page that has none yet (-1), missed too many, or comes from another time.
        """
        with self._lock:
            last = len(self.steps)
            first = since + 1 if since >= 0 and 0 <= last - since <= len(self.frames) else last
            log = self.game.rounds[-1]
            return {
                "number": last,
                "frames": [{"number": number, **self.frames[number - last - 1]} for number in range(first, last + 1)],
                "moves": [event_words(self.game, log, number, self.seat) for number in range(len(log.events))],
                "sheet": round_sheet(self.game),
                "thinking": self._thinking,
                "fault": self._fault,
                "over": self.game.over,
            }

    def move(self, number: int, step: str) -> None:
        """The person's move, or ``"next"``, as step ``number``; the same again does nothing.

        Raises ``LateError`` where another step has that number or the person is not on turn, ``NotationError`` for what is no legal move.
        """
        with self._lock:
            if self.steps[number : number + 1] == [step]:
                return
            self._check_number(number)
            if self.game.phase == PLAYING and self.game.seat != self.seat:
                raise LateError(f"seat {self.game.seat} is on turn, not you")
            if self.game.over:
                raise LateError("the game is over")
            self._take(step)
        self.play_on()

    def hint(self, number: int, spec: str) -> Json:
        """The move that a policy would make in the person's place at step ``number``; it knows what the person may know.

        Raises ``LateError`` as ``move`` does, ``PolicyError`` for a policy that cannot be used.
        """
        with self._lock:
            self._check_number(number)
            if self.game.phase != PLAYING or self.game.seat != self.seat:
                raise LateError("a hint is for when you are on turn")
            game = self.game.copy()
        policy = self._hints.get(spec) or load_policy(spec, self.setup.rules, len(self.setup.specs))
        self._hints[spec] = policy
        # the generator of the game knows the deals to come: nothing that is told may hang on it
        game.games["key"] = 0
        action = int(decide(policy, Batch.of_game(game, self._encoding))[0])
        return {"number": number, "move": game.move_text(action), "policy": policy_name(policy)}

    def record(self) -> Json:
        """The record. Raises ``RefusedError`` before the game is over: it holds all hands, and the seed."""
        with self._lock:
            if not self.game.over:
                raise RefusedError("the record holds all hands: it can be had when the game is over")
            return to_record(self.game)

    def summary(self) -> Json:
        """One line of a list of games."""
        with self._lock:
            about, game = self.about(), self.game
            return {**about, "round": len(game.rounds) - 1, "scores": game.scores(), "over": game.over}

    # How the game goes on

    def play_on(self) -> None:
        """Let the policies think where one is on turn; also after a fault of theirs."""
        with self._lock:
            if self._thinking or not self._policy_is_on_turn():
                return
            self._thinking, self._fault = True, ""
            self._workers.submit(self._play_policies).add_done_callback(_log_error)

    def save_record(self) -> None:
        """Write the record, as far as the game went, where one was asked for."""
        if self.record_path is not None:
            with self._lock:
                save_record(to_record(self.game), self.record_path)

    def close(self) -> None:
        """Let no policy move any more; what was played stays in the journal."""
        with self._lock:
            self._policies = [None] * len(self._policies)

    def _policy_is_on_turn(self) -> bool:
        return self.game.phase == PLAYING and self._policies[self.game.seat] is not None

    def _play_policies(self) -> None:
        fault = "a policy failed: the terminal says more"
        try:
            while self._play_policy():
                pass
            fault = ""
        except (DominoError, OSError) as error:
            fault = str(error)
        finally:
            if fault:
                with self._lock:
                    self._thinking, self._fault = False, fault

    def _play_policy(self) -> bool:
        """One move of the policy on turn; False where there is none."""
        with self._lock:
            if not self._policy_is_on_turn():
                self._thinking = False
                return False
            game, policy = self.game.copy(), self._policies[self.game.seat]
            number = len(self.steps)
        assert policy is not None
        action = game.legal_actions()[0]
        if game.num_legal > 1:
            action = int(decide(policy, Batch.of_game(game, self._encoding))[0])
        with self._lock:
            if number == len(self.steps) and self._policy_is_on_turn():
                self._take(game.move_text(action))
        return True

    def _check_number(self, number: int) -> None:
        if number != len(self.steps):
            raise LateError(f"step {number}, but the game stands at step {len(self.steps)}: it went on elsewhere")

    def _take(self, step: str) -> None:
        """Keep a step, then make it: a step that cannot be kept was not made."""
        self._check(step)
        try:
            self._journal.save(self.name, self.setup, [*self.steps, step])
        except OSError as error:
            raise KeepingError(f"the game cannot be kept on disk, so the move was not made: {error.strerror}") from None
        self._make(step)
        self.frames = [*self.frames[1 - MOST_FRAMES :], frame(self.game, self.seat)]
        if self.game.over:
            self.save_record()

    def _make(self, step: str) -> None:
        self._check(step)
        if step == NEXT:
            self.game.deal_if_due()
        else:
            self.game.make_move(self.game.move_index(step))
        self.steps.append(step)

    def _check(self, step: str) -> None:
        """Raise ``NotationError`` for what cannot come next."""
        legal = [NEXT] if self.game.phase == ROUND_OVER else self.game.legal_moves()
        if step not in legal:
            raise NotationError(f"move {step!r}, but the legal ones are {', '.join(legal) or 'none'}")


@contextlib.contextmanager
def _telling(where: str) -> Iterator[None]:
    try:
        yield
    except DominoError as error:
        raise JournalError(f"{where}{error}") from None


def _log_error(done: Future[None]) -> None:
    """What a worker did not expect goes to the terminal: nobody waits for its answer."""
    error = None if done.cancelled() else done.exception()
    if error is not None:
        _log.error("a policy failed", exc_info=error)
