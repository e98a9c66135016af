"""Where every tile of the table lies in the plane: rectangles that never overlap, and the place of the next tile of each arm.

The unit is half of a tile's short side: a tile is 2 by 4, half a tile 2 by 2. ``y`` grows downward, and the middle of the lead
(of the spinner, once there is one) is at (0, 0). A tile never moves again while its line grows; only when the spinner comes
is the line laid anew about it.

The line goes left and right from the middle. At the edge it turns: the left arm up, the right arm down, and then it runs back and
forth in rows. With a spinner each arm has a quarter of the plane to itself: left the upper left one, up the upper right, right the
lower right, down the lower left.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from domino_env.rendering.table import LaidTile, TableLayout

__all__ = ["HALF", "LEAST_VIEW", "WIDE", "Board", "End", "Rect", "TileBox", "place"]

LEFT, RIGHT, UP, DOWN = range(4)
HALF = 24
"""Reach of the rows to either side of the middle."""
WIDE = 40
"""The same for large sets about a spinner, whose arms would else pile up many short rows."""
INNER = 4
"""With a spinner: where rows that run back stop, so that the upright arms have room."""
PITCH = 5
"""Least distance between two rows: a double across is 4 high."""
COLUMN = 8
"""Height from which on an upright arm turns aside."""
MARGIN = 1


class Rect(NamedTuple):
    """A rectangle: left edge, upper edge, width and height."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Lower edge."""
        return self.y + self.height

    @property
    def middle(self) -> tuple[float, float]:
        """The point in the middle."""
        return self.x + self.width / 2, self.y + self.height / 2

    def grown(self, by: float) -> Rect:
        """The same rectangle with a margin all round."""
        return Rect(self.x - by, self.y - by, self.width + 2 * by, self.height + 2 * by)

    def overlaps(self, other: Rect) -> bool:
        """Whether the two share more than an edge."""
        return self.x < other.right and other.x < self.right and self.y < other.bottom and other.y < self.bottom

    def contains(self, other: Rect) -> bool:
        """Whether ``other`` lies within."""
        return self.x <= other.x and other.right <= self.right and self.y <= other.y and other.bottom <= self.bottom


LEAST_VIEW = Rect(-26, -11, 52, 22)
"""What a picture shows at least, so that it does not jump while the table is small."""


class TileBox(NamedTuple):
    """A tile on the table: its rectangle, the pips of its left (or upper) and right (or lower) half, its arm, and how it was laid.

    ``arm`` counts left, right, up, down as seen from the middle; -1 is the tile in the middle.
    """

    rect: Rect
    first: int
    second: int
    arm: int
    laid: LaidTile

    @property
    def lying(self) -> bool:
        """Whether its long side is level."""
        return self.rect.width > self.rect.height


class End(NamedTuple):
    """Where the next tile of an open arm would lie if it is no double, and the pip it must show; -1 before the lead."""

    rect: Rect
    arm: int
    pip: int


@dataclass(frozen=True)
class Board:
    """All tiles on the table in the order in which they were played, and the places of the open arms."""

    tiles: tuple[TileBox, ...]
    ends: tuple[End, ...]

    def view(self, least: Rect = LEAST_VIEW) -> Rect:
        """The rectangle to show: ``least``, or more where tiles or places need it."""
        return _hull([least, *(rect.grown(MARGIN) for rect in self.rects())])

    def rects(self) -> list[Rect]:
        """The rectangles of tiles and places."""
        return [box.rect for box in self.tiles] + [end.rect for end in self.ends]


