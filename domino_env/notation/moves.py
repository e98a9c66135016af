"""Text of tiles and moves, and the action ids they stand for.

A tile is ``"1-4"``, lower pip first. The lead is ``"1-4"`` or ``"4-4:lengthwise"``; later moves name the arm,
``"1-4@left"``, ``"4-4@right:lengthwise"``; then ``"draw"`` and ``"pass"``. An id never depends on the position.
"""

from __future__ import annotations

import re

from domino_env.engine.packed import DRAW, PASS, Packed
from domino_env.errors import NotationError
from domino_env.tiles import HIGH, LOW, MAX_PIP, tile_id

__all__ = ["ARM_NAMES", "move_index", "move_text", "parse_tile", "tile_text"]

ARM_NAMES = ("left", "right", "up", "down")

_TILE = re.compile(r"([0-9])-([0-9])", re.ASCII)
_MOVE = re.compile(r"([0-9]-[0-9])(?:@([a-z]+))?(:lengthwise)?", re.ASCII)


def tile_text(tile: int) -> str:
    """``"1-4"`` for a tile id."""
    return f"{LOW[tile]}-{HIGH[tile]}"


def parse_tile(text: object, max_pip: int = MAX_PIP) -> int:
    """Tile id of ``"1-4"``; ``NotationError`` for anything else, or for a tile that the set has not."""
    match = _TILE.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise NotationError(f"tile {text!r}, but a tile is written low-high, such as '1-4'")
    low, high = int(match[1]), int(match[2])
    if low > high:
        raise NotationError(f"tile {text!r}, but the lower pip comes first: '{high}-{low}'")
    if high > max_pip:
        raise NotationError(f"tile {text!r}, but the highest pip of this set is {max_pip}")
    return tile_id(low, high)


def move_text(packed: Packed, action: int, lead: bool) -> str:
    """Text of an action id (0..num_actions-1); a ``lead`` on arm 0 names no arm."""
    if not 0 <= action < packed["num_actions"][0]:
        raise NotationError(f"action {action!r}, but action ids are 0 to {packed['num_actions'][0] - 1}")
    arm = int(packed["action_arm"][0, action])
    if arm == DRAW:
        return "draw"
    if arm == PASS:
        return "pass"
    where = "" if lead and arm == 0 else f"@{ARM_NAMES[arm]}"
    lie = ":lengthwise" if packed["action_flat"][0, action] else ""
    return f"{tile_text(int(packed['action_tile'][0, action]))}{where}{lie}"


def move_index(packed: Packed, text: object, lead: bool) -> int:
    """Action id of a text. Only a ``lead`` may leave out the arm. Raises ``NotationError``."""
    table = packed[0]
    if text == "draw":
        return int(table["draw_action"])
    if text == "pass":
        return int(table["pass_action"])
    match = _MOVE.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise NotationError(f"move {text!r}, but a move is 'draw', 'pass' or like '1-4@left', '4-4@right:lengthwise', lead '1-4'")
    tile = parse_tile(match[1], int(table["max_pip"]))
    arms = ARM_NAMES[: int(table["arms"])]
    if match[2] is None and not lead:
        raise NotationError(f"move {text!r} names no arm: '{match[1]}@left' or another of {', '.join(arms)}")
    if match[2] is not None and match[2] not in arms:
        raise NotationError(f"move {text!r}, but the arms are {', '.join(arms)}")
    arm = 0 if match[2] is None else arms.index(match[2])
    if match[3] is None:
        return arm * int(table["num_tiles"]) + tile
    if LOW[tile] != HIGH[tile] or not table["choice"]:
        raise NotationError(f"move {text!r}, but only doubles lie lengthwise, and only where the rules leave the choice")
    return int(table["flat_action"]) + arm * (int(table["max_pip"]) + 1) + int(LOW[tile])
