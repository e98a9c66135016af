"""The header of a checkpoint: which game it is for, how its network is built, how it was made."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from domino_env.encoding import ENCODING_VERSION, Encoding
from domino_env.engine.packed import numbers, pack_rules
from domino_env.errors import CheckpointError, DominoError
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
from domino_env.rules import Rules
from domino_env.variants import VARIANTS, get_rules

__all__ = ["ACTION_VERSION", "CHECKPOINT_FORMAT", "CheckpointMeta"]

CHECKPOINT_FORMAT = 2
_ADDED: dict[int, dict[str, Any]] = {1: {"residual": False}}
"""Format -> fields that later formats have on top, with what they were before."""
ACTION_VERSION = 1
"""Raised whenever an action id changes its meaning."""


@dataclass(frozen=True, kw_only=True)
class CheckpointMeta:
    """Use ``CheckpointMeta.of`` to make one. Sizes are numbers of units."""

    format: int
    variant: str
    rules: dict[str, Any]
    """What differs from the preset of ``variant``; all fields where there is no such preset."""
    rules_fingerprint: str
    num_players: int
    encoding_version: int
    action_version: int
    observation_size: int
    num_actions: int
    algorithm: str
    layers: list[int]
    value_layers: list[int] | None
    """None: no value head; empty: it stands on ``layers``; else the layers of its own."""
    activation: str
    residual: bool
    """Whether a hidden layer as wide as the one before it adds its input to its output."""
    steps_trained: int
    seed: int | None
    command: str
    versions: dict[str, str]
    """Package -> version it was made with."""

    @classmethod
    def of(
        cls,
        rules: Rules,
        num_players: int,
        *,
        algorithm: str,
        layers: list[int],
        value_layers: list[int] | None = None,
        activation: str = "relu",
        residual: bool = False,
        steps_trained: int = 0,
        seed: int | None = None,
        command: str = "",
    ) -> CheckpointMeta:
        """The header for a network of these rules; the rest is found out. Raises ``CheckpointError`` for values that cannot be."""
        meta = cls(
            format=CHECKPOINT_FORMAT,
            variant=rules.variant,
            rules=_differences(rules),
            rules_fingerprint=rules.fingerprint(),
            num_players=num_players,
            encoding_version=ENCODING_VERSION,
            action_version=ACTION_VERSION,
            observation_size=Encoding(rules, num_players).size,
            num_actions=int(numbers(pack_rules(rules, num_players, True)).num_actions),
            algorithm=algorithm,
            layers=list(layers),
            value_layers=None if value_layers is None else list(value_layers),
            activation=activation,
            residual=residual,
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
    def from_header(cls, source: str, header: Mapping[str, str]) -> CheckpointMeta:
        """The fields of a header. Raises ``CheckpointError`` (``source`` first) for what is missing, damaged or of another version."""
        if header.get("variant") == '"shopping"':
            why = "made for the memory game (shopping_v0), but this is a game of dominoes"
            raise CheckpointError(f"{source}: {why}; domino_env.shopping.load_speaker loads it")
        meta = cls(**read_fields(cls, source, header, CHECKPOINT_FORMAT, _ADDED, _KINDS))
        meta._check(source)
        return meta

    def read_rules(self) -> Rules:
        """The rules it was made for. Raises ``RulesError`` for an unknown variant whose rules are not given whole."""
        if self.variant not in VARIANTS and self.rules.get("variant") == self.variant:
            return Rules(**self.rules)
        return Rules.from_overrides(get_rules(self.variant), self.rules)

    def rules_text(self) -> str:
        """Variant and overrides, for messages."""
        return f"{self.variant} with {self.rules}" if self.rules and self.variant in VARIANTS else self.variant

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name -> shape of every tensor."""
        out: dict[str, tuple[int, ...]] = {}
        size = add_layers(out, "layers", self.observation_size, self.layers)
        add_dense(out, "logits", size, self.num_actions)
        if self.value_layers is not None:
            if self.value_layers:
                size = add_layers(out, "value_layers", self.observation_size, self.value_layers)
            add_dense(out, "value", size, 1)
        return out

    def _check(self, source: str) -> None:
        """Whether this version of the package sees and acts as the network learned it."""
        for what, mine, theirs in (
            ("observation version", ENCODING_VERSION, self.encoding_version),
            ("action version", ACTION_VERSION, self.action_version),
        ):
            if mine != theirs:
                raise CheckpointError(f"{source}: {what} {theirs}, but this version of domino_env has {mine}: train it anew")
        try:
            rules = self.read_rules()
            size = Encoding(rules, self.num_players).size
            actions = int(numbers(pack_rules(rules, self.num_players, True)).num_actions)
        except (DominoError, TypeError) as error:
            raise CheckpointError(f"{source}: damaged header: its rules cannot be played ({error})") from None
        if rules.fingerprint() != self.rules_fingerprint:
            raise CheckpointError(
                f"{source}: made for rules {self.rules_fingerprint}, but here {self.rules_text()} is rules {rules.fingerprint()}"
            )
        if (size, actions) != (self.observation_size, self.num_actions):
            raise CheckpointError(
                f"{source}: {self.observation_size} observed numbers and {self.num_actions} actions, "
                f"but {self.rules_text()} has {size} and {actions}"
            )


def _differences(rules: Rules) -> dict[str, Any]:
    return rules.overrides_from(VARIANTS[rules.variant]) if rules.variant in VARIANTS else rules.to_json()


_KINDS: dict[str, Callable[[Any], bool]] = {
    "format": is_count,
    "variant": is_text,
    "rules": is_object,
    "rules_fingerprint": is_text,
    "num_players": is_count,
    "encoding_version": is_count,
    "action_version": is_count,
    "observation_size": is_count,
    "num_actions": is_count,
    "algorithm": is_text,
    "layers": is_layers,
    "value_layers": lambda value: value is None or is_layers(value),
    "activation": lambda value: value in ACTIVATIONS,
    "residual": lambda value: isinstance(value, bool),
    "steps_trained": is_count,
    "seed": lambda value: value is None or is_count(value),
    "command": is_text,
    "versions": lambda value: is_object(value) and all(map(is_text, value.values())),
}
"""What a value of each field must look like."""
