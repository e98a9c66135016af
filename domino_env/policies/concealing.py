"""What a seat may know of a game, as an engine row: everything else is blanked."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from domino_env.engine._jit import jit, kernel
from domino_env.engine.layout import BITS
from domino_env.engine.legal import clear_legal
from domino_env.engine.packed import Packed
from domino_env.engine.state import GAME, NONE, SEATS, Games

__all__ = ["conceal", "seen_rows"]


def _padding() -> list[int]:
    """Bytes of a row that belong to no field."""
    used = {at + byte for kind, at in (field[:2] for field in (GAME.fields or {}).values()) for byte in range(kind.itemsize)}
    return [byte for byte in range(GAME.itemsize) if byte not in used]


_PADDING = _padding()


def seen_rows(games: Games, rows: npt.NDArray[np.int64], seats: npt.NDArray[np.int64], packed: Packed) -> Games:
    """Read-only copies of the games ``rows`` (N,), each as the seat ``seats[k]`` knows it: equal bytes where it knows the same."""
    seen = games[rows]
    if _PADDING:
        # numpy copies fields, so that the bytes between them are left as memory had them
        seen.view(np.uint8).reshape(len(seen), GAME.itemsize)[:, _PADDING] = 0
    conceal(seen, seats, packed)
    seen.flags.writeable = False
    return seen


@kernel
def conceal(games: Any, seats: Any, rules: Any) -> None:
    """Blank in place all that seat ``seats[k]`` does not know of ``games[k]``.

    The other hands are 0. ``order`` is -1 but for the tiles that the seat drew itself. The move to be made (``plays``, ``flats``,
    ``may_draw``, ``may_pass``, ``num_legal``, ``drawn_tile``) and the last tile drawn are there for the seat on turn only, a tile
    that must be led for the leader only. ``key``, ``deals``, ``moves`` and ``gain`` tell of the slot, not of the game: 0.
    """
    for k in range(len(games)):
        _conceal_game(games[k], rules[0], seats[k])


@jit
def _conceal_game(game: Any, rules: Any, seat: Any) -> None:
    _conceal_order(game, rules, game.hands[seat] | game.played[seat])
    for other in range(SEATS):
        game.gain[other] = 0
        if other != seat:
            game.hands[other] = 0
    game.key = np.uint64(0)
    game.deals = 0
    game.moves = 0
    if seat != game.seat:
        game.drawn_tile = NONE
        game.last_tile = NONE
        clear_legal(game)
    if seat != game.leader and game.table == 0:
        game.lead_tile = NONE


@jit
def _conceal_order(game: Any, rules: Any, mine: Any) -> None:
    """Which draws were its own a seat knows by their place; the order within a hand tells nothing and is blanked."""
    for i in range(len(game.order)):
        drawn = rules.num_players * rules.hand_size <= i < game.next_tile
        if not drawn or mine & BITS[game.order[i]] == 0:
            game.order[i] = NONE
