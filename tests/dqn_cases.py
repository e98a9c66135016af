"""Small DQN models, and transitions made up for their buffers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from stable_baselines3.common.logger import Logger

from domino_env.envs.sb3 import DominoVecEnv
from training.dqn import MaskedDQN
from training.network import as_arrays

Floats = npt.NDArray[Any]
LAYERS = [24, 16]


def make_env(variant: str = "bergen", num_envs: int = 4, seed: int = 0, **kwargs: Any) -> DominoVecEnv:
    return DominoVecEnv(variant, num_envs, seed=seed, **{"mask_in_observation": True, "skip_forced": True, **kwargs})


def make_model(env: DominoVecEnv | None = None, **kwargs: Any) -> MaskedDQN:
    """A model with two small layers, seed 0; it learns from the 8th step of its games on, its target network follows every 10th."""
    torch.set_num_threads(1)
    env = make_env() if env is None else env
    policy_kwargs = {"features_extractor_kwargs": {"layers": LAYERS, "activation": "relu"}}
    steps = {"buffer_size": 64, "learning_starts": 8, "target_update_interval": 10}
    settings: dict[str, Any] = {name: count * env.num_envs for name, count in steps.items()}
    settings |= {"batch_size": 32, "train_freq": 1, "gamma": 0.9, "exploration_fraction": 0.7, "seed": 0, **kwargs}
    model = MaskedDQN("MlpPolicy", env, policy_kwargs=policy_kwargs, **settings)
    model.set_logger(Logger(None, []))
    return model


def observations(model: MaskedDQN, count: int, generator: np.random.Generator, forbidden: int = -1) -> Floats:
    """(count, D + A) float32: random numbers, then masks with some legal actions each; ``forbidden`` is none of them."""
    width, actions = model.observation_space.shape[0], int(model.action_space.n)
    masks = generator.random((count, actions)) < 0.1
    masks[np.arange(count), generator.integers(0, actions, count)] = True
    if forbidden >= 0:
        masks[:, (forbidden + 1) % actions] |= masks[:, forbidden]
        masks[:, forbidden] = False
    return np.concatenate([generator.normal(size=(count, width - actions)), masks], axis=1).astype(np.float32)


def fill(model: MaskedDQN, seed: int, steps: int = 20, forbidden: int = -1, done: float = 0.3, legal_next: int = -1) -> None:
    """Put ``steps`` made-up steps of all games into the buffer. ``forbidden`` is an action legal nowhere, and never taken.

    ``legal_next`` is legal in every observation that follows, whatever ``forbidden`` says. A finished game is followed by no legal action.
    """
    generator = np.random.default_rng(seed)
    games, actions = model.n_envs, int(model.action_space.n)
    seen = observations(model, games, generator, forbidden)
    for _ in range(steps):
        taken = np.array([generator.choice(np.flatnonzero(row[-actions:])) for row in seen])
        following = observations(model, games, generator, forbidden)
        dones = generator.random(games) < done
        stored = following.copy()
        if legal_next >= 0:
            stored[:, legal_next - actions] = 1.0
        stored[dones, -actions:] = 0.0
        model.replay_buffer.add(seen, stored, taken, generator.normal(size=games), dones, [{} for _ in range(games)])
        seen = following


def values(network: Any, seen: Floats) -> Floats:
    """(N, A) float64 by hand, in numpy: what the layers of ``network`` say, and -inf where the mask is 0."""
    arrays = {name: array.astype(np.float64) for name, array in as_arrays(network.features_extractor, {"q": network.q_net[0]}).items()}
    hidden = seen[:, : network.features_extractor.size].astype(np.float64)
    for number in range(len(LAYERS)):
        hidden = np.maximum(hidden @ arrays[f"layers.{number}.weight"].T + arrays[f"layers.{number}.bias"], 0.0)
    q = hidden @ arrays["q.weight"].T + arrays["q.bias"]
    return np.where(seen[:, -q.shape[1] :] > 0.5, q, -np.inf)


def weights(model: MaskedDQN) -> dict[str, Floats]:
    """Every weight of both networks."""
    return {name: tensor.detach().numpy().copy() for name, tensor in model.policy.state_dict().items()}
