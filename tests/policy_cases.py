"""Positions to decide in, and checkpoints with random weights."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from domino_env.encoding import Encoding
from domino_env.engine import batch as engine
from domino_env.engine.packed import Packed, pack_rules
from domino_env.engine.state import Games, new_games
from domino_env.policies import Batch, CheckpointMeta, save_checkpoint
from domino_env.rules import Rules
from domino_env.variants import VARIANTS


@dataclass(eq=False)
class Positions:
    """Games in all stages of a round, some seat to move in each."""

    rules: Rules
    num_players: int
    games: Games
    packed: Packed

    def batch(self, rows: npt.NDArray[np.int64] | None = None, **more: Any) -> Batch:
        """The decisions of these rows (all of them, left out)."""
        rows = np.arange(len(self.games)) if rows is None else rows
        encoding = Encoding(self.rules, self.num_players)
        return Batch.of_games(self.games, rows, self.packed, self.rules, self.num_players, encoding, **more)


def positions(rules: Rules | str, num_players: int, count: int, seed: int = 0, one_round: bool = True) -> Positions:
    """``count`` games, game k after k % 19 random moves (fewer where a new round began since)."""
    rules = VARIANTS[rules] if isinstance(rules, str) else rules
    packed = pack_rules(rules, num_players, one_round)
    games = new_games(count)
    engine.start(games, np.arange(count), packed, np.arange(seed, seed + count).astype(np.uint64))
    masks = np.zeros((1, int(packed["num_actions"][0])), np.int8)
    for k in range(count):
        engine.play_random(games[k : k + 1], packed, k % 19, masks, False)
    return Positions(rules, num_players, games, packed)


def random_weights(meta: CheckpointMeta, seed: int = 0) -> dict[str, npt.NDArray[np.float32]]:
    """Weights of the right shapes."""
    generator = np.random.default_rng(seed)
    return {name: generator.normal(size=shape, scale=shape[-1] ** -0.5).astype(np.float32) for name, shape in meta.shapes().items()}


def random_meta(rules: Rules | str = "bergen", num_players: int = 2, **fields: Any) -> CheckpointMeta:
    """A header for a small network."""
    rules = VARIANTS[rules] if isinstance(rules, str) else rules
    return CheckpointMeta.of(rules, num_players, **{"algorithm": "none", "layers": [24, 16], **fields})


def random_checkpoint(path: Path, rules: Rules | str = "bergen", num_players: int = 2, seed: int = 0, **fields: Any) -> Path:
    """A checkpoint file with random weights."""
    meta = random_meta(rules, num_players, **fields)
    save_checkpoint(path, random_weights(meta, seed), meta)
    return path
