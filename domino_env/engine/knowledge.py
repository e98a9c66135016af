"""What everybody may conclude about a hand: the moves of the round, and the pips that a seat is proven not to hold.

A seat that passes, or draws where only the stuck may, holds no tile that fits. A tile drawn afterwards may show any
pip until it is known: played (then nothing changed), or kept by a seat that is stuck again (then it shows no open pip).
"""

from __future__ import annotations

from typing import Any

from domino_env.engine._jit import jit
from domino_env.engine.packed import DRAW_STUCK
from domino_env.engine.state import LOG, LOG_HIT, LOG_SEAT
from domino_env.tiles import HIGH, LOW

__all__ = ["known_voids", "note_draw", "note_hit", "note_move", "note_play", "note_stuck"]


@jit
def note_move(game: Any, action: Any) -> None:
    """Write down the move that the seat on turn makes."""
    if game.log_size < LOG:
        game.log[game.log_size] = action | (game.seat << LOG_SEAT)
    game.log_size += 1


@jit
def note_hit(game: Any) -> None:
    """The move just written down was a lucky draw that hit: everybody sees it, for it must be placed."""
    if game.log_size <= LOG:
        game.log[game.log_size - 1] |= LOG_HIT


@jit
def note_stuck(game: Any, rules: Any) -> None:
    """The seat on turn shows that it holds no open pip."""
    seat = game.seat
    opened = 0
    for arm in range(rules.arms):
        if game.arm_pip[arm] >= 0:
            opened |= 1 << game.arm_pip[arm]
    game.voids[seat] = opened if game.unresolved > 0 else game.voids[seat] | opened
    game.unresolved = 0


@jit
def note_draw(game: Any, rules: Any) -> None:
    """The seat on turn draws; only where drawing needs a stuck player does that tell of its hand."""
    if rules.draw_when == DRAW_STUCK:
        note_stuck(game, rules)
    game.unresolved += 1


@jit
def note_play(game: Any, tile: Any) -> None:
    """The seat on turn plays ``tile``: if its hand could not have held it, it is the tile just drawn."""
    if game.unresolved == 0:
        return
    shown = (1 << LOW[tile]) | (1 << HIGH[tile])
    was_drawn = tile == game.drawn_tile or game.voids[game.seat] & shown != 0
    if game.unresolved - (1 if was_drawn else 0) > 0:
        game.voids[game.seat] = 0
    game.unresolved = 0


@jit
def known_voids(game: Any, seat: Any) -> Any:
    """Bit per pip that ``seat`` is proven not to hold at this moment."""
    if game.unresolved > 0 and seat == game.seat:
        return 0
    return game.voids[seat]
