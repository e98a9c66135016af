"""Where tiles lie: open ends, what they count, and what changes when a tile is placed (RULES.md section 1, 3.7)."""

from __future__ import annotations

from typing import Any

import numpy as np

from domino_env.engine._jit import jit
from domino_env.engine.state import ARMS, NONE
from domino_env.tiles import HIGH, IS_DOUBLE, LOW, SUITS, WEIGHT

__all__ = ["BITS", "clear_layout", "ends_sum", "new_end", "open_tiles", "place", "sum_after"]

BITS = np.array([1 << tile for tile in range(56)], dtype=np.int64)
"""(56,) mask of one tile each."""


@jit
def clear_layout(game: Any) -> None:
    """An empty table."""
    game.table = 0
    game.spinner = NONE
    game.spinner_ends = 0
    for arm in range(ARMS):
        game.arm_pip[arm] = NONE
        game.arm_cross[arm] = 0
        game.arm_count[arm] = 0
        game.arm_tiles[arm] = 0


@jit
def open_tiles(game: Any, rules: Any) -> Any:
    """Mask of the tiles that fit some open end."""
    fitting = np.int64(0)
    for arm in range(rules.arms):
        if game.arm_pip[arm] >= 0:
            fitting |= SUITS[game.arm_pip[arm]]
    return fitting


@jit
def new_end(game: Any, arm: Any, tile: Any) -> Any:
    """The pip that lies open after ``tile`` was joined to ``arm``."""
    return WEIGHT[tile] - game.arm_pip[arm]


@jit
def end_count(pip: Any, cross: Any) -> Any:
    """A crosswise double at an end counts both halves."""
    return 2 * pip if cross else pip


@jit
def ends_sum(game: Any) -> Any:
    """Sum of the ends. A tile alone on the table counts its pips once, a double too; a free short side counts 0."""
    if game.table != 0 and game.table & (game.table - 1) == 0:
        return np.int64(game.arm_pip[0] + game.arm_pip[1])
    total = np.int64(0)
    for arm in range(ARMS):
        total += game.arm_count[arm]
    return total


@jit
def sum_after(game: Any, arm: Any, tile: Any, flat: Any) -> Any:
    """Sum of the ends that placing ``tile`` would make (``flat``: a double laid lengthwise)."""
    if game.table == 0:
        return WEIGHT[tile]
    total = end_count(new_end(game, arm, tile), IS_DOUBLE[tile] == 1 and not flat)
    for other in range(ARMS):
        if other != arm:
            total += game.arm_count[other]
    return total


@jit
def place(game: Any, rules: Any, arm: Any, tile: Any, flat: Any) -> None:
    """Move ``tile`` from the hand of the seat on turn to ``arm``."""
    lead = game.table == 0
    game.hands[game.seat] &= ~BITS[tile]
    game.hand_sizes[game.seat] -= 1
    game.played[game.seat] |= BITS[tile]
    game.table |= BITS[tile]
    cross = 1 if IS_DOUBLE[tile] == 1 and not flat else 0
    if lead:
        _open_arm(game, 0, LOW[tile], cross)
        _open_arm(game, 1, HIGH[tile], cross)
    else:
        _open_arm(game, arm, new_end(game, arm, tile), cross)
        game.arm_tiles[arm] += 1
    if rules.arms == ARMS:
        _turn_spinner(game, arm, tile, lead)


@jit
def _open_arm(game: Any, arm: Any, pip: Any, cross: Any) -> None:
    game.arm_pip[arm] = pip
    game.arm_cross[arm] = cross
    game.arm_count[arm] = end_count(pip, cross)


@jit
def _turn_spinner(game: Any, arm: Any, tile: Any, lead: Any) -> None:
    """The first double is the spinner; its short sides open once both long sides are covered (RULES.md 3.7)."""
    if game.spinner_ends & (1 << arm):
        game.spinner_ends &= ~(1 << arm)
        if game.spinner_ends == 0:
            game.arm_pip[2] = game.spinner
            game.arm_pip[3] = game.spinner
    if game.spinner == NONE and IS_DOUBLE[tile] == 1:
        game.spinner = LOW[tile]
        game.spinner_ends = 3 if lead else 1 << arm
