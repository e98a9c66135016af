"""A game as pixels: the scene drawn with pygame, smooth at the edges. Needs the extra ``render``."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from domino_env.errors import RenderModeError
from domino_env.notation.game import PlayedGame
from domino_env.rendering.boxes import Rect
from domino_env.rendering.pips import PIP_RADIUS, pip_points
from domino_env.rendering.scene import COLOURS, HEIGHT, WIDTH, Place, Plate, Scene, Text, TileShape, picture

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # a library does not greet
try:
    import pygame
except ModuleNotFoundError as error:
    raise RenderModeError("pictures of pixels need pygame: pip install \"domino-env[render]\"; 'ansi' and SVG need nothing") from error

if TYPE_CHECKING:
    from pygame import Color, Surface

__all__ = ["draw", "pixels_of", "rgb_frame"]

FINE = 4
"""Sprites are drawn so many times larger and then shrunk: pygame's own circles and corners have steps."""
SHADOW = (0, 0, 0, 70)


def rgb_frame(game: PlayedGame, seat: int | None = None, reveal: bool = False) -> npt.NDArray[np.uint8]:
    """(620, 960, 3) uint8: the whole picture as ``seat`` may see it (None: a spectator); with ``reveal`` all of it.

    Raises ``OptionsError`` before the first deal and for a seat that the game has not.
    """
    return pixels_of(draw(picture(game, seat, reveal)))


def pixels_of(surface: Surface) -> npt.NDArray[np.uint8]:
    """(H, W, 3) uint8: a copy of the pixels."""
    return np.ascontiguousarray(pygame.surfarray.pixels3d(surface).swapaxes(0, 1))


def draw(scene: Scene) -> Surface:
    """The scene as a surface of 960 by 620 pixels."""
    surface = pygame.Surface((WIDTH, HEIGHT), depth=32)
    for shape in scene.shapes:
        if isinstance(shape, Text):
            _write(surface, shape)
        elif isinstance(shape, TileShape):
            _lay(surface, shape)
        elif isinstance(shape, Place):
            _open(surface, shape)
        else:
            _fill(surface, shape)
    return surface


def _edges(rect: Rect) -> tuple[int, int, int, int]:
    """Left, top, width and height in whole pixels; what touches still touches."""
    left, top = round(rect.x), round(rect.y)
    return left, top, round(rect.right) - left, round(rect.bottom) - top


def _fill(surface: Surface, plate: Plate) -> None:
    left, top, width, height = _edges(plate.rect)
    if not plate.radius:
        surface.fill(COLOURS[plate.fill], (left, top, width, height))
    else:
        surface.blit(_plate(width, height, plate.radius, plate.fill, plate.rim), (left, top))


def _lay(surface: Surface, tile: TileShape) -> None:
    left, top, width, height = _edges(tile.rect)
    sprite = _tile(width, height, tile.first, tile.second, tile.lying, tile.last)
    surface.blit(sprite, (left, top))


def _open(surface: Surface, place: Place) -> None:
    left, top, width, height = _edges(place.rect)
    surface.blit(_dashes(width, height), (left, top))
    if place.words:
        size = 0.62 * min(width, height)
        x, y = place.rect.middle
        _write(surface, Text(x, y + 0.36 * size, place.words, size, "end", "middle"))


def _write(surface: Surface, text: Text) -> None:
    image, ascent = _words(text.words, round(text.size * 1.25), text.colour)
    width = image.get_width()
    left = text.x - {"start": 0, "middle": width / 2, "end": width}[text.anchor]
    surface.blit(image, (round(left), round(text.y) - ascent))


