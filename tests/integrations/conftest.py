"""A witness at the table: what every AEC environment paid to every seat, whoever drove it."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch

from domino_env.envs.aec import DominoAECEnv
from domino_env.errors import IllegalMoveError


@dataclass
class Seen:
    """One game: moves made, the sum of each agent's rewards, and whether it was played to its end."""

    returns: dict[str, float]
    moves: int = 0
    over: bool = False
    order: list[str] = field(default_factory=list)

    def add(self, rewards: dict[str, float]) -> None:
        for agent, reward in rewards.items():
            self.returns[agent] += reward


@dataclass
class Witness:
    """``finished``: games in the order in which they ended; ``refused``: illegal actions that reached a table."""

    finished: list[Seen] = field(default_factory=list)
    refused: int = 0
    open: dict[int, Seen] = field(default_factory=dict)


@pytest.fixture(autouse=True)
def _same_every_time() -> None:
    """Libraries draw from the generators that all share."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 -- theirs, not ours
    torch.manual_seed(0)


@pytest.fixture
def witness(monkeypatch: pytest.MonkeyPatch) -> Witness:
    seen = Witness()
    open_game, step = DominoAECEnv.open_game, DominoAECEnv.step

    def opened(env: DominoAECEnv, *arguments: Any) -> None:
        open_game(env, *arguments)
        seen.open[id(env)] = Seen(dict.fromkeys(env.possible_agents, 0.0))
        seen.open[id(env)].add(env.rewards)

    def stepped(env: DominoAECEnv, action: Any) -> None:
        mover = env.agent_selection
        alive = bool(env.agents) and not env.terminations[mover]
        try:
            step(env, action)
        except IllegalMoveError:
            seen.refused += 1
            raise
        if alive:
            game = seen.open[id(env)]
            game.add(env.rewards)
            game.moves += 1
            game.order.append(mover)
            if env.game.over:
                game.over = True
                seen.finished.append(game)

    monkeypatch.setattr(DominoAECEnv, "open_game", opened)
    monkeypatch.setattr(DominoAECEnv, "step", stepped)
    return seen
