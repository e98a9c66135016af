"""A whole run: from a config to a checkpoint."""

from __future__ import annotations

import shlex
from pathlib import Path

from domino_env.errors import CheckpointError
from domino_env.policies import CheckpointMeta, save_checkpoint
from training.config import ConfigError, TrainingConfig
from training.ppo import make_env, make_ppo, policy_weights
from training.progress import ProgressCallback

__all__ = ["default_output", "train"]


def default_output(config_path: Path) -> Path:
    """Where the checkpoint of a config goes: ``runs/bergen_ppo.safetensors`` for ``configs/bergen_ppo.yaml``."""
    return Path("runs") / f"{config_path.stem}.safetensors"


def train(config: TrainingConfig, output: Path, command: list[str]) -> Path:
    """Train as ``config`` says and write the checkpoint ``output``; ``command`` is kept in its header.

    Raises ``ConfigError`` before training starts if the file could not be written.
    """
    _check_writable(output)
    env = make_env(config)
    model = make_ppo(config, env)
    with ProgressCallback(config.decisions) as progress:
        model.learn(config.decisions, callback=progress)
    meta = CheckpointMeta.of(
        config.read_rules(),
        config.num_players,
        algorithm="ppo",
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
        raise CheckpointError(f"output {output}, but a checkpoint ends in .safetensors")
    probe = output.with_name(f".{output.name}.probe")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise ConfigError(f"output {output}: {error.strerror}") from None
