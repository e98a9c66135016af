"""What a comparison found: estimates with intervals, as a table, as JSON and as CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from domino_env.errors import OptionsError

if TYPE_CHECKING:
    from rich.console import Group

__all__ = ["Comparison", "Estimate", "PairResult", "PolicyRating", "PolicyTime", "estimate", "title_of"]

RESAMPLES = 2000
_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class Estimate:
    """A mean and the ends of its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def half(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2

    def __neg__(self) -> Estimate:
        return Estimate(-self.mean, -self.high, -self.low)


@dataclass(frozen=True)
class PairResult:
    """Two policies on the same deals."""

    first: str
    second: str
    points: Estimate
    """Points per game (a round or a match) of ``first`` less those of ``second``; in games for penalties the sign is turned."""
    won: Estimate
    """Share of games that ``first`` wins, with more than two seats (and no sides) alone among ``second``. Ties share the win."""
    won_second: Estimate
    """The same for ``second``."""


@dataclass(frozen=True)
class PolicyTime:
    """What the moves of a policy took."""

    name: str
    decisions: int
    """Those that were timed: all but the first batch."""
    seconds: float

    @property
    def microseconds(self) -> float:
        """Per decision, in batches; forced moves are not asked for."""
        return 1e6 * self.seconds / max(self.decisions, 1)


@dataclass(frozen=True)
class PolicyRating:
    """The strength of a policy in one number; ``domino_env.arena.rating`` says what it means."""

    name: str
    rating: Estimate
    """On openskill's scale; of an anchor exactly the value that it was given, three times."""
    anchor: bool


@dataclass(frozen=True)
class Comparison:
    """Every pair of policies on the same deals."""

    variant: str
    rules: dict[str, Any]
    """What differs from the preset of the variant; all fields where there is no such preset."""
    rules_fingerprint: str
    num_players: int
    sides: bool
    episode: str
    deals: int
    seed: int
    pairs: tuple[PairResult, ...]
    times: tuple[PolicyTime, ...]
    ratings: tuple[PolicyRating, ...] = ()
    """One for each policy, in their order; empty where none were asked for."""

    @property
    def names(self) -> tuple[str, ...]:
        """The policies, in their order."""
        return tuple(time.name for time in self.times)

    @property
    def title(self) -> str:
        """What was played, in a line."""
        return title_of(self.variant, self.num_players, self.sides, self.deals)

    @property
    def games(self) -> str:
        """``"rounds"`` or ``"matches"``."""
        return "matches" if self.episode == "match" else "rounds"

    @property
    def fair_share(self) -> float:
        """Share of games that equal policies win."""
        return 0.5 if self.sides else 1 / self.num_players

    def pair(self, first: str, second: str) -> PairResult:
        """The result of these two, seen from ``first``; ``OptionsError`` where they did not meet."""
        for result in self.pairs:
            if (result.first, result.second) == (first, second):
                return result
            if (result.first, result.second) == (second, first):
                return PairResult(first, second, -result.points, result.won_second, result.won)
        raise OptionsError(f"pair {first!r}, {second!r}, but those who met are {', '.join(f'{p.first}, {p.second}' for p in self.pairs)}")

    def to_json(self) -> dict[str, Any]:
        """All numbers as JSON values."""
        out = asdict(self)
        out["pairs"] = [asdict(result) for result in self.pairs]
        out["times"] = [{**asdict(time), "microseconds": time.microseconds} for time in self.times]
        out["ratings"] = [asdict(rating) for rating in self.ratings]
        out["fair_share"] = self.fair_share
        return out

    def to_csv(self) -> str:
        """One line per pair, with a head line; the ratings are empty where none were asked for."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        measures = ("points", "won", "won_second", "rating", "rating_second")
        ends = [f"{measure}_{end}" for measure in measures for end in ("mean", "low", "high")]
        head = ["variant", "num_players", "sides", "episode", "deals", "seed", "first", "second"]
        writer.writerow([*head, *ends, "microseconds", "microseconds_second"])
        ratings = {rating.name: rating.rating for rating in self.ratings}
        times = {time.name: time.microseconds for time in self.times}
        for result in self.pairs:
            both = (result.first, result.second)
            estimates = [result.points, result.won, result.won_second, *(ratings.get(name) for name in both)]
            numbers = [end for one in estimates for end in ((one.mean, one.low, one.high) if one else ("", "", ""))]
            game = [self.variant, self.num_players, self.sides, self.episode, self.deals, self.seed]
            writer.writerow([*game, *both, *numbers, *(times[name] for name in both)])
        return out.getvalue()

    def table(self) -> Group:
        """Two tables for the terminal, for rich's ``print``: the pairs, and the policies with their ratings and times."""
        from domino_env.arena.tables import comparison_tables

        return comparison_tables(self)


def title_of(variant: str, num_players: int, sides: bool, deals: int) -> str:
    """What was played, in a line."""
    seats = f"{num_players} seats" + (", sides" if sides else "")
    return f"{variant}, {seats}, {deals:,} deals in every seating, 95 % intervals"


def estimate(values: npt.NDArray[np.float64], seed: int) -> Estimate:
    """Mean of one number per deal, (deals,) float64, with its bootstrap interval: deals are drawn again, with all their games.

    Deals of one value are interchangeable, so how often each value is drawn says it all: exact, and fast for many deals.
    """
    mean = float(values.mean())
    # drawn from the side where the mean is positive, so that turning the sign of all values just mirrors the interval
    sign = -1.0 if mean < 0 else 1.0
    kinds, counts = np.unique(sign * values, return_counts=True)
    generator = np.random.default_rng(seed)
    size = max(1, _AT_ONCE // len(kinds))
    means = [
        generator.multinomial(len(values), counts / len(values), min(size, RESAMPLES - start)) @ kinds / len(values)
        for start in range(0, RESAMPLES, size)
    ]
    low, high = np.quantile(np.concatenate(means), (0.025, 0.975))
    result = Estimate(sign * mean, float(low), float(high))
    return -result if sign < 0 else result
