"""A player in another process, in any language: one line of JSON for each decision, one back."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from domino_env.benchmark.child import Child, ChildFault, split_command
from domino_env.benchmark.entrants import Actions, Entrant, fault
from domino_env.benchmark.messages import Messages
from domino_env.benchmark.protocol import PROTOCOL_VERSION, Limits, Setting
from domino_env.engine.packed import pack_rules
from domino_env.errors import CheckpointError, PolicyError
from domino_env.policies import Batch

__all__ = ["CommandEntrant"]

_LONGEST_NAME = 60


class CommandEntrant(Entrant):
    """The policy of ``cmd:COMMAND``.

    A move that is not legal costs the round. A player that ended, is late or answers rubbish costs the round too; it is killed and
    started again for the next decision, until it has failed ``limits.failures`` times. Raises ``PolicyError`` where it is not ready in
    time at first, and ``CheckpointError`` where it answers that it does not play this setting.
    """

    kind = "command"

    def __init__(self, setting: Setting, command: str, limits: Limits, show_stderr: bool = False) -> None:
        self.name = self._spec = f"cmd:{command}"
        self._command = split_command(command)
        self._limits, self._show = limits, show_stderr
        self._messages = Messages(setting, pack_rules(setting.rules, setting.num_players, True))
        self._child: Child | None = None
        self._observed = False
        self._failures = 0
        self._requests = 0
        self._labels: dict[tuple[int, int], int] = {}
        """Row and seat -> number of the round: seats of one round are not told that they sit together."""
        self._rounds = 0
        try:
            self._start()
        except ChildFault as error:
            words = self._end(kill=True)
            told = f"; its stderr ends in {words!r}" if words else ""
            raise PolicyError(f"policy {self._spec!r} did not get ready: {error}{told}") from None
        except BaseException:
            self._end(kill=True)
            raise

    def reset(self, rows: npt.NDArray[np.int64]) -> None:  # noqa: ARG002 -- see Entrant
        """Rounds get new numbers."""
        self._labels = {}

    def answer(self, batch: Batch, asked: npt.NDArray[np.bool_]) -> Actions:
        """One decision after the other, in an order that does not tell which rounds have the same deal."""
        actions = np.zeros(len(batch), np.int64)
        bits = _mixed(batch.random, batch.rows)
        for k in np.argsort(bits, kind="stable"):
            if asked[k]:
                actions[k] = self._decide(batch, int(k), int(bits[k]))
        return actions

    def close(self) -> None:
        """End the player."""
        self._end(kill=False)

    def _decide(self, batch: Batch, k: int, bits: int) -> int:
        """An action id, or a fault."""
        if self._failures >= self._limits.failures:
            return fault("given_up")
        seat = int(batch.rows[k]), int(batch.seats[k])
        if seat not in self._labels:
            self._labels[seat] = self._rounds
            self._rounds += 1
        starting = self._child is None
        try:
            if starting:
                self._start()
            starting = False
            action = self._ask(batch, k, self._labels[seat], bits)
        except (ChildFault, PolicyError) as error:
            self._failures += 1
            self._end(kill=True)
            return fault("start" if starting or not isinstance(error, ChildFault) else error.reason)
        return action if action >= 0 else fault("illegal")

    def _start(self) -> None:
        """A new process that is ready. Raises ``ChildFault``, or ``CheckpointError`` where it does not play this setting."""
        self._child = Child(self._command, self._show)
        ready = self._child.ask(self._messages.hello(self._limits), self._limits.start_seconds)
        if ready.get("type") == "unfit":
            raise CheckpointError(f"policy {self._spec!r} does not play {self._messages.setting.name}: {_short(ready.get('why'))}")
        if ready.get("type") != "ready":
            raise ChildFault("rubbish", f"its first line is {_short(ready)}, but it is {{'type': 'ready'}} or {{'type': 'unfit'}}")
        if ready.get("protocol", PROTOCOL_VERSION) != PROTOCOL_VERSION:
            raise ChildFault("rubbish", f"it speaks protocol {_short(ready['protocol'])}, but this is protocol {PROTOCOL_VERSION}")
        self._observed = ready.get("observation") is True
        name = ready.get("name")
        if isinstance(name, str) and name.isprintable() and name.strip():
            self.name = name.strip()[:_LONGEST_NAME]

    def _ask(self, batch: Batch, k: int, game: int, bits: int) -> int:
        """The action id that the player answers, -1 for one that is not legal. Raises ``ChildFault``."""
        assert self._child is not None
        self._requests += 1
        request = self._messages.request(batch, k, self._requests, game, bits, self._observed)
        answer = self._child.ask(request, self._limits.decision_seconds)
        # a line that answers another request shows that the player is out of step: all its later lines would be taken for others
        action = self._messages.action_of(answer, batch, k) if type(answer.get("id")) is int and answer["id"] == self._requests else None
        if action is None:
            raise ChildFault("rubbish", "an answer without its id or a move")
        return action

    def _end(self, kill: bool) -> str:
        """End the process where there is one; returns the end of its stderr."""
        child, self._child = self._child, None
        if child is None:
            return ""
        child.close(*([0.0] if kill else []))
        return child.last_words()


def _mixed(bits: npt.NDArray[np.uint64], rows: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """(N,) uint64 random bits of their own for each round: sittings of one deal have the same ones otherwise, which would show them."""
    mixed = bits + rows.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:100]}..."
