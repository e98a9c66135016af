"""Folders of runs that nobody made, and what a drawn figure holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from matplotlib.figure import Figure

HEAD = ["time/total_timesteps", "time/seconds", "rollout/return"]


def run_folder(place: Path, seed: int = 0, evaluations: int = 3, variant: str = "bergen", **config: Any) -> Path:
    """The folder of a run that nobody made: figures drawn from the seed, evaluated every 100 decisions, a line of the log each."""
    draw = np.random.default_rng(seed)
    place.mkdir(parents=True)
    (place / "config.yaml").write_text(yaml.safe_dump({"variant": variant, "seed": seed, **config}))
    results = []
    for number in range(1, evaluations + 1):
        points = float(draw.normal())
        if variant == "shopping":
            told: dict[str, Any] = {
                "games": 9,
                "recited": points,
                "low": points - 0.5,
                "high": points + 0.25,
                "longest": 3,
                "survived": 0.1,
            }
        else:
            one = {"points": points, "low": points - 0.5, "high": points + 0.25, "won": float(draw.uniform())}
            told = {"deals": 9, "against": {"random": one, "greedy": {**one, "points": points + 1, "high": points + 2}}}
        results.append({"decisions": 100 * number, **told})
    (place / "evaluations.json").write_text(json.dumps(results))
    write_log(place, 0, [[100 * number, (seed + 1) * 60 * number, draw.normal()] for number in range(1, evaluations + 1)])
    return place


def write_log(place: Path, begin: int, rows: list[list[Any]], head: list[str] = HEAD, end: str = "\n", again: str = "") -> Path:
    path = place / "logs" / f"from_{begin}{again}" / "progress.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(",".join(map(str, row)) for row in [head, *rows]) + end)
    return path


def evaluated(run: Path, anchor: str | None, *names: str) -> np.ndarray[Any, Any]:
    """(names, n): figures of the file itself."""
    results = json.loads((run / "evaluations.json").read_text())
    return np.array([[(result["against"][anchor] if anchor else result)[name] for result in results] for name in names])


def panels(figure: Figure) -> dict[str, Any]:
    return {axes.get_title(): axes for axes in figure.axes}


def lines(axes: Any) -> dict[str, np.ndarray[Any, Any]]:
    """Label -> (2, n): the drawn points. Those without one (single seeds, levels) begin with ``_``."""
    return {line.get_label(): np.array(line.get_xydata()).T for line in axes.get_lines()}


def band(axes: Any, number: int = 0) -> dict[float, tuple[float, float]]:
    """Place -> lower and upper edge of a drawn band."""
    corners: dict[float, list[float]] = {}
    for x, y in axes.collections[number].get_paths()[0].vertices:
        corners.setdefault(float(x), []).append(float(y))
    return {x: (min(ys), max(ys)) for x, ys in corners.items()}
