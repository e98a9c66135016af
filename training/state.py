"""All that a run needs to go on as if it had never stopped: weights, optimiser, generators, counters, games and buffers."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.base_class import BaseAlgorithm

__all__ = ["get_model_state", "set_model_state"]

# SB3's own counters; the last two are DQN's
_COUNTERS = ("num_timesteps", "_n_updates", "_episode_num", "_current_progress_remaining", "_n_calls", "exploration_rate")


def get_model_state(model: BaseAlgorithm, env: Any, kind: Any) -> dict[str, Any]:
    """Numbers and arrays of a run of that ``kind``, for ``state_file``. Taken between two updates."""
    return {
        "policy": model.policy.state_dict(),
        "optimizer": model.policy.optimizer.state_dict(),
        "counters": {name: getattr(model, name) for name in _COUNTERS if hasattr(model, name)},
        "episodes": list(model.ep_info_buffer or ()),
        "episode_starts": model._last_episode_starts,
        "buffer": kind.buffer_state(model),
        "games": env.get_state(),
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        "numpy": np.random.get_state(),  # noqa: NPY002 -- SB3 draws from this one
    }


def set_model_state(model: BaseAlgorithm, env: Any, kind: Any, state: Mapping[str, Any]) -> None:
    """Put a model and games that are newly made from the same config where they were."""
    model.policy.load_state_dict({name: torch.from_numpy(array) for name, array in state["policy"].items()})
    model.policy.optimizer.load_state_dict(_optimizer_state(state["optimizer"]))
    for name, value in state["counters"].items():
        setattr(model, name, value)
    model.ep_info_buffer = deque(state["episodes"], maxlen=model._stats_window_size)
    model.ep_success_buffer = deque(maxlen=model._stats_window_size)
    model._last_obs = env.set_state(state["games"])
    model._last_episode_starts = state["episode_starts"]
    kind.set_buffer_state(model, state["buffer"])
    _set_generators(state)


def _optimizer_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """As torch wants it: keys of parameters are numbers, values tensors."""
    kept = {
        int(key): {name: torch.from_numpy(value) if isinstance(value, np.ndarray) else value for name, value in moments.items()}
        for key, moments in state["state"].items()
    }
    return {"state": kept, "param_groups": state["param_groups"]}


def _set_generators(state: Mapping[str, Any]) -> None:
    torch.set_rng_state(torch.from_numpy(state["torch"]))
    if state["cuda"] and torch.cuda.is_available():
        torch.cuda.set_rng_state_all([torch.from_numpy(array) for array in state["cuda"]])
    name, keys, *rest = state["numpy"]
    np.random.set_state((name, keys, *rest))  # noqa: NPY002 -- SB3 draws from this one
