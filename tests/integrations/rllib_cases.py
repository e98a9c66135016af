"""Small runs on RLlib, and play through its environment."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from domino_env.integrations.rllib import DominoMultiAgentEnv, WholeGame
from training.rllib_config import RllibConfig

SMALL: dict[str, Any] = {
    "variant": "bergen",
    "decisions": 1200,
    "layers": [16, 16],
    "num_envs": 16,
    "tensorboard": False,
    "save_minutes": 0,
    "opponents": ["greedy"],
    "self_play": {"every": 500, "keep": 2},
    "evaluation": {"every": 600, "deals": 20},
    "ppo": {"batch_size": 128, "n_steps": 16, "n_epochs": 1},
    "ray": {"num_env_runners": 0},
}


def configured(**changes: Any) -> RllibConfig:
    """``SMALL`` with other keys; tables are merged, and None takes a key away."""
    values = dict(SMALL)
    for name, value in changes.items():
        if value is None:
            del values[name]
        else:
            values[name] = {**values.get(name, {}), **value} if isinstance(value, dict) else value
    return RllibConfig.model_validate(values)


def any_legal(mask: np.ndarray, random: np.random.Generator) -> int:
    """A legal action."""
    return int(random.choice(np.flatnonzero(mask)))


def play_episode(env: DominoMultiAgentEnv, seed: int, cut_every: int = 0) -> tuple[WholeGame, Counter[str], int]:
    """A random game as RLlib keeps it, the rewards that the environment gave, and the number of moves."""
    random = np.random.default_rng(seed)
    observations, infos = env.reset(seed=seed)
    episode = WholeGame(agent_to_module_mapping_fn=lambda *_, **__: "learner")
    episode.add_env_reset(observations=observations, infos=infos)
    given: Counter[str] = Counter()
    moves = 0
    while not episode.is_done:
        ((agent, seen),) = observations.items()
        actions = {agent: any_legal(seen["action_mask"], random)}
        observations, rewards, terminateds, truncateds, infos = env.step(actions)
        given.update(rewards)
        moves += 1
        episode.add_env_step(observations, actions, rewards, infos, terminateds=terminateds, truncateds=truncateds)
        if cut_every and moves % cut_every == 0 and not episode.is_done:
            left, episode = episode, episode.cut()
            assert left.env_t == 0
    return episode, given, moves


def folder_of(path: Path) -> list[str]:
    """The names in a folder but for the lock."""
    return sorted(entry.name for entry in path.iterdir() if entry.name != ".lock")
