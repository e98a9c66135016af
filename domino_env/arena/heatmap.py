"""A comparison as a picture: who gains how much from whom."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from domino_env.arena.extra import need
from domino_env.errors import OptionsError
from domino_env.files import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from domino_env.arena.comparison import Comparison, Estimate

__all__ = ["MEASURES", "check_heatmap", "draw_heatmap", "save_heatmap"]

MEASURES = ("points", "won")

_CELL = (0.86, 0.62)  # inches
_LONGEST_NAME = 36
_SAME = (0.88, 0.88, 0.88, 1.0)  # a policy against itself


def check_heatmap(path: str | os.PathLike[str], measure: str = "points") -> None:
    """Raise ``OptionsError`` for a name that does not end in .png, an unknown measure, or where matplotlib is missing."""
    need("matplotlib", "a heat map")
    if Path(path).suffix.lower() != ".png":
        raise OptionsError(f"heat map {os.fspath(path)!r}, but its name ends in .png")
    if measure not in MEASURES:
        raise OptionsError(f"heat map of {measure!r}, but it is of {' or '.join(map(repr, MEASURES))}")


def save_heatmap(comparison: Comparison, path: str | os.PathLike[str], measure: str = "points") -> None:
    """Write a PNG: the row policy against the column policy, with half the 95 % interval; blue where the row gains, red where it loses.

    ``measure``: ``"points"`` per game, or ``"won"``, the share of games that the row wins (with more than two seats and no sides:
    alone among seats of the column). The file is written beside its place and renamed. Raises ``OptionsError`` for what
    ``check_heatmap`` refuses, ``OSError`` where the file cannot be written.
    """
    check_heatmap(path, measure)
    figure = draw_heatmap(comparison, measure)
    with replacing(path) as beside:
        figure.savefig(beside, format="png", dpi=150, bbox_inches="tight", pad_inches=0.15)


def draw_heatmap(comparison: Comparison, measure: str = "points") -> Figure:
    """The figure of ``save_heatmap``. The cells fill it; names and title stand outside and come with ``bbox_inches="tight"``."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    names = comparison.names
    size = len(names)
    figure = Figure(figsize=(size * _CELL[0], size * _CELL[1]))
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    _fill(figure, comparison, measure)
    labels = [_short(name) for name in names]
    axes.set_xticks(range(size), labels, rotation=40, ha="left", rotation_mode="anchor", fontsize=9, parse_math=False)
    axes.set_yticks(range(size), labels, fontsize=9, parse_math=False)
    axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    figure.text(0, -0.12 / (size * _CELL[1]), _legend(comparison, measure), fontsize=9, va="top", parse_math=False)
    return figure


def _fill(figure: Figure, comparison: Comparison, measure: str) -> None:
    """Colour and numbers of each cell."""
    from matplotlib import colormaps

    (axes,), size = figure.axes, len(comparison.names)
    cells = _cells(comparison, measure)
    fair = comparison.fair_share if measure == "won" else 0.0
    largest = max(abs(cell.mean) for cell in cells.values())
    farthest = max(abs(cell.mean - fair) for cell in cells.values()) or 1.0
    colours = np.full((size, size, 4), _SAME)
    for (row, column), cell in cells.items():
        strength = (cell.mean - fair) / farthest
        colours[row, column] = colormaps["RdBu"](0.5 + 0.42 * strength)  # the ends of the scale are too dark for the numbers
        ink = "white" if abs(strength) > 0.75 else "black"
        number, half = _texts(cell, measure, largest)
        # not in the layout: inside the axes anyhow, and measuring every text takes seconds
        axes.text(column, row - 0.04, number, fontsize=9, ha="center", va="bottom", color=ink, in_layout=False)
        axes.text(column, row + 0.08, half, fontsize=7, ha="center", va="top", color=ink, in_layout=False)
    axes.imshow(colours, aspect="auto", interpolation="nearest")
    borders = np.arange(1, size) - 0.5
    axes.hlines(borders, -0.5, size - 0.5, color="white", linewidth=1)
    axes.vlines(borders, -0.5, size - 0.5, color="white", linewidth=1)
    axes.spines[:].set_visible(False)


def _cells(comparison: Comparison, measure: str) -> dict[tuple[int, int], Estimate]:
    """(row, column) -> the measure of the row policy against the column policy."""
    names = comparison.names
    meetings = [(row, column) for row in range(len(names)) for column in range(len(names)) if row != column]
    return {(row, column): getattr(comparison.pair(names[row], names[column]), measure) for row, column in meetings}


def _texts(cell: Estimate, measure: str, largest: float) -> tuple[str, str]:
    """The number and half its interval, with so many digits that it fits the cell."""
    if measure == "won":
        return f"{100 * cell.mean:.1f} %", f"± {100 * cell.half:.1f}"
    digits = 3 if largest < 10 else 2 if largest < 100 else 1
    return f"{cell.mean:+.{digits}f}", f"± {cell.half:.{digits}f}"


def _legend(comparison: Comparison, measure: str) -> str:
    if measure == "points":
        what = f"Points per {comparison.episode}, row against column"
    elif comparison.fair_share == 0.5:
        what = f"Share of {comparison.games} that the row wins against the column"
    else:
        what = f"Share of {comparison.games} that the row wins alone among seats of the column; {100 * comparison.fair_share:.1f} % is fair"
    return f"{what}\n{comparison.title}"


def _short(name: str) -> str:
    """A name that leaves room for the picture; of a long one the end tells most."""
    name = name.removesuffix(".safetensors")
    return name if len(name) <= _LONGEST_NAME else "…" + name[1 - _LONGEST_NAME :]
