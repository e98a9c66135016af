"""A speaker read from a checkpoint: a network with or without an LSTM, in numpy and compiled, without torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from domino_env.engine._jit import jit, kernel
from domino_env.errors import PolicyError
from domino_env.policies.network import LINEAR, RELU, TANH, choose, dense
from domino_env.shopping.checkpoint import ShoppingCheckpoint
from domino_env.shopping.policies import Listening
from domino_env.shopping.rules import ShoppingRules

__all__ = ["LearnedSpeaker"]

Floats = npt.NDArray[np.float32]


class LearnedSpeaker:
    """Says the word of the highest logit, or with ``sample=True`` draws from softmax(logits). Its memory starts anew with each game.

    Its answer depends on what its seat has heard and the random bits alone, not on the slot or the batch.
    """

    def __init__(self, checkpoint: ShoppingCheckpoint, *, sample: bool = False, name: str = "learned") -> None:
        self.checkpoint = checkpoint
        self.name = name
        meta = checkpoint.meta
        self._temperature = 1.0 if sample else 0.0
        self._activation = {"relu": RELU, "tanh": TANH}[meta.activation]
        self._layers = [self._part(f"layers.{i}.weight", f"layers.{i}.bias") for i in range(len(meta.layers))]
        self._logits = self._part("logits.weight", "logits.bias")
        if meta.lstm:
            self._inward = self._part("lstm.weight_ih", "lstm.bias_ih")
            self._back = self._part("lstm.weight_hh", "lstm.bias_hh")
        self._memory = np.zeros((0, checkpoint.meta.read_rules().num_players, 2, meta.lstm), np.float32)

    def _part(self, weight: str, bias: str) -> tuple[Floats, Floats]:
        """Weights (I, O) and bias (O,); files hold weights as (O, I)."""
        return np.ascontiguousarray(self.checkpoint.weights[weight].T), self.checkpoint.weights[bias]

    def check(self, rules: ShoppingRules) -> None:
        """Raise ``CheckpointError`` unless the checkpoint fits these rules."""
        self.checkpoint.check(rules)

    def act(self, batch: Listening) -> npt.NDArray[np.int64]:
        """(K,) int64 action ids."""
        answers = np.empty(len(batch), np.int64)
        choose(self.logits(batch), batch.action_mask, batch.random, self._temperature, answers)
        return answers

    def logits(self, batch: Listening) -> Floats:
        """(K, A) float32, after hearing what was said."""
        hidden = np.ascontiguousarray(batch.observation, np.float32)
        for layer in self._layers:
            hidden = _dense(hidden, layer, self._activation)
        if self.checkpoint.meta.lstm:
            hidden = self._remember(batch, hidden)
        return _dense(hidden, self._logits, LINEAR)

    def _remember(self, batch: Listening, inputs: Floats) -> Floats:
        """(K, H) float32: the memory of each listener after ``inputs`` (K, I)."""
        rows = int(batch.rows.max(initial=-1)) + 1
        if rows > len(self._memory):
            more = np.zeros((rows - len(self._memory), *self._memory.shape[1:]), np.float32)
            self._memory = np.concatenate([self._memory, more])
        seats = batch.rules.num_players
        before = self._memory[batch.rows, batch.seats]
        before[~batch.observation[:, :seats].any(axis=1)] = 0.0  # nobody has spoken: a new game
        hidden, cell = np.ascontiguousarray(before[:, 0]), np.ascontiguousarray(before[:, 1])
        gates = _dense(inputs, self._inward, LINEAR)
        _lstm(gates, _dense(hidden, self._back, LINEAR), hidden, cell)
        self._memory[batch.rows, batch.seats] = np.stack([hidden, cell], axis=1)
        return hidden

    def get_state(self) -> dict[str, npt.NDArray[Any]]:
        """What it has kept of what it heard."""
        return {"memory": self._memory.copy()}

    def set_state(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Go on from a state. ``PolicyError`` for that of another network."""
        if state["memory"].shape[1:] != self._memory.shape[1:]:
            raise PolicyError(f"{self.name}: a memory of shape {state['memory'].shape}, but it is (N, *{self._memory.shape[1:]})")
        self._memory = state["memory"].copy()


def _dense(inputs: Floats, layer: tuple[Floats, Floats], activation: int) -> Floats:
    weights, bias = layer
    out = np.empty((len(inputs), len(bias)), np.float32)
    dense(inputs, weights, bias, activation, out)
    return out


@jit
def _sigmoid(x: Any) -> Any:
    return np.float32(1.0) / (np.float32(1.0) + np.exp(-x))


@kernel
def _lstm(inward: Any, back: Any, hidden: Any, cell: Any) -> None:
    """One step of an LSTM: ``hidden`` and ``cell`` (K, H) in place, from the two halves (K, 4H) of its gates' inputs."""
    units = hidden.shape[1]
    for k in range(len(hidden)):
        for u in range(units):
            let_in = _sigmoid(inward[k, u] + back[k, u])
            keep = _sigmoid(inward[k, units + u] + back[k, units + u])
            new = np.tanh(inward[k, 2 * units + u] + back[k, 2 * units + u])
            let_out = _sigmoid(inward[k, 3 * units + u] + back[k, 3 * units + u])
            cell[k, u] = keep * cell[k, u] + let_in * new
            hidden[k, u] = let_out * np.tanh(cell[k, u])
