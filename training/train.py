"""A whole run: from a config to a checkpoint."""

from __future__ import annotations

import os
import shlex
import sys
import zipfile
from pathlib import Path

from sb3_contrib import MaskablePPO

from domino_env.policies import CheckpointMeta, save_checkpoint
from training.config import ConfigError, TrainingConfig
from training.ppo import make_env, make_ppo, policy_weights
from training.progress import ProgressCallback

__all__ = ["default_output", "export", "train"]


def default_output(config_path: Path) -> Path:
    """Where the checkpoint of a config goes: ``runs/bergen_ppo.safetensors`` for ``configs/bergen_ppo.yaml``."""
    return Path("runs") / f"{config_path.stem}.safetensors"


def train(config: TrainingConfig, output: Path, command: list[str]) -> Path:
    """Train as ``config`` says; write the checkpoint ``output`` and SB3's zip beside it. ``command`` is kept in the header.

    Raises ``ConfigError`` before training starts if the files could not be written, ``PolicyError`` for an unknown opponent.
    """
    _check_writable(output)
    model = make_ppo(config, make_env(config))
    with ProgressCallback(config.decisions) as progress:
        try:
            model.learn(config.decisions, callback=progress)
        except KeyboardInterrupt:
            _save(config, model, output, command)
            print(f"stopped after {model.num_timesteps:,} decisions: saved {output}", file=sys.stderr)
            raise
    return _save(config, model, output, command)


def _save(config: TrainingConfig, model: MaskablePPO, output: Path, command: list[str]) -> Path:
    beside = output.with_suffix(f".{os.getpid()}.zip")
    model.save(beside)
    beside.replace(output.with_suffix(".zip"))
    return _write(config, model, output, command)


def export(config: TrainingConfig, model: Path, output: Path, command: list[str]) -> Path:
    """Make a checkpoint from the zip of one's own run of ``config``. Raises ``ConfigError`` where it is not of that config."""
    _check_writable(output)
    if not zipfile.is_zipfile(model):
        raise ConfigError(f"model {model}: " + ("no such file" if not model.exists() else "not a zip that SB3 wrote"))
    trained = make_ppo(config, make_env(config))
    try:
        trained.set_parameters(str(model), device=config.device)
    except (ValueError, RuntimeError, KeyError) as error:
        raise ConfigError(f"model {model}: not of this config ({' '.join(str(error).split())})") from None
    trained.num_timesteps = config.decisions
    return _write(config, trained, output, command)


def _write(config: TrainingConfig, model: MaskablePPO, output: Path, command: list[str]) -> Path:
    meta = CheckpointMeta.of(
        config.read_rules(),
        config.num_players,
        algorithm=config.algorithm,
        layers=config.layers,
        value_layers=[],
        activation=config.activation,
        steps_trained=model.num_timesteps,
        seed=config.seed,
        command=shlex.join(command),
    )
    save_checkpoint(output, policy_weights(model), meta)
    return output


def _check_writable(output: Path) -> None:
    if output.suffix != ".safetensors":
        raise ConfigError(f"output {output}, but a checkpoint ends in .safetensors")
    probe = output.with_name(f".{output.name}.{os.getpid()}")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise ConfigError(f"output {output}: {error.strerror}") from None
