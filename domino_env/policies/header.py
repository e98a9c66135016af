"""What the headers of all checkpoints share: how fields are read and checked, and the shapes of layers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from importlib import metadata
from typing import Any

from domino_env.errors import CheckpointError

__all__ = ["ACTIVATIONS", "add_dense", "add_layers", "is_count", "is_layers", "is_object", "is_text", "package_versions", "read_fields"]

ACTIVATIONS = ("relu", "tanh")
_PACKAGES = ("domino-env", "numpy", "numba", "gymnasium", "pettingzoo", "torch", "stable-baselines3", "sb3-contrib")


def read_fields(
    kind: Any,
    source: str,
    header: Mapping[str, str],
    newest: int,
    added: Mapping[int, Mapping[str, Any]],
    looks: Mapping[str, Callable[[Any], bool]],
) -> dict[str, Any]:
    """Field -> value of a header for the dataclass ``kind``, of the ``newest`` format or one that ``added`` completes.

    Raises ``CheckpointError`` for what is missing, of another format, or does not look as ``looks`` says.
    """
    if "format" not in header or "variant" not in header:
        raise CheckpointError(f"{source}: a .safetensors file, but no domino_env checkpoint: its header has no format and variant")
    try:
        values = {name: json.loads(text) for name, text in header.items()}
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{source}: damaged header ({error})") from None
    if repr(values["format"]) not in map(repr, (*added, newest)):
        raise CheckpointError(f"{source}: checkpoint format {values['format']}, but this version reads 1 to {newest}")
    values = {**added.get(values["format"], {}), **values, "format": newest}
    names = [item.name for item in fields(kind)]
    if sorted(values) != sorted(names):
        raise CheckpointError(f"{source}: header fields {sorted(values)}, but they are {sorted(names)}")
    for name, value in values.items():
        if not looks[name](value):
            raise CheckpointError(f"{source}: damaged header: {name}={value!r}")
    return values


def package_versions() -> dict[str, str]:
    """Package -> version of those that matter, where they are installed."""
    out = {}
    for package in _PACKAGES:
        try:
            out[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return out


def add_layers(out: dict[str, tuple[int, ...]], name: str, size: int, layers: list[int]) -> int:
    """Add the shapes of hidden layers named ``name`` to ``out``; returns the units of the last."""
    for i, width in enumerate(layers):
        add_dense(out, f"{name}.{i}", size, width)
        size = width
    return size


def add_dense(out: dict[str, tuple[int, ...]], name: str, inputs: int, outputs: int) -> None:
    """Add the shapes of one layer to ``out``."""
    out[f"{name}.weight"] = (outputs, inputs)
    out[f"{name}.bias"] = (outputs,)


def is_count(value: Any) -> bool:
    """A whole number from 0 on."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_text(value: Any) -> bool:
    """A text."""
    return isinstance(value, str)


def is_object(value: Any) -> bool:
    """A table."""
    return isinstance(value, dict)


def is_layers(value: Any) -> bool:
    """Units of hidden layers."""
    return isinstance(value, list) and all(is_count(width) and 0 < width <= 1 << 20 for width in value)
