"""The words that rules are written in: enums of what a field of ``Rules`` may say, and tables by seat count.

A new rule is one member here, one branch in the engine file that owns the question, and the oracle's branch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

__all__ = [
    "MAX_SEATS",
    "BySeats",
    "DoubleHit",
    "Doubles",
    "DrawWhen",
    "EndCount",
    "LowestHand",
    "MatchWinner",
    "NextLeader",
    "Opening",
    "Scoring",
]

MAX_SEATS = 5


class Opening(StrEnum):
    """Who leads the first round, and with what."""

    ANY = "any"
    """A seat drawn by lot leads any tile."""
    LOWEST_DOUBLE = "lowest_double"
    """The holder of the lowest double must lead it; without a double, of the tile with the fewest pips (ties: lower id)."""


class NextLeader(StrEnum):
    """Who leads the rounds after the first."""

    OPENING = "opening"
    """As in the first round."""
    LEFT_OF_LEADER = "left_of_leader"
    """The seat to the left of the last leader, any tile."""
    WINNER = "winner"
    """Whoever won the last round, any tile; without one winner the seat to the left of the last leader."""


class Doubles(StrEnum):
    """How doubles lie."""

    CROSSWISE = "crosswise"
    CHOICE = "choice"
    """Crosswise or lengthwise, as the player likes (a spinner always lies crosswise)."""


class DrawWhen(StrEnum):
    """When a player may draw."""

    NEVER = "never"
    STUCK = "stuck"
    ANYTIME = "anytime"
    """On turn before playing, stuck or not."""


class Scoring(StrEnum):
    """What a play counts."""

    NONE = "none"
    EQUAL_ENDS = "equal_ends"
    """``hit_points`` (``double_points``) where both ends show the same pip."""
    QUOTIENT = "quotient"
    """The sum of the ends divided by each divisor that divides it."""
    SUM = "sum"
    """The sum of the ends itself if a divisor divides it."""
    FLAT = "flat"
    """``hit_points`` (``double_points`` for a double) if a divisor divides the sum of the ends."""


class DoubleHit(StrEnum):
    """Which equal ends count ``double_points`` under ``Scoring.EQUAL_ENDS``."""

    PLAYED = "played"
    """The tile just played is a double."""
    STANDING = "standing"
    """One of the two ends is a crosswise double, whichever was played last."""


class EndCount(StrEnum):
    """What the end of a round counts."""

    FLAT = "flat"
    """A fixed number of points for the winner."""
    PIPS = "pips"
    """Pips left in hands: the winner scores the others', when blocked less its own; if the lowest score wins, losers add their own."""


class LowestHand(StrEnum):
    """Which hand wins a round that ends with nobody out."""

    NOBODY = "nobody"
    FEWEST_PIPS = "fewest_pips"
    FEWEST_DOUBLES = "fewest_doubles"
    """Without a double, the fewest pips; if every hand has a double: fewest doubles, then the lowest double."""
    LOWEST_DOUBLE = "lowest_double"
    """Without a double, the fewest pips; if every hand has a double: the lowest double."""


class MatchWinner(StrEnum):
    """Whose total wins."""

    HIGHEST = "highest"
    LOWEST = "lowest"
    """Points are penalties."""


class BySeats(Mapping[int, int]):
    """An immutable, hashable table from the number of seats to a number."""

    __slots__ = ("_items",)

    def __init__(self, table: Mapping[int, int]) -> None:
        self._items = tuple(sorted(table.items()))

    def __getitem__(self, seats: int) -> int:
        return dict(self._items)[seats]

    def __iter__(self) -> Iterator[int]:
        return iter(dict(self._items))

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(self._items)

    def __repr__(self) -> str:
        return repr(dict(self._items))
