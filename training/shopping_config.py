"""What a training run on the memory game is told. Counts of decisions are words heard by the learner, its own and those of others."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from domino_env.shopping import ShoppingRules
from training.config import RunConfig
from training.config_tables import PPOKeys, Strict, check_layers

__all__ = ["ShoppingConfig", "ShoppingEvaluationConfig", "ShoppingPPOConfig"]


_OF_LSTM = {"lstm", "remembers"}


class ShoppingPPOConfig(PPOKeys):
    """PPO's keys, with the defaults that suit this game."""

    learning_rate: float = Field(default=2e-3, gt=0, description="Adam's step size at the start")
    n_steps: int = Field(default=128, ge=2, description="words of each game between two updates; memory is learnt across so many")
    batch_size: int = Field(default=1024, ge=2, description="words in a minibatch")
    n_epochs: int = Field(default=4, ge=1, description="passes over the words of an update")
    gamma: float = Field(default=0.8, gt=0, le=1, description="discount per word; what a word was worth shows at once")
    gae_lambda: float = Field(default=0.9, ge=0, le=1, description="bias against variance of the advantages")


class ShoppingEvaluationConfig(Strict):
    """How far the learner recites among perfect memories, measured while the run goes on."""

    every: int = Field(default=200_000, ge=0, description="decisions between two evaluations; 0: none")
    games: int = Field(default=500, ge=2, le=100_000, description="games of an evaluation, always with the same words")


class ShoppingConfig(RunConfig):
    """One training run on the memory game."""

    variant: Literal["shopping"] = Field(description="shopping")
    num_players: int = Field(default=3, description="2 to 8; the learner holds one seat, drawn for each game")
    num_letters: int = Field(default=26, description="letters of the alphabet, 1 to 26")
    words_per_letter: int = Field(default=4, description="words to choose among for a letter")
    theme: str | None = Field(default=None, description="null, the name of a theme, or drawn")
    word_reward: float = Field(default=0.3, description="reward for each word of the list said right; the game itself pays only at its end")
    opponents: list[str] = Field(
        default=["perfect"], min_length=1, description="specs of domino_env.shopping.load_speaker; each other seat draws one for each game"
    )
    algorithm: Literal["recurrent_ppo", "ppo"] = Field(
        default="recurrent_ppo",
        description="recurrent_ppo: RecurrentPPO of sb3-contrib, with an LSTM; ppo: SB3's PPO, which remembers nothing",
    )
    num_envs: int = Field(default=256, ge=1, le=1 << 16, description="games played at once")
    layers: list[int] = Field(default=[], description="units of the hidden layers before the LSTM or the outputs")
    lstm: int = Field(default=128, ge=1, le=1 << 14, description="units of the LSTM")
    remembers: int = Field(default=100, ge=2, le=1 << 20, description="words that units of the untrained LSTM keep what they hold, at most")
    evaluation: ShoppingEvaluationConfig = ShoppingEvaluationConfig()
    ppo: ShoppingPPOConfig = ShoppingPPOConfig()

    @field_validator("layers")
    @classmethod
    def _positive_layers(cls, value: list[int]) -> list[int]:
        return check_layers(value)

    @model_validator(mode="after")
    def _consistent(self) -> ShoppingConfig:
        self.read_rules()
        if self.algorithm == "ppo":
            for name in sorted(_OF_LSTM & self.model_fields_set):
                raise ValueError(f"{name}={getattr(self, name)}, but the algorithm is ppo, which has no LSTM")
            if not self.layers:
                raise ValueError("layers=[], but without an LSTM there is at least one hidden layer")
        rollout = self.num_envs * self.ppo.n_steps
        if self.ppo.batch_size > rollout:
            raise ValueError(f"ppo.batch_size={self.ppo.batch_size}, but an update has num_envs * n_steps = {rollout} decisions")
        if rollout % self.ppo.batch_size == 1:
            raise ValueError(f"ppo.batch_size={self.ppo.batch_size}, but it leaves 1 of the {rollout} decisions of an update alone")
        return self

    @property
    def evaluation_every(self) -> int:
        """As ``RunConfig``."""
        return self.evaluation.every

    def read_rules(self) -> ShoppingRules:
        """The rules of the run: new words are drawn, so that no convention can take the place of memory."""
        return ShoppingRules(self.num_players, self.num_letters, self.words_per_letter, self.theme, "drawn", self.word_reward)

    def whole(self) -> dict[str, Any]:
        """As ``RunConfig.whole``."""
        return self.model_dump(mode="json", exclude=_OF_LSTM if self.algorithm == "ppo" else set())
