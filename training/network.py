"""The networks that are trained: one trunk of hidden layers, with a linear head for each output."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import gymnasium
import torch
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

__all__ = ["ACTIVATIONS", "Trunk", "as_arrays", "linear_schedule", "set_arrays"]

ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh}


class Trunk(BaseFeaturesExtractor):
    """Hidden layers shared by all heads: half the work of SB3's two separate networks.

    ``size``: how many numbers of the observation it reads, from the first on (a mask may stand behind them). With ``residual``,
    a layer as wide as the one before it adds its input to its output.
    """

    def __init__(
        self, observation_space: gymnasium.spaces.Box, layers: list[int], activation: str, residual: bool = False, size: int | None = None
    ) -> None:
        super().__init__(observation_space, layers[-1])
        self.size = observation_space.shape[0] if size is None else size
        self.activation = ACTIVATIONS[activation]()
        self.layers = nn.ModuleList(nn.Linear(i, o) for i, o in zip([self.size, *layers], layers, strict=False))
        self.adds = [residual and number > 0 and layers[number] == layers[number - 1] for number in range(len(layers))]
        for layer in self.layers:
            nn.init.orthogonal_(layer.weight, gain=nn.init.calculate_gain(activation))  # type: ignore[arg-type]
            nn.init.zeros_(layer.bias)  # type: ignore[arg-type]

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """(B, D or more) to (B, units of the last layer)."""
        hidden = observations[:, : self.size]
        for layer, adds in zip(self.layers, self.adds, strict=True):
            out = self.activation(layer(hidden))
            hidden = out + hidden if adds else out
        return hidden


def as_arrays(trunk: Trunk | None, heads: Mapping[str, nn.Linear]) -> dict[str, Any]:
    """A network as the arrays of a checkpoint: name -> float32 array. ``heads``: name (``logits``, ``value``) -> layer."""
    # clones: what a checkpoint or an opponent keeps must not follow the training
    return {name: values.detach().cpu().numpy().copy() for name, values in _named(trunk, heads)}


def set_arrays(trunk: Trunk | None, heads: Mapping[str, nn.Linear], arrays: Mapping[str, Any]) -> None:
    """Give a network the weights that ``as_arrays`` told of one of the same shape."""
    with torch.no_grad():
        for name, values in _named(trunk, heads):
            values.copy_(torch.tensor(arrays[name]))


def _named(trunk: Trunk | None, heads: Mapping[str, nn.Linear]) -> Iterator[tuple[str, torch.Tensor]]:
    """Every weight and bias with its name in a checkpoint."""
    layers = enumerate(trunk.layers if trunk is not None else [])
    for name, layer in (*((f"layers.{number}", layer) for number, layer in layers), *heads.items()):
        for part in ("weight", "bias"):
            yield f"{name}.{part}", getattr(layer, part)


def linear_schedule(start: float, end: float) -> Callable[[float], float]:
    """From ``start`` to ``end`` as the part of the run that remains falls from 1 to 0; the last update may pass its end."""

    def value(remaining: float) -> float:
        return end + (start - end) * max(remaining, 0.0)

    return value
