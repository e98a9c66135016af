"""A whole run: from a config to checkpoints, and on from where it stopped."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

from domino_env.files import replacing, write_file
from domino_env.policies import save_checkpoint
from training.callback import RunCallback, StopRun
from training.config import ConfigError, RunConfig
from training.config_file import dump_config
from training.kinds import kind_of, schema_of
from training.progress import Progress
from training.run_folder import RunFolder, check_output
from training.running import check_same, open_logger, stop_signals
from training.state_file import load_state

__all__ = ["default_folder", "export", "train"]


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
    with callback.progress, stop_signals() as stop:
        callback.stop = stop
        if resume and place.state.exists():
            state = load_state(place.state)
            check_same(_config_of(state, place.state).whole(), config.whole(), place.state)
            _restore(callback, model, state)
        else:
            place.begin()
        if model.num_timesteps >= config.decisions:
            print(f"run folder {place.path}: the run has made {model.num_timesteps:,} decisions already", file=sys.stderr)
            return
        write_file(place.config, dump_config(config))
        model.set_logger(open_logger(place, config, model.num_timesteps))
        try:
            model.learn(config.decisions - model.num_timesteps, callback, log_interval=None, reset_num_timesteps=False)
        except StopRun:
            print(f"stopped after {model.num_timesteps:,} decisions; --resume goes on from there", file=sys.stderr)
            raise KeyboardInterrupt from None
        finally:
            model.logger.close()


def _config_of(state: dict[str, Any], path: Path) -> RunConfig:
    if isinstance(state.get("config"), dict) and "ray" in state["config"]:
        raise ConfigError(
            f"state {path}: of a run of 'python -m training rllib': go on with it by that command; its checkpoints are "
            "best.safetensors and last.safetensors in the folder"
        )
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
