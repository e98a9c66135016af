"""Learners that are measured: ours at the shipped configs, and sb3-contrib's as they come; each runs for so many seconds at a time."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import torch
from pettingzoo.utils.wrappers import BaseWrapper
from sb3_contrib import MaskablePPO
from sb3_contrib.common.wrappers import ActionMasker
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger
from torch import nn

import domino_env
from domino_env.policies import CheckpointMeta
from training.algorithms import checkpoint_meta, checkpoint_weights, make_env, make_model
from training.callback import RunCallback
from training.config import TrainingConfig
from training.config_file import load_config
from training.network import as_arrays
from training.progress import Progress
from training.run_folder import RunFolder

__all__ = ["Learner", "changed", "one_learner", "ours", "plain", "shipped", "tutorial_env", "with_pool"]

CONFIGS = Path(__file__).parents[1] / "configs"
PLAIN_LAYERS = [256, 256]
_FOREVER = 10**9
_MEASURED = {
    "decisions": _FOREVER, "device": "cpu", "save_minutes": float(_FOREVER), "tensorboard": False, "evaluation": {"every": 0},
}  # fmt: skip
"""A run as it is measured: neither saved nor evaluated on the way."""


# ------------------------------------------------------------------------------------------------------------- configs


def shipped(variant: str, algorithm: str) -> TrainingConfig:
    """The config that is shipped for the variant with two seats."""
    return changed(load_config(CONFIGS / f"{variant}_{algorithm}.yaml"), _MEASURED)


def changed(config: TrainingConfig, changes: Mapping[str, Any]) -> TrainingConfig:
    """The config with other values for some keys; tables of keys may be given in part."""
    values = _merged(config.model_dump(exclude_unset=True), changes)
    if values.get("ppo", {}).get("every_seat"):
        # with nobody else at the table, the config would be refused for naming them
        values = {key: value for key, value in values.items() if key not in ("opponents", "self_play")}
    return TrainingConfig.model_validate(values)


def _merged(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    return {**values, **{key: _merged(values.get(key, {}), new) if isinstance(new, dict) else new for key, new in changes.items()}}


def one_learner(config: TrainingConfig) -> TrainingConfig:
    """The config with opponents in the other seats."""
    return changed(config, {"ppo": {"every_seat": False}}) if config.ppo.every_seat else config


def with_pool(config: TrainingConfig) -> TrainingConfig:
    """The config with half of the other seats held by the eight latest snapshots, a new one after every update."""
    pool = {"every": config.num_envs * config.ppo.n_steps, "keep": 8, "share": 0.5, "rule": "uniform"}
    return changed(one_learner(config), {"self_play": pool})


# ------------------------------------------------------------------------------------------------------------ learners


class _TimeUp(Exception):  # noqa: N818 -- no error
    pass


class _Clock(BaseCallback):
    """Stops at the first end of an update after ``deadline``; at least one update is made."""

    def __init__(self, deadline: float) -> None:
        super().__init__()
        self._deadline, self._begun = deadline, False

    def _on_rollout_start(self) -> None:
        if self._begun and time.perf_counter() >= self._deadline:
            raise _TimeUp
        self._begun = True

    def _on_step(self) -> bool:
        return True


@dataclass
class Learner:
    """A model that learns for a while, then waits for its next turn."""

    model: BaseAlgorithm
    meta: CheckpointMeta
    weights: Callable[[], Mapping[str, Any]]
    """The network of this moment, as the arrays of a checkpoint."""
    validates: bool = __debug__
    """Whether torch's distributions check their arguments, which they do as they come."""
    also: list[BaseCallback] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.model.set_logger(Logger(None, []))

    def learn_for(self, seconds: float, remaining: Callable[[float], float]) -> int:
        """Learn for about so long, in whole updates; returns how many decisions were made and learnt from.

        ``remaining(s)``: the part of the run that remains, for schedules, after s seconds of this turn.
        """
        torch.distributions.Distribution.set_default_validate_args(self.validates)
        before, start = self.model.num_timesteps, time.perf_counter()

        def by_the_clock(num_timesteps: int, total_timesteps: int) -> None:
            self.model._current_progress_remaining = remaining(time.perf_counter() - start)

        self.model._update_current_progress_remaining = by_the_clock  # type: ignore[method-assign]
        with contextlib.suppress(_TimeUp):
            callbacks = [_Clock(start + seconds), *self.also]
            self.model.learn(_FOREVER, callbacks, log_interval=None, reset_num_timesteps=False)  # type: ignore[arg-type]
        return self.model.num_timesteps - before


def ours(config: TrainingConfig) -> Learner:
    """A learner of ``training``, with all that a run does on the way: seating, counting games, taking snapshots."""
    env = make_env(config)
    model = make_model(config, env)
    folder = RunFolder(Path(tempfile.gettempdir()) / "not_written")
    run = RunCallback(config, env, folder, Progress(config.decisions), "")
    return Learner(model, checkpoint_meta(config, 0, ""), lambda: checkpoint_weights(model), validates=False, also=[run])


def plain(config: TrainingConfig, env: Any, **arguments: Any) -> Learner:
    """sb3-contrib's MaskablePPO as it comes, but for the size of its two networks and ``arguments``."""
    model = MaskablePPO("MlpPolicy", env, policy_kwargs={"net_arch": PLAIN_LAYERS}, seed=config.seed, device="cpu", **arguments)
    meta = CheckpointMeta.of(config.read_rules(), config.num_players, algorithm="ppo", layers=PLAIN_LAYERS, activation="tanh")
    layers = [layer for layer in model.policy.mlp_extractor.policy_net if isinstance(layer, nn.Linear)]
    heads: Any = {"logits": model.policy.action_net}
    return Learner(model, meta, lambda: as_arrays(SimpleNamespace(layers=layers), heads))  # type: ignore[arg-type]


class _TurnByTurn(BaseWrapper, gymnasium.Env):  # type: ignore[misc]
    """A PettingZoo game as one Gymnasium environment: one learner moves for whoever is on turn.

    The reward of a step is that of the seat on turn after it, so what is learnt is not the game; it is here to be timed.
    """

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        agent = env.possible_agents[0]
        self.observation_space = env.observation_space(agent)["observation"]
        self.action_space = env.action_space(agent)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        return self._on_turn()["observation"], {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        super().step(int(action))
        observation, *rest = self.last()
        return (observation["observation"], *rest)

    def action_mask(self) -> Any:
        return self._on_turn()["action_mask"].astype(np.bool_)

    def _on_turn(self) -> Any:
        return self.env.observe(self.env.agent_selection)


def tutorial_env(config: TrainingConfig) -> ActionMasker:
    """One PettingZoo environment of the config's game in the wrappers of PettingZoo's SB3 tutorial."""
    arguments: dict[str, Any] = config.model_dump(include={"num_players", "episode", "reward", "skip_forced"})
    env = getattr(domino_env, f"{config.variant}_v0").env(**arguments, rules=config.read_rules())
    one = _TurnByTurn(env)
    return ActionMasker(one, lambda _: one.action_mask())
