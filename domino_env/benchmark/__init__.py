"""A benchmark of policies: a fixed, versioned protocol, one score for each setting and track, and a result file that others can check."""

from __future__ import annotations

from domino_env.benchmark.onnx_export import export_onnx
from domino_env.benchmark.playing import run
from domino_env.benchmark.protocol import LIMITS, PROTOCOL_VERSION, SETTINGS, Limits, Opponent, Setting
from domino_env.benchmark.read import check_result, read_result
from domino_env.benchmark.report import result_tables
from domino_env.benchmark.result import PairFound, Result, ResultError, SettingFound

__all__ = [
    "LIMITS",
    "PROTOCOL_VERSION",
    "SETTINGS",
    "Limits",
    "Opponent",
    "PairFound",
    "Result",
    "ResultError",
    "Setting",
    "SettingFound",
    "check_result",
    "export_onnx",
    "read_result",
    "result_tables",
    "run",
]
