"""The table as people see it: one layout of the tiles (``table``), and pictures drawn from it."""

from __future__ import annotations

from domino_env.rendering.ansi import render_game
from domino_env.rendering.table import LaidTile, TableLayout, lay_out

__all__ = ["LaidTile", "TableLayout", "lay_out", "render_game"]
