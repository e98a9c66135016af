"""PPO: sb3-contrib's MaskablePPO on the native ``DominoVecEnv``, with one shared trunk of hidden layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

from domino_env.envs.sb3 import DominoVecEnv
from training.config import TrainingConfig

__all__ = ["ACTIVATIONS", "Trunk", "make_env", "make_ppo"]

ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh}


class Trunk(BaseFeaturesExtractor):
    """Hidden layers shared by logits and value: half the work of SB3's two separate networks."""

    def __init__(self, observation_space: gymnasium.spaces.Box, layers: list[int], activation: str) -> None:
        super().__init__(observation_space, layers[-1])
        sizes = [observation_space.shape[0], *layers]
        parts: list[nn.Module] = []
        for inputs, outputs in zip(sizes, layers, strict=False):
            linear = nn.Linear(inputs, outputs)
            nn.init.orthogonal_(linear.weight, gain=nn.init.calculate_gain(activation))  # type: ignore[arg-type]
            nn.init.zeros_(linear.bias)
            parts += [linear, ACTIVATIONS[activation]()]
        self.net = nn.Sequential(*parts)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """(B, D) to (B, units of the last layer)."""
        return self.net(observations)  # type: ignore[no-any-return]


def make_env(config: TrainingConfig) -> DominoVecEnv:
    """The games of a run."""
    return DominoVecEnv(
        config.variant,
        num_envs=config.num_envs,
        seed=config.seed,
        opponents=config.opponents,
        num_players=config.num_players,
        episode=config.episode,
        reward=config.reward,
        rules=config.read_rules(),
        skip_forced=config.skip_forced,
    )


def make_ppo(config: TrainingConfig, env: DominoVecEnv) -> MaskablePPO:
    """The learner of a run, with untrained weights."""
    torch.set_num_threads(config.threads)
    # the distributions check every probability again on every call: a tenth of the whole time
    torch.distributions.Distribution.set_default_validate_args(False)
    ppo = config.ppo
    return MaskablePPO(
        "MlpPolicy",
        env,
        learning_rate=_linear(ppo.learning_rate, ppo.final_learning_rate),
        n_steps=ppo.n_steps,
        batch_size=ppo.batch_size,
        n_epochs=ppo.n_epochs,
        gamma=ppo.gamma,
        gae_lambda=ppo.gae_lambda,
        clip_range=ppo.clip_range,
        ent_coef=ppo.ent_coef,
        vf_coef=ppo.vf_coef,
        max_grad_norm=ppo.max_grad_norm,
        seed=config.seed,
        stats_window_size=2_000,  # a return varies so much that fewer games would only show noise
        device=config.device,
        policy_kwargs={
            "features_extractor_class": Trunk,
            "features_extractor_kwargs": {"layers": config.layers, "activation": config.activation},
            "net_arch": [],
        },
    )


def _linear(start: float, end: float) -> Callable[[float], float]:
    def rate(remaining: float) -> float:
        return end + (start - end) * remaining

    return rate


def policy_weights(model: MaskablePPO) -> dict[str, Any]:
    """The trained network as the arrays of a checkpoint: name -> float32 array."""
    policy = model.policy
    weights: dict[str, Any] = {}
    linears = [part for part in policy.features_extractor.net if isinstance(part, nn.Linear)]
    named = [*((f"layers.{i}", part) for i, part in enumerate(linears)), ("logits", policy.action_net), ("value", policy.value_net)]
    for name, part in named:
        weights[f"{name}.weight"] = part.weight.detach().cpu().numpy()
        weights[f"{name}.bias"] = part.bias.detach().cpu().numpy()
    return weights
