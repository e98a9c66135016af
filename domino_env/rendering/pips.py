"""Where the pips of a tile stand."""

from __future__ import annotations

__all__ = ["PIP_RADIUS", "pip_points"]

PIP_RADIUS = 0.205
"""Half the short side of a tile is 1."""
SPREAD = 0.56
"""Distance of the rows of pips."""

CORNERS = ((-1, -1), (1, 1), (1, -1), (-1, 1))
SIDES = ((-1, 0), (1, 0))
ENDS = ((0, -1), (0, 1))
MIDDLE = ((0, 0),)
PATTERNS: tuple[tuple[tuple[int, int], ...], ...] = (
    (),
    MIDDLE,
    CORNERS[:2],
    (*CORNERS[:2], *MIDDLE),
    CORNERS,
    (*CORNERS, *MIDDLE),
    (*CORNERS, *SIDES),
    (*CORNERS, *SIDES, *MIDDLE),
    (*CORNERS, *SIDES, *ENDS),
    (*CORNERS, *SIDES, *ENDS, *MIDDLE),
)
"""Pips 0 to 9 as (column, row) of a grid of three by three about the middle of the half."""


def pip_points(pips: int, half: int) -> list[tuple[float, float]]:
    """Middles of the pips in the upper (-1) or lower (1) half of an upright tile about (0, 0), 2 wide and 4 high."""
    return [(SPREAD * column, SPREAD * row + half) for column, row in PATTERNS[pips]]
