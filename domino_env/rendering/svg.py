"""A game as SVG: text, no library needed.

Colours are CSS properties with fallbacks (``--domino-face``, ``--domino-pip``, ``--domino-edge``, ``--domino-back``, ``--domino-last``,
``--domino-end``, ``--domino-table``, ``--domino-text``, ``--domino-faint``, ``--domino-panel``, ``--domino-room``), so a page can set them.
Each tile is a symbol, ``tile-LOW-HIGH`` or ``tile-back``, which stands upright about (0, 0), 40 by 80, its lower pips above.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from html import escape

from domino_env.notation.game import PlayedGame
from domino_env.notation.moves import ARM_NAMES
from domino_env.rendering.boxes import Rect
from domino_env.rendering.onlooker import Onlooker
from domino_env.rendering.pips import PIP_RADIUS, pip_points
from domino_env.rendering.scene import COLOURS, HEIGHT, WIDTH, Place, Plate, Shape, Text, TileShape, board_of, picture, table_shapes
from domino_env.tiles import num_tiles, tile_pips

__all__ = ["back_svg", "table_svg", "tile_svg", "tile_symbols", "to_svg"]

UNIT = 20
"""Half the short side of a symbol."""
XMLNS = 'xmlns="http://www.w3.org/2000/svg"'
FONT = "font-family=\"'DejaVu Sans', Verdana, 'Segoe UI', sans-serif\""
BACK = (-1, -1)


def to_svg(game: PlayedGame, seat: int | None = None, reveal: bool = False) -> str:
    """The whole picture, 960 by 620: table, hands, scores, last move, as ``seat`` may see it (None: a spectator).

    Raises ``OptionsError`` before the first deal and for a seat that the game has not.
    """
    scene = picture(game, seat, reveal)
    return _document(scene.shapes, Rect(0, 0, WIDTH, HEIGHT), scene.title, symbols=True)


def table_svg(game: PlayedGame, *, symbols: bool = True) -> str:
    """The tiles on the table and the places of the open arms, without a ground; the view grows only where it must.

    A tile is ``<g class="tile" data-event="3">``, with class ``last`` the one played last; a place is ``<g class="end" data-arm="left"
    data-pip="5">``. ``symbols=False``: the page holds ``tile_symbols`` already. Raises ``OptionsError`` before the first deal.
    """
    view = Onlooker(game, None, False)
    board = board_of(view)
    seen = board.view()
    title = f"table: {view.ends()}" if board.tiles else f"an empty table, seat {view.log.leader} leads"
    shapes = table_shapes(board, unit=UNIT, ends=not view.log.end)
    return _document(shapes, Rect(*(UNIT * number for number in seen)), title, symbols)


def tile_svg(tile: int, lying: bool = False) -> str:
    """One tile by its id, lower pips above, or on the left where it is ``lying``."""
    low, high = tile_pips(tile)
    return _one(low, high, lying, f"{low}-{high}")


def back_svg() -> str:
    """A tile from behind."""
    return _one(*BACK, False, "hidden tile")


def tile_symbols(max_pip: int) -> str:
    """A hidden ``<svg>`` that defines every tile of a set and the back, for pages with many pictures."""
    pairs = [BACK, *(tile_pips(tile) for tile in range(num_tiles(max_pip)))]
    hidden = 'width="0" height="0" style="position:absolute" aria-hidden="true"'
    return f"<svg {XMLNS} {hidden}>{_defs(pairs)}</svg>"


def _document(shapes: Iterable[Shape], seen: Rect, title: str, symbols: bool) -> str:
    shapes = list(shapes)
    used = sorted({_pair(shape) for shape in shapes if isinstance(shape, TileShape)})
    box = " ".join(map(_number, seen))
    size = f'width="{_number(seen.width)}" height="{_number(seen.height)}"' if symbols else ""
    parts = [f'<svg {XMLNS} class="domino" viewBox="{box}" {size} role="img" {FONT}>', f"<title>{escape(title)}</title>"]
    if symbols:
        parts.append(_defs(used))
    return "\n".join([*parts, *map(_draw, shapes), "</svg>"])


def _one(first: int, second: int, lying: bool, title: str) -> str:
    width, height = (84, 44) if lying else (44, 84)
    box = f"{-width // 2} {-height // 2} {width} {height}"
    turn = ' transform="rotate(-90)"' if lying else ""
    body = f"<g{turn}>{_face(first, second)}</g>"
    head = f'<svg {XMLNS} class="domino-tile" viewBox="{box}" width="{width}" height="{height}" role="img">'
    return f"{head}<title>{title}</title>{body}</svg>"


def _draw(shape: Shape) -> str:
    if isinstance(shape, TileShape):
        return _tile(shape)
    if isinstance(shape, Place):
        return _place(shape)
    if isinstance(shape, Plate):
        rim = f' style="fill:{_colour(shape.fill)};stroke:{_colour(shape.rim)};stroke-width:2.5"' if shape.rim else ""
        return f'<rect {_corners(shape.rect)} rx="{_number(shape.radius)}"{rim or _fill(shape.fill)}/>'
    return _words(shape)


def _words(text: Text) -> str:
    anchor = f' text-anchor="{text.anchor}"' if text.anchor != "start" else ""
    weight = ' font-weight="bold"' if text.bold else ""
    where = f'x="{_number(text.x)}" y="{_number(text.y)}" font-size="{_number(text.size)}"'
    return f"<text {where}{anchor}{weight}{_fill(text.colour)}>{escape(text.words)}</text>"


def _tile(shape: TileShape) -> str:
    """A shadow, the tile, and a mark about the last one."""
    rect = shape.rect
    swapped = shape.first > shape.second
    turn = (90 if swapped else -90) if shape.lying else (180 if swapped else 0)
    move = f"translate({_number(shape.x)} {_number(shape.y)})"
    turned = f" rotate({turn})" if turn else ""
    scale = f" scale({_number(shape.unit / UNIT)})" if shape.unit != UNIT else ""
    inset, shift = rect.grown(-0.05 * shape.unit), 0.14 * shape.unit
    shadow = inset._replace(x=inset.x + shift, y=inset.y + shift)
    radius = _number(0.28 * shape.unit)
    parts = [f'<rect {_corners(shadow)} rx="{radius}" fill="#000" fill-opacity=".28"/>']
    parts.append(f'<use href="#{_name(*_pair(shape))}" transform="{move}{turned}{scale}"/>')
    if shape.last:
        stroke = f"fill:none;stroke:{_colour('last')};stroke-width:{_number(0.22 * shape.unit)}"
        parts.append(f'<rect {_corners(rect.grown(-0.06 * shape.unit))} rx="{radius}" style="{stroke}"/>')
    event = f' data-event="{shape.event}"' if shape.event >= 0 else ""
    return f'<g class="tile{" last" if shape.last else ""}"{event}>{"".join(parts)}</g>'


def _place(shape: Place) -> str:
    rect = shape.rect
    short = min(rect.width, rect.height)
    stroke = f"fill:{_colour('end')};fill-opacity:.1;stroke:{_colour('end')};stroke-width:{_number(short / 22)}"
    dashes = f'stroke-dasharray="{_number(short / 6)}"'
    x, y = rect.middle
    size = 0.62 * short
    words = f'x="{_number(x)}" y="{_number(y + 0.36 * size)}" font-size="{_number(size)}" text-anchor="middle"{_fill("end")}'
    box = f'<rect {_corners(rect)} rx="{_number(short / 6)}" style="{stroke}" {dashes}/>'
    text = f"<text {words}>{shape.words}</text>" if shape.words else ""
    pip = f' data-pip="{shape.words}"' if shape.words else ""
    return f'<g class="end" data-arm="{ARM_NAMES[shape.arm]}"{pip}>{box}{text}</g>'


def _defs(pairs: Iterable[tuple[int, int]]) -> str:
    symbols = (f'<g id="{_name(low, high)}">{_face(low, high)}</g>' for low, high in pairs)
    return f"<defs>{''.join(symbols)}</defs>"


def _name(low: int, high: int) -> str:
    return "tile-back" if low < 0 else f"tile-{low}-{high}"


def _pair(shape: TileShape) -> tuple[int, int]:
    return min(shape.first, shape.second), max(shape.first, shape.second)


@functools.cache
def _face(first: int, second: int) -> str:
    """An upright tile about (0, 0)."""
    plate = f'<rect x="-19" y="-39" width="38" height="78" rx="5.5" style="fill:{{}};stroke:{_colour("edge")};stroke-width:1.4"/>'
    if first < 0:
        inner = f"fill:none;stroke:{_colour('edge')};stroke-opacity:.55;stroke-width:1.6"
        frame = f'<rect x="-13.5" y="-33.5" width="27" height="67" rx="3" style="{inner}"/>'
        lozenge = f'<path d="M0-20 9.5 0 0 20-9.5 0Z" style="{inner}"/>'
        return plate.format(_colour("back")) + frame + lozenge
    line = f'<path d="M-13 0H13" style="stroke:{_colour("edge")};stroke-width:2"/>'
    radius = _number(PIP_RADIUS * UNIT)
    points = [*pip_points(first, -1), *pip_points(second, 1)]
    dots = "".join(f'<circle cx="{_number(x * UNIT)}" cy="{_number(y * UNIT)}" r="{radius}"/>' for x, y in points)
    return f"{plate.format(_colour('face'))}{line}<g{_fill('pip')}>{dots}</g>"


def _colour(role: str) -> str:
    return f"var(--domino-{role},{COLOURS[role]})"


def _fill(role: str) -> str:
    return f' style="fill:{_colour(role)}"'


def _corners(rect: Rect) -> str:
    return f'x="{_number(rect.x)}" y="{_number(rect.y)}" width="{_number(rect.width)}" height="{_number(rect.height)}"'


def _number(value: float) -> str:
    """As short as it can be written to a hundredth."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value % 1 else str(int(value))
