"""A policy in an ONNX file, played by onnxruntime.

Inputs: ``observation`` float32 (N, D), and where the network wants it ``action_mask`` (N, A), 1 or True for the legal actions, of type
float32, int8, int32, int64 or bool. Output: ``logits`` (N, A) float32 or float64, or the only output there is. N is free or a fixed
number. Illegal actions are masked here: the legal one with the highest logit is played, the lowest id among equals. Weights lie in the
file itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from domino_env.encoding import ENCODING_VERSION, Encoding
from domino_env.engine.packed import numbers, pack_rules
from domino_env.errors import CheckpointError, PolicyError
from domino_env.policies import Batch
from domino_env.policies.checkpoint_meta import ACTION_VERSION
from domino_env.policies.network import choose
from domino_env.rules import Rules

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

__all__ = ["META", "OnnxPolicy", "onnx_needed"]

META = "domino_env."
"""What the keys of metadata begin with that an exported file carries; a file without them is judged by its shapes alone."""
_MASK_TYPES = {"float": np.float32, "int8": np.int8, "int32": np.int32, "int64": np.int64, "bool": np.bool_}


def onnx_needed(library: str, what: str) -> None:
    """Raise ``PolicyError`` where a library of the extra ``onnx`` is missing."""
    from importlib.util import find_spec

    if find_spec(library) is None:
        raise PolicyError(f"{what} needs {library}, which is not installed: pip install 'domino-env[onnx]'")


class OnnxPolicy:
    """The network of an ONNX file. Raises ``CheckpointError`` for a file that cannot be read or has other inputs and outputs."""

    def __init__(self, path: str | Path) -> None:
        onnx_needed("onnxruntime", f"policy {str(path)!r}")
        self.path = Path(path)
        self.name = str(path)
        self._session = _open(self.path)
        inputs = {item.name: item for item in self._session.get_inputs()}
        outputs = {item.name: item for item in self._session.get_outputs()}
        unknown = sorted(set(inputs) - {"observation", "action_mask"})
        if "observation" not in inputs or unknown:
            raise CheckpointError(f"{path}: inputs {sorted(inputs)}, but they are 'observation' and perhaps 'action_mask'")
        if "logits" not in outputs and len(outputs) != 1:
            raise CheckpointError(f"{path}: outputs {sorted(outputs)}, but one of them is 'logits'")
        self._observation, self._mask = inputs["observation"], inputs.get("action_mask")
        self._logits = outputs["logits"] if "logits" in outputs else next(iter(outputs.values()))
        self._check_types()

    def _check_types(self) -> None:
        kind = _type_of(self._observation)
        if kind != "float":
            raise CheckpointError(f"{self.path}: input 'observation' is of type {kind}, but it is float (32 bits)")
        if self._mask is not None and _type_of(self._mask) not in _MASK_TYPES:
            raise CheckpointError(f"{self.path}: input 'action_mask' is of type {_type_of(self._mask)}, but it is {', '.join(_MASK_TYPES)}")
        kind = _type_of(self._logits)
        if kind not in ("float", "double"):
            raise CheckpointError(f"{self.path}: output {self._logits.name!r} is of type {kind}, but it is float or double")

    def check(self, rules: Rules, num_players: int) -> None:
        """Raise ``CheckpointError`` unless its shapes, and what it says of itself, are those of this game."""
        size = Encoding(rules, num_players).size
        actions = int(numbers(pack_rules(rules, num_players, True)).num_actions)
        for item, width in ((self._observation, size), (self._mask, actions), (self._logits, actions)):
            if item is not None and (len(item.shape) != 2 or (isinstance(item.shape[1], int) and item.shape[1] != width)):
                raise CheckpointError(f"{self.path}: {item.name} is of shape {item.shape}, but {rules.variant} has (N, {width})")
        told = self._session.get_modelmeta().custom_metadata_map
        mine = {
            "rules_fingerprint": rules.fingerprint(),
            "num_players": str(num_players),
            "encoding_version": str(ENCODING_VERSION),
            "action_version": str(ACTION_VERSION),
        }
        for name, value in mine.items():
            if told.get(META + name, value) != value:
                raise CheckpointError(f"{self.path}: made for {name} {told[META + name]}, but this game has {value}")

    def act(self, batch: Batch) -> npt.NDArray[np.int64]:
        """(N,) int64 action ids; -1 where the logit of a legal action is no number."""
        logits = self._run(batch.observation, batch.action_mask)
        actions = np.empty(len(batch), np.int64)
        choose(logits, batch.action_mask, batch.random, 0.0, actions)
        return np.where((np.isnan(logits) & (batch.action_mask != 0)).any(axis=1), -1, actions)

    def _run(self, observation: npt.NDArray[np.float32], mask: npt.NDArray[np.int8]) -> npt.NDArray[Any]:
        fixed = self._observation.shape[0]
        size = fixed if isinstance(fixed, int) and fixed > 0 else len(observation)
        parts = []
        for start in range(0, len(observation), size):
            rows = np.arange(start, start + size) % len(observation)  # a fixed batch is filled up with rows from the front
            feeds: dict[str, Any] = {"observation": observation[rows]}
            if self._mask is not None:
                feeds["action_mask"] = mask[rows].astype(_MASK_TYPES[_type_of(self._mask)])
            parts.append(self._run_part(feeds, (size, mask.shape[1])))
        return np.ascontiguousarray(np.concatenate(parts)[: len(observation)])

    def _run_part(self, feeds: dict[str, Any], shape: tuple[int, int]) -> npt.NDArray[Any]:
        try:
            logits = np.asarray(self._session.run([self._logits.name], feeds)[0])
        except Exception as error:  # noqa: BLE001 -- onnxruntime's errors have no common base
            raise PolicyError(f"{self.path}: onnxruntime cannot run it ({_line(error)})") from None
        if logits.shape != shape:
            raise PolicyError(f"{self.path}: logits of shape {logits.shape}, but they are {shape}")
        return logits


def _open(path: Path) -> InferenceSession:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # one thread: sums are always taken in one order, and other programs keep their cores
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    # no place for weights outside of the file: its digest would not tell them apart
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", f"{path}/")
    try:
        return onnxruntime.InferenceSession(path.read_bytes(), options, providers=["CPUExecutionProvider"])
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read ({error.strerror})") from None
    except Exception as error:  # noqa: BLE001 -- onnxruntime's errors have no common base
        if "external data" in str(error).lower():
            how = "torch.onnx.export(..., external_data=False) writes it so"
            raise CheckpointError(f"{path}: its weights lie in a file of their own, but they have to be in this one: {how}") from None
        raise CheckpointError(f"{path}: no ONNX file that onnxruntime can play ({_line(error)})") from None


def _type_of(item: Any) -> str:
    return str(item.type).removeprefix("tensor(").removesuffix(")")


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
