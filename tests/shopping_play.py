"""Many games of the memory game at once, told word by word to whoever listens, and small networks with random weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from domino_env.policies import save_checkpoint
from domino_env.shopping import ShoppingEncoding, ShoppingRules, kernels
from domino_env.shopping.checkpoint import ShoppingMeta
from domino_env.shopping.game import new_games
from domino_env.shopping.loading import Speaker
from domino_env.shopping.policies import Listening, RememberingSpeaker
from domino_env.shopping.table import answers_of

Key = tuple[int, int, int]
"""Seed of a game, number of the word, seat."""


class Room:
    """Game k has seed ``seeds[k]`` and the row ``rows[k]``; the other rows are empty."""

    def __init__(self, rules: ShoppingRules, seeds: Sequence[int], rows: Sequence[int] | None = None) -> None:
        self.rules, self.encoding = rules, ShoppingEncoding(rules)
        self.rows = np.arange(len(seeds)) if rows is None else np.array(rows, np.int64)
        self.seed_of = dict(zip(self.rows.tolist(), seeds, strict=True))
        self.games = new_games(int(self.rows.max()) + 1)
        kernels.seed_rows(self.games, self.rows, np.array(seeds, np.uint64))
        self.open()

    def open(self) -> None:
        """New games where the generators stand."""
        kernels.open_games(self.games, self.rows, self.rules.packed)

    def going(self) -> npt.NDArray[np.int64]:
        """Rows of the games that nobody has won."""
        return np.array([row for row in self.rows.tolist() if self.games["winners"][row] == 0], np.int64)

    def listening(self, rows: npt.NDArray[np.int64] | None = None) -> Listening:
        """All who are in the game, in those rows (left out: in all games going on)."""
        rows = self.going() if rows is None else rows
        inside = self.games["in_game"][rows, None].astype(np.int64) >> np.arange(self.rules.num_players) & 1
        which, seats = np.nonzero(inside)
        return Listening.of_games(self.games, rows[which], seats, self.rules, self.encoding)

    def right_words(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """(K,) the word of the list that is due; -1 where it is a new one."""
        return np.array(self.games["words"][rows, self.games["position"][rows]], np.int64)

    def keys(self, batch: Listening) -> list[Key]:
        """Which answer each is, whatever the row."""
        moves = self.games["moves"][batch.rows].tolist()
        return [(self.seed_of[row], move, seat) for row, move, seat in zip(batch.rows.tolist(), moves, batch.seats.tolist(), strict=True)]

    def say(self, batch: Listening, answers: npt.NDArray[np.int64]) -> None:
        """Those on turn say their answers."""
        reward = np.zeros(self.rules.num_players)
        for row, action in zip(batch.rows[batch.on_turn].tolist(), answers[batch.on_turn].tolist(), strict=True):
            kernels.say_one(self.games, row, self.rules.packed, action, -1, reward)

    def play(self, speaker: Speaker) -> Iterator[tuple[Listening, npt.NDArray[np.int64]]]:
        """Play to the end with one speaker in all seats; gives each batch with its answers before they are said."""
        while len(self.going()):
            batch = self.listening()
            answers = answers_of(speaker, batch)
            yield batch, answers
            self.say(batch, answers)

    def recite(self) -> Iterator[Listening]:
        """Play to the end with perfect memories in all seats; gives each batch before the word is said."""
        return (batch for batch, _ in self.play(RememberingSpeaker()))


def said_by(make: Callable[[], Speaker], rules: ShoppingRules, seeds: Sequence[int], rows: Sequence[int] | None = None) -> dict[Key, int]:
    """Every answer of a speaker in games that it plays in all seats."""
    room = Room(rules, seeds, rows)
    found: dict[Key, int] = {}
    for batch, answers in room.play(make()):
        found.update(zip(room.keys(batch), answers.tolist(), strict=True))
    return found


def random_weights(meta: ShoppingMeta, seed: int = 0) -> dict[str, Any]:
    """Weights of the right shapes, large enough for answers that differ."""
    generator = np.random.default_rng(seed)
    return {name: generator.normal(size=shape, scale=0.5).astype(np.float32) for name, shape in meta.shapes().items()}


def random_checkpoint(path: Path, rules: ShoppingRules, seed: int = 0, **fields: Any) -> Path:
    """A small network of these rules, with a memory of 6 units."""
    meta = ShoppingMeta.of(rules, **{"algorithm": "none", "layers": [], "lstm": 6, **fields})
    save_checkpoint(path, random_weights(meta, seed), meta)
    return path
