"""What is written down of a game while it is played."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from domino_env.engine.state import BLOCKED, EXHAUSTED, OUT, TARGET

__all__ = ["END_NAMES", "Event", "RoundLog"]

END_NAMES = {OUT: "out", BLOCKED: "blocked", EXHAUSTED: "exhausted", TARGET: "target"}


class Event(NamedTuple):
    """One move: who, which action id, the tile drawn (or -1) and the points made."""

    seat: int
    action: int
    tile: int
    points: int


@dataclass
class RoundLog:
    """One round: its deal, its moves, and how it ended (``end`` is 0 while it is open)."""

    order: list[int]
    leader: int
    start_scores: list[int]
    events: list[Event] = field(default_factory=list)
    end: int = 0
    bonus: list[int] = field(default_factory=list)
    scores: list[int] = field(default_factory=list)

    def copy(self) -> RoundLog:
        """A log that can be written on without touching this one."""
        return RoundLog(self.order, self.leader, self.start_scores, list(self.events), self.end, self.bonus, self.scores)
