"""Checkpoints: one ``.safetensors`` file with plain float32 weights and a header of JSON texts. Reading one runs no code.

Tensors are named as in torch, weights (outputs, inputs): ``layers.0.weight``, ``layers.0.bias``, ..., ``logits.weight``, ``logits.bias``
and, with a value head, ``value.weight``, ``value.bias`` (on top of ``value_layers.0.weight``, ... where it has layers of its own).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from domino_env.errors import CheckpointError
from domino_env.files import write_file
from domino_env.policies.checkpoint_meta import CheckpointMeta
from domino_env.rules import Rules

__all__ = ["Checkpoint", "CheckpointMeta", "load_checkpoint", "read_checkpoint", "save_checkpoint"]

Weights = Mapping[str, npt.NDArray[np.float32]]


class Header(Protocol):
    """What a file needs to know of its header."""

    def to_header(self) -> dict[str, str]:
        """Every field as JSON text."""

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name -> shape of every tensor."""


M = TypeVar("M", bound=Header)

_FOREIGN = {
    b"PK\x03\x04": "a zip archive, as SB3 and torch write them: it holds pickles, and reading a pickle can run any code",
    b"\x80": "a pickle: reading one can run any code",
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "a numpy array file",
}


@dataclass(frozen=True)
class Checkpoint:
    """What a file holds: the header, and weights (float32, C-contiguous, read-only) by name."""

    meta: CheckpointMeta
    weights: Weights
    source: str = "checkpoint"

    def check(self, rules: Rules, num_players: int) -> None:
        """Raise ``CheckpointError`` unless it was trained for these rules (any that play alike) and so many seats."""
        if self.meta.num_players != num_players:
            raise CheckpointError(f"{self.source}: made for {self.meta.num_players} players, but this game has {num_players}")
        if self.meta.rules_fingerprint != rules.fingerprint():
            raise CheckpointError(
                f"{self.source}: made for {self.meta.rules_text()} (rules {self.meta.rules_fingerprint}), "
                f"but this game is {rules.variant} (rules {rules.fingerprint()})"
            )

    def check_network(self, **ours: Any) -> None:
        """Raise ``CheckpointError`` unless these fields of the header say the same: the weights would make another network."""
        for name, value in ours.items():
            theirs = getattr(self.meta, name)
            if theirs != value:
                raise CheckpointError(f"{self.source}: a checkpoint with {name}={theirs!r}, but this network has {value!r}")


def save_checkpoint(path: str | os.PathLike[str], weights: Mapping[str, npt.ArrayLike], meta: Header) -> None:
    """Write a checkpoint. The file appears whole or not at all.

    Raises ``CheckpointError`` where the weights are not those that ``meta`` speaks of, or not finite, or the name does not end in
    ``.safetensors``.
    """
    target = Path(path)
    if target.suffix != ".safetensors":
        raise CheckpointError(f"{target}: a checkpoint is named <name>.safetensors")
    # transposed arrays would be written in the wrong order without a word
    arrays = {name: np.ascontiguousarray(array, dtype=np.float32) for name, array in weights.items()}
    _check_weights(str(target), arrays, meta)
    header = meta.to_header()
    data = _in_order(save(arrays, metadata={**header, "digest": _digest(header, arrays)}))
    target.parent.mkdir(parents=True, exist_ok=True)
    write_file(target, data)


def _in_order(data: bytes) -> bytes:
    """The bytes of a file with the keys of its header in order: safetensors writes them in another one each time."""
    size = int.from_bytes(data[:8], "little")
    header = json.dumps(json.loads(data[8 : 8 + size]), sort_keys=True, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + data[8 + size :]


def load_checkpoint(path: str | os.PathLike[str]) -> Checkpoint:
    """Read a checkpoint. Raises ``CheckpointError`` for a file that is missing, damaged, altered or of another kind or version."""
    return Checkpoint(*read_checkpoint(path, CheckpointMeta.from_header), str(path))


def read_checkpoint(path: str | os.PathLike[str], from_header: Callable[[str, Mapping[str, str]], M]) -> tuple[M, Weights]:
    """Header and weights of a file whose header ``from_header`` reads. Raises as ``load_checkpoint``."""
    source = str(path)
    _refuse_foreign(Path(path))
    try:
        # SafetensorError for a broken file, TypeError and AttributeError for a kind of number that numpy lacks
        with safe_open(source, framework="numpy") as file:
            header = dict(file.metadata() or {})
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 -- not a mapping
    except (SafetensorError, OSError, TypeError, AttributeError, ValueError) as error:
        raise CheckpointError(f"{source}: damaged, or no .safetensors file ({error})") from None
    digest = header.pop("digest", "none")
    meta = from_header(source, header)
    _check_weights(source, arrays, meta)
    if digest != _digest(header, arrays):
        raise CheckpointError(f"{source}: altered: its digest is {_digest(header, arrays)}, but its header says {digest}")
    for array in arrays.values():
        array.flags.writeable = False
    return meta, arrays


def _refuse_foreign(path: Path) -> None:
    """Say what a file is that is no checkpoint, without reading more than its first bytes."""
    try:
        with path.open("rb") as file:
            head = file.read(16)
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path}: cannot be read ({getattr(error, 'strerror', error)})") from None
    for magic, what in _FOREIGN.items():
        # a safetensors file starts with the length of its header, then "{": the first byte alone proves nothing
        if head.startswith(magic) and head[8:9] != b"{":
            raise CheckpointError(f"{path}: {what}; a checkpoint is a .safetensors file")


def _check_weights(source: str, arrays: Mapping[str, npt.NDArray[np.generic]], meta: Header) -> None:
    shapes = meta.shapes()
    if set(arrays) != set(shapes):
        raise CheckpointError(f"{source}: tensors {sorted(arrays)}, but its header asks for {sorted(shapes)}")
    for name, shape in shapes.items():
        array = arrays[name]
        if array.shape != shape or array.dtype != np.float32:
            raise CheckpointError(f"{source}: {name} is {array.dtype} {array.shape}, but its header asks for float32 {shape}")
        if not np.isfinite(array).all():
            raise CheckpointError(f"{source}: {name} holds numbers that are not finite")


def _digest(header: Mapping[str, str], arrays: Mapping[str, npt.NDArray[np.generic]]) -> str:
    """Hash of the header and all weights (32 hex digits): finds damage, it does not prove who wrote the file."""
    out = hashlib.sha256(repr(sorted(header.items())).encode())
    for name in sorted(arrays):
        out.update(f"{name} {arrays[name].shape}".encode())
        out.update(arrays[name].tobytes())
    return out.hexdigest()[:32]
