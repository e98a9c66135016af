"""What can sit in a seat: it is asked after every word, also of others, and what it answers counts only on its turn."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from domino_env.engine._jit import jit, kernel
from domino_env.engine.rng import below, mix64
from domino_env.errors import PolicyError
from domino_env.shopping.encoding import ShoppingEncoding
from domino_env.shopping.game import Games
from domino_env.shopping.kernels import write_batch
from domino_env.shopping.rules import ShoppingRules
from domino_env.shopping.words import LETTERS

__all__ = ["Listening", "RandomSpeaker", "RememberingSpeaker"]

_UNIT = 2.0**-53


@dataclass(frozen=True, eq=False)
class Listening:
    """K seats of N games at one moment, each hearing what was said last: the batch that ``Policy.act`` is given.

    Every seat is heard once after each word, from the beginning of its game until it is out or the game is over, so a policy with
    a memory keeps it by game and seat. A game begins where nobody has spoken.
    """

    observation: npt.NDArray[np.float32]
    """(K, D) float32: what the seat hears (``ShoppingEncoding`` says what the numbers mean)."""
    action_mask: npt.NDArray[np.int8]
    """(K, A) int8: all 1. Off turn any answer will do: it is not heard."""
    rows: npt.NDArray[np.int64]
    """(K,) int64: which games."""
    seats: npt.NDArray[np.int64]
    """(K,) int64: who listens."""
    random: npt.NDArray[np.uint64]
    """(K,) uint64: random bits from the game's seed, the number of the word and the seat; the same whatever the slot or batch."""
    on_turn: npt.NDArray[np.bool_]
    """(K,) bool: whether the answer counts."""
    rules: ShoppingRules = field(repr=False)

    def __len__(self) -> int:
        return len(self.rows)

    @classmethod
    def of_games(
        cls, games: Games, rows: npt.NDArray[np.int64], seats: npt.NDArray[np.int64], rules: ShoppingRules, encoding: ShoppingEncoding
    ) -> Listening:
        """``seats`` (K,) int64 of the games ``rows`` (K,) int64, in fresh arrays."""
        count = len(rows)
        observation = np.empty((count, encoding.size), np.float32)
        random, on_turn = np.empty(count, np.uint64), np.empty(count, np.bool_)
        write_batch(games, rows, rules.packed, seats, observation, random, on_turn)
        return cls(observation, np.ones((count, rules.num_actions), np.int8), rows, seats, random, on_turn, rules)


class RandomSpeaker:
    """Says any word or gives up, all as likely."""

    name = "random"

    def act(self, batch: Listening) -> npt.NDArray[np.int64]:
        """(K,) int64 action ids."""
        answers = np.empty(len(batch), np.int64)
        _any_action(batch.random, batch.rules.num_actions, answers)
        return answers


class RememberingSpeaker:
    """Keeps every right word it has heard, by letter, and says it when its letter is due.

    ``forget``: probability that a word it would say is forgotten, for each word and turn anew; it guesses then among the words of
    the theme. Where it has heard no word for the letter, as for a new one, it says any word of the theme. Raises ``PolicyError`` for
    a probability that is none.
    """

    def __init__(self, forget: float = 0.0) -> None:
        if not (math.isfinite(forget) and 0 <= forget <= 1):
            raise PolicyError(f"p={forget!r}, but it is a probability from 0 to 1")
        self.forget = float(forget)
        self.name = f"forgetful?p={forget:g}" if forget else "perfect"
        self._memory = np.full((0, 1, len(LETTERS)), -1, np.int16)

    def act(self, batch: Listening) -> npt.NDArray[np.int64]:
        """(K,) int64 action ids."""
        seats = batch.rules.num_players
        rows = int(batch.rows.max(initial=-1)) + 1
        if rows > len(self._memory) or seats > self._memory.shape[1]:
            memory = np.full((max(rows, len(self._memory)), max(seats, self._memory.shape[1]), len(LETTERS)), -1, np.int16)
            memory[: len(self._memory), : self._memory.shape[1]] = self._memory
            self._memory = memory
        answers = np.empty(len(batch), np.int64)
        _remember(batch.observation, batch.rows, batch.seats, batch.random, batch.rules.packed, self.forget, self._memory, answers)
        return answers

    def get_state(self) -> dict[str, npt.NDArray[Any]]:
        """What it has heard."""
        return {"memory": self._memory.copy()}

    def set_state(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Go on from a state. ``PolicyError`` for one that is none."""
        memory = state["memory"]
        if memory.ndim != 3 or memory.shape[2] != len(LETTERS) or memory.dtype != np.int16:
            raise PolicyError(f"{self.name}: a memory of {memory.dtype} {memory.shape}, but it is int16 (N, seats, {len(LETTERS)})")
        self._memory = memory.copy()


@kernel
def _any_action(bits: Any, count: Any, out: Any) -> None:
    for k in range(len(bits)):
        out[k] = below(bits[k], count)


@kernel
def _remember(observation: Any, rows: Any, seats: Any, bits: Any, rules: Any, forget: Any, memory: Any, out: Any) -> None:
    for k in range(len(rows)):
        heard = observation[k]
        known = memory[rows[k], seats[k]]
        _hear(heard, rules[0], known)
        due = _find(heard, rules[0].num_players * 2 + len(known) + rules[0].num_words + 3, len(known))
        word = np.int64(-1) if due < 0 else np.int64(known[due])
        forgotten = np.float64(mix64(bits[k], 1) >> np.uint64(11)) * _UNIT < forget
        out[k] = _guess(heard, rules[0], bits[k]) if word < 0 or forgotten else word


@jit
def _hear(heard: Any, rules: Any, known: Any) -> None:
    """Keep the word just said where it was right; before the first word there is nothing to know."""
    players = rules.num_players
    letters = len(known)
    letter = _find(heard, players, letters)
    if letter < 0:
        known[:] = -1
        return
    word = _find(heard, players + letters, rules.num_words + 1)
    if heard[players + letters + rules.num_words + 2] == 1.0:
        known[letter] = word


@jit
def _guess(heard: Any, rules: Any, bits: Any) -> Any:
    """Any word of the theme."""
    theme = _find(heard, len(heard) - rules.num_themes, rules.num_themes)
    return max(theme, 0) * rules.words_per_letter + below(mix64(bits, 2), rules.words_per_letter)


@jit
def _find(values: Any, start: Any, count: Any) -> Any:
    """Place of the 1 among ``count`` numbers from ``start`` on, or -1."""
    for k in range(count):
        if values[start + k] == 1.0:
            return np.int64(k)
    return np.int64(-1)
