"""What runs of every kind share: stopping when asked, curves, and whether a saved state is that of the config."""

from __future__ import annotations

import contextlib
import itertools
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from stable_baselines3.common.logger import Logger, configure

from training.config import ConfigError, RunConfig
from training.run_folder import RunFolder

__all__ = ["check_same", "open_logger", "stop_signals"]

_MAY_CHANGE = ("decisions", "device", "threads", "save_minutes", "tensorboard")
"""Keys that a resumed run may be told anew, beside the table ``ray``; all others would make it another run."""


def check_same(before: dict[str, Any], now: dict[str, Any], path: Path) -> None:
    """Raise ``ConfigError`` where the whole config ``before``, kept in the state ``path``, is that of another run than ``now``."""
    old, new = dict(_flat(before)), dict(_flat(now))
    # keys that only one of them has follow from another that differs
    for name in sorted(old | new, key=lambda name: (name not in old or name not in new, name)):
        if name not in _MAY_CHANGE and not name.startswith("ray.") and old.get(name) != new.get(name):
            raise ConfigError(f"state {path}: its run has {name}={old.get(name)!r}, but this config says {new.get(name)!r}")


def _flat(values: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """``ppo.n_epochs`` and the like, with their values."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def open_logger(place: RunFolder, config: RunConfig, decisions: int) -> Logger:
    """Curves of this start; those of earlier ones stay."""
    formats = ["csv", "tensorboard"] if config.tensorboard else ["csv"]
    start = f"from_{decisions}"
    names = itertools.chain([start], (f"{start}_{number}" for number in itertools.count(2)))
    return configure(str(next(place.logs / name for name in names if not (place.logs / name).exists())), formats)


@contextlib.contextmanager
def stop_signals() -> Iterator[Callable[[], bool]]:
    """Whether the run was asked to stop, by Ctrl-C or SIGTERM; a second Ctrl-C stops it at once."""
    asked: list[int] = []

    def ask(number: int, _frame: FrameType | None) -> None:
        if asked and number == signal.SIGINT:
            raise KeyboardInterrupt
        asked.append(number)
        print("stopping after this update; Ctrl-C again stops at once and loses what is not saved", file=sys.stderr)

    try:
        before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not the main thread: nobody sends it signals
        yield lambda: False
        return
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
