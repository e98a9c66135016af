"""Learning curves of runs as a picture: evaluations with their intervals, lines of the log, seeds as mean and band."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from domino_env.arena.drawing import COLOURS, check_picture, save_figure
from training.config import ConfigError
from training.curve_panels import Panel, check_distinct, labels_of, panels_of, series_of
from training.run_curves import Curve, RunCurves

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["AXES", "draw_curves", "save_curves"]

AXES = ("decisions", "time")

_PANEL = (4.8, 3.3)  # inches
_SAME_ROW = 3


def save_curves(runs: Sequence[str | Path], path: str | os.PathLike[str], **options: Any) -> None:
    """Draw the curves of ``runs`` (folders) into a .png or .svg file; ``options`` are those of ``draw_curves``.

    The file is written beside its place and renamed. Raises ``OptionsError`` for another kind of file or where matplotlib is missing,
    ``ConfigError`` for what ``draw_curves`` refuses, ``OSError`` where the file cannot be written.
    """
    check_picture(path, "curves")
    save_figure(draw_curves(runs, **options), path)


def draw_curves(
    runs: Sequence[str | Path], what: Sequence[str] = (), against: Sequence[str] = (), x: str = "decisions", each: bool = False
) -> Figure:
    """A panel for each measure, a line for each run; runs that differ in the seed alone are one line, their mean.

    ``what``: ``points`` and ``won`` (a panel for each anchor), ``recited`` and ``survived`` (memory game), or columns of the log
    such as ``rollout/return``; left out, what the evaluations are about. ``against``: anchors, left out all. ``x``: ``decisions`` or
    ``time``. ``each``: every seed as a line of its own. An evaluation's band is its 95 % interval, that of a mean goes from the
    lowest seed to the highest; a mean goes as far as all its seeds do. Raises ``ConfigError`` for a folder or a measure that is not
    there, naming it.
    """
    if x not in AXES:
        raise ConfigError(f"axis {x!r}, but it is {' or '.join(map(repr, AXES))}")
    if not runs:
        raise ConfigError("no runs, but curves are of at least one")
    read = [RunCurves(run) for run in runs]
    check_distinct(read)
    series = series_of(read, each)
    return _draw(panels_of(series, what, against), labels_of(series), x)


def _draw(panels: list[Panel], labels: list[str], x: str) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = min(len(panels), _SAME_ROW)
    rows = math.ceil(len(panels) / columns)
    figure = Figure(figsize=(columns * _PANEL[0], rows * _PANEL[1] + 0.25 * len(labels)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    unit, name = _unit(panels) if x == "time" else (1.0, "decisions")
    for panel, place in zip(panels, axes, strict=False):
        for number, curves in panel.curves.items():
            _draw_series(place, curves, labels[number], COLOURS[number % len(COLOURS)], x, unit)
        _dress(place, panel, name)
    for place in axes[len(panels) :]:
        place.remove()
    lines = {line.get_label(): line for place in figure.axes for line in place.get_lines() if line.get_label() in labels}
    legend = figure.legend([lines[label] for label in labels], labels, loc="outside lower center", frameon=False, fontsize=9)
    legend.set_title(_bands(panels))
    legend.get_title().set_fontsize(8)
    for text in legend.get_texts():
        text.set_parse_math(False)
    return figure


def _bands(panels: list[Panel]) -> str:
    """What the bands say."""
    drawn = [curves for panel in panels for curves in panel.curves.values()]
    told = []
    if any(len(curves) == 1 and curves[0].low is not None for curves in drawn):
        told.append("95 % intervals of the evaluations")
    if any(len(curves) > 1 for curves in drawn):
        told.append("from the lowest seed to the highest")
    return f"bands: {'; of means '.join(told)}" if told else ""


def _draw_series(axes: Axes, curves: list[Curve], label: str, colour: str, x: str, unit: float) -> None:
    """One line with its band: a run with its intervals, or the mean of several between the lowest and the highest."""
    points = [_along(curve, x, unit) for curve in curves]
    marker = "o" if max(len(at) for at, _ in points) <= 40 else ""
    if len(curves) == 1:
        ((at, curve),) = points
        axes.plot(at, curve.values, color=colour, label=label, marker=marker, markersize=3, linewidth=1.5)
        if curve.low is not None and curve.high is not None:
            axes.fill_between(at, curve.low, curve.high, color=colour, alpha=0.18, linewidth=0)
        return
    for at, curve in points:
        axes.plot(at, curve.values, color=colour, alpha=0.35, linewidth=0.7)
    grid, values = _together(points)
    axes.plot(grid, values.mean(axis=0), color=colour, label=label, marker=marker, markersize=3, linewidth=1.8)
    axes.fill_between(grid, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.18, linewidth=0)


def _along(curve: Curve, x: str, unit: float) -> tuple[npt.NDArray[np.float64], Curve]:
    """Where the points stand, (n,), and the curve of those that have a place."""
    at = curve.decisions if x == "decisions" else curve.seconds / unit
    known = np.isfinite(at)
    parts = (part if part is None else part[known] for part in (curve.low, curve.high))
    return at[known], Curve(curve.decisions[known], curve.seconds[known], curve.values[known], *parts)


def _together(points: list[tuple[npt.NDArray[np.float64], Curve]]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """All places (n,) that every seed reaches, and the values of the seeds there, (seeds, n); in straight lines between points."""
    begin = max((at[0] if len(at) else np.inf) for at, _ in points)
    end = min((at[-1] if len(at) else -np.inf) for at, _ in points)
    grid = np.unique(np.concatenate([at for at, _ in points]))
    grid = grid[(grid >= begin) & (grid <= end)]
    if not len(grid):
        raise ConfigError("the seeds of a setting have no stretch in common yet: draw each of them by itself (--each)")
    return grid, np.stack([np.interp(grid, at, curve.values) for at, curve in points])


def _unit(panels: list[Panel]) -> tuple[float, str]:
    """Seconds in the unit of the time axis, and its label. ``ConfigError`` where no run tells its time."""
    told = [curve.seconds[np.isfinite(curve.seconds)] for panel in panels for curves in panel.curves.values() for curve in curves]
    if not all(len(seconds) for seconds in told):
        raise ConfigError("axis 'time', but a run has no time in its log (logs/from_*/progress.csv): draw it by decisions")
    longest = max(float(seconds.max()) for seconds in told)
    seconds, name = (1.0, "seconds") if longest < 180 else (60.0, "minutes") if longest < 10_800 else (3600.0, "hours")
    return seconds, f"{name} of training"


def _dress(axes: Axes, panel: Panel, name: str) -> None:
    from matplotlib.ticker import EngFormatter

    if panel.level is not None:
        axes.axhline(panel.level, color="0.6", linewidth=0.8, linestyle=":", zorder=0)
    axes.set_title(panel.title, fontsize=10, parse_math=False)
    axes.set_xlabel(name, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.grid(color="0.92", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlim(left=0)
    if name == "decisions":
        axes.xaxis.set_major_formatter(EngFormatter(sep=" "))
