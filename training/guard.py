"""What every run asks of torch, SB3 and the memory before it starts: one clear line where they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import torch

from domino_env.errors import DominoError
from training.config import ConfigError, RunConfig

__all__ = ["guarded_env", "guarded_model"]

T = TypeVar("T")


def guarded_env(num_envs: int, make: Callable[[], T]) -> T:
    """What ``make`` makes. ``ConfigError`` where the games do not fit into the memory."""
    try:
        return make()
    except MemoryError as error:
        raise ConfigError(f"num_envs={num_envs}: not enough memory ({error})") from None


def guarded_model(config: RunConfig, make: Callable[[], T]) -> T:
    """What ``make`` makes, under the threads of the config. ``ConfigError`` for a device that torch does not have, or what SB3 refuses."""
    # the distributions check every probability again on every call: a tenth of the whole time
    torch.distributions.Distribution.set_default_validate_args(False)
    _check_device(config.device)
    try:
        torch.set_num_threads(config.threads)
        return make()
    except DominoError:
        raise
    except (RuntimeError, AssertionError, ValueError, MemoryError, OverflowError) as error:
        raise ConfigError(f"config: SB3 or torch refuse it: {' '.join(str(error).split())}") from None


def _check_device(device: str) -> None:
    """``ConfigError`` unless numbers can be sent there and back; SB3 would take the processor for a GPU that is not there."""
    if device == "auto":
        return
    try:
        torch.zeros(1, device=device).cpu()
    except (RuntimeError, AssertionError, ImportError) as error:
        raise ConfigError(f"device={device!r}: torch cannot use it here ({' '.join(str(error).split())})") from None
