"""Runs on dominoes: games, model, the network in its checkpoint, what its buffers must keep, and evaluation. See ``kinds``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.base_class import BaseAlgorithm
from torch import nn

from domino_env import DominoVecEnv, Games
from domino_env.encoding import ENCODING_VERSION
from domino_env.errors import CheckpointError
from domino_env.policies import CheckpointMeta, LearnedPolicy, load_policy
from domino_env.policies.checkpoint_meta import ACTION_VERSION
from training.config import ConfigError, TrainingConfig
from training.dqn import MaskedDQN, MaskedDQNPolicy, q_heads
from training.evaluation import Evaluator
from training.every_seat import EverySeatEnv, EverySeatPPO
from training.guard import guarded_env, guarded_model
from training.network import Trunk, as_arrays, linear_schedule, set_arrays
from training.ppo import MaskedPolicy, ppo_heads
from training.replay import buffer_arrays, restore_buffer
from training.seat_buffer import EverySeatBuffer

__all__ = [
    "buffer_state",
    "checkpoint_meta",
    "checkpoint_weights",
    "make_env",
    "make_evaluator",
    "make_model",
    "set_buffer_state",
    "start_from",
]

VERSIONS = {"state": 2, "observation": ENCODING_VERSION, "action": ACTION_VERSION}
"""What a state must agree in with the code that goes on from it."""

TrainingEnv = DominoVecEnv | EverySeatEnv


def make_env(config: TrainingConfig) -> TrainingEnv:
    """The games of a run. ``ConfigError`` where they do not fit into the memory."""
    return guarded_env(config.num_envs, lambda: _make_env(config))


def _make_env(config: TrainingConfig) -> TrainingEnv:
    game: dict[str, Any] = {
        "num_players": config.num_players,
        "seed": config.seed << 32,  # games of other seeds are other games
        "episode": config.episode,
        "reward": config.reward,
        "rules": config.read_rules(),
        "skip_forced": config.skip_forced,
    }
    if not config.has_opponents:
        return EverySeatEnv(Games(config.variant, config.num_envs, **game))
    in_observation = config.algorithm == "dqn"
    return DominoVecEnv(config.variant, config.num_envs, opponents=config.opponents, mask_in_observation=in_observation, **game)


def make_model(config: TrainingConfig, env: TrainingEnv) -> BaseAlgorithm:
    """The learner with untrained weights. ``ConfigError`` for a device that torch does not have."""
    return guarded_model(config, lambda: _make_dqn(config, env) if config.algorithm == "dqn" else _make_ppo(config, env))


def make_evaluator(config: TrainingConfig, meta: CheckpointMeta) -> Evaluator:
    """What measures the run while it goes on."""
    return Evaluator(config, meta)


def _make_ppo(config: TrainingConfig, env: TrainingEnv) -> MaskablePPO:
    ppo = config.ppo
    own = ("learning_rate", "final_learning_rate", "every_seat", "autocast", "fused_adam")
    return (EverySeatPPO if ppo.every_seat else MaskablePPO)(
        MaskedPolicy,
        env,  # type: ignore[arg-type]
        learning_rate=linear_schedule(ppo.learning_rate, ppo.final_learning_rate),
        **ppo.model_dump(exclude=set(own)),
        **_common(config),
        policy_kwargs={
            **_trunk(config),
            "net_arch": [],
            "autocast": torch.bfloat16 if ppo.autocast == "bfloat16" else None,
            "optimizer_kwargs": {"eps": 1e-5, "fused": ppo.fused_adam},
        },
    )


def _make_dqn(config: TrainingConfig, env: TrainingEnv) -> MaskedDQN:
    dqn = config.dqn
    return MaskedDQN(
        MaskedDQNPolicy,
        env,
        learning_rate=linear_schedule(dqn.learning_rate, dqn.final_learning_rate),
        **dqn.model_dump(exclude={"learning_rate", "final_learning_rate"}),
        **_common(config),
        policy_kwargs={**_trunk(config), "optimizer_kwargs": {"fused": True}},
    )


def _common(config: TrainingConfig) -> dict[str, Any]:
    # a return varies so much that fewer games would only show noise
    return {"seed": config.seed, "device": config.device, "stats_window_size": 2_000}


def _trunk(config: TrainingConfig) -> dict[str, Any]:
    kwargs = {"layers": config.layers, "activation": config.activation, "residual": config.residual}
    return {"features_extractor_class": Trunk, "features_extractor_kwargs": kwargs}


def checkpoint_meta(config: TrainingConfig, decisions: int, command: str) -> CheckpointMeta:
    """The header of a checkpoint of the run after so many decisions."""
    return CheckpointMeta.of(
        config.read_rules(),
        config.num_players,
        algorithm=config.algorithm,
        layers=config.layers,
        value_layers=[] if config.algorithm == "ppo" else None,
        activation=config.activation,
        residual=config.residual,
        steps_trained=decisions,
        seed=config.seed,
        command=command,
    )


def checkpoint_weights(model: BaseAlgorithm) -> dict[str, npt.NDArray[np.float32]]:
    """The network as it is now: name -> array of its own."""
    return as_arrays(*_network(model))


def _network(model: Any) -> tuple[Trunk, dict[str, nn.Linear]]:
    """The trunk, and the heads by their names in a checkpoint."""
    policy = model.policy
    if hasattr(policy, "q_net"):
        return policy.q_net.features_extractor, q_heads(model)
    return policy.features_extractor, ppo_heads(model)


def first_weights(config: TrainingConfig) -> Mapping[str, npt.NDArray[np.float32]]:
    """Those of the checkpoint ``config.start_from``. ``ConfigError`` where they are those of another network."""
    spec = config.start_from or ""
    policy = load_policy(spec, config.read_rules(), config.num_players)
    if not isinstance(policy, LearnedPolicy):
        raise ConfigError(f"start_from={spec!r}, but it is a checkpoint, by path or by name")
    own = checkpoint_meta(config, 0, "")
    names = ("algorithm", "layers", "value_layers", "activation", "residual")
    try:
        policy.checkpoint.check_network(**{name: getattr(own, name) for name in names})
    except CheckpointError as error:
        raise ConfigError(f"start_from={spec!r}: {error}") from None
    return policy.checkpoint.weights


def start_from(config: TrainingConfig, model: BaseAlgorithm) -> None:
    """Give the learner the weights of ``config.start_from``. ``ConfigError`` where they are those of another network."""
    set_arrays(*_network(model), first_weights(config))
    if isinstance(model, MaskedDQN):
        model.q_net_target.load_state_dict(model.q_net.state_dict())


def buffer_state(model: BaseAlgorithm) -> dict[str, npt.NDArray[Any]]:
    """What the model's buffer keeps from one update to the next."""
    if hasattr(model, "replay_buffer"):
        return buffer_arrays(model.replay_buffer)
    return cast(EverySeatBuffer, model.rollout_buffer).get_state() if isinstance(model, EverySeatPPO) else {}


def set_buffer_state(model: BaseAlgorithm, state: Mapping[str, npt.NDArray[Any]]) -> None:
    """Give the buffer back what it kept."""
    if hasattr(model, "replay_buffer"):
        restore_buffer(model.replay_buffer, dict(state))
    elif isinstance(model, EverySeatPPO):
        cast(EverySeatBuffer, model.rollout_buffer).set_state(state)
