"""Replay buffers of half the size, and their whole content as plain arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from stable_baselines3.common.buffers import NStepReplayBuffer, ReplayBuffer

from domino_env.errors import OptionsError

__all__ = ["CompactNStepReplayBuffer", "CompactReplayBuffer", "buffer_arrays", "restore_buffer"]

Arrays = dict[str, npt.NDArray[Any]]
_COLUMNS = ("observations", "next_observations", "actions", "rewards", "dones", "timeouts")


class CompactReplayBuffer(ReplayBuffer):
    """SB3's buffer with observations kept as float16, sampled as float32: 0 and 1 stay exact, fractions are rounded to 3 digits."""

    def __init__(self, buffer_size: int, observation_space: spaces.Box, *args: Any, **kwargs: Any) -> None:
        low, high = (bound.astype(np.float16) for bound in (observation_space.low, observation_space.high))
        super().__init__(buffer_size, spaces.Box(low, high, dtype=np.float16), *args, **kwargs)
        self.observation_space = observation_space

    def add(
        self,
        obs: npt.NDArray[Any],
        next_obs: npt.NDArray[Any],
        action: npt.NDArray[Any],
        reward: npt.NDArray[Any],
        done: npt.NDArray[Any],
        infos: list[dict[str, Any]],
    ) -> None:
        """Keep one step of all environments: observations (N, D), the rest (N,)."""
        super().add(_halved(obs), _halved(next_obs), action, reward, done, infos)

    def to_torch(self, array: npt.NDArray[Any], copy: bool = True) -> torch.Tensor:
        """A tensor of ``array``, float32 for float16."""
        if array.dtype != np.float16:
            return super().to_torch(array, copy)
        return super().to_torch(array, copy=False).float()


class CompactNStepReplayBuffer(CompactReplayBuffer, NStepReplayBuffer):
    """The same for n-step returns: arguments ``n_steps`` and ``gamma`` of SB3's buffer."""


def _halved(observations: npt.NDArray[Any]) -> npt.NDArray[Any]:
    # torch uses the processor's own conversion, which is twenty times as fast as numpy's
    return torch.as_tensor(observations).to(torch.float16).numpy()


def buffer_arrays(buffer: ReplayBuffer) -> Arrays:
    """All that ``restore_buffer`` needs: the filled part of every column (S, N, ...), ``pos`` () int64 and ``full`` () bool.

    The columns are views of the buffer: write them out, or copy them, before the next step. ``OptionsError`` for a buffer with
    ``optimize_memory_usage``.
    """
    _check_kind(buffer)
    columns = {name: getattr(buffer, name)[: buffer.size()] for name in _COLUMNS}
    return {**columns, "pos": np.array(buffer.pos, np.int64), "full": np.array(buffer.full, np.bool_)}


def restore_buffer(buffer: ReplayBuffer, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Fill ``buffer`` with what ``buffer_arrays`` gave for one of the same size. Raises ``OptionsError`` where it does not fit."""
    _check_kind(buffer)
    missing = [name for name in (*_COLUMNS, "pos", "full") if name not in arrays]
    if missing:
        raise OptionsError(f"replay buffer without {missing}: it holds {sorted(arrays)}")
    pos, full = int(arrays["pos"]), bool(arrays["full"])
    if not 0 <= pos < buffer.buffer_size:
        raise OptionsError(f"replay buffer at row {pos}, but this one has {buffer.buffer_size} rows")
    filled = buffer.buffer_size if full else pos
    for name in _COLUMNS:
        got, kept = arrays[name], getattr(buffer, name)
        wanted = (filled, *kept.shape[1:])
        if got.shape != wanted or got.dtype != kept.dtype:
            raise OptionsError(f"replay buffer: {name} is {got.dtype} {got.shape}, but this one keeps {kept.dtype} {wanted}")
    for name in _COLUMNS:
        getattr(buffer, name)[:filled] = arrays[name]
    buffer.pos, buffer.full = pos, full


def _check_kind(buffer: ReplayBuffer) -> None:
    if buffer.optimize_memory_usage:
        raise OptionsError("optimize_memory_usage=True, but only a buffer that keeps the next observations can be written out")
