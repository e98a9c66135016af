"""The network of the project's checkpoints as an RLModule: one trunk, a head for the moves and one for the value."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.core.rl_module.torch.torch_rl_module import TorchRLModule
from torch import nn

from domino_env.errors import CheckpointError, EmptyMaskError, OptionsError
from domino_env.policies import load_checkpoint
from domino_env.policies.loading import bundled_checkpoints

__all__ = ["DominoRLModule"]

_ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh}
_KEYS = ("layers", "activation", "residual", "checkpoint")
_WIDEST = 1 << 16
_OF_RLLIB = {field.name for field in fields(DefaultModelConfig)} | {"vf_share_layers"}
"""Keys that RLlib adds for networks of its own."""


class DominoRLModule(TorchRLModule, ValueFunctionAPI):
    """Illegal actions have probability 0, exactly: when it acts, when it explores and when it learns.

    It reads observations ``{"observations": (B, D) float32, "action_mask": (B, A)}``. ``model_config``: ``layers`` (units of the hidden
    layers), ``activation`` (``relu`` or ``tanh``), ``residual`` (a layer as wide as the one before it adds its input to its output) and
    ``checkpoint`` (a path or a bundled name, whose weights it starts from; a module does not know the rules, so whoever names it sees to
    it that it is of the same variant). Its tensors have the names that they have in a checkpoint.

    Raises ``OptionsError`` for a config that cannot be used, ``CheckpointError`` for weights that do not fit, and ``EmptyMaskError``
    where it is to act and no action is legal.
    """

    def setup(self) -> None:
        """Build the layers; RLlib calls it once."""
        told = {"layers": [256, 256], "activation": "relu", "residual": False, "checkpoint": None, **_plain(self.model_config)}
        size, actions = _sizes(self.observation_space, self.action_space)
        _check(told)
        layers: list[int] = list(told["layers"])
        self.activation = _ACTIVATIONS[told["activation"]]()
        self.layers = nn.ModuleList(nn.Linear(i, o) for i, o in zip([size, *layers], layers, strict=False))
        self.adds = [told["residual"] and number > 0 and layers[number] == layers[number - 1] for number in range(len(layers))]
        self.logits = nn.Linear(layers[-1], actions)
        self.value = nn.Linear(layers[-1], 1)
        gain = nn.init.calculate_gain(told["activation"])
        # small logits: the untrained network plays evenly
        for layer, scale in [*((layer, gain) for layer in self.layers), (self.logits, 0.01), (self.value, 1.0)]:
            nn.init.orthogonal_(layer.weight, gain=scale)  # type: ignore[arg-type]
            nn.init.zeros_(layer.bias)  # type: ignore[arg-type]
        if told["checkpoint"] is not None:
            self.load_weights(_weights(told), str(told["checkpoint"]))

    def weights(self) -> dict[str, npt.NDArray[np.float32]]:
        """Every tensor by its name in a checkpoint, as an array of its own."""
        return {name: values.detach().cpu().numpy().copy() for name, values in self.state_dict().items()}

    def load_weights(self, weights: Mapping[str, npt.ArrayLike], source: str = "weights") -> None:
        """Take the weights of a checkpoint. ``CheckpointError`` where they are those of a network of another shape."""
        own = {name: tuple(values.shape) for name, values in self.state_dict().items()}
        theirs = {name: np.shape(values) for name, values in weights.items()}
        if own != theirs:
            raise CheckpointError(f"{source}: tensors {theirs}, but this network has {own}")
        if not all(np.isfinite(values).all() for values in weights.values()):
            raise CheckpointError(f"{source}: weights that are not finite")
        self.load_state_dict({name: torch.tensor(np.asarray(values)) for name, values in weights.items()})

    def _forward_inference(self, batch: dict[str, Any], **_more: Any) -> dict[str, Any]:
        with torch.no_grad():
            return self._act(batch)

    def _forward_exploration(self, batch: dict[str, Any], **_more: Any) -> dict[str, Any]:
        with torch.no_grad():
            return self._act(batch)

    def _forward_train(self, batch: dict[str, Any], **_more: Any) -> dict[str, Any]:
        # an episode ends with a row that nobody acts on and no loss counts; its mask is empty
        hidden = self._trunk(batch)
        return {Columns.ACTION_DIST_INPUTS: self._masked(hidden, batch), Columns.EMBEDDINGS: hidden}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Any:
        """(B,) estimates of the return."""
        hidden = self._trunk(batch) if embeddings is None else embeddings
        return self.value(hidden).squeeze(-1)

    def _act(self, batch: dict[str, Any]) -> dict[str, Any]:
        if not (batch[Columns.OBS]["action_mask"] != 0).any(dim=-1).all():
            raise EmptyMaskError("action_mask: a row is all 0, but a seat on turn has at least one legal action")
        return {Columns.ACTION_DIST_INPUTS: self._masked(self._trunk(batch), batch)}

    def _trunk(self, batch: dict[str, Any]) -> torch.Tensor:
        hidden: torch.Tensor = batch[Columns.OBS]["observations"].float()
        for layer, adds in zip(self.layers, self.adds, strict=True):
            out = self.activation(layer(hidden))
            hidden = out + hidden if adds else out
        return hidden

    def _masked(self, hidden: torch.Tensor, batch: dict[str, Any]) -> torch.Tensor:
        logits = self.logits(hidden)
        # the lowest number, not minus infinity: that would make the entropy no number
        return torch.where(batch[Columns.OBS]["action_mask"] != 0, logits, torch.finfo(logits.dtype).min)


def _check(told: Mapping[str, Any]) -> None:
    """``OptionsError`` for values that make no network."""
    layers, checkpoint = told["layers"], told["checkpoint"]
    good = (
        isinstance(layers, (list, tuple))
        and len(layers) > 0
        and all(isinstance(units, int) and not isinstance(units, bool) and 1 <= units <= _WIDEST for units in layers)
        and isinstance(told["activation"], str)
        and told["activation"] in _ACTIVATIONS
        and isinstance(told["residual"], bool)
        and (checkpoint is None or isinstance(checkpoint, (str, os.PathLike)))
    )
    if not good:
        raise OptionsError(
            f"model_config={dict(told)!r}, but layers are units from 1 to {_WIDEST}, the activation is relu or tanh, "
            "residual is True or False, and the checkpoint is a path or a name"
        )


def _plain(config: Any) -> dict[str, Any]:
    """The keys that were given. ``OptionsError`` for those that mean nothing here."""
    if not (config is None or isinstance(config, (Mapping, DefaultModelConfig))):
        raise OptionsError(f"model_config={config!r}, but it is a dict with the keys {', '.join(_KEYS)}")
    given = dict(config) if isinstance(config, Mapping) else {}
    unknown = sorted(set(given) - set(_KEYS) - _OF_RLLIB)
    if unknown:
        raise OptionsError(f"model_config={given!r}, but its keys are {', '.join(_KEYS)}")
    return {name: value for name, value in given.items() if name in _KEYS}


def _sizes(observation: Any, action: Any) -> tuple[int, int]:
    """D and A. ``OptionsError`` for spaces of another environment."""
    if not (
        isinstance(observation, spaces.Dict) and {"observations", "action_mask"} <= set(observation) and isinstance(action, spaces.Discrete)
    ):
        raise OptionsError(f"spaces {observation} and {action}, but they are those of DominoMultiAgentEnv: observations with a mask")
    return int(observation["observations"].shape[0]), int(action.n)  # type: ignore[index]


def _weights(told: Mapping[str, Any]) -> Mapping[str, npt.ArrayLike]:
    """``CheckpointError`` where the same weights would be another network."""
    spec = told["checkpoint"]
    checkpoint = load_checkpoint(bundled_checkpoints().get(spec, spec))
    checkpoint.check_network(activation=told["activation"], residual=told["residual"])
    return checkpoint.weights
