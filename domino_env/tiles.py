"""Tiles of any double-N set: ids, pips, suits and doubles, as tables and bit masks.

A tile is the unordered pair (low, high); its id is ``high * (high + 1) / 2 + low``, so the tiles of a smaller set
are the first ids of a larger one (RULES.md section 1). A set of tiles is an ``int64`` with bit ``id`` set: the
double-nine set has 55 tiles, so a mask is never negative.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = [
    "DOUBLES",
    "HIGH",
    "IS_DOUBLE",
    "LOW",
    "MAX_PIP",
    "MAX_TILES",
    "MIN_PIP",
    "SUITS",
    "WEIGHT",
    "double_id",
    "num_tiles",
    "set_mask",
    "tile_id",
    "tile_pips",
    "tiles_in",
]

MIN_PIP = 2
MAX_PIP = 9


def tile_id(a: int, b: int) -> int:
    """Id of the tile with pips ``a`` and ``b``, in either order."""
    low, high = (a, b) if a <= b else (b, a)
    return high * (high + 1) // 2 + low


def double_id(pip: int) -> int:
    """Id of the double of ``pip``."""
    return tile_id(pip, pip)


def tile_pips(tile: int) -> tuple[int, int]:
    """``(low, high)`` of a tile id."""
    return int(LOW[tile]), int(HIGH[tile])


def num_tiles(max_pip: int) -> int:
    """Number of tiles of the double-``max_pip`` set."""
    return (max_pip + 1) * (max_pip + 2) // 2


def set_mask(max_pip: int) -> int:
    """Mask of all tiles of the double-``max_pip`` set."""
    return (1 << num_tiles(max_pip)) - 1


def tiles_in(mask: int) -> list[int]:
    """Ids of the tiles in a mask, ascending."""
    return [tile for tile in range(MAX_TILES) if mask >> tile & 1]


MAX_TILES = num_tiles(MAX_PIP)

_PAIRS = [(low, high) for high in range(MAX_PIP + 1) for low in range(high + 1)]

LOW: npt.NDArray[np.int64] = np.array([low for low, _ in _PAIRS], dtype=np.int64)
"""(55,) lower pip of each tile."""
HIGH: npt.NDArray[np.int64] = np.array([high for _, high in _PAIRS], dtype=np.int64)
"""(55,) higher pip of each tile."""
WEIGHT: npt.NDArray[np.int64] = LOW + HIGH
"""(55,) pip sum of each tile."""
IS_DOUBLE: npt.NDArray[np.int64] = (LOW == HIGH).astype(np.int64)
"""(55,) 1 for a double."""
SUITS: npt.NDArray[np.int64] = np.array(
    [sum(1 << t for t, pair in enumerate(_PAIRS) if pip in pair) for pip in range(MAX_PIP + 1)], dtype=np.int64
)
"""(10,) mask of the tiles that show a pip."""
DOUBLES: int = sum(1 << t for t, (low, high) in enumerate(_PAIRS) if low == high)
"""Mask of all doubles."""
