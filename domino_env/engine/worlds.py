"""Worlds that the seat on turn cannot tell from the true one, drawn uniformly: every way to deal the hidden tiles that agrees with
the moves of the round is as likely as another. ``places`` says what may lie where, ``ways`` counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from domino_env.engine._jit import jit, kernel, lowest_bit
from domino_env.engine.places import BONEYARD, CLASS, MOST_CLASSES, find_classes, set_class
from domino_env.engine.rng import below, mix64
from domino_env.engine.state import SEATS, Games, new_games
from domino_env.engine.ways import MOST_WAYS, blur, count_ways, draw_way, join_alike, lay_certain, list_ways, table_size
from domino_env.tiles import SUITS

__all__ = ["draw_worlds", "fill_worlds", "list_worlds", "prepare_worlds", "scratch", "spread_worlds"]

_WORLD_STREAM = np.uint64(0xD6E8FEB86659FD93)


def scratch() -> tuple[Games, npt.NDArray[Any]]:
    """The arrays ``table`` (1,) GAME and ``classes`` (MOST_CLASSES,) CLASS that drawing worlds writes over."""
    return new_games(1), np.zeros(MOST_CLASSES, CLASS)


@kernel
def draw_worlds(seen: Any, i: Any, rules: Any, bits: Any, worlds: Any, table: Any, classes: Any) -> Any:
    """Fill ``worlds`` (W,) GAME with whole games as the seat on turn of ``seen[i]`` may think them, from random ``bits`` (uint64).

    The hidden hands and the boneyard are dealt anew; everything else is as it was. Returns 1, or 0 where the draws are not quite
    uniform, and some may contradict an early pass: rounds of more than ``LOG`` moves, or with tiles drawn so often that the ways cannot
    be counted. ``table`` and ``classes``: see ``scratch``. It is meant for decisions: of a seat with one legal move not all is heeded that
    follows from the round having gone on until now.
    """
    certain = np.zeros(SEATS + 1, np.int64)
    count, tiles, ways, exact = prepare_worlds(seen[i], rules[0], table, classes, certain)
    fill_worlds(seen[i], rules[0], bits, worlds, classes, count, tiles, ways, certain)
    return exact


@kernel
def list_worlds(seen: Any, i: Any, rules: Any, bits: Any, worlds: Any, weights: Any, table: Any, classes: Any) -> Any:
    """``spread_worlds`` of the game ``seen[i]``."""
    return spread_worlds(seen[i], rules[0], bits, worlds, weights, table, classes)


@jit
def prepare_worlds(seen: Any, rules: Any, table: Any, classes: Any, certain: Any) -> Any:
    """What drawing worlds needs, worked out once: the number of ``classes`` written, the hidden tiles that are free, the table of the ways
    to lay them, and 1 where this is exact. ``certain`` (SEATS + 1,) of zeros gets the tiles that lie for certain, by owner.
    """
    count, hidden, exact = _classify(seen, rules, table, classes, certain)
    tiles, ways = count_ways(classes, count, hidden)
    return count, tiles, ways, exact


@jit
def fill_worlds(seen: Any, rules: Any, bits: Any, worlds: Any, classes: Any, count: Any, tiles: Any, ways: Any, certain: Any) -> None:
    """Fill ``worlds`` (W,) GAME from what ``prepare_worlds`` found; ``seen`` and ``rules`` are rows."""
    owned = np.zeros(SEATS + 1, np.int64)
    for w in range(len(worlds)):
        worlds[w] = seen
        owned[:] = certain
        key = mix64(bits ^ _WORLD_STREAM, w)
        draw_way(classes, count, tiles, ways, key, owned)
        _deal(worlds[w], rules, owned, mix64(key, 1 << 20))


@jit
def spread_worlds(seen: Any, rules: Any, bits: Any, worlds: Any, weights: Any, table: Any, classes: Any) -> Any:
    """As ``draw_worlds``, but where ``worlds`` (W,) hold all that there are, each of them is written, as often as there is room (with
    boneyards in other orders), and ``weights`` (W,) float64 say how likely each is; else all weigh 1. Returns how many were written.
    """
    certain = np.zeros(SEATS + 1, np.int64)
    count, tiles, ways, _ = prepare_worlds(seen, rules, table, classes, certain)
    owned = np.zeros((len(worlds), SEATS + 1), np.int64)
    found = list_ways(classes, count, tiles, ways, certain, owned, weights)
    if found == 0:
        weights[:] = 1.0
        fill_worlds(seen, rules, bits, worlds, classes, count, tiles, ways, certain)
        return len(worlds)
    written = found * (len(worlds) // found)
    for w in range(written):
        worlds[w] = seen
        weights[w] = weights[w % found]
        _deal(worlds[w], rules, owned[w % found], mix64(bits ^ _WORLD_STREAM, w))
    return written


@jit
def _classify(seen: Any, rules: Any, table: Any, classes: Any, certain: Any) -> Any:
    """Classes of places in ``classes``, tiles that lie for certain in ``certain``; returns how many classes, the mask of the other hidden
    tiles, and whether this is exact.
    """
    count = find_classes(seen, rules, seen.seat, table[0], classes)
    exact = 1
    if count == 0:
        exact = 0
        count = _by_voids(seen, rules, classes)
    hidden = lay_certain(classes, count, certain)
    count = join_alike(classes, count, hidden)
    while table_size(classes, count, hidden) > MOST_WAYS:
        exact = 0
        blur(classes, count)
        count = join_alike(classes, count, hidden)
    return count, hidden, exact


@jit
def _by_voids(seen: Any, rules: Any, classes: Any) -> Any:
    """Classes from what the row itself keeps: the hands as they are, and the pips that a seat is proven not to hold."""
    own = seen.hands[seen.seat] | seen.table
    free = ((np.int64(1) << rules.num_tiles) - 1) & ~own
    for owner in range(rules.num_players):
        may = free
        for pip in range(rules.max_pip + 1):
            if seen.voids[owner] >> pip & 1:
                may &= ~SUITS[pip]
        mine = owner == seen.seat
        set_class(classes[owner], owner, 0 if mine else seen.hand_sizes[owner], 0 if mine else may)
    last = rules.num_players
    set_class(classes[last], BONEYARD, rules.num_tiles - seen.next_tile, free)
    return last + 1


@jit
def _deal(world: Any, rules: Any, owned: Any, key: Any) -> None:
    """Hands and boneyard of a world."""
    for seat in range(rules.num_players):
        if seat != world.seat:
            world.hands[seat] = owned[seat] & ~world.table
    world.key = key
    left = owned[BONEYARD]
    at = world.next_tile
    for k in range(at, rules.num_tiles):
        world.order[k] = lowest_bit(left)
        left &= left - 1
        other = at + below(mix64(key, k), k - at + 1)
        world.order[k], world.order[other] = world.order[other], world.order[k]
