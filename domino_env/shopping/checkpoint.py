"""Checkpoints of the memory game: the same files as those of dominoes, with a header of their own.

Tensors are named as in torch: ``layers.0.weight``, ... of the hidden layers, ``lstm.weight_ih`` (4H, inputs), ``lstm.weight_hh`` (4H, H),
``lstm.bias_ih``, ``lstm.bias_hh`` (gates in torch's order: in, forget, cell, out), ``logits.weight`` and ``logits.bias``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from domino_env.errors import CheckpointError, DominoError
from domino_env.policies.checkpoint import Weights, read_checkpoint
from domino_env.policies.header import (
    ACTIVATIONS,
    add_dense,
    add_layers,
    is_count,
    is_layers,
    is_object,
    is_text,
    package_versions,
    read_fields,
)
from domino_env.shopping.encoding import SHOPPING_ENCODING_VERSION, ShoppingEncoding
from domino_env.shopping.rules import ShoppingRules

__all__ = ["ShoppingCheckpoint", "ShoppingMeta", "load_shopping_checkpoint"]

_FORMAT = 1
_WIDEST = 1 << 20


@dataclass(frozen=True, kw_only=True)
class ShoppingMeta:
    """Use ``ShoppingMeta.of`` to make one. Sizes are numbers of units."""

    format: int
    variant: str
    rules: dict[str, Any]
    """All fields of ``ShoppingRules``, as it was trained."""
    encoding_version: int
    algorithm: str
    layers: list[int]
    """Hidden layers between the observation and the memory, or the logits."""
    lstm: int
    """Units of the memory; 0: it has none."""
    activation: str
    steps_trained: int
    """Words heard by the learner, on turn or not."""
    seed: int | None
    command: str
    versions: dict[str, str]
    """Package -> version it was made with."""

    @classmethod
    def of(
        cls,
        rules: ShoppingRules,
        *,
        algorithm: str,
        layers: list[int],
        lstm: int,
        activation: str = "relu",
        steps_trained: int = 0,
        seed: int | None = None,
        command: str = "",
    ) -> ShoppingMeta:
        """The header for a network of these rules. Raises ``CheckpointError`` for values that cannot be."""
        meta = cls(
            format=_FORMAT,
            variant="shopping",
            rules=rules.to_json(),
            encoding_version=SHOPPING_ENCODING_VERSION,
            algorithm=algorithm,
            layers=list(layers),
            lstm=lstm,
            activation=activation,
            steps_trained=steps_trained,
            seed=seed,
            command=command,
            versions=package_versions(),
        )
        return cls.from_header("checkpoint header", meta.to_header())

    def to_header(self) -> dict[str, str]:
        """Every field as JSON text."""
        return {name: json.dumps(value) for name, value in asdict(self).items()}

    @classmethod
    def from_header(cls, source: str, header: Mapping[str, str]) -> ShoppingMeta:
        """The fields of a header. Raises ``CheckpointError`` (``source`` first) for what is missing, damaged or of another game."""
        if header.get("variant", '"shopping"') != '"shopping"':
            raise CheckpointError(f"{source}: made for {header['variant']}, but this is the memory game (shopping_v0)")
        meta = cls(**read_fields(cls, source, header, _FORMAT, {}, _LOOKS))
        if meta.encoding_version != SHOPPING_ENCODING_VERSION:
            raise CheckpointError(
                f"{source}: observation version {meta.encoding_version}, but this version of domino_env has {SHOPPING_ENCODING_VERSION}"
            )
        try:
            meta.read_rules()
        except (DominoError, TypeError) as error:
            raise CheckpointError(f"{source}: damaged header: its rules cannot be played ({error})") from None
        return meta

    def read_rules(self) -> ShoppingRules:
        """The rules it was made for."""
        return ShoppingRules(**self.rules)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name -> shape of every tensor."""
        rules = self.read_rules()
        out: dict[str, tuple[int, ...]] = {}
        size = add_layers(out, "layers", ShoppingEncoding(rules).size, self.layers)
        if self.lstm:
            gates = 4 * self.lstm
            out.update({"lstm.weight_ih": (gates, size), "lstm.weight_hh": (gates, self.lstm)})
            out.update({"lstm.bias_ih": (gates,), "lstm.bias_hh": (gates,)})
        add_dense(out, "logits", self.lstm or size, rules.num_actions)
        return out


@dataclass(frozen=True)
class ShoppingCheckpoint:
    """What a file holds: the header, and weights (float32, read-only) by name."""

    meta: ShoppingMeta
    weights: Weights
    source: str = "checkpoint"

    def check(self, rules: ShoppingRules) -> None:
        """Raise ``CheckpointError`` unless its observation and its actions mean the same under these rules.

        The number of letters, the way new words come and which theme it is may be others than those it was trained with.
        """
        made = self.meta.read_rules()
        for name, mine, theirs in (
            ("num_players", made.num_players, rules.num_players),
            ("words_per_letter", made.words_per_letter, rules.words_per_letter),
            ("themes", made.theme is not None, rules.theme is not None),
        ):
            if mine != theirs:
                raise CheckpointError(f"{self.source}: made for {name}={mine}, but this game has {name}={theirs}")


def load_shopping_checkpoint(path: str | os.PathLike[str]) -> ShoppingCheckpoint:
    """Read a checkpoint. Raises ``CheckpointError`` for a file that is missing, damaged, altered or of another game or version."""
    return ShoppingCheckpoint(*read_checkpoint(path, ShoppingMeta.from_header), str(path))


_LOOKS: dict[str, Callable[[Any], bool]] = {
    "format": is_count,
    "variant": is_text,
    "rules": is_object,
    "encoding_version": is_count,
    "algorithm": is_text,
    "layers": is_layers,
    "lstm": lambda value: is_count(value) and value <= _WIDEST,
    "activation": lambda value: value in ACTIVATIONS,
    "steps_trained": is_count,
    "seed": lambda value: value is None or is_count(value),
    "command": is_text,
    "versions": lambda value: is_object(value) and all(map(is_text, value.values())),
}
"""What a value of each field must look like."""
