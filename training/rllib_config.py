"""What a run on RLlib is told: the keys of any PPO run on dominoes, and a table of what the cluster gives it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from training.config import TrainingConfig
from training.config_file import load_config
from training.config_tables import Strict

__all__ = ["RayConfig", "RllibConfig", "load_rllib_config"]


class RayConfig(Strict):
    """The processes of a run."""

    num_env_runners: int = Field(default=1, ge=0, le=4096, description="processes that play; 0: the one that learns plays too")
    num_learners: int = Field(
        default=0,
        ge=0,
        le=256,
        description="processes that learn, each from its part of the decisions; 0: the one that leads the run learns",
    )
    cpus_per_env_runner: float = Field(default=1.0, ge=0, description="CPUs that a playing process asks the cluster for")
    gpus_per_learner: float = Field(default=0.0, ge=0, description="GPUs that a learning process asks the cluster for")
    max_failures: int = Field(
        default=3, ge=0, description="times that a run goes on from its last save by itself, where a process was lost that learns"
    )


_SILENT = {
    "device": "ray.gpus_per_learner says what learns",
    "dqn": "the algorithm is ppo",
}
_SILENT_PPO = {"autocast", "fused_adam"}


class RllibConfig(TrainingConfig):
    """One training run on RLlib's PPO."""

    algorithm: Literal["ppo"] = Field(default="ppo", description="ppo: RLlib's PPO")
    num_envs: int = Field(default=64, ge=1, le=1 << 16, description="games that each env runner plays at once")
    ray: RayConfig = RayConfig()

    def _check_ppo(self) -> None:
        for name, why in _SILENT.items():
            if name in self.model_fields_set:
                raise ValueError(f"{name}: {why}, so it says nothing here")
        for name in sorted(_SILENT_PPO & self.ppo.model_fields_set):
            raise ValueError(f"ppo.{name}: SB3's, so it says nothing here")
        super()._check_ppo()
        share = self.update_size // max(1, self.ray.num_learners)
        if self.ppo.batch_size > share:
            raise ValueError(
                f"ppo.batch_size={self.ppo.batch_size}, "
                f"but each of ray.num_learners={self.ray.num_learners} has {share} decisions in an update"
            )

    @property
    def update_size(self) -> int:
        """Decisions of all env runners between two updates."""
        return self.num_envs * self.ppo.n_steps * max(1, self.ray.num_env_runners)

    def whole(self) -> dict[str, Any]:
        """As ``TrainingConfig``."""
        told = super().whole()
        for name in _SILENT:
            told.pop(name, None)
        told["ppo"] = {name: value for name, value in told["ppo"].items() if name not in _SILENT_PPO}
        return told


def load_rllib_config(path: str | Path, settings: list[str] | None = None) -> RllibConfig:
    """Read a YAML file, as ``load_config``. Raises ``ConfigError``."""
    config: RllibConfig = load_config(path, settings, RllibConfig)
    return config
