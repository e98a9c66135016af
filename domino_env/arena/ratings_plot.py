"""Ratings as a picture: a dot with its 95 % interval for each policy, the strongest on top."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from domino_env.arena.comparison import Comparison, Estimate, PolicyRating, title_of
from domino_env.arena.drawing import COLOURS, check_picture, save_figure
from domino_env.arena.tables import ODDS_OF_ONE, rating_text
from domino_env.errors import OptionsError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["RatingTable", "draw_ratings", "read_ratings", "save_ratings"]

_LONGEST_NAME = 44


@dataclass(frozen=True)
class RatingTable:
    """The ratings of one comparison, and what was played."""

    title: str
    episode: str
    ratings: tuple[PolicyRating, ...]

    @classmethod
    def of(cls, found: Comparison) -> RatingTable:
        """Of a comparison as it came from the play."""
        return cls(found.title, found.episode, found.ratings)


def save_ratings(found: Comparison | RatingTable, path: str | os.PathLike[str]) -> None:
    """Write the picture of ``draw_ratings`` into a .png or .svg file, beside its place and renamed.

    Raises ``OptionsError`` for another kind of file, for a comparison without ratings or where matplotlib is missing, ``OSError``
    where the file cannot be written.
    """
    check_picture(path, "ratings")
    save_figure(draw_ratings(found), path)


def draw_ratings(found: Comparison | RatingTable) -> Figure:
    """A row for each policy; a hollow diamond is an anchor, whose rating was given. Raises ``OptionsError`` where nobody was rated."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    table = RatingTable.of(found) if isinstance(found, Comparison) else found
    if not table.ratings:
        raise OptionsError("the comparison has no ratings: it was made without openskill, or with --no-rating")
    figure = Figure(figsize=(7.2, 1.3 + 0.34 * len(table.ratings)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    ratings = sorted(table.ratings, key=lambda one: one.rating.mean)
    for row, one in enumerate(ratings):
        _draw_row(axes, row, one)
    axes.set_yticks(range(len(ratings)), [_short(one.name) for one in ratings], fontsize=9, parse_math=False)
    axes.set_ylim(-0.6, len(ratings) - 0.4)
    axes.set_xlabel(f"rating; 1 more is odds of {ODDS_OF_ONE:.2f} to win a {table.episode}", fontsize=9)
    axes.set_title(table.title, fontsize=10, parse_math=False)
    axes.tick_params(labelsize=8, length=0, axis="y")
    axes.grid(axis="x", color="0.92", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    return figure


def _draw_row(axes: Axes, row: int, one: PolicyRating) -> None:
    """The dot, its interval, and the figure of the table beside it."""
    value = one.rating
    if one.anchor:
        axes.axvline(value.mean, color="0.8", linewidth=0.8, linestyle=":", zorder=0)
        axes.plot([value.mean], [row], marker="D", markersize=6, color=COLOURS[0], markerfacecolor="white", linestyle="")
    else:
        axes.plot([value.low, value.high], [row, row], color=COLOURS[0], linewidth=2, solid_capstyle="butt")
        axes.plot([value.mean], [row], marker="o", markersize=6, color=COLOURS[0], linestyle="")
    axes.annotate(
        rating_text(one), (1.01, row), xycoords=("axes fraction", "data"), fontsize=8, va="center", color="0.25", annotation_clip=False
    )


def _short(name: str) -> str:
    name = name.removesuffix(".safetensors")
    return name if len(name) <= _LONGEST_NAME else "…" + name[1 - _LONGEST_NAME :]


# ------------------------------------------------------------------------------------------------------- from saved files


def read_ratings(path: str | os.PathLike[str]) -> RatingTable:
    """The ratings in a file that the arena wrote, by ``--csv`` or from ``--json``. Raises ``OptionsError``, naming the file."""
    source = Path(path)
    try:
        text = source.read_text(encoding="utf-8")
        if source.suffix.lower() not in (".csv", ".json"):
            raise ValueError("its name ends in neither .csv nor .json")
        table = _from_csv(text) if source.suffix.lower() == ".csv" else _from_json(json.loads(text))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        why = f"there is no {error}" if isinstance(error, KeyError) else " ".join(str(error).split())
        raise OptionsError(f"ratings {str(source)!r}: not a table that the arena wrote ({why})") from None
    if not table.ratings:
        raise OptionsError(f"ratings {str(source)!r}: there are none in it; it was made without openskill, or with --no-rating")
    return table


def _from_json(values: Mapping[str, Any]) -> RatingTable:
    ratings = []
    for one in values["ratings"]:
        ratings.append(
            PolicyRating(str(one["name"]), _estimate([one["rating"][end] for end in ("mean", "low", "high")]), bool(one["anchor"]))
        )
    return RatingTable(_title(values, bool(values["sides"])), str(values["episode"]), tuple(ratings))


def _from_csv(text: str) -> RatingTable:
    """An anchor has an interval of no width; it is told apart by that."""
    rows = list(csv.DictReader(io.StringIO(text), strict=True))
    if not rows:
        raise ValueError("there is no line in it")
    found: dict[str, PolicyRating] = {}
    for row in rows:
        for side, measure in (("first", "rating"), ("second", "rating_second")):
            ends = [row[f"{measure}_{end}"] for end in ("mean", "low", "high")]
            if any(ends):
                value = _estimate(ends)
                found[row[side]] = PolicyRating(row[side], value, value.low == value.high)
    return RatingTable(_title(rows[0], rows[0]["sides"] == "True"), rows[0]["episode"], tuple(found.values()))


def _estimate(ends: list[Any]) -> Estimate:
    mean, low, high = map(float, ends)
    if not low <= mean <= high:
        raise ValueError(f"a rating of {mean} with the interval {low} to {high}")
    return Estimate(mean, low, high)


def _title(told: Mapping[str, Any], sides: bool) -> str:
    return title_of(str(told["variant"]), int(told["num_players"]), sides, int(told["deals"]))
