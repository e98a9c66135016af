"""What a training run is told: one typed schema, read from YAML. Unknown or wrong keys are refused before anything starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from domino_env.errors import DominoError
from domino_env.rules import Rules
from domino_env.variants import VARIANTS, get_rules

__all__ = ["ConfigError", "PPOConfig", "TrainingConfig", "load_config"]


class ConfigError(DominoError):
    """A config cannot be used; the message names the key."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class PPOConfig(_Strict):
    """MaskablePPO of sb3-contrib; names and meaning are SB3's."""

    learning_rate: float = Field(default=1e-3, gt=0, description="Adam's step size at the start")
    final_learning_rate: float = Field(default=0.0, ge=0, description="step size at the end; it falls linearly")
    n_steps: int = Field(default=16, ge=2, description="decisions of each game between two updates")
    batch_size: int = Field(default=1024, ge=2, description="decisions in a minibatch")
    n_epochs: int = Field(default=3, ge=1, description="passes over the decisions of an update; games are cheap, so few")
    gamma: float = Field(default=1.0, gt=0, le=1, description="discount per decision; a round is short, so none")
    gae_lambda: float = Field(default=0.95, ge=0, le=1, description="bias against variance of the advantages")
    clip_range: float = Field(default=0.2, gt=0, description="largest change of a probability ratio that is rewarded")
    ent_coef: float = Field(default=0.0, ge=0, description="weight of the entropy bonus; the deals bring variety enough")
    vf_coef: float = Field(default=0.5, ge=0, description="weight of the value loss")
    max_grad_norm: float = Field(default=0.5, gt=0, description="gradients are scaled down to this norm")


class TrainingConfig(_Strict):
    """One training run."""

    variant: str = Field(description="a name of domino_env.VARIANTS")
    num_players: int = Field(default=2, ge=2, le=5, description="seats; the learner holds one, drawn for each game")
    rules: dict[str, Any] = Field(default_factory=dict, description="overrides of the variant's rules")
    episode: Literal["round", "match"] = Field(default="round", description="what a game is")
    reward: Literal["points", "win"] = Field(default="points", description="what is learnt for")
    skip_forced: bool = Field(default=True, description="positions with one legal action are played by themselves")
    opponents: list[str] = Field(
        default=["random", "greedy"], min_length=1, description="specs of domino_env.load_policy; each other seat draws one for each game"
    )
    algorithm: Literal["ppo"] = Field(default="ppo", description="MaskablePPO")
    num_envs: int = Field(default=512, ge=1, description="games played at once")
    decisions: int = Field(default=1_000_000, ge=1, description="learner's decisions in the whole run")
    layers: list[int] = Field(default=[256, 256], min_length=1, description="units of the shared hidden layers")
    activation: Literal["relu", "tanh"] = Field(default="relu", description="after each hidden layer")
    seed: int = Field(default=0, ge=0, lt=2**32, description="of games, weights and minibatches")
    device: str = Field(default="auto", description="torch device: auto, cpu, cuda, ...")
    threads: int = Field(default=1, ge=1, description="torch threads; more than one gain little here and stall when the machine is busy")
    ppo: PPOConfig = PPOConfig()

    @field_validator("variant")
    @classmethod
    def _known_variant(cls, value: str) -> str:
        get_rules(value)
        return value

    @field_validator("layers")
    @classmethod
    def _positive_layers(cls, value: list[int]) -> list[int]:
        if min(value) < 1:
            raise ValueError(f"layers={value}, but every layer has at least one unit")
        return value

    @model_validator(mode="after")
    def _playable(self) -> TrainingConfig:
        self.read_rules().check_players(self.num_players)
        rollout = self.num_envs * self.ppo.n_steps
        if self.ppo.batch_size > rollout:
            raise ValueError(f"ppo.batch_size={self.ppo.batch_size}, but an update has num_envs * n_steps = {rollout} decisions")
        return self

    def read_rules(self) -> Rules:
        """The rules of the run."""
        return Rules.from_overrides(VARIANTS[self.variant], self.rules)


def load_config(path: str | Path, settings: list[str] | None = None) -> TrainingConfig:
    """Read a YAML file; ``settings`` are ``key=value`` texts (``ppo.n_epochs=4``) that replace what it says. Raises ``ConfigError``."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        values = yaml.safe_load(text)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"config {path}: {' '.join(str(error).split())}") from None
    if not isinstance(values, dict):
        raise ConfigError(f"config {path}: {type(values).__name__}, but a config is a table of keys")
    for setting in settings or []:
        _apply(values, setting)
    try:
        return TrainingConfig.model_validate(values)
    except ValidationError as error:
        raise ConfigError(f"config {path}: {_in_one_line(error)}") from None


def _apply(values: dict[str, Any], setting: str) -> None:
    key, sign, text = setting.partition("=")
    if not sign or not key:
        raise ConfigError(f"--set {setting!r}, but it is key=value, such as ppo.n_epochs=4")
    *tables, name = key.split(".")
    for table in tables:
        values = values.setdefault(table, {})
        if not isinstance(values, dict):
            raise ConfigError(f"--set {setting!r}, but {table} holds no keys of its own")
    try:
        values[name] = yaml.safe_load(text)
    except yaml.YAMLError:
        raise ConfigError(f"--set {setting!r}, but {text!r} is no YAML value") from None


def _in_one_line(error: ValidationError) -> str:
    faults = []
    for fault in error.errors():
        key = ".".join(map(str, fault["loc"]))
        message = fault["msg"].removeprefix("Value error, ")
        shown = f" (got {fault['input']!r})" if fault["type"] not in ("value_error", "missing") else ""
        faults.append(f"{key}: {message}{shown}" if key else message)
    return "; ".join(faults)
