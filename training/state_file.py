"""One file for the state of a run: numbers, texts and arrays in nested dicts and lists. Reading it runs no code."""

from __future__ import annotations

import hashlib
import json
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import torch
from numpy.lib.npyio import NpzFile

from domino_env.files import replacing
from training.config import ConfigError

__all__ = ["load_state", "save_state"]

_ARRAY = "array number"
# what numpy, zipfile and json raise for a file that is none of theirs or damaged
_DAMAGED = (
    OSError,
    RuntimeError,
    ValueError,
    KeyError,
    EOFError,
    RecursionError,
    NotImplementedError,
    MemoryError,
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
)


def save_state(path: Path, state: dict[str, Any]) -> None:
    """Write ``state``, beside its place and then renamed. Arrays and tensors are kept to the last bit."""
    arrays: list[np.ndarray[Any, Any]] = []
    tree = json.dumps(_pack(state, arrays))
    with replacing(path) as beside, beside.open("wb") as file:
        named: dict[str, Any] = {str(number): array for number, array in enumerate(arrays)}
        np.savez(file, tree=np.array(tree), digest=np.array(_digest(tree, arrays)), **named)


def load_state(path: Path) -> dict[str, Any]:
    """Read what ``save_state`` wrote; tensors come back as arrays. ``ConfigError`` where the file is missing or damaged."""
    try:
        # np.load leaves a file that it opened itself open where it is damaged
        with path.open("rb") as handle, _npz(handle) as file:
            arrays = [file[str(number)] for number in range(len(file.files) - 2)]
            tree = str(file["tree"])
            if str(file["digest"]) != _digest(tree, arrays):
                raise ValueError("its digest is another one")
            state = _unpack(json.loads(tree), arrays)
    except FileNotFoundError:
        raise ConfigError(f"state {path}: no such file, so there is no run to go on with") from None
    except _DAMAGED as error:
        raise ConfigError(f"state {path}: damaged, or not written by a run ({' '.join(str(error).split())})") from None
    if not isinstance(state, dict):
        raise ConfigError(f"state {path}: not written by a run")
    return state


def _npz(handle: BinaryIO) -> NpzFile:
    file = np.load(handle, allow_pickle=False)
    if not isinstance(file, NpzFile):
        raise ValueError("no .npz file")
    return file


def _pack(value: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    if isinstance(value, dict):
        return {str(key): _pack(part, arrays) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_pack(part, arrays) for part in value]
    if isinstance(value, (torch.Tensor, np.ndarray)):
        arrays.append(value.detach().cpu().numpy() if isinstance(value, torch.Tensor) else value)
        return {_ARRAY: len(arrays) - 1}
    return value.item() if isinstance(value, np.generic) else value


def _unpack(value: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    if isinstance(value, dict):
        if _ARRAY in value:
            return arrays[value[_ARRAY]]
        return {key: _unpack(part, arrays) for key, part in value.items()}
    return [_unpack(part, arrays) for part in value] if isinstance(value, list) else value


def _digest(tree: str, arrays: list[np.ndarray[Any, Any]]) -> str:
    """Finds damage; it does not prove who wrote the file."""
    out = hashlib.blake2b(tree.encode(), digest_size=16)
    for array in arrays:
        out.update(str(array.shape).encode())
        # field by field, for what lies between the fields of a row is not kept
        for part in [array] if array.dtype.names is None else [array[name] for name in array.dtype.names]:
            out.update(f"{part.dtype}".encode() + part.tobytes())
    return out.hexdigest()
