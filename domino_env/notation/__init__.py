"""Text of tiles, moves and whole games: parse, print, replay."""

from __future__ import annotations

from domino_env.notation.moves import ARM_NAMES, move_index, move_text, parse_tile, tile_text
from domino_env.notation.records import RECORD_FORMAT, load_record, replay, save_record

__all__ = [
    "ARM_NAMES",
    "RECORD_FORMAT",
    "load_record",
    "move_index",
    "move_text",
    "parse_tile",
    "replay",
    "save_record",
    "tile_text",
]
