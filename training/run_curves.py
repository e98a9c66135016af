"""Reading the curves of a run from its folder, while it goes on too: evaluations, and the lines of its log."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from training.config import ConfigError
from training.config_file import load_config
from training.kinds import AnyConfig
from training.rllib_config import RllibConfig
from training.run_folder import RunFolder

__all__ = ["AGAINST", "EVALUATED", "Curve", "RunCurves"]

Floats = npt.NDArray[np.float64]

AGAINST = ("points", "won")
"""What evaluations of dominoes tell for each anchor."""
EVALUATED = ("recited", "survived")
"""What evaluations of the memory game tell."""

_WITH_INTERVAL = ("points", "recited")
_DECISIONS, _SECONDS = "time/total_timesteps", "time/seconds"


@dataclass(frozen=True)
class Curve:
    """One figure of a run as it trains; all arrays (n,) float64, in the order of the decisions."""

    decisions: Floats
    seconds: Floats
    """Wall time, evaluations and saves included; nan where the log does not reach."""
    values: Floats
    low: Floats | None = None
    """Ends of the 95 % intervals, where the evaluation has them."""
    high: Floats | None = None


class RunCurves:
    """The curves of the run in a folder. Raises ``ConfigError`` where the folder is that of no run or a file of it is damaged."""

    def __init__(self, folder: str | Path) -> None:
        place = RunFolder(Path(folder))
        if not place.config.is_file():
            raise ConfigError(f"run {folder}: there is no {place.config.name}, so it is not the folder of a run, such as runs/bergen_ppo")
        self.folder = place.path
        # Ray's part of a run lies beside its config
        self.config: AnyConfig = load_config(place.config, schema=RllibConfig if (place.path / "ray").is_dir() else None)
        self.evaluations: list[dict[str, Any]] = _read_evaluations(place.evaluations)

    @cached_property
    def log(self) -> dict[str, tuple[Floats, Floats]]:
        """Column of the log -> decisions (n,) and values (n,) float64, of all starts of the run."""
        return _read_logs(self.folder / "logs")

    @property
    def anchors(self) -> list[str]:
        """Whom the evaluations of dominoes are against; empty before the first of them, and in the memory game."""
        return list(self.evaluations[0].get("against", ())) if self.evaluations else []

    @property
    def measures(self) -> list[str]:
        """All that ``curve`` can be asked for."""
        first = self.evaluations[0] if self.evaluations else {}
        told = AGAINST if "against" in first else tuple(name for name in EVALUATED if name in first)
        return [*told, *sorted(name for name in self.log if name != _DECISIONS)]

    def column(self, name: str) -> str | None:
        """The column of the log that is meant: its whole name, or the part behind the slash where only one column ends so."""
        ends = [column for column in self.log if column.rpartition("/")[2] == name and not column.startswith("evaluation/")]
        return name if name in self.log else ends[0] if len(ends) == 1 else None

    def curve(self, measure: str, anchor: str | None = None) -> Curve | None:
        """The curve of a measure, in dominoes ``points`` and ``won`` against an ``anchor``; None where the run has none."""
        if measure in AGAINST or measure in EVALUATED:
            return self._evaluated(measure, anchor)
        column = self.column(measure)
        if column is None:
            return None
        decisions, values = self.log[column]
        return Curve(decisions, self._seconds(decisions), values)

    def _evaluated(self, measure: str, anchor: str | None) -> Curve | None:
        found: list[tuple[int, dict[str, float]]] = []
        for result in self.evaluations:
            told = result.get("against", {}).get(anchor) if measure in AGAINST else result
            if told is not None and measure in told:
                found.append((result["decisions"], told))
        if not found:
            return None
        decisions = np.array([at for at, _ in found], np.float64)
        names = (measure, "low", "high") if measure in _WITH_INTERVAL else (measure,)
        values, *ends = (np.array([told[name] for _, told in found], np.float64) for name in names)
        return Curve(decisions, self._seconds(decisions), values, *ends)

    def _seconds(self, decisions: Floats) -> Floats:
        """Wall time (n,) after so many decisions (n,)."""
        if _SECONDS not in self.log:
            return np.full(len(decisions), np.nan)
        at, seconds = self.log[_SECONDS]
        return np.interp(decisions, at, seconds, right=np.nan)


def _read_evaluations(path: Path) -> list[dict[str, Any]]:
    """What the run has written so far, checked; none where it has made none."""
    if not path.exists():
        return []
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"evaluations {path}: {' '.join(str(error).split())}") from None
    if not isinstance(results, list):
        raise ConfigError(f"evaluations {path}: {type(results).__name__}, but it is a list of evaluations")
    for number, result in enumerate(results):
        if not _is_evaluation(result):
            raise ConfigError(f"evaluations {path}: entry {number} is no evaluation of a run: {str(result)[:80]}")
    return results


def _is_evaluation(result: Any) -> bool:
    if not isinstance(result, dict) or not _is_number(result.get("decisions")):
        return False
    against = result.get("against")
    if against is None:
        return all(_is_number(result.get(name)) for name in (*EVALUATED, "low", "high"))
    names = (*AGAINST, "low", "high")
    return isinstance(against, dict) and all(
        isinstance(told, dict) and all(_is_number(told.get(name)) for name in names) for told in against.values()
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _read_logs(folder: Path) -> dict[str, tuple[Floats, Floats]]:
    """The lines of all starts, one after another. What a start made beyond its last save was lost, and made anew by the next one."""
    starts = []
    for path in folder.glob("from_*/progress.csv"):
        match = re.fullmatch(r"from_(\d+)(?:_(\d+))?", path.parent.name)
        if match:
            starts.append((int(match[1]), int(match[2] or 1), path))
    starts.sort()
    kept: list[dict[str, float]] = []
    for begin, _, path in starts:
        kept = [row for row in kept if row[_DECISIONS] <= begin]
        kept += _read_log(path)
    columns: dict[str, tuple[Floats, Floats]] = {}
    for name in dict.fromkeys(name for row in kept for name in row):
        told = [(row[_DECISIONS], row[name]) for row in kept if np.isfinite(row.get(name, np.nan))]
        if told:
            decisions, values = np.array(told, np.float64).T
            columns[name] = decisions, values
    return columns


def _read_log(path: Path) -> list[dict[str, float]]:
    """The lines of one start: column -> number, nan where the line has none. The last line may be half written."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ConfigError(f"log {path}: {' '.join(str(error).split())}") from None
    lines = list(csv.reader(text[: text.rfind("\n") + 1].splitlines()))
    if not lines:
        return []
    head, *rows = lines
    if _DECISIONS not in head:
        raise ConfigError(f"log {path}: there is no column {_DECISIONS}, so it is no log of a run; its columns: {', '.join(head)}")
    found = []
    for number, cells in enumerate(rows, start=2):
        try:
            row = {name: float(cell) if cell else np.nan for name, cell in zip(head, cells, strict=True)}
        except ValueError as error:
            raise ConfigError(f"log {path}: line {number}: {error}, but it has a number for each of {len(head)} columns") from None
        if np.isfinite(row[_DECISIONS]):
            found.append(row)
    return found
