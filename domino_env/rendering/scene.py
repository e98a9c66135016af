"""The whole picture of a game as a list of shapes: where the table, the hands, the scores and every word stand.

``svg`` and ``raster`` draw the same scene, so this is the one place for each coordinate. The unit is the pixel of a picture of
``WIDTH`` by ``HEIGHT``; ``y`` grows downward.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from domino_env.notation.game import PlayedGame
from domino_env.rendering.boxes import HALF, WIDE, Board, Rect, TileBox, place
from domino_env.rendering.onlooker import Onlooker
from domino_env.rendering.table import lay_out
from domino_env.tiles import tile_pips

__all__ = ["COLOURS", "HEIGHT", "WIDTH", "Place", "Plate", "Scene", "Text", "TileShape", "board_of", "picture", "table_shapes"]

WIDTH, HEIGHT = 960, 620
TABLE = Rect(16, 46, 928, 402)
"""The felt that the tiles lie on."""
LINE_1, LINE_2 = 469, 493
"""Base lines of the words beneath the table."""
PANELS = Rect(16, 506, 928, 102)
"""The seats, side by side."""
GAP = 10
HAND_UNIT = 13.0
"""Largest half short side of a tile in a hand."""

COLOURS = {
    "room": "#12352a",  # behind everything
    "table": "#1f6b4f",
    "panel": "#1a4a3a",
    "text": "#f6f0df",
    "faint": "#b9cbbd",
    "face": "#fbf4e2",
    "pip": "#26221d",
    "edge": "#b3a482",
    "back": "#8c3b33",
    "last": "#ffb938",
    "end": "#9fd0b6",
}
"""Role -> colour. In SVG each is the fallback of the CSS property ``--domino-ROLE``."""


class Plate(NamedTuple):
    """A rectangle with round corners, filled with the colour ``fill``; ``rim`` is the colour of its outline, or empty."""

    rect: Rect
    fill: str
    radius: float = 0
    rim: str = ""


class Text(NamedTuple):
    """Words on one line: ``x`` is their start, middle or end, ``y`` the base line, ``size`` the height of the letters."""

    x: float
    y: float
    words: str
    size: float
    colour: str = "text"
    anchor: str = "start"
    bold: bool = False


class TileShape(NamedTuple):
    """A tile about its middle: half its short side, the pips of its left or upper half and of the other; -1 for a back.

    ``lying``: its long side is level. ``event``: number of the move that laid it, -1 in a hand. ``last``: it is to be marked.
    """

    x: float
    y: float
    unit: float
    first: int
    second: int
    lying: bool = False
    event: int = -1
    last: bool = False

    @property
    def rect(self) -> Rect:
        """The rectangle that it fills."""
        across, up = (2, 1) if self.lying else (1, 2)
        return Rect(self.x - across * self.unit, self.y - up * self.unit, 2 * across * self.unit, 2 * up * self.unit)


class Place(NamedTuple):
    """The place of the next tile of an arm, and the pip that it must show."""

    rect: Rect
    arm: int
    words: str


Shape = Plate | Text | TileShape | Place


@dataclass(frozen=True)
class Scene:
    """Shapes in the order in which they are drawn, and a sentence for who cannot see them."""

    shapes: tuple[Shape, ...]
    title: str


def board_of(view: Onlooker) -> Board:
    """The tiles on the table, in rows as wide as suits the set."""
    large = view.game.rules.max_pip > 6 and int(view.rules.arms) == 4
    return place(lay_out(view.log, view.game.packed), WIDE if large else HALF)


def table_shapes(board: Board, x: float = 0, y: float = 0, unit: float = 1, ends: bool = True) -> list[Shape]:
    """The tiles on the table, and the places of the open arms where ``ends``; the middle of the table at (x, y)."""
    last = board.tiles[-1].laid.event if board.tiles else -1
    shapes: list[Shape] = []
    for end in board.ends if ends else ():
        rect = Rect(x + end.rect.x * unit, y + end.rect.y * unit, end.rect.width * unit, end.rect.height * unit)
        shapes.append(Place(rect.grown(-0.2 * unit), end.arm, str(end.pip) if end.pip >= 0 else ""))
    return shapes + [_on_table(box, x, y, unit, last) for box in board.tiles]


def _on_table(box: TileBox, x: float, y: float, unit: float, last: int) -> TileShape:
    across, down = box.rect.middle
    event = box.laid.event
    return TileShape(x + across * unit, y + down * unit, unit, box.first, box.second, box.lying, event, event == last)


def picture(game: PlayedGame, seat: int | None = None, reveal: bool = False) -> Scene:
    """The game as ``seat`` may see it (None: a spectator); with ``reveal`` all of it.

    Raises ``OptionsError`` before the first deal and for a seat that the game has not.
    """
    view = Onlooker(game, seat, reveal)
    board = board_of(view)
    shapes: list[Shape] = [Plate(Rect(0, 0, WIDTH, HEIGHT), "room"), *_head(view), Plate(TABLE, "table", 14)]
    shapes += _table(view, board)
    shapes += _words(view)
    for number in range(game.num_players):
        shapes += _panel(view, number)
    return Scene(tuple(shapes), _title(view))


def _title(view: Onlooker) -> str:
    parts = [view.title(), view.ends() or f"an empty table, seat {view.log.leader} leads", view.game_end()]
    return ". ".join(part for part in parts if part)


def _head(view: Onlooker) -> list[Shape]:
    boneyard = f"boneyard: {view.boneyard()}"
    room = WIDTH - 2 * TABLE.x - _width(boneyard, 15) - 2 * GAP
    return [
        _fitted(Text(TABLE.x + 2, 30, view.title(), 19, bold=True), room),
        Text(TABLE.right - 2, 30, boneyard, 15, "faint", "end"),
    ]


def _table(view: Onlooker, board: Board) -> list[Shape]:
    """The table as large as it fits its felt, in the middle of it."""
    seen = board.view()
    unit = min(TABLE.width / seen.width, TABLE.height / seen.height)
    middle = seen.middle
    x, y = TABLE.middle[0] - middle[0] * unit, TABLE.middle[1] - middle[1] * unit
    shapes = table_shapes(board, x, y, unit, ends=not view.log.end)
    if not board.tiles:
        shapes.append(Text(x, y + 3 * unit, f"seat {view.log.leader} leads", 17, "end", "middle"))
    return shapes


def _words(view: Onlooker) -> list[Shape]:
    """Ends and last move; beneath them how the last round ended, or who won."""
    shapes: list[Shape] = []
    half = TABLE.width / 2 - GAP
    if view.ends():
        shapes.append(_fitted(Text(TABLE.x + 2, LINE_1, f"ends: {view.ends()}", 15), half + 100))
    if view.log.events:
        number = len(view.log.events) - 1
        shapes.append(_fitted(Text(TABLE.right - 2, LINE_1, f"move {number}:  {view.move(number)}", 15, "last", "end"), half - 100))
    if view.game.over:
        words = f"{view.game_end()}  ({view.round_end()})"
        shapes.append(Plate(Rect(TABLE.x, LINE_2 - 17, TABLE.width, 24), "last", 12))
        shapes.append(_fitted(Text(WIDTH / 2, LINE_2, words, 15, "pip", "middle", bold=True), TABLE.width - 2 * GAP))
    elif view.round_end():
        shapes.append(_fitted(Text(TABLE.x + 2, LINE_2, view.round_end(), 14, "faint"), TABLE.width))
    return shapes


def _panel(view: Onlooker, seat: int) -> list[Shape]:
    """One seat: name, score, notes and hand."""
    game = view.game
    width = (PANELS.width - GAP * (game.num_players - 1)) / game.num_players
    rect = PANELS._replace(x=PANELS.x + seat * (width + GAP), width=width)
    marked = seat in game.winners() if game.over else view.on_turn(seat)
    score = Text(rect.right - 12, rect.y + 25, str(game.scores()[seat]), 21, anchor="end", bold=True)
    name = Text(rect.x + 12, rect.y + 24, f"seat {seat}", 16, "last" if marked else "text", bold=True)
    notes = "; ".join(part for part in (*view.notes(seat), view.lucky_score(seat)) if part)
    inner = width - 24
    beside = inner - _width(name.words, 17) - _width(score.words, 22) - 16
    shapes: list[Shape] = [Plate(rect, "panel", 10, "last" if marked else ""), name, score]
    if beside > _width(notes, 12):
        shapes.append(Text(rect.x + 12 + _width(name.words, 17) + 8, rect.y + 24, notes, 12.5, "faint"))
        return shapes + _hand(view.hand(seat), Rect(rect.x + 12, rect.y + 36, inner, rect.height - 44))
    shapes.append(_fitted(Text(rect.x + 12, rect.y + 41, notes, 12.5, "faint"), inner))
    return shapes + _hand(view.hand(seat), Rect(rect.x + 12, rect.y + 48, inner, rect.height - 56))


def _hand(tiles: list[int], room: Rect) -> list[Shape]:
    """Upright tiles in rows, as large as they fit."""
    unit, per_row = _hand_size(len(tiles), room)
    shapes: list[Shape] = []
    for number, tile in enumerate(tiles):
        row, column = divmod(number, per_row)
        x, y = room.x + (2.4 * column + 1) * unit, room.y + (4.4 * row + 2) * unit
        first, second = tile_pips(tile) if tile >= 0 else (-1, -1)
        shapes.append(TileShape(x, y, unit, first, second))
    return shapes


def _hand_size(count: int, room: Rect) -> tuple[float, int]:
    """Half short side of the tiles, and how many stand in a row."""
    best = (0.0, 1)
    for rows in range(1, 6):
        per_row = max(1, -(-count // rows))
        unit = min(HAND_UNIT, room.width / (2.4 * per_row), room.height / (4.4 * rows - 0.4))
        if unit > best[0]:
            best = unit, per_row
    return best


def _width(words: str, size: float) -> float:
    """About the width of words; rather too much than too little."""
    return 0.57 * size * len(words)


def _fitted(text: Text, width: float) -> Text:
    """The text in smaller letters where it is too wide, and at last cut off."""
    size = max(min(text.size, width / (0.57 * max(1, len(text.words)))), 10)
    letters = int(width / (0.57 * size) + 0.001)
    words = text.words if len(text.words) <= letters else text.words[: letters - 1] + "…"
    return text._replace(size=size, words=words)
