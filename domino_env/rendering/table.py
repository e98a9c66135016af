"""Where every tile lies: the ordered tiles of each arm, with their orientation, read from the moves of a round.

Every picture of the table is drawn from ``lay_out``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from domino_env.engine.packed import DRAW, PASS, Packed, numbers
from domino_env.notation.game import RoundLog
from domino_env.tiles import tile_pips

__all__ = ["LaidTile", "TableLayout", "lay_out"]

LEFT, RIGHT, UP, DOWN = range(4)


class LaidTile(NamedTuple):
    """A tile on the table: its id, the pip that faces the start of its arm and the one that faces away.

    ``crosswise``: a double that stands across its arm. ``seat`` played it, as move number ``event`` of the round.
    """

    tile: int
    near: int
    far: int
    crosswise: bool
    seat: int
    event: int

    def turned(self) -> LaidTile:
        """The same tile looked at from the other end."""
        return self._replace(near=self.far, far=self.near)


@dataclass(frozen=True)
class TableLayout:
    """All tiles on the table.

    ``lead`` has its left pip as ``near``. ``arms`` are left, right and, with four arms, up and down: their tiles outward, left
    and right from the lead, up and down from the ``spinner``. The spinner itself may be the lead or lie on one of the first two arms.
    """

    lead: LaidTile | None
    arms: tuple[tuple[LaidTile, ...], ...]
    spinner: LaidTile | None

    @property
    def row(self) -> tuple[LaidTile, ...]:
        """The line from the left end to the right end, ``near`` on the left; empty before the lead."""
        if self.lead is None:
            return ()
        return (*(laid.turned() for laid in reversed(self.arms[LEFT])), self.lead, *self.arms[RIGHT])

    @property
    def chains(self) -> tuple[tuple[LaidTile, ...], ...]:
        """Left, right, up and down as seen from the spinner, outward; from the lead where there is no spinner."""
        row = self.row
        if not row:
            return self.arms
        centre = self.spinner or self.lead
        middle = [laid.tile for laid in row].index(centre.tile) if centre else 0
        left = tuple(laid.turned() for laid in reversed(row[:middle]))
        return (left, row[middle + 1 :], *self.arms[UP:])

    @property
    def tiles(self) -> tuple[LaidTile, ...]:
        """All tiles in the order in which they were played."""
        side = [laid for arm in self.arms[UP:] for laid in arm]
        return tuple(sorted((*self.row, *side), key=lambda laid: laid.event))


def lay_out(log: RoundLog, packed: Packed) -> TableLayout:
    """The table after the moves of ``log``; ``packed`` are the rules it was played by."""
    table = numbers(packed)
    arm_of, tile_of, flat_of = table.action_arm, table.action_tile, table.action_flat
    num_arms = int(table.arms)
    lead: LaidTile | None = None
    spinner: LaidTile | None = None
    arms: list[list[LaidTile]] = [[] for _ in range(num_arms)]
    for number, event in enumerate(log.events):
        arm = int(arm_of[event.action])
        if arm in (DRAW, PASS):
            continue
        tile = int(tile_of[event.action])
        low, high = tile_pips(tile)
        near = low if lead is None else _open_pip(lead, spinner, arms[arm], arm)
        laid = LaidTile(tile, near, low + high - near, low == high and not flat_of[event.action], event.seat, number)
        if lead is None:
            lead = laid
        else:
            arms[arm].append(laid)
        if num_arms == 4 and spinner is None and low == high:
            spinner = laid
    return TableLayout(lead, tuple(tuple(arm) for arm in arms), spinner)


def _open_pip(lead: LaidTile, spinner: LaidTile | None, arm_tiles: list[LaidTile], arm: int) -> int:
    """The pip that the next tile of an arm joins."""
    if arm_tiles:
        return arm_tiles[-1].far
    if arm == LEFT:
        return lead.near
    return lead.far if arm == RIGHT or spinner is None else spinner.far