def place(layout: TableLayout, reach: int = HALF) -> Board:
    """The tiles of ``layout``, each in its rectangle. Neighbours share a piece of an edge, with equal pips on both sides of it.

    ``reach``: how far rows go to either side of the middle, at least 16.
    """
    centre = layout.spinner or layout.lead
    if centre is None:
        return Board((), (End(Rect(-2, -1, 4, 2), LEFT, -1),))
    middle = _in_the_middle(centre)
    boxes, ends = [middle], []
    chains = layout.chains
    for arm, chain in enumerate(chains):
        if arm in (UP, DOWN) and not (layout.spinner and chains[LEFT] and chains[RIGHT]):
            continue
        line = _Line(arm, middle.rect, layout.spinner is not None, reach)
        boxes += [line.add(laid) for laid in chain]
        pip = chain[-1].far if chain else (centre.near if arm == LEFT else centre.far)
        ends.append(End(line.next_place(), arm, pip))
    return Board(tuple(sorted(boxes, key=lambda box: box.laid.event)), tuple(ends))


def _in_the_middle(centre: LaidTile) -> TileBox:
    rect = Rect(-1, -2, 2, 4) if centre.crosswise else Rect(-2, -1, 4, 2)
    return TileBox(rect, centre.near, centre.far, -1, centre)


def _hull(rects: Iterable[Rect]) -> Rect:
    rects = list(rects)
    x, y = min(rect.x for rect in rects), min(rect.y for rect in rects)
    return Rect(x, y, max(rect.right for rect in rects) - x, max(rect.bottom for rect in rects) - y)


class _Line:
    """One arm as it grows: the middle of the edge that the next tile joins, and the direction the line runs in."""

    def __init__(self, arm: int, middle: Rect, spinner: bool, reach: int) -> None:
        self.arm = arm
        self.upright = arm in (UP, DOWN)
        self.growth = -1 if arm in (LEFT, UP) else 1  # rows follow each other upward or downward
        self.dx, self.dy = (0, self.growth) if self.upright else (self.growth, 0)
        self.x, self.y = self.dx * middle.width / 2, self.dy * middle.height / 2
        self.low, self.high = -reach, reach
        if spinner and arm in (LEFT, DOWN):
            self.high = -INNER
        elif spinner:
            self.low = INNER
        self.row = 0.0  # height of the row that the line runs in, or left
        self.side = 1 if arm in (LEFT, UP) else -1  # direction of the row after the next turn
        self.rise = COLUMN if self.upright else PITCH  # least height above the last row at which the line turns aside

    def add(self, laid: LaidTile) -> TileBox:
        """Lay one more tile."""
        rect = self._step(laid.crosswise)
        first, second = (laid.near, laid.far) if self.dx + self.dy > 0 else (laid.far, laid.near)
        box = TileBox(rect, first, second, self.arm, laid)
        self._turn_into_row(laid.crosswise)
        return box

    def next_place(self) -> Rect:
        """Where a tile that is no double would lie."""
        kept = self.__dict__.copy()
        rect = self._step(False)
        self.__dict__.update(kept)
        return rect

    def _step(self, crosswise: bool) -> Rect:
        if self.dx and not crosswise and self._room() < 6:  # a tile, and the 2 that a turn takes
            self._turn_out_of_row()
        length, breadth = (2, 4) if crosswise else (4, 2)
        x, y = self.x, self.y
        self.x, self.y = x + self.dx * length, y + self.dy * length
        if self.dx:
            return Rect(min(x, self.x), y - breadth / 2, length, breadth)
        return Rect(x - breadth / 2, min(y, self.y), breadth, length)

    def _room(self) -> float:
        return self.high - self.x if self.dx > 0 else self.x - self.low

    def _turn_out_of_row(self) -> None:
        """At the edge the line goes on upright, beside the last tile, or from the short side of a double that leaves no room for that."""
        self.row = self.y
        self.side, self.rise = -self.dx, PITCH
        if self._room() >= 2:
            self.x, self.y = self.x + self.dx, self.y - self.growth
        else:
            self.x, self.y = self.x - self.dx, self.y + 2 * self.growth
        self.dx, self.dy = 0, self.growth

    def _turn_into_row(self, crosswise: bool) -> None:
        """Upright and far enough from the last row, the line turns aside, from the half of the tile that lies open."""
        row = self.y - self.dy
        if self.dx or abs(row - self.row) < self.rise:
            return
        self.x, self.y = self.x + self.side * (2 if crosswise else 1), row
        self.dx, self.dy = self.side, 0
