"""A whole run: from a config to checkpoints, and on from where it stopped."""

from __future__ import annotations

import contextlib
import itertools
import shlex
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from stable_baselines3.common.logger import Logger, configure

from domino_env.files import replacing, write_file
from domino_env.policies import save_checkpoint
from training.callback import RunCallback, StopRun
from training.config import ConfigError, RunConfig
from training.config_file import dump_config
from training.kinds import kind_of, schema_of
from training.progress import Progress
from training.run_folder import RunFolder, check_output
from training.state_file import load_state

__all__ = ["default_folder", "export", "train"]

_MAY_CHANGE = ("decisions", "device", "threads", "save_minutes", "tensorboard")
"""Keys that a resumed run may be told anew; all others would make it another run."""


def default_folder(config_path: Path) -> Path:
    """Where the run of a config goes: ``runs/bergen_ppo`` for ``configs/bergen_ppo.yaml``."""
    return Path("runs") / config_path.stem


def train(config: RunConfig, folder: Path, command: list[str], resume: bool = False, output: Path | None = None) -> Path:
    """Train as ``config`` says, in ``folder``; returns the best checkpoint. ``command`` is kept in the headers.

    With ``resume``, go on from the state in the folder; from the start where there is none. ``output``: a place for a copy of the
    best checkpoint. Ctrl-C and SIGTERM save and raise ``KeyboardInterrupt``. Raises ``ConfigError`` before training starts if the
    files could not be written, if the folder holds a run, the state is that of another config, or the weights to start from do not fit;
    ``PolicyError`` for an unknown opponent.
    """
    place = RunFolder(folder)
    kind = kind_of(config)
    env = kind.make_env(config)
    model = kind.make_model(config, env)
    if config.first_weights is not None and not (resume and place.state.exists()):
        kind.start_from(config, model)
    callback = RunCallback(config, env, place, Progress(config.decisions), shlex.join(command))
    check_output(output)
    with place.claim(resume):
        _run(config, model, callback, resume)
    best = place.best if place.best.exists() else place.last
    if output is None:
        return best
    with replacing(output) as beside:
        shutil.copyfile(best, beside)
    return output


def _run(config: RunConfig, model: Any, callback: RunCallback, resume: bool) -> None:
    place = callback.folder
    with callback.progress, _stop_signals() as stop:
        callback.stop = stop
        if resume and place.state.exists():
            state = load_state(place.state)
            _check_same(config, state, place.state)
            _restore(callback, model, state)
        else:
            place.begin()
        if model.num_timesteps >= config.decisions:
            print(f"run folder {place.path}: the run has made {model.num_timesteps:,} decisions already", file=sys.stderr)
            return
        write_file(place.config, dump_config(config))
        model.set_logger(_logger(place, config, model.num_timesteps))
        try:
            model.learn(config.decisions - model.num_timesteps, callback, log_interval=None, reset_num_timesteps=False)
        except StopRun:
            print(f"stopped after {model.num_timesteps:,} decisions; --resume goes on from there", file=sys.stderr)
            raise KeyboardInterrupt from None
        finally:
            model.logger.close()


def _logger(place: RunFolder, config: RunConfig, decisions: int) -> Logger:
    """Curves of this start; those of earlier ones stay."""
    formats = ["csv", "tensorboard"] if config.tensorboard else ["csv"]
    start = f"from_{decisions}"
    names = itertools.chain([start], (f"{start}_{number}" for number in itertools.count(2)))
    return configure(str(next(place.logs / name for name in names if not (place.logs / name).exists())), formats)


def _check_same(config: RunConfig, state: dict[str, Any], path: Path) -> None:
    before, now = (dict(_flat(one.whole())) for one in (_config_of(state, path), config))
    # keys that only one of them has follow from another that differs
    for name in sorted(before | now, key=lambda name: name not in before or name not in now):
        if name not in _MAY_CHANGE and before.get(name) != now.get(name):
            raise ConfigError(f"state {path}: its run has {name}={before.get(name)!r}, but this config says {now.get(name)!r}")


def _flat(values: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """``ppo.n_epochs`` and the like, with their values."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _config_of(state: dict[str, Any], path: Path) -> RunConfig:
    try:
        config = schema_of(state["config"]).model_validate(state["config"])
    except (KeyError, ValueError) as error:
        raise ConfigError(
            f"state {path}: damaged, or not written by a run: its config cannot be used ({' '.join(str(error).split())})"
        ) from None
    versions = kind_of(config).VERSIONS
    if state.get("versions") != versions:
        raise ConfigError(f"state {path}: of versions {state.get('versions')}, but this code has {versions}: begin the run anew")
    return config


def _restore(callback: RunCallback, model: Any, state: dict[str, Any]) -> None:
    try:
        callback.restore(model, state)
    except (KeyError, ValueError, TypeError, RuntimeError, AttributeError, IndexError) as error:
        raise ConfigError(f"state {callback.folder.state}: damaged, it does not fit its config ({' '.join(str(error).split())})") from None


@contextlib.contextmanager
def _stop_signals() -> Iterator[Callable[[], bool]]:
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


def export(folder: Path, output: Path) -> Path:
    """Make a checkpoint of a run as it was last saved. Raises ``ConfigError`` where there is none."""
    place = RunFolder(folder)
    state = load_state(place.state)
    check_output(output)
    config = _config_of(state, place.state)
    kind = kind_of(config)
    env = kind.make_env(config)
    model = kind.make_model(config, env)
    callback = RunCallback(config, env, place, Progress(config.decisions), state.get("command", ""))
    _restore(callback, model, state)
    save_checkpoint(output, kind.checkpoint_weights(model), kind.checkpoint_meta(config, model.num_timesteps, callback.command))
    return output
