"""A second, naive telling of RULES.md: plain lists and sets, no speed, nothing shared with the engine but the rules data.

Where RULES.md leaves a doubt the reading taken stands beside the line in a comment that begins ``Reading:``.
"""

from __future__ import annotations

from .game import OracleGame
from .layout import Layout, tile_text

__all__ = ["Layout", "OracleGame", "tile_text"]
