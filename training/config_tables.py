"""The tables of a config: what the algorithms, self-play and the evaluation are told. ``config`` holds the whole."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

__all__ = ["DQNConfig", "EvaluationConfig", "PPOConfig", "PPOKeys", "SelfPlayConfig", "Strict", "check_layers"]

_WIDEST = 1 << 16
"""Units of a layer at most."""


class Strict(BaseModel):
    """A table of keys that refuses unknown ones and wrong kinds of value."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _yes_is_no_number(cls, value: Any, info: ValidationInfo) -> Any:
        """YAML reads ``yes`` as true, which Python takes for 1."""
        kind = cls.model_fields[info.field_name or ""].annotation
        if kind in (int, float) and isinstance(value, bool):
            raise ValueError(f"{value}, but it is a number")
        return value


def check_layers(value: list[int]) -> list[int]:
    """Units of hidden layers. ``ValueError`` for a layer of none, or of too many."""
    if value and (min(value) < 1 or max(value) > _WIDEST):
        raise ValueError(f"layers={value}, but every layer has at least one unit and at most {_WIDEST}")
    return value


class PPOKeys(Strict):
    """What every PPO is told; names and meaning are SB3's."""

    learning_rate: float = Field(default=1e-3, gt=0, description="Adam's step size at the start")
    final_learning_rate: float = Field(default=0.0, ge=0, description="step size at the end; it falls linearly")
    n_steps: int = Field(default=16, ge=2, description="decisions of each game between two updates")
    batch_size: int = Field(default=512, ge=2, description="decisions in a minibatch; many small steps learn faster than few large ones")
    n_epochs: int = Field(default=2, ge=1, description="passes over the decisions of an update; games are cheap, so few")
    gamma: float = Field(default=1.0, gt=0, le=1, description="discount per decision; a round is short, so none")
    gae_lambda: float = Field(default=0.95, ge=0, le=1, description="bias against variance of the advantages")
    clip_range: float = Field(default=0.2, gt=0, description="largest change of a probability ratio that is rewarded")
    ent_coef: float = Field(default=0.0, ge=0, description="weight of the entropy bonus; the deals bring variety enough")
    vf_coef: float = Field(default=0.5, ge=0, description="weight of the value loss")
    max_grad_norm: float = Field(default=0.5, gt=0, description="gradients are scaled down to this norm")


class PPOConfig(PPOKeys):
    """MaskablePPO of sb3-contrib."""

    every_seat: bool = Field(
        default=False, description="two-sided self-play: the network plays every seat and learns from every decision; no opponents"
    )
    autocast: Literal["none", "bfloat16"] = Field(
        default="none", description="number type of the trunk; bfloat16 is faster where the processor has instructions for it"
    )
    fused_adam: bool = Field(default=True, description="Adam's step in one kernel")


class DQNConfig(Strict):
    """SB3's DQN with masks; names and meaning are SB3's where it has them."""

    learning_rate: float = Field(default=2.5e-3, gt=0, description="Adam's step size at the start")
    final_learning_rate: float = Field(default=0.0, ge=0, description="step size at the end; it falls linearly")
    buffer_size: int = Field(default=200_000, ge=1, description="decisions that the replay buffer keeps")
    learning_starts: int = Field(default=10_000, ge=0, description="decisions made at random before learning starts")
    batch_size: int = Field(default=1024, ge=1, description="decisions in a minibatch")
    train_freq: int = Field(default=1, ge=1, description="decisions of each game between two updates")
    gradient_steps: int = Field(default=1, ge=1, description="minibatches of an update")
    target_update_interval: int = Field(
        default=512, ge=1, description="decisions between two updates of the target network, not fewer than num_envs"
    )
    tau: float = Field(default=0.02, gt=0, le=1, description="how far the target network then goes towards the network")
    gamma: float = Field(default=1.0, gt=0, le=1, description="discount per decision; a round is short, so none")
    n_steps: int = Field(default=1, ge=1, description="decisions whose rewards are summed before the target takes over")
    exploration_fraction: float = Field(default=0.2, gt=0, le=1, description="part of the run in which epsilon falls")
    exploration_initial_eps: float = Field(default=1.0, ge=0, le=1, description="share of random legal actions at the start")
    exploration_final_eps: float = Field(default=0.05, ge=0, le=1, description="share of random legal actions later on")
    max_grad_norm: float = Field(default=10.0, gt=0, description="gradients are scaled down to this norm")
    double_q: bool = Field(default=True, description="the network chooses the next action, the target network values it")


class SelfPlayConfig(Strict):
    """Earlier selves as opponents."""

    every: int = Field(default=0, ge=0, description="decisions between two snapshots that join the opponents; 0: none do")
    keep: int = Field(default=8, ge=1, le=64, description="snapshots at most; then a new one takes the place of the oldest")
    share: float = Field(default=0.5, gt=0, le=1, description="share of the other seats that snapshots hold, once there are any")
    rule: Literal["uniform", "latest", "weighted"] = Field(
        default="uniform",
        description="which: all alike; the newest alone; weighted: more often those that the learner loses to, fixed ones included",
    )


class EvaluationConfig(Strict):
    """Duplicate deals against fixed anchors while the run goes on."""

    every: int = Field(default=100_000, ge=0, description="decisions between two evaluations; 0: none")
    deals: int = Field(default=1000, ge=2, lt=2**32, description="deals against each anchor, each in every seating")
    anchors: list[str] = Field(
        default=["random", "greedy", "first"], min_length=1, description="specs of load_policy; first: the learner at the first evaluation"
    )
    best_by: str = Field(default="greedy", description="the anchor against which most points make the best checkpoint")
