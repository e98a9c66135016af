"""The layout drawn in characters: a line that snakes where it is too long, or a cross about the spinner.

A tile along its line is ``[1-4]``, a double across it ``[4|4]``; on the upright arms a tile is two lines, ``/1\\`` over
``\\4/``, and a double across is ``[4-4]``. Neighbours always touch with equal pips.
"""

from __future__ import annotations

from collections.abc import Sequence

from domino_env.rendering.table import LaidTile, TableLayout

__all__ = ["WIDTH", "Canvas", "draw_layout"]

WIDTH = 78
TILE = 5
"""Columns of a tile that lies in a row."""
MARGIN = 4
"""Columns at either edge, where a snake turns."""
UPRIGHT = 3
"""Tiles of the upper and lower arm that stand before the arm turns aside."""
MIDDLE = (WIDTH - TILE) // 2
"""Column of the spinner."""


class Canvas:
    """Characters at (column, line), lines counted downward from any number; marks say what to highlight."""

    def __init__(self) -> None:
        self.cells: dict[tuple[int, int], tuple[str, bool]] = {}

    def put(self, x: int, y: int, text: str, mark: bool = False) -> None:
        """Write ``text`` from column ``x`` of line ``y``."""
        for offset, letter in enumerate(text):
            assert (x + offset, y) not in self.cells, f"two things at column {x + offset}, line {y}"
            self.cells[x + offset, y] = letter, mark

    def lines(self, mark_on: str = "", mark_off: str = "") -> list[str]:
        """The picture from top to bottom, without trailing blanks; marked stretches stand between the two texts."""
        if not self.cells:
            return []
        rows = [y for _, y in self.cells]
        return [self._line(y, mark_on, mark_off) for y in range(min(rows), max(rows) + 1)]

    def _line(self, y: int, mark_on: str, mark_off: str) -> str:
        width = max((x for x, line in self.cells if line == y), default=-1) + 1
        text, marked = "", False
        for x in range(width):
            letter, mark = self.cells.get((x, y), (" ", False))
            if mark != marked:
                text += mark_on if mark else mark_off
                marked = mark
            text += letter
        return text + (mark_off if marked else "")


def draw_layout(layout: TableLayout) -> Canvas:
    """The table, at most ``WIDTH`` columns wide; the tile played last is marked."""
    canvas = Canvas()
    last = layout.tiles[-1].event if layout.tiles else -1
    if layout.spinner is None:
        _draw_row(canvas, layout.row, MARGIN, 0, _Run(1, MARGIN, WIDTH - MARGIN, 1), last)
    else:
        _draw_cross(canvas, layout.spinner, layout.chains, last)
    return canvas


class _Run:
    """How a row goes on: its direction (1 to the right, -1 to the left), the columns it may use, and where it turns (1 down, -1 up)."""

    def __init__(self, direction: int, first: int, end: int, turn: int) -> None:
        self.direction, self.first, self.end, self.turn = direction, first, end, turn

    def full(self, x: int) -> bool:
        """Whether no tile fits beyond the edge ``x``."""
        return x + TILE > self.end if self.direction > 0 else x - TILE < self.first


def _draw_row(canvas: Canvas, tiles: Sequence[LaidTile], x: int, y: int, run: _Run, last: int) -> None:
    """Tiles one after the other from the edge ``x``; at the end of the room the line turns back one line on."""
    for laid in tiles:
        if run.full(x):
            _draw_bend(canvas, x, y, run)
            y += run.turn
            run = _Run(-run.direction, run.first, run.end, run.turn)
        start = x if run.direction > 0 else x - TILE
        canvas.put(start, y, _flat_text(laid if run.direction > 0 else laid.turned()), laid.event == last)
        x += TILE * run.direction


def _draw_bend(canvas: Canvas, x: int, y: int, run: _Run) -> None:
    upper, lower = ("-.", "-'") if run.direction > 0 else (".-", "'-")
    column = x if run.direction > 0 else x - 2
    canvas.put(column, y, upper if run.turn > 0 else lower)
    canvas.put(column, y + run.turn, lower if run.turn > 0 else upper)


def _flat_text(laid: LaidTile) -> str:
    return f"[{laid.near}{'|' if laid.crosswise else '-'}{laid.far}]"


def _draw_cross(canvas: Canvas, spinner: LaidTile, chains: Sequence[Sequence[LaidTile]], last: int) -> None:
    """The spinner in the middle; each arm that runs out of room turns clockwise into the quarter beside it."""
    left, right, up, down = chains
    x = _spinner_column(chains)
    canvas.put(x, 0, _flat_text(spinner), spinner.event == last)
    _draw_row(canvas, left, x, 0, _Run(-1, MARGIN, x - 2, -1), last)
    _draw_row(canvas, right, x + TILE, 0, _Run(1, x + TILE + 2, WIDTH - MARGIN, 1), last)
    top = _draw_upright(canvas, up[:UPRIGHT], x, -1, -1, last)
    if len(up) > UPRIGHT:
        canvas.put(x + 2, top, ".-")
        _draw_row(canvas, up[UPRIGHT:], x + 4, top, _Run(1, x + 4, WIDTH - MARGIN, -1), last)
    bottom = _draw_upright(canvas, down[:UPRIGHT], x, 1, 1, last)
    if len(down) > UPRIGHT:
        canvas.put(x + 1, bottom, "-'")
        _draw_row(canvas, down[UPRIGHT:], x + 1, bottom, _Run(-1, MARGIN, x + 1, 1), last)


def _spinner_column(chains: Sequence[Sequence[LaidTile]]) -> int:
    """The middle; aside of it where only then the line from left to right needs no turn, and no other arm turns."""
    left, right, up, down = (len(chain) for chain in chains)
    first, end = MARGIN + TILE * left, WIDTH - MARGIN - TILE * (right + 1)
    if first > end or max(up, down) > UPRIGHT:
        return MIDDLE
    return min(max(MIDDLE, first), end)


def _draw_upright(canvas: Canvas, tiles: Sequence[LaidTile], x: int, y: int, direction: int, last: int) -> int:
    """Tiles of the upper (-1) or lower (1) arm, from line ``y``; returns the line beyond the last."""
    for laid in tiles:
        mark = laid.event == last
        if laid.crosswise:
            canvas.put(x, y, f"[{laid.near}-{laid.far}]", mark)
            y += direction
            continue
        top = y if direction > 0 else y - 1
        upper, lower = (laid.near, laid.far) if direction > 0 else (laid.far, laid.near)
        canvas.put(x + 1, top, f"/{upper}\\", mark)
        canvas.put(x + 1, top + 1, f"\\{lower}/", mark)
        y += 2 * direction
    return y
