"""A policy read from a checkpoint: a multilayer network over the observation, without torch."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from domino_env.errors import PolicyError
from domino_env.policies.checkpoint import Checkpoint
from domino_env.policies.network import LINEAR, RELU, TANH, choose, dense
from domino_env.policies.protocol import Batch
from domino_env.policies.thoughts import REWARD, Thoughts, one_hot, softmax
from domino_env.rules import Rules

__all__ = ["LearnedPolicy"]

Floats = npt.NDArray[np.float32]
_ACTIVATIONS = {"relu": RELU, "tanh": TANH}


class LearnedPolicy:
    """The network of a checkpoint in a seat.

    It plays the legal action with the highest logit, or with ``sample=True`` draws from softmax(logits / temperature). A move
    depends on the observation, the mask and the random bits of its row alone, not on the slot or the batch: see ``network``.
    Raises ``PolicyError`` for a temperature that is no number above 0.
    """

    def __init__(self, checkpoint: Checkpoint, *, sample: bool = False, temperature: float = 1.0, name: str = "learned") -> None:
        if not (math.isfinite(temperature) and temperature > 0):
            raise PolicyError(f"temperature={temperature!r}, but it is a number above 0")
        self.checkpoint = checkpoint
        self.name = name
        self._temperature = float(temperature) if sample else 0.0
        meta = checkpoint.meta
        self._activation = _ACTIVATIONS[meta.activation]
        self._trunk = [self._part(f"layers.{i}") for i in range(len(meta.layers))]
        self._logits = self._part("logits")
        self._value_trunk = [self._part(f"value_layers.{i}") for i in range(len(meta.value_layers or ()))]
        self._value = None if meta.value_layers is None else self._part("value")

    def _part(self, name: str) -> tuple[Floats, Floats]:
        """Weights (I, O) and bias (O,) of one layer; files hold weights as (O, I)."""
        weights = self.checkpoint.weights
        return np.ascontiguousarray(weights[f"{name}.weight"].T), weights[f"{name}.bias"]

    def act(self, batch: Batch) -> npt.NDArray[np.int64]:
        """(N,) int64 action ids."""
        actions = np.empty(len(batch), np.int64)
        choose(self.logits(batch.observation), batch.action_mask, batch.random, self._temperature, actions)
        return actions

    def think(self, batch: Batch) -> Thoughts:
        """The probabilities of its network, and its values.

        PPO: softmax of the logits and the value head. DQN holds the values of the moves in the place of logits: they are told as such,
        the best is the value, and the move is certain. With ``sample=True`` the probabilities are those that moves are drawn with.
        """
        logits, mask = self.logits(batch.observation), batch.action_mask
        actions = np.empty(len(batch), np.int64)
        choose(logits, mask, batch.random, self._temperature, actions)
        sampled = self._temperature > 0
        valued = self.checkpoint.meta.algorithm == "dqn"
        if valued and not sampled:
            probabilities = one_hot(actions, mask.shape[1])
        else:
            probabilities = softmax(logits, mask, self._temperature if sampled else 1.0)
        moves = np.where(mask != 0, logits.astype(np.float64), np.nan) if valued else None
        values = None if self._value is None else self.values(batch.observation).astype(np.float64)
        if moves is not None:
            values = np.nanmax(moves, axis=1)
        return Thoughts(probabilities, actions, sampled, values, moves, None, None if values is None else REWARD)

    def check(self, rules: Rules, num_players: int) -> None:
        """Raise ``CheckpointError`` unless the checkpoint is for these rules and so many seats."""
        self.checkpoint.check(rules, num_players)

    def logits(self, observation: npt.ArrayLike) -> Floats:
        """(N, A) float32 for observations (N, D); illegal actions included."""
        return _layer(self._run(observation, self._trunk), self._logits, LINEAR)

    def values(self, observation: npt.ArrayLike) -> Floats:
        """(N,) float32 estimates of the return for observations (N, D); ``PolicyError`` where the checkpoint has none."""
        if self._value is None:
            raise PolicyError(f"{self.name}: the checkpoint has no value head")
        return _layer(self._run(observation, self._value_trunk or self._trunk), self._value, LINEAR)[:, 0]

    def _run(self, observation: npt.ArrayLike, layers: list[tuple[Floats, Floats]]) -> Floats:
        hidden = np.ascontiguousarray(observation, np.float32)
        size = self.checkpoint.meta.observation_size
        if hidden.ndim != 2 or hidden.shape[1] != size:
            raise PolicyError(f"{self.name}: observations of shape {hidden.shape}, but they are (N, {size})")
        for number, layer in enumerate(layers):
            out = _layer(hidden, layer, self._activation)
            adds = self.checkpoint.meta.residual and number > 0 and out.shape == hidden.shape
            hidden = out + hidden if adds else out
        return hidden


def _layer(inputs: Floats, layer: tuple[Floats, Floats], activation: int) -> Floats:
    weights, bias = layer
    out = np.empty((len(inputs), len(bias)), np.float32)
    dense(inputs, weights, bias, activation, out)
    return out
