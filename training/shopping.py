"""Runs on the memory game: games, learner, checkpoint and evaluation of a ``ShoppingConfig``. See ``kinds``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sb3_contrib import RecurrentPPO
from sb3_contrib.common.recurrent.type_aliases import RNNStates
from stable_baselines3 import PPO
from stable_baselines3.common.base_class import BaseAlgorithm

from domino_env.shopping.checkpoint import ShoppingCheckpoint, ShoppingMeta, load_shopping_checkpoint
from domino_env.shopping.encoding import SHOPPING_ENCODING_VERSION
from domino_env.shopping.learned import LearnedSpeaker
from domino_env.shopping.sb3 import ShoppingVecEnv
from domino_env.shopping.survival import measure_survival
from training.guard import guarded_env, guarded_model
from training.network import Trunk, as_arrays, linear_schedule
from training.shopping_config import ShoppingConfig

__all__ = [
    "ShoppingEvaluator",
    "buffer_state",
    "checkpoint_meta",
    "checkpoint_weights",
    "make_env",
    "make_evaluator",
    "make_model",
    "set_buffer_state",
]

VERSIONS = {"state": 1, "observation": SHOPPING_ENCODING_VERSION}
"""What a state must agree in with the code that goes on from it."""

LETTERS = (2, 4, 8, 13, 20, 26)
"""Numbers of letters with which shipped agents are measured."""
GAMES = 2_000
SEED = 1
"""Games of each measurement, and the seed of the first."""

# games that no training game is: a run of seed s has those from s << 32 on, and s is smaller
_EVALUATION_SEED = 2**63


def make_env(config: ShoppingConfig) -> ShoppingVecEnv:
    """The games of a run. ``ConfigError`` where they do not fit into the memory."""
    seed = config.seed << 32  # games of other seeds are other games
    game = {"seed": seed, "opponents": config.opponents, **config.read_rules().to_json()}
    return guarded_env(config.num_envs, lambda: ShoppingVecEnv(config.num_envs, **game))


def make_model(config: ShoppingConfig, env: ShoppingVecEnv) -> BaseAlgorithm:
    """The learner with untrained weights. ``ConfigError`` for a device that torch does not have."""
    return guarded_model(config, lambda: _make(config, env))


def _make(config: ShoppingConfig, env: ShoppingVecEnv) -> BaseAlgorithm:
    ppo = config.ppo
    recurrent = config.algorithm == "recurrent_ppo"
    kwargs: dict[str, Any] = {"net_arch": [], "optimizer_kwargs": {"eps": 1e-5}}
    if config.layers:
        kwargs["features_extractor_class"] = Trunk
        kwargs["features_extractor_kwargs"] = {"layers": config.layers, "activation": config.activation}
    if recurrent:
        # one memory for both heads: half the work of two
        kwargs.update(lstm_hidden_size=config.lstm, shared_lstm=True, enable_critic_lstm=False)
    model = (RecurrentPPO if recurrent else PPO)(
        "MlpLstmPolicy" if recurrent else "MlpPolicy",
        env,
        learning_rate=linear_schedule(ppo.learning_rate, ppo.final_learning_rate),
        **ppo.model_dump(exclude={"learning_rate", "final_learning_rate"}),
        seed=config.seed,
        device=config.device,
        stats_window_size=2_000,
        policy_kwargs=kwargs,
    )
    if recurrent:
        policy: Any = model.policy
        _open_to_the_past(policy.lstm_actor, config.remembers)
    return model


def _open_to_the_past(lstm: torch.nn.LSTM, words: int) -> None:
    """Let the units of an untrained memory keep what they hold for 1 to ``words`` words: biases of the forget gate as in the chrono
    initialisation (Tallec and Ollivier 2018). With torch's own, half is forgotten at every word, and learning has little to hold on to.
    """
    units = lstm.hidden_size
    bias: Any = lstm.bias_ih_l0
    with torch.no_grad():
        bias[units : 2 * units] = torch.log(torch.empty(units).uniform_(1.0, float(words)))


def checkpoint_meta(config: ShoppingConfig, decisions: int, command: str) -> ShoppingMeta:
    """The header of a checkpoint of the run after so many decisions."""
    return ShoppingMeta.of(
        config.read_rules(),
        algorithm=config.algorithm,
        layers=config.layers,
        lstm=config.lstm if config.algorithm == "recurrent_ppo" else 0,
        activation=config.activation,
        steps_trained=decisions,
        seed=config.seed,
        command=command,
    )


def checkpoint_weights(model: BaseAlgorithm) -> dict[str, npt.NDArray[np.float32]]:
    """The network as it is now: name -> array of its own."""
    policy: Any = model.policy
    trunk = policy.features_extractor
    out = as_arrays(trunk if isinstance(trunk, Trunk) else None, {"logits": policy.action_net})
    if isinstance(model, RecurrentPPO):
        for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            out[f"lstm.{part}"] = getattr(policy.lstm_actor, f"{part}_l0").detach().cpu().numpy().copy()
    return out


def buffer_state(model: BaseAlgorithm) -> dict[str, npt.NDArray[Any]]:
    """What the learner keeps from one update to the next: its memory of each game."""
    if not isinstance(model, RecurrentPPO):
        return {}
    states: Any = model._last_lstm_states
    parts = {"pi_hidden": states.pi[0], "pi_cell": states.pi[1], "vf_hidden": states.vf[0], "vf_cell": states.vf[1]}
    return {name: part.detach().cpu().numpy().copy() for name, part in parts.items()}


def set_buffer_state(model: BaseAlgorithm, state: Mapping[str, npt.NDArray[Any]]) -> None:
    """Give the learner its memory back."""
    if isinstance(model, RecurrentPPO):
        learner: Any = model  # SB3 declares its memory as None
        parts = {name: torch.from_numpy(array).to(model.device) for name, array in state.items()}
        learner._last_lstm_states = RNNStates((parts["pi_hidden"], parts["pi_cell"]), (parts["vf_hidden"], parts["vf_cell"]))


def measured(name: str, checkpoint: Path) -> dict[str, Any]:
    """The table of a shipped agent: how far it and others recite among perfect memories, by number of letters."""
    rules = load_shopping_checkpoint(checkpoint).meta.read_rules()
    found = []
    for letters in LETTERS:
        now = replace(rules, num_letters=letters, word_reward=0.0)
        for spec, title in (
            (str(checkpoint), name),
            ("perfect", "perfect"),
            ("forgetful?p=0.05", "forgetful?p=0.05"),
            ("random", "random"),
        ):
            survival = replace(measure_survival(spec, now, GAMES, SEED), policy=title)
            found.append({"letters": letters, **survival.to_json()})
    game = {"num_players": rules.num_players, "words_per_letter": rules.words_per_letter, "theme": rules.theme}
    return {**game, "games": GAMES, "seed": SEED, "results": found}


class ShoppingEvaluator:
    """How far the learner recites, always saying its likeliest word; every time with the same words."""

    def __init__(self, config: ShoppingConfig, meta: ShoppingMeta) -> None:
        self._games = config.evaluation.games
        self._rules = config.read_rules()
        self._meta = meta
        self.results: list[dict[str, Any]] = []

    @property
    def best(self) -> float:
        """Longest mean list recited so far."""
        return max((result["recited"] for result in self.results), default=-np.inf)

    def run(self, weights: Mapping[str, npt.NDArray[np.float32]], decisions: int) -> dict[str, Any]:
        """Evaluate the learner after so many ``decisions``; returns what is kept in ``results``."""
        speaker = LearnedSpeaker(ShoppingCheckpoint(self._meta, weights))
        found = measure_survival(speaker, self._rules, self._games, _EVALUATION_SEED).to_json()
        result = {"decisions": decisions, **{name: value for name, value in found.items() if name != "policy"}}
        self.results.append(result)
        return result

    def curves(self, result: Mapping[str, Any]) -> dict[str, float]:
        """Name -> value of the curves that an evaluation adds to."""
        return {"recited": result["recited"], "survived": result["survived"]}

    def headline(self, result: Mapping[str, Any]) -> str:
        """An evaluation in a few words."""
        return f"recites {result['recited']:.2f} words"

    def get_state(self) -> dict[str, Any]:
        """The results."""
        return {"results": self.results}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a state of the same run."""
        self.results = list(state["results"])


def make_evaluator(config: ShoppingConfig, meta: ShoppingMeta) -> ShoppingEvaluator:
    """What measures the run while it goes on."""
    return ShoppingEvaluator(config, meta)
