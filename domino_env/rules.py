"""Rules as data: every knob of RULES.md is one field of the frozen dataclass ``Rules``.

A preset for each variant stands in ``variants.py``. Make your own with ``rules.replace(target={2: 21})`` or
``Rules.from_overrides(base, {...})`` from a dict or YAML; an impossible combination raises ``RulesError`` at once.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from domino_env import rules_check
from domino_env.errors import RulesError
from domino_env.rule_terms import (
    BySeats,
    DoubleHit,
    Doubles,
    DrawWhen,
    EndCount,
    LowestHand,
    MatchWinner,
    NextLeader,
    Opening,
    Scoring,
)
from domino_env.tiles import num_tiles

__all__ = ["Rules"]


@dataclass(frozen=True, kw_only=True)
class Rules:
    """One rule set. Fields are points, pips, tiles or seats as named; source of each: RULES.md section 3.

    ``RulesError`` is raised at construction where a value or a combination of values cannot be played.
    """

    variant: str = "custom"
    """Name of the preset that these rules come from."""
    max_pip: int = 6
    """Highest pip of the set: 6 is the double-six set of 28 tiles."""
    hand: Mapping[int, int] = field(default_factory=lambda: {2: 7, 3: 5, 4: 5})
    """Tiles dealt to each player, by number of seats. Its keys are the seat counts that can be played."""
    sides: bool = False
    """With four seats: seats 0 and 2 play against 1 and 3 (RULES.md section 5)."""

    opening: Opening = Opening.ANY
    next_leader: NextLeader = NextLeader.OPENING

    arms: int = 2
    """2, or 4: the first double of the round is the spinner, whose short sides open as arms 3 and 4."""
    doubles: Doubles = Doubles.CROSSWISE

    draw_when: DrawWhen = DrawWhen.NEVER
    draw_limit: int = 0
    """Most tiles drawn in one turn; 0: no limit."""
    must_draw: bool = True
    """A stuck player has to draw while it may; otherwise it may pass instead."""
    reserve: int = 0
    """The last tiles of the boneyard, which may never be drawn."""
    lucky_draws: bool = False
    """A drawn tile that can be placed for a scoring sum must be, for ``lucky_hit_points``; else it costs ``lucky_miss_points``."""
    lucky_hit_points: int = 0
    """Points for a drawn tile that is placed for a scoring sum."""
    lucky_miss_points: int = 0
    """Points taken off for a drawn tile that misses (a positive number)."""

    scoring: Scoring = Scoring.NONE
    divisors: tuple[int, ...] = ()
    """Numbers that the sum of the ends is divided by (``QUOTIENT``, ``SUM`` and ``FLAT``)."""
    hit_points: int = 0
    """Points for a play that hits (``EQUAL_ENDS`` and ``FLAT``)."""
    double_points: int = 0
    """Points for a play that hits with a double (``EQUAL_ENDS``: see ``double_hit``; ``FLAT``: the tile played is a double)."""
    double_hit: DoubleHit = DoubleHit.PLAYED
    lead_double_points: int = 0
    """Points for a double that is led (``EQUAL_ENDS`` and ``FLAT``)."""

    play_on: bool = False
    """The round goes on after a player went out; only the first to go out gets ``out_points``."""
    out_count: EndCount = EndCount.FLAT
    out_points: int = 1
    """Points for going out."""
    stop_when_boneyard_exhausted: bool = False
    """The round ends when the turn is over in which the last drawable tile was drawn."""
    lowest_hand: LowestHand = LowestHand.NOBODY
    lowest_tie_wins: bool = False
    """All who tie for the lowest hand win; otherwise a tie wins nothing."""
    blocked_count: EndCount = EndCount.FLAT
    blocked_points: int = 0
    """Points for the lowest hand when a round ends with nobody out."""
    round_to: int = 1
    """A blocked gain in pips is rounded to the nearest multiple of this."""
    lone_blank_pips: int = 0
    """Pips that a hand of just 0-0 counts."""

    target: Mapping[int, int] = field(default_factory=lambda: {2: 100, 3: 100, 4: 100})
    """Points that end the match, by number of seats."""
    target_at_round_end: bool = False
    """The target is looked at only when a round is over."""
    match_winner: MatchWinner = MatchWinner.HIGHEST

    def __post_init__(self) -> None:
        rules_check.normalise(self)
        rules_check.check(self)

    @property
    def players(self) -> tuple[int, ...]:
        """Seat counts that can be played, ascending."""
        return tuple(self.hand)

    @property
    def num_tiles(self) -> int:
        """Tiles of the set."""
        return num_tiles(self.max_pip)

    def check_players(self, num_players: int) -> int:
        """``num_players`` if these rules can be played by so many; else ``RulesError``."""
        if isinstance(num_players, bool) or not hasattr(num_players, "__index__") or num_players not in self.players:
            raise RulesError(
                f"{self.variant}: num_players={num_players!r}, but these rules are for {rules_check.any_of(self.players)} players"
            )
        if self.sides and num_players != 4:
            raise RulesError(f"{self.variant}: num_players={num_players!r}, but sides=True needs four seats")
        return int(num_players)

    def replace(self, **overrides: Any) -> Rules:
        """A copy with some fields changed. ``hand`` and ``target`` merge by seat count; a plain number sets all;
        ``players=2`` or ``players=[2, 3]`` keeps just those seat counts."""
        return Rules.from_overrides(self, overrides)

    @staticmethod
    def from_overrides(base: Rules, overrides: Mapping[str, Any]) -> Rules:
        """``base`` with the fields of a dict (as read from YAML or JSON: enum values as text, seat counts as text or int).

        Raises ``RulesError`` for an unknown field or a value that cannot be used.
        """
        return dataclasses.replace(base, **rules_check.merge(base, overrides))

    def overrides_from(self, base: Rules) -> dict[str, Any]:
        """The fields in which these rules differ from ``base``, as JSON values."""
        mine, theirs = self.to_json(), base.to_json()
        changed = {name: value for name, value in mine.items() if name != "variant" and value != theirs[name]}
        if not set(base.players) <= set(self.players):
            changed["players"] = list(self.players)
        return changed

    def to_json(self) -> dict[str, Any]:
        """All fields as JSON values."""
        out: dict[str, Any] = {}
        for item in dataclasses.fields(self):
            value = getattr(self, item.name)
            if isinstance(value, BySeats):
                value = {str(seats): number for seats, number in value.items()}
            elif isinstance(value, tuple):
                value = list(value)
            elif isinstance(value, StrEnum):
                value = value.value
            out[item.name] = value
        return out

    def fingerprint(self) -> str:
        """Hash of all fields but the name (16 hex digits): equal for rules that play alike."""
        fields = {name: value for name, value in self.to_json().items() if name != "variant"}
        return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()[:16]
