"""A comparison as tables for the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import Group
from rich.markup import escape
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from domino_env.arena.comparison import Comparison, Estimate, PolicyRating, PolicyTime

__all__ = ["ODDS_OF_ONE", "comparison_tables", "rating_text"]

ODDS_OF_ONE = math.exp(1 / math.sqrt(2 * (25 / 6) ** 2))


def comparison_tables(found: Comparison) -> Group:
    """One row for each pair; below, one for each policy, the strongest first where there are ratings."""
    return Group(_pairs(found), *_notes(found), _policies(found))


def _pairs(found: Comparison) -> Table:
    table = Table(title=escape(found.title))
    for column in ("policy", "against"):
        table.add_column(column, overflow="fold")
    for column in (f"points per {found.episode}", f"share of {found.games} won", "share of the other"):
        table.add_column(column, justify="right")
    for result in found.pairs:
        points = f"{result.points.mean:+.3f} [{result.points.low:+.3f}, {result.points.high:+.3f}]"
        table.add_row(*(Text(cell) for cell in (result.first, result.second, points, _share(result.won), _share(result.won_second))))
    return table


def _share(share: Estimate) -> str:
    return f"{share.mean:.1%} [{share.low:.1%}, {share.high:.1%}]"


def _policies(found: Comparison) -> Table:
    table = Table()
    table.add_column("policy", overflow="fold")
    if found.ratings:
        table.add_column("rating", justify="right")
    table.add_column("time per decision", justify="right")
    for row in _policy_rows(found):
        table.add_row(*(Text(cell) for cell in row))
    return table


def _policy_rows(found: Comparison) -> Iterator[tuple[str, ...]]:
    times = {time.name: _duration(time) for time in found.times}
    if not found.ratings:
        yield from times.items()
    for rating in sorted(found.ratings, key=lambda rating: -rating.rating.mean):
        yield rating.name, rating_text(rating), times[rating.name]


def rating_text(rating: PolicyRating) -> str:
    """A rating with half its interval, as the tables show it."""
    return f"{rating.rating.mean:.2f} " + ("fixed" if rating.anchor else f"± {rating.rating.half:.2f}")


def _duration(time: PolicyTime) -> str:
    return f"{time.microseconds:.1f} µs" if time.decisions else "not timed"


def _notes(found: Comparison) -> Iterator[Text]:
    """What the figures of both tables need to be understood."""
    if found.fair_share != 0.5:
        yield Text(f"A share is that of one seat alone among others of the other policy; {found.fair_share:.1%} is fair.")
    if found.ratings:
        anchored = any(rating.anchor for rating in found.ratings)
        scale = "" if anchored else " Without an anchor their mean is 25, and they compare within this table only."
        yield Text(f"Ratings: 1 more is odds of {ODDS_OF_ONE:.2f} to win a {found.episode}.{scale}")
