"""What a training run is told: one typed schema. Unknown or wrong keys are refused before anything starts.

``config_file`` reads it from YAML. Counts of decisions are those of the learner; with ``ppo.every_seat``, of all seats.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from domino_env.errors import DominoError
from domino_env.rules import Rules
from domino_env.variants import VARIANTS, get_rules
from training.config_tables import DQNConfig, EvaluationConfig, PPOConfig, SelfPlayConfig, Strict, check_layers

__all__ = ["ConfigError", "RunConfig", "TrainingConfig"]


class ConfigError(DominoError):
    """A config, or what was saved of a run, cannot be used; the message names the key or the file."""


class RunConfig(Strict):
    """What every run is told, whatever it trains. Each kind has ``variant``, ``num_players`` and ``algorithm`` too."""

    decisions: int = Field(default=1_000_000, ge=1, description="decisions in the whole run; the last update may exceed it")
    activation: Literal["relu", "tanh"] = Field(default="relu", description="after each hidden layer")
    seed: int = Field(default=0, ge=0, lt=2**31, description="of games, weights and minibatches")
    device: str = Field(default="auto", description="torch device: auto, cpu, cuda, ...")
    threads: int = Field(
        default=1, ge=1, le=1024, description="torch threads; more than one gain little here and stall when the machine is busy"
    )
    save_minutes: float = Field(default=1.0, ge=0, description="minutes between two saves of all that resuming needs; 0: every update")
    tensorboard: bool = Field(default=True, description="write curves for TensorBoard")

    @property
    def has_opponents(self) -> bool:
        """Whether opponents join and leave while the run goes on."""
        return False

    @property
    def first_weights(self) -> str | None:
        """Spec of the checkpoint that the network starts from; None: it starts untrained."""
        return None

    @property
    def evaluation_every(self) -> int:
        """Decisions between two evaluations; 0: none."""
        return 0

    @property
    def snapshot_every(self) -> int:
        """Decisions between two snapshots that join the opponents; 0: none do."""
        return 0

    def whole(self) -> dict[str, Any]:
        """All keys that say something, those left out with their defaults, as JSON values that ``model_validate`` takes."""
        return self.model_dump(mode="json")


class TrainingConfig(RunConfig):
    """One training run on dominoes."""

    variant: str = Field(description="a name of domino_env.VARIANTS")
    num_players: int = Field(default=2, ge=2, le=5, description="seats; the learner holds one, drawn for each game")
    rules: dict[str, Any] = Field(default_factory=dict, description="overrides of the variant's rules")
    episode: Literal["round", "match"] = Field(default="round", description="what a game is")
    reward: Literal["points", "win"] = Field(default="points", description="what is learnt for")
    skip_forced: bool = Field(default=True, description="positions with one legal action are played by themselves")
    opponents: list[str] = Field(
        default=["random", "greedy"], min_length=1, description="specs of domino_env.load_policy; each other seat draws one for each game"
    )
    self_play: SelfPlayConfig = SelfPlayConfig()
    algorithm: Literal["ppo", "dqn"] = Field(default="ppo", description="ppo: MaskablePPO; dqn: SB3's DQN with masks")
    num_envs: int = Field(default=512, ge=1, le=1 << 20, description="games played at once")
    layers: list[int] = Field(default=[256, 256], min_length=1, description="units of the hidden layers")
    residual: bool = Field(default=False, description="a layer as wide as the one before it adds its input to its output")
    start_from: str | None = Field(
        default=None, description="checkpoint of the same game, algorithm and layers whose weights the network starts from"
    )
    evaluation: EvaluationConfig = EvaluationConfig()
    ppo: PPOConfig = PPOConfig()
    dqn: DQNConfig = DQNConfig()

    @field_validator("variant")
    @classmethod
    def _known_variant(cls, value: str) -> str:
        get_rules(value)
        return value

    @field_validator("layers")
    @classmethod
    def _positive_layers(cls, value: list[int]) -> list[int]:
        return check_layers(value)

    @model_validator(mode="after")
    def _consistent(self) -> TrainingConfig:
        self.read_rules().check_players(self.num_players)
        other = "dqn" if self.algorithm == "ppo" else "ppo"
        if other in self.model_fields_set:
            raise ValueError(f"{other}: the algorithm is {self.algorithm}, so its keys say nothing")
        if self.evaluation.best_by not in self.evaluation.anchors:
            raise ValueError(f"evaluation.best_by={self.evaluation.best_by!r}, but the anchors are {self.evaluation.anchors}")
        if self.algorithm == "ppo":
            self._check_ppo()
        else:
            self._check_dqn()
        return self

    def _check_ppo(self) -> None:
        rollout = self.update_size
        if self.ppo.batch_size > rollout:
            raise ValueError(f"ppo.batch_size={self.ppo.batch_size}, but an update has num_envs * n_steps = {rollout} decisions")
        if not self.has_opponents:
            why = "but with ppo.every_seat the network holds every seat: set that to false"
            if "opponents" in self.model_fields_set:
                raise ValueError(f"opponents={self.opponents}, {why}")
            if self.self_play.every:
                raise ValueError(f"self_play.every={self.self_play.every}, {why}")
        elif rollout % self.ppo.batch_size == 1:
            # advantages are measured by their spread in the minibatch, and one alone has none
            raise ValueError(f"ppo.batch_size={self.ppo.batch_size}, but it leaves 1 of the {rollout} decisions of an update alone")

    def _check_dqn(self) -> None:
        for name in ("buffer_size", "target_update_interval"):
            if getattr(self.dqn, name) < self.num_envs:
                raise ValueError(f"dqn.{name}={getattr(self.dqn, name)}, but num_envs={self.num_envs} decisions come at once")
        if self.dqn.learning_starts >= self.decisions:
            raise ValueError(f"dqn.learning_starts={self.dqn.learning_starts}, but the whole run has decisions={self.decisions}")

    @property
    def update_size(self) -> int:
        """Decisions between two updates of PPO."""
        return self.num_envs * self.ppo.n_steps

    @property
    def has_opponents(self) -> bool:
        """Whether anybody but the network plays; in two-sided self-play nobody does."""
        return not (self.algorithm == "ppo" and self.ppo.every_seat)

    @property
    def first_weights(self) -> str | None:
        """As ``RunConfig``."""
        return self.start_from

    @property
    def evaluation_every(self) -> int:
        """As ``RunConfig``."""
        return self.evaluation.every

    @property
    def snapshot_every(self) -> int:
        """As ``RunConfig``."""
        return self.self_play.every

    def whole(self) -> dict[str, Any]:
        """All keys that say something, those left out with their defaults, as JSON values that ``model_validate`` takes."""
        silent = {"dqn" if self.algorithm == "ppo" else "ppo"}
        if not self.has_opponents:
            silent.add("opponents")
        return self.model_dump(mode="json", exclude=silent)

    def read_rules(self) -> Rules:
        """The rules of the run."""
        return Rules.from_overrides(VARIANTS[self.variant], self.rules)
