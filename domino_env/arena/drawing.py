"""What the pictures of figures share: kinds of file, colours, and how one is written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from domino_env.arena.extra import need
from domino_env.errors import OptionsError
from domino_env.files import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "check_picture", "save_figure"]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8A6D3B")
"""Told apart by colour-blind readers too (after Okabe and Ito); yellow, which is lost on white, is left out."""

_KINDS = (".png", ".svg")


def check_picture(path: str | os.PathLike[str], what: str) -> None:
    """Raise ``OptionsError`` for a name that ends in neither .png nor .svg, or where matplotlib is missing."""
    need("matplotlib", f"a picture of {what}")
    if Path(path).suffix.lower() not in _KINDS:
        raise OptionsError(f"picture {os.fspath(path)!r}, but its name ends in {' or '.join(_KINDS)}")


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as its file's name says; the same figure gives the same bytes. Raises ``OSError`` where it cannot be written."""
    import matplotlib

    kind = Path(path).suffix.lower()[1:]
    with matplotlib.rc_context({"svg.hashsalt": "domino_env"}), replacing(path) as beside:
        figure.savefig(beside, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
