"""RLlib's PPO for a config: the games of its env runners, the network, and the weights as those of a checkpoint."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import ray
import torch
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.callbacks.callbacks import RLlibCallback
from ray.rllib.core.rl_module.rl_module import RLModuleSpec

from domino_env.envs.kernels import VIEW
from domino_env.integrations.rllib import CountsGames, DominoEnvRunner, DominoMultiAgentEnv, DominoRLModule
from domino_env.policies import Policy
from training.algorithms import first_weights
from training.config import ConfigError
from training.rllib_config import RllibConfig

__all__ = ["Runners", "make_algorithm", "module_weights", "stop_algorithm"]

MODULE = "learner"
_ANY_LOSS = 1e6
"""Squared errors of the value that RLlib would cut off: none, as in SB3."""


def make_algorithm(config: RllibConfig, decisions: int) -> PPO:
    """The learner with untrained weights (or those of ``config.start_from``), and env runners that are told their opponents later.

    ``decisions``: how many the run has made. Raises ``ConfigError`` where the weights to start from do not fit, or the cluster is too
    small: RLlib would wait for it.
    """
    weights = None if config.start_from is None else first_weights(config)
    _check_cluster(config)
    logging.getLogger("ray.rllib").setLevel(logging.ERROR)
    torch.set_num_threads(config.threads)
    algorithm = PPO(config=_ppo_config(config, decisions))
    if weights is not None:
        algorithm.set_weights({MODULE: dict(weights)})
    return algorithm


def _check_cluster(config: RllibConfig) -> None:
    processes = config.ray
    learners = f"ray.num_learners={processes.num_learners}"
    needs = {
        "CPU": (
            f"ray.num_env_runners={processes.num_env_runners}, {learners}",
            processes.num_env_runners * processes.cpus_per_env_runner + processes.num_learners,
        ),
        "GPU": (f"ray.gpus_per_learner={processes.gpus_per_learner:g}, {learners}", processes.gpus_per_learner * processes.num_learners),
    }
    for kind, (why, needed) in needs.items():
        found = ray.cluster_resources().get(kind, 0.0)
        if needed > found:
            raise ConfigError(f"{why}: that takes {needed:g} {kind}s, but the cluster has {found:g}")


def _ppo_config(config: RllibConfig, decisions: int) -> PPOConfig:
    ppo, processes = config.ppo, config.ray
    model = {"layers": config.layers, "activation": config.activation, "residual": config.residual}
    return (
        PPOConfig()
        # not by its name: processes that join later do not learn of names in every case
        .environment(DominoMultiAgentEnv, env_config=_env_config(config), disable_env_checking=True)
        .env_runners(
            env_runner_cls=DominoEnvRunner,
            num_env_runners=processes.num_env_runners,
            num_envs_per_env_runner=config.num_envs,
            num_cpus_per_env_runner=processes.cpus_per_env_runner,
            rollout_fragment_length=ppo.n_steps,
            sample_timeout_s=600.0,
        )
        .learners(num_learners=processes.num_learners, num_gpus_per_learner=processes.gpus_per_learner)
        .training(
            lr=_falling(ppo.learning_rate, ppo.final_learning_rate, config.decisions),
            train_batch_size_per_learner=config.update_size // max(1, processes.num_learners),
            minibatch_size=ppo.batch_size,
            num_epochs=ppo.n_epochs,
            gamma=ppo.gamma,
            lambda_=ppo.gae_lambda,
            clip_param=ppo.clip_range,
            entropy_coeff=ppo.ent_coef,
            vf_loss_coeff=ppo.vf_coef,
            grad_clip=ppo.max_grad_norm,
            grad_clip_by="global_norm",
            vf_clip_param=_ANY_LOSS,
            use_kl_loss=False,
        )
        .rl_module(rl_module_spec=RLModuleSpec(module_class=DominoRLModule, model_config=model))
        .multi_agent(policies={MODULE}, policy_mapping_fn=_module_of)
        .callbacks([CountsGames, SeatsAnew])
        .fault_tolerance(restart_failed_env_runners=True)
        # a run that goes on draws other deals than those it began with
        .debugging(seed=(config.seed * 1_000_003 + decisions) % 2**31, log_level="ERROR")
    )


def _module_of(_agent: str, _episode: Any, **_more: Any) -> str:
    """All seats that are agents are one network's."""
    return MODULE


def _env_config(config: RllibConfig) -> dict[str, Any]:
    game: dict[str, Any] = {
        "variant": config.variant,
        "num_players": config.num_players,
        "episode": config.episode,
        "reward": config.reward,
        "rules": config.read_rules(),
        "skip_forced": config.skip_forced,
    }
    # those of the day are seated before the first game
    return {**game, "opponents": "random"} if config.has_opponents else game


def _falling(start: float, end: float, decisions: int) -> Any:
    return start if start == end else [[0, start], [decisions, end]]


def module_weights(algorithm: PPO) -> dict[str, npt.NDArray[np.float32]]:
    """The network as it is now: name in a checkpoint -> array of its own."""
    weights: Mapping[str, Any] = algorithm.get_weights([MODULE])[MODULE]
    return {name: np.array(values, np.float32) for name, values in weights.items()}


def stop_algorithm(algorithm: PPO) -> None:
    """End its processes, and remove the empty folder that Ray makes for it."""
    with contextlib.suppress(ray.exceptions.RayError):
        algorithm.stop()
    with contextlib.suppress(OSError):
        Path(algorithm.logdir).rmdir()


class SeatsAnew(RLlibCallback):
    """Seats the opponents of the day in an env runner that takes the place of a lost one."""

    def on_env_runners_recreated(self, *, algorithm: Any, env_runner_group: Any, env_runner_indices: list[int], **_more: Any) -> None:
        """RLlib's hook."""
        seated = getattr(algorithm, "domino_seated", None)
        if seated is not None:
            env_runner_group.foreach_env_runner(_seat(seated), local_env_runner=False, remote_worker_ids=env_runner_indices)


def _seat(seated: Any) -> Any:
    return lambda runner: runner.seat(*ray.get(seated))


class Runners:
    """The env runners of an algorithm, as what a ``League`` seats its members in."""

    def __init__(self, algorithm: PPO) -> None:
        self._algorithm = algorithm
        self._local = algorithm.config.num_env_runners == 0

    def set_opponents(self, opponents: Sequence[Policy], weights: Sequence[float] | None = None) -> None:
        """As ``DominoVecEnv.set_opponents``; what is seated travels once to each node."""
        self._algorithm.domino_seated = ray.put((list(opponents), weights))
        self._foreach(_seat(self._algorithm.domino_seated))

    def take_results(self) -> npt.NDArray[Any]:
        """(K,) VIEW rows of the games that ended since the last call."""
        found = self._foreach(lambda runner: runner.take_results())
        return np.concatenate(found) if found else np.zeros(0, VIEW)

    def _foreach(self, do: Any) -> list[Any]:
        found: list[Any] = self._algorithm.env_runner_group.foreach_env_runner(do, local_env_runner=self._local)
        return found
