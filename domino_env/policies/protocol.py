"""How a policy is asked for moves: many games at once, each from the seat that is to move."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from domino_env.encoding import Encoding
from domino_env.encoding.writers import write_observation
from domino_env.engine._jit import kernel
from domino_env.engine.legal import write_mask
from domino_env.engine.packed import Packed
from domino_env.engine.rng import decision_bits
from domino_env.engine.state import Games
from domino_env.errors import EmptyMaskError, PolicyError
from domino_env.notation.game import PlayedGame
from domino_env.policies.concealing import seen_rows
from domino_env.rules import Rules

__all__ = ["Batch", "Policy", "check_policy", "decide", "policy_name", "reset_policy"]


@dataclass(frozen=True, eq=False)
class Batch:
    """N decisions, one in each of N games. Raises ``EmptyMaskError`` where a game has no legal action.

    It is good until the games move on: a policy that wants to keep something copies it.
    """

    observation: npt.NDArray[np.float32]
    """(N, D) float32: what the seat sees (``Encoding`` says what the numbers mean)."""
    action_mask: npt.NDArray[np.int8]
    """(N, A) int8: 1 exactly for the legal actions."""
    rows: npt.NDArray[np.int64]
    """(N,) int64: which games. A policy with a memory keeps it by row and seat."""
    random: npt.NDArray[np.uint64]
    """(N,) uint64: random bits from the game's seed and the number of the move; the same whatever the slot or the batch size."""
    seats: npt.NDArray[np.int64]
    """(N,) int64: the seat that is to move."""
    packed: Packed = field(repr=False)
    """(1,) the rules as the engine reads them."""
    rules: Rules = field(repr=False)
    num_players: int
    _games: Games = field(repr=False)

    def __post_init__(self) -> None:
        k = _first_empty(self.action_mask)
        if k >= 0:
            where = f"row {k} (game {self.rows[k]}, seat {self.seats[k]})"
            raise EmptyMaskError(f"{where}: no action is legal, but a seat on turn has at least one")

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def seen(self) -> Games:
        """(N,) GAME rows, read-only: the engine's view of each game with all that is hidden from the seat blanked (see ``conceal``)."""
        return seen_rows(self._games, self.rows, self.seats, self.packed)

    @classmethod
    def of_games(
        cls,
        games: Games,
        rows: npt.NDArray[np.int64],
        packed: Packed,
        rules: Rules,
        num_players: int,
        encoding: Encoding,
        seats: npt.NDArray[np.int64] | None = None,
    ) -> Batch:
        """The decisions of the games ``rows`` (N,) int64, in fresh arrays. ``seats`` (N,) int64: who looks; left out, the seat on turn."""
        count = len(rows)
        if seats is None:
            seats = games["seat"][rows].astype(np.int64)
        observation = np.empty((count, encoding.size), np.float32)
        action_mask = np.empty((count, int(packed["num_actions"][0])), np.int8)
        random = np.empty(count, np.uint64)
        _write_batch(games, rows, packed, seats, observation, action_mask, random)
        return cls(observation, action_mask, rows, random, seats, packed, rules, num_players, games)

    @classmethod
    def of_game(cls, game: PlayedGame, encoding: Encoding) -> Batch:
        """The decision of the seat on turn in one game."""
        return cls.of_games(game.games, np.zeros(1, np.int64), game.packed, game.rules, game.num_players, encoding)


@runtime_checkable
class Policy(Protocol):
    """What can sit in a seat.

    Optional methods: ``reset(rows)`` starts anew in the games ``rows`` (N,) int64 where a policy has a memory;
    ``check(rules, num_players)`` raises ``CheckpointError`` where it does not fit the game; an attribute ``name`` is its name in tables.
    """

    def act(self, batch: Batch) -> npt.NDArray[np.int64]:
        """(N,) integer action ids, each legal in its game."""


def decide(policy: Policy, batch: Batch) -> npt.NDArray[np.int64]:
    """The policy's moves, (N,) int64. Raises ``PolicyError`` for an answer of another shape or kind, or that is not legal."""
    given = policy.act(batch)
    try:
        answer = np.asarray(given)
    except ValueError as error:
        raise PolicyError(f"{policy_name(policy)}: an answer that is no array ({error})") from None
    if answer.shape != (len(batch),) or answer.dtype.kind not in "iu":
        got = f"answer of shape {answer.shape} and dtype {answer.dtype}"
        raise PolicyError(f"{policy_name(policy)}: {got}, but it is {len(batch)} whole numbers, one for each game")
    actions = answer.astype(np.int64, copy=False)
    k = _first_fault(batch.action_mask, actions)
    if k >= 0:
        legal = np.flatnonzero(batch.action_mask[k]).tolist()
        raise PolicyError(f"{policy_name(policy)}: action {actions[k]} in game {batch.rows[k]}, but the legal ones are {legal}")
    return actions


def policy_name(policy: Policy) -> str:
    """Its ``name``, or that of its class."""
    return str(getattr(policy, "name", type(policy).__name__))


def check_policy(policy: Policy, rules: Rules, num_players: int) -> None:
    """Raise ``CheckpointError`` where the policy says that it does not fit this game."""
    check = getattr(policy, "check", None)
    if check is not None:
        check(rules, num_players)


def reset_policy(policy: Policy, rows: npt.NDArray[np.int64]) -> None:
    """Tell a policy with a memory that the games ``rows`` start anew."""
    reset = getattr(policy, "reset", None)
    if reset is not None:
        reset(rows)


@kernel
def _write_batch(games: Any, rows: Any, rules: Any, seats: Any, observation: Any, masks: Any, random: Any) -> None:
    for k in range(len(rows)):
        game = games[rows[k]]
        write_observation(game, rules[0], seats[k], observation[k])
        if seats[k] == game.seat:
            write_mask(game, rules[0], masks[k])
        else:
            masks[k, :] = 0
        random[k] = decision_bits(game.key, game.moves)


@kernel
def _first_empty(masks: Any) -> Any:
    """First row of (N, A) that is all zero, or -1."""
    for k in range(len(masks)):
        if not masks[k].any():
            return k
    return -1


@kernel
def _first_fault(masks: Any, actions: Any) -> Any:
    """First row whose action is out of range or masked, or -1."""
    for k in range(len(masks)):
        if actions[k] < 0 or actions[k] >= masks.shape[1] or masks[k, actions[k]] == 0:
            return k
    return -1
