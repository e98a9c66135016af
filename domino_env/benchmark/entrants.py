"""The policy under test, and the watch kept over it: whoever fails to make a legal move forfeits the round, and nobody else suffers."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from domino_env.errors import PolicyError
from domino_env.policies import Batch, Policy, RandomPolicy, policy_name, reset_policy

__all__ = ["FAULTS", "KINDS", "Called", "Entrant", "InProcess", "Watched", "fault", "users_code"]

Actions = npt.NDArray[np.int64]

FAULTS = ("illegal", "rubbish", "timeout", "crash", "start", "given_up")
"""Why rounds are forfeited: a move that is not legal; an answer that is none; none in time; the player ended; it did not start
again; it failed too often before."""

KINDS: dict[str, bool | None] = {"builtin": False, "checkpoint": True, "command": False, "onnx": True, "python": None}
"""How a policy is plugged in -> whether there is a digest to know it again by; None: where its source is a file."""


def fault(reason: str) -> int:
    """The number that stands for a fault in the place of an action id."""
    return -1 - FAULTS.index(reason)


class Entrant:
    """A policy under test. ``kind`` is one of ``KINDS``, ``digest`` which file it is (SHA-256; None where there is none)."""

    name: str
    kind: str
    digest: str | None = None

    def reset(self, rows: npt.NDArray[np.int64]) -> None:
        """The games ``rows`` (N,) start anew."""

    def answer(self, batch: Batch, asked: npt.NDArray[np.bool_]) -> Actions:
        """(N,) int64 action ids for the rows that are ``asked`` (N,) bool; faults as negative numbers, see ``fault``."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go of whatever is held."""


class Called:
    """A Python function ``(observation (N, D) float32, action_mask (N, A) int8) -> (N,) action ids`` as a policy."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self._function = function
        self.name = name

    def act(self, batch: Batch) -> Any:
        """Whatever the function answers; it gets arrays of its own."""
        return self._function(batch.observation.copy(), batch.action_mask.copy())


class InProcess(Entrant):
    """A policy that plays in this process.

    A move that is not legal is a fault of that round alone. Raises ``PolicyError`` for an answer of another shape or kind, and
    where code of the user's own raises anything: that is no move of one round.
    """

    def __init__(self, policy: Policy, kind: str, digest: str | None = None, name: str | None = None) -> None:
        self.policy, self.kind, self.digest = policy, kind, digest
        self.name = name or policy_name(policy)

    def reset(self, rows: npt.NDArray[np.int64]) -> None:
        """Passed on to a policy with a memory."""
        with users_code(self.name):
            reset_policy(self.policy, rows.copy())

    def answer(self, batch: Batch, asked: npt.NDArray[np.bool_]) -> Actions:  # noqa: ARG002 -- see Entrant
        """Asks for all rows: a policy sees whole batches."""
        legal = batch.action_mask != 0  # before the policy can write to it
        with users_code(self.name):
            answer = np.asarray(self.policy.act(_guarded(batch) if self.kind == "python" else batch))
        if answer.shape != (len(batch),) or answer.dtype.kind not in "iu":
            got = f"answer of shape {answer.shape} and dtype {answer.dtype}"
            raise PolicyError(f"{self.name}: {got}, but it is {len(batch)} whole numbers, one for each game")
        size = legal.shape[1]
        within = (answer >= 0) & (answer < size)
        actions = np.where(within, answer, 0).astype(np.int64)
        good = within & legal[np.arange(len(batch)), actions]
        return np.where(good, actions, fault("illegal"))


@contextlib.contextmanager
def users_code(name: str) -> Iterator[None]:
    """``PolicyError``, with the name of the policy, for whatever code of the user's own raises in the block."""
    try:
        yield
    except PolicyError:
        raise
    except (Exception, SystemExit, GeneratorExit) as error:
        raise PolicyError(f"{name}: raised {type(error).__name__} ({error})") from error


def _guarded(batch: Batch) -> Batch:
    """The batch with rows and seats that cannot be written to: they say where in the arena's memory the games are."""
    rows, seats = batch.rows.copy(), batch.seats.copy()
    rows.flags.writeable = seats.flags.writeable = False
    return replace(batch, rows=rows, seats=seats)


class Watched:
    """An entrant in the seats of the arena. A round that it forfeits is played on by random moves, so that all others go on."""

    def __init__(self, entrant: Entrant) -> None:
        self.entrant = entrant
        self.name = entrant.name
        self.out: npt.NDArray[np.bool_] = np.zeros(0, np.bool_)
        """(games,) bool: the forfeited ones since the last ``reset``."""
        self.faults: Counter[str] = Counter()
        """Reason -> rounds, over all games."""
        self._stand_in = RandomPolicy()

    def reset(self, rows: npt.NDArray[np.int64]) -> None:
        """The games ``rows``, 0 to N - 1, start anew."""
        self.out = np.zeros(len(rows), np.bool_)
        self.entrant.reset(rows)

    def act(self, batch: Batch) -> Actions:
        """(N,) int64 legal action ids."""
        stand_in = self._stand_in.act(batch)
        asked = ~self.out[batch.rows]
        actions = self.entrant.answer(batch, asked) if asked.any() else stand_in
        for k in np.flatnonzero(asked & (actions < 0)):
            self.out[batch.rows[k]] = True
            self.faults[FAULTS[-1 - actions[k]]] += 1
        return np.where(asked & (actions >= 0), actions, stand_in)
