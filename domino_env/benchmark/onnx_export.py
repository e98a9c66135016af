"""A checkpoint as an ONNX file: the same layers, so that any ONNX runtime plays the same moves. Needs no torch."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from domino_env.benchmark.onnx_policy import META, onnx_needed
from domino_env.errors import CheckpointError
from domino_env.files import write_file
from domino_env.policies import LearnedPolicy, load_policy
from domino_env.policies.checkpoint_meta import CheckpointMeta

__all__ = ["export_onnx"]

_OPSET = 17
_IR_VERSION = 8  # that of the opset; older runtimes refuse newer ones
_ACTIVATIONS = {"relu": "Relu", "tanh": "Tanh"}
_TOLD = ("variant", "rules_fingerprint", "num_players", "encoding_version", "action_version", "algorithm", "steps_trained")


def export_onnx(checkpoint: str | os.PathLike[str], path: str | os.PathLike[str]) -> Path:
    """Write the network of a checkpoint (a file or a bundled name) to ``path``; returns that.

    Input ``observation`` float32 (N, D); output ``logits`` float32 (N, A), not masked, and ``value`` (N, 1) where the checkpoint has a
    value head. Metadata with keys ``domino_env.*`` tell the game. Raises ``PolicyError`` or ``CheckpointError``.
    """
    onnx_needed("onnx", "an export")
    target = Path(path)
    if target.suffix != ".onnx":
        raise CheckpointError(f"file {str(path)!r}, but the name of an ONNX file ends in .onnx")
    policy = load_policy(checkpoint)
    if not isinstance(policy, LearnedPolicy):
        raise CheckpointError(f"{os.fspath(checkpoint)!r} is no checkpoint, and only the networks of checkpoints are exported")
    write_file(target, _model(policy).SerializeToString(deterministic=True))
    return target


def _model(policy: LearnedPolicy) -> Any:
    from onnx import TensorProto, checker, helper

    meta = policy.checkpoint.meta
    graph = _Graph(policy)
    trunk = graph.trunk("layers", len(meta.layers))
    graph.dense(trunk, "logits", "logits")
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N", meta.num_actions])]
    if meta.value_layers is not None:
        graph.dense(graph.trunk("value_layers", len(meta.value_layers)) if meta.value_layers else trunk, "value", "value")
        outputs.append(helper.make_tensor_value_info("value", TensorProto.FLOAT, ["N", 1]))
    inputs = [helper.make_tensor_value_info("observation", TensorProto.FLOAT, ["N", meta.observation_size])]
    made = helper.make_graph(graph.nodes, "domino_env", inputs, outputs, graph.weights)
    opset = [helper.make_opsetid("", _OPSET)]
    model = helper.make_model(made, opset_imports=opset, ir_version=_IR_VERSION, producer_name="domino_env")
    helper.set_model_props(model, _told(meta))
    checker.check_model(model)
    return model


def _told(meta: CheckpointMeta) -> dict[str, str]:
    return {META + name: str(getattr(meta, name)) for name in _TOLD}


class _Graph:
    """Nodes and weights, as they are added."""

    def __init__(self, policy: LearnedPolicy) -> None:
        self._checkpoint = policy.checkpoint
        self.nodes: list[Any] = []
        self.weights: list[Any] = []

    def dense(self, source: str, part: str, out: str) -> None:
        """``out`` = ``source`` @ weights of ``part`` + bias."""
        from onnx import helper, numpy_helper

        names = [f"{part}.weight", f"{part}.bias"]
        self.weights += [numpy_helper.from_array(self._checkpoint.weights[name], name) for name in names]
        self.nodes.append(helper.make_node("Gemm", [source, *names], [out], transB=1))

    def trunk(self, name: str, count: int) -> str:
        """The hidden layers ``name``.0, ...; returns the name of what comes out."""
        from onnx import helper

        meta = self._checkpoint.meta
        hidden, width = "observation", meta.observation_size
        for number in range(count):
            part = f"{name}.{number}"
            self.dense(hidden, part, f"{part}.sum")
            self.nodes.append(helper.make_node(_ACTIVATIONS[meta.activation], [f"{part}.sum"], [f"{part}.out"]))
            out, units = f"{part}.out", len(self._checkpoint.weights[f"{part}.bias"])
            if meta.residual and number > 0 and units == width:
                self.nodes.append(helper.make_node("Add", [out, hidden], [f"{part}.added"]))
                out = f"{part}.added"
            hidden, width = out, units
        return hidden
