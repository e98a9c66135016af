"""What a run of the benchmark found, and its file."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import domino_env
from domino_env.arena.comparison import Estimate, estimate
from domino_env.benchmark.protocol import PROTOCOL_VERSION, SETTINGS, TRACKS, Opponent, Setting
from domino_env.errors import DominoError
from domino_env.files import write_file

__all__ = ["RESULT_FORMAT", "PairFound", "Result", "ResultError", "SettingFound", "machine", "rounded", "to_text", "versions"]

RESULT_FORMAT = 1
_DIGITS = 6


class ResultError(DominoError):
    """A result file is damaged, of another protocol or policy, or its numbers do not agree with each other."""


def rounded(values: npt.NDArray[np.float64]) -> tuple[float, ...]:
    """Numbers by deal (deals,) as a file keeps them: to six digits, and no minus before a 0."""
    return tuple(float(value) for value in np.round(values, _DIGITS) + 0.0)


@dataclass(frozen=True)
class PairFound:
    """The policy against one opponent of a setting."""

    setting: Setting
    opponent: Opponent
    points_by_deal: tuple[float, ...]
    """Of each deal the mean over its sittings, to six digits, forfeits included."""
    won_by_deal: tuple[float, ...]
    """Share of rounds that the policy won, with more than two seats and no sides where it sat alone among the opponent."""
    forfeits: Mapping[str, int] = field(default_factory=dict)
    """Reason -> rounds that the policy forfeited; only those that happened."""
    decisions: int = 0
    """Of the policy, those that were timed: all but the first batch."""
    seconds: float = 0.0

    @cached_property
    def points(self) -> Estimate:
        """Per round."""
        return estimate(np.array(self.points_by_deal), self.setting.seed)

    @cached_property
    def won(self) -> Estimate:
        """Share of rounds."""
        return estimate(np.array(self.won_by_deal), self.setting.seed)

    @property
    def score(self) -> Estimate:
        """100 * points / spread."""
        scale = 100 / self.setting.spread
        return Estimate(scale * self.points.mean, scale * self.points.low, scale * self.points.high)

    @property
    def rounds(self) -> int:
        """How many were played."""
        return len(self.points_by_deal) * self.setting.rounds_per_deal

    @property
    def forfeited(self) -> int:
        """How many rounds were forfeited."""
        return sum(self.forfeits.values())

    @property
    def time(self) -> dict[str, float]:
        """Decisions, seconds, and microseconds for a decision."""
        each = round(1e6 * self.seconds / max(self.decisions, 1), 3)
        return {"decisions": self.decisions, "seconds": self.seconds, "microseconds": each}

    def to_json(self) -> dict[str, Any]:
        """All numbers as JSON values."""
        return {
            "opponent": self.opponent.spec,
            "opponent_digest": self.opponent.digest,
            "rounds": self.rounds,
            "points": asdict(self.points),
            "won": asdict(self.won),
            "score": asdict(self.score),
            "forfeits": dict(sorted(self.forfeits.items())),
            "points_by_deal": [_short(value) for value in self.points_by_deal],
            "won_by_deal": [_short(value) for value in self.won_by_deal],
            "time": self.time,
        }


@dataclass
class SettingFound:
    """The policy in one setting: its opponents so far, in the order of the protocol."""

    setting: Setting
    deals: int
    policy_digest: str | None
    pairs: list[PairFound] = field(default_factory=list)
    _score: Estimate | None = field(default=None, init=False, repr=False)

    @property
    def whole(self) -> bool:
        """Whether every opponent was met."""
        return [pair.opponent for pair in self.pairs] == list(self.setting.opponents)

    @property
    def score(self) -> Estimate | None:
        """The mean over the opponents; its interval is that of drawing the deals anew, for all opponents together. None until whole."""
        if self._score is None and self.whole:
            by_deal = np.mean([pair.points_by_deal for pair in self.pairs], axis=0)
            self._score = estimate(100 / self.setting.spread * by_deal, self.setting.seed)
        return self._score

    def to_json(self) -> dict[str, Any]:
        """All numbers as JSON values."""
        setting, score = self.setting, self.score
        return {
            "setting": setting.name,
            "rules_fingerprint": setting.fingerprint,
            "spread": setting.spread,
            "seed": setting.seed,
            "deals": self.deals,
            "policy_digest": self.policy_digest,
            "score": None if score is None else asdict(score),
            "pairs": [pair.to_json() for pair in self.pairs],
        }


@dataclass
class Result:
    """A policy in the benchmark, whole or in part."""

    policy: str
    """Its name."""
    spec: str
    kind: str
    size: str
    limits: dict[str, float]
    versions: dict[str, str]
    machine: dict[str, Any]
    settings: dict[str, SettingFound] = field(default_factory=dict)

    @property
    def scores(self) -> dict[str, Estimate | None]:
        """Track -> score; None until all its settings are whole."""
        return {track: self._score(track) for track in TRACKS}

    def _score(self, track: str) -> Estimate | None:
        names = [name for name, setting in SETTINGS.items() if setting.track == track]
        scores = [self.settings[name].score for name in names if name in self.settings]
        found = [score for score in scores if score is not None]
        if len(found) < len(names):
            return None
        mean = sum(score.mean for score in found) / len(found)
        # settings have deals of their own, so their errors are independent
        down = math.hypot(*(score.mean - score.low for score in found)) / len(found)
        up = math.hypot(*(score.high - score.mean for score in found)) / len(found)
        return Estimate(mean, mean - down, mean + up)

    def to_json(self) -> dict[str, Any]:
        """All numbers as JSON values: what the file holds."""
        return {
            "benchmark": "domino_env",
            "format": RESULT_FORMAT,
            "protocol": PROTOCOL_VERSION,
            "size": self.size,
            "policy": {"name": self.policy, "spec": self.spec, "kind": self.kind},
            "limits": self.limits,
            "versions": self.versions,
            "machine": self.machine,
            "scores": {track: None if score is None else asdict(score) for track, score in self.scores.items()},
            "settings": [self.settings[name].to_json() for name in SETTINGS if name in self.settings],
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file. Raises ``OSError``."""
        write_file(path, to_text(self.to_json()))


def to_text(value: dict[str, Any]) -> str:
    """JSON with a line for each key, and lists of numbers in one."""
    lists: list[str] = []

    def kept(inner: Any) -> Any:
        if isinstance(inner, dict):
            return {key: kept(item) for key, item in inner.items()}
        if isinstance(inner, list) and inner and not isinstance(inner[0], dict):
            lists.append(json.dumps(inner, separators=(",", ":")))
            return f"\0{len(lists) - 1}"
        return [kept(item) for item in inner] if isinstance(inner, list) else inner

    text = json.dumps(kept(value), indent=1, ensure_ascii=False)
    for number, line in enumerate(lists):
        text = text.replace(f'"\\u0000{number}"', line, 1)
    return text + "\n"


def _short(value: float) -> float | int:
    """Whole numbers without a point."""
    return int(value) if value == int(value) else value


def versions(kind: str) -> dict[str, str]:
    """Package -> version of those that results depend on, for a policy of this kind."""
    packages = ("numpy", "numba", *(("onnxruntime",) if kind == "onnx" else ()))
    return {"domino-env": domino_env.__version__, **{package: metadata.version(package) for package in packages}}


def machine() -> dict[str, Any]:
    """What it is played on, as far as times depend on it; not which machine it is."""
    return {"system": platform.system(), "processor": _processor(), "cores": os.cpu_count(), "python": platform.python_version()}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
