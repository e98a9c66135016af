"""What a comparison found: estimates with intervals, as a table, as JSON and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from domino_env.errors import OptionsError

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["Comparison", "Estimate", "PairResult", "PolicyTime", "estimate"]

RESAMPLES = 2000
_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class Estimate:
    """A mean and the ends of its 95 % interval."""

    mean: float
    low: float
    high: float

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
        out["fair_share"] = self.fair_share
        return out

    def to_csv(self) -> str:
        """One line per pair, with a head line."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        measures = ("points", "won", "won_second")
        ends = [f"{measure}_{end}" for measure in measures for end in ("mean", "low", "high")]
        writer.writerow(["variant", "num_players", "sides", "episode", "deals", "seed", "first", "second", *ends])
        game = [self.variant, self.num_players, self.sides, self.episode, self.deals, self.seed]
        for result in self.pairs:
            numbers = [value for measure in measures for value in asdict(getattr(result, measure)).values()]
            writer.writerow([*game, result.first, result.second, *numbers])
        return out.getvalue()

    def table(self) -> Table:
        """A table for the terminal."""
        from rich.table import Table

        seats = f"{self.num_players} seats" + (", sides" if self.sides else "")
        times = ", ".join(f"{time.name} {time.microseconds:.1f} µs" for time in self.times)
        shares = "" if self.fair_share == 0.5 else f"won: alone among the others, {self.fair_share:.1%} is fair; "
        table = Table(
            title=f"{self.variant}, {seats}, {self.deals} deals in every seating, 95 % intervals",
            caption=f"{shares}a decision takes {times}",
        )
        for column in ("policy", "against"):
            table.add_column(column)
        for column in (f"points per {self.episode}", f"{self.episode}{'e' if self.episode == 'match' else ''}s won", "won by the other"):
            table.add_column(column, justify="right")
        for row in self._rows():
            table.add_row(*row)
        return table

    def _rows(self) -> Iterator[tuple[str, ...]]:
        for result in self.pairs:
            points = result.points
            shares = (f"{share.mean:.1%} [{share.low:.1%}, {share.high:.1%}]" for share in (result.won, result.won_second))
            yield (result.first, result.second, f"{points.mean:+.3f} [{points.low:+.3f}, {points.high:+.3f}]", *shares)


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