@functools.lru_cache(maxsize=512)
def _words(words: str, size: int, colour: str) -> tuple[Surface, int]:
    """The words, and the height of their base line; written large and then shrunk, which spaces small letters better."""
    font = _font(size * FINE)
    large = font.render(words, True, COLOURS[colour])
    width, height = -(-large.get_width() // FINE), -(-large.get_height() // FINE)
    return pygame.transform.smoothscale(large, (width, height)), round(font.get_ascent() / FINE)


@functools.lru_cache(maxsize=64)
def _font(size: int) -> pygame.font.Font:
    """pygame's own font, which is the same on every machine."""
    pygame.font.init()
    return pygame.font.Font(None, size)


def _fine(width: int, height: int, paint: Callable[[Surface], None]) -> Surface:
    """What ``paint`` draws on a sheet that is ``FINE`` times as large, shrunk to ``width`` by ``height``."""
    sheet = pygame.Surface((width * FINE, height * FINE), pygame.SRCALPHA, 32)
    paint(sheet)
    return pygame.transform.smoothscale(sheet, (width, height))


@functools.lru_cache(maxsize=256)
def _plate(width: int, height: int, radius: float, fill: str, rim: str) -> Surface:
    def paint(sheet: Surface) -> None:
        whole, corner = sheet.get_rect(), round(radius * FINE)
        sheet.fill(_clear(rim or fill))
        pygame.draw.rect(sheet, COLOURS[rim or fill], whole, border_radius=corner)
        if rim:
            pygame.draw.rect(sheet, COLOURS[fill], whole.inflate(-5 * FINE, -5 * FINE), border_radius=corner - 2 * FINE)

    return _fine(width, height, paint)


def _clear(role: str) -> Color:
    """The colour without any cover, so that shrunk edges do not darken."""
    colour = pygame.Color(COLOURS[role])
    colour.a = 0
    return colour


@functools.lru_cache(maxsize=64)
def _dashes(width: int, height: int) -> Surface:
    def paint(sheet: Surface) -> None:
        colour = pygame.Color(COLOURS["end"])
        sheet.fill((*colour[:3], 0))
        whole, corner = sheet.get_rect(), min(sheet.get_size()) // 6
        pygame.draw.rect(sheet, (*colour[:3], 26), whole, border_radius=corner)
        line, dash = max(FINE, min(sheet.get_size()) // 22), min(sheet.get_size()) // 6
        for start in range(corner, whole.width - corner, 2 * dash):
            length = min(dash, whole.width - corner - start)
            for y in (0, whole.height - line):
                sheet.fill(colour, (start, y, length, line))
        for start in range(corner, whole.height - corner, 2 * dash):
            length = min(dash, whole.height - corner - start)
            for x in (0, whole.width - line):
                sheet.fill(colour, (x, start, line, length))

    return _fine(width, height, paint)


@functools.lru_cache(maxsize=1024)
def _tile(width: int, height: int, first: int, second: int, lying: bool, last: bool) -> Surface:
    """A tile with its shadow, which reaches a little beyond it to the right and below."""
    unit = min(width, height) / 2
    shift = max(1, round(0.14 * unit))

    def paint(sheet: Surface) -> None:
        sheet.fill((0, 0, 0, 0))
        body = pygame.Rect(0, 0, width * FINE, height * FINE).inflate(-0.1 * unit * FINE, -0.1 * unit * FINE)
        corner = round(0.28 * unit * FINE)
        pygame.draw.rect(sheet, SHADOW, body.move(shift * FINE, shift * FINE), border_radius=corner)
        pygame.draw.rect(sheet, COLOURS["edge"], body, border_radius=corner)
        line = max(FINE // 2, round(0.07 * unit * FINE))
        pygame.draw.rect(sheet, COLOURS["face" if first >= 0 else "back"], body.inflate(-2 * line, -2 * line), border_radius=corner - line)
        if first >= 0:
            _paint_face(sheet, body, unit * FINE, (first, second), lying)
        else:
            _paint_back(sheet, body, unit * FINE)
        if last:
            pygame.draw.rect(sheet, COLOURS["last"], body, width=round(0.22 * unit * FINE), border_radius=corner)

    return _fine(width + shift, height + shift, paint)


def _paint_face(sheet: Surface, body: pygame.Rect, unit: float, halves: tuple[int, int], lying: bool) -> None:
    x, y = body.center
    bar = (0.1 * unit, 1.3 * unit) if lying else (1.3 * unit, 0.1 * unit)
    sheet.fill(COLOURS["edge"], (x - bar[0] / 2, y - bar[1] / 2, *bar))
    for half, pips in zip((-1, 1), halves, strict=True):
        for across, down in pip_points(pips, half):
            if lying:
                across, down = down, across
            pygame.draw.circle(sheet, COLOURS["pip"], (x + across * unit, y + down * unit), PIP_RADIUS * unit)


def _paint_back(sheet: Surface, body: pygame.Rect, unit: float) -> None:
    inner = pygame.Color(COLOURS["back"]).lerp(pygame.Color(COLOURS["edge"]), 0.5)
    line = max(2, round(0.08 * unit))
    pygame.draw.rect(sheet, inner, body.inflate(-0.6 * unit, -0.6 * unit), width=line, border_radius=round(0.15 * unit))
    x, y = body.center
    corners = [(x, y - unit), (x + 0.5 * unit, y), (x, y + unit), (x - 0.5 * unit, y)]
    pygame.draw.polygon(sheet, inner, corners, width=line)
