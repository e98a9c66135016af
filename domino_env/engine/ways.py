"""All ways to lay hidden tiles into classes of places, counted, and one of them drawn.

Tiles are laid one by one. ``count_ways`` counts, for each stage and filling, the ways to lay the tiles that are left, so a draw is a walk
from the first tile to the last, each step taken with the share of the ways that lead through it. See ``places`` for the classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from domino_env.engine._jit import count_bits, jit, lowest_bit
from domino_env.engine.layout import BITS
from domino_env.engine.places import set_class
from domino_env.engine.rng import mix64
from domino_env.engine.state import SEATS

__all__ = ["MOST_WAYS", "blur", "count_ways", "draw_way", "join_alike", "lay_certain", "list_ways", "table_size"]

MOST_WAYS = 1 << 22
"""Numbers in the table of ways at most; beyond, classes of a seat are joined, and draws are no longer quite uniform."""

_UNIT = 2.0**-53


@jit
def lay_certain(classes: Any, count: Any, certain: Any) -> Any:
    """Lay the tiles that can lie in one class only, into ``certain`` by owner; returns the mask of the others."""
    hidden: Any = np.int64(0)
    for c in range(count):
        if classes[c].room > 0:
            hidden |= classes[c].may
    changed = True
    while changed:
        changed = False
        rest = hidden
        while rest != 0:
            tile = lowest_bit(rest)
            rest &= rest - 1
            only = -1
            for c in range(count):
                if classes[c].room > 0 and classes[c].may & BITS[tile] != 0:
                    only = c if only == -1 else -2
            if only >= 0:
                classes[only].room -= 1
                certain[classes[only].owner] |= BITS[tile]
                hidden &= ~BITS[tile]
                changed = True
    return hidden


@jit
def join_alike(classes: Any, count: Any, hidden: Any) -> Any:
    """Join classes of one owner that may hold the same; drop those without places; the largest comes last. Returns how many are left."""
    kept = 0
    for c in range(count):
        owner, room, may = classes[c].owner, classes[c].room, classes[c].may & hidden
        if room == 0:
            continue
        same = kept
        for other in range(kept):
            if classes[other].owner == owner and classes[other].may == may:
                same = other
        if same < kept:
            classes[same].room += room
        else:
            set_class(classes[kept], owner, room, may)
            kept += 1
    for c in range(kept - 1):
        if classes[c].room > classes[kept - 1].room:
            owner, room, may = classes[c].owner, classes[c].room, classes[c].may
            last = classes[kept - 1]
            set_class(classes[c], last.owner, last.room, last.may)
            set_class(classes[kept - 1], owner, room, may)
    return kept


@jit
def table_size(classes: Any, count: Any, hidden: Any) -> Any:
    """Numbers in the table of ways."""
    size = np.int64(count_bits(hidden) + 1)
    for c in range(count - 1):
        size *= classes[c].room + 1
        if size > MOST_WAYS:
            return size
    return size


@jit
def blur(classes: Any, count: Any) -> None:
    """Let all places of the owner with the most classes hold what any of them may."""
    classes_of = np.zeros(SEATS + 1, np.int64)
    may = np.zeros(SEATS + 1, np.int64)
    for c in range(count):
        classes_of[classes[c].owner] += 1
        may[classes[c].owner] |= classes[c].may
    most = np.argmax(classes_of)
    for c in range(count):
        if classes[c].owner % (SEATS + 1) == most:
            classes[c].may = may[most]


@jit
def count_ways(classes: Any, count: Any, hidden: Any) -> Any:
    """The hidden tiles, those with the fewest classes first, and by stage and filling the ways to lay the tiles from there on.

    A filling is one number: how many places are taken in each class but the last, which holds the rest.
    """
    tiles = _in_order(classes, count, hidden)
    steps = np.ones(count, np.int64)
    for c in range(1, count):
        steps[c] = steps[c - 1] * (classes[c - 1].room + 1)
    fillings = steps[count - 1] if count > 0 else 1
    ways = np.zeros((len(tiles) + 1, fillings))
    ways[len(tiles), fillings - 1] = 1.0
    for stage in range(len(tiles) - 1, -1, -1):
        bit = BITS[tiles[stage]]
        for filling in range(fillings):
            total = 0.0
            rest = stage
            for c in range(count - 1):
                taken = filling // steps[c] % (classes[c].room + 1)
                rest -= taken
                if taken < classes[c].room and classes[c].may & bit != 0:
                    total += (classes[c].room - taken) * ways[stage + 1, filling + steps[c]]
            last = classes[count - 1]
            if last.may & bit != 0 and 0 <= rest < last.room:
                total += (last.room - rest) * ways[stage + 1, filling]
            ways[stage, filling] = total
    return tiles, ways


@jit
def _in_order(classes: Any, count: Any, hidden: Any) -> Any:
    """The tiles of a mask by the number of classes that may hold them."""
    tiles = np.empty(count_bits(hidden), np.int64)
    found = 0
    for fewest in range(1, count + 1):
        rest = hidden
        while rest != 0:
            tile = lowest_bit(rest)
            rest &= rest - 1
            options = 0
            for c in range(count):
                options += classes[c].may & BITS[tile] != 0
            if options == fewest:
                tiles[found] = tile
                found += 1
    return tiles


@jit
def draw_way(classes: Any, count: Any, tiles: Any, ways: Any, key: Any, owned: Any) -> None:
    """Lay every tile with a class, each way as likely as another; adds to ``owned``, masks by owner."""
    filling = np.int64(0)
    for stage in range(len(tiles)):
        bit = BITS[tiles[stage]]
        left = np.float64(mix64(key, stage + 2) >> np.uint64(11)) * _UNIT * ways[stage, filling]
        chosen, after = -1, filling
        rest = stage
        step = np.int64(1)
        for c in range(count):
            last = c == count - 1
            taken = rest if last else filling // step % (classes[c].room + 1)
            rest -= taken
            to = filling if last else filling + step
            if left >= 0.0 and taken < classes[c].room and classes[c].may & bit != 0 and ways[stage + 1, to] > 0.0:
                left -= (classes[c].room - taken) * ways[stage + 1, to]
                chosen, after = c, to
            step *= classes[c].room + 1
        owned[classes[chosen].owner] |= bit
        filling = after


@jit
def list_ways(classes: Any, count: Any, tiles: Any, ways: Any, certain: Any, owned: Any, weights: Any) -> Any:
    """Every way to give the tiles owners, each once: ``owned`` (W, SEATS + 1) masks by owner, ``weights`` (W,) in how many ways places
    can be taken so. Returns how many there are; 0 where they are more than W.
    """
    found = 0
    depth = len(tiles)
    chosen = np.full(depth + 1, -1, np.int64)
    filling = np.zeros(depth + 1, np.int64)
    weight = np.ones(depth + 1)
    stage = 0
    while stage >= 0:
        if stage == depth:
            if found == len(owned):
                return 0
            owned[found] = certain
            for k in range(depth):
                owned[found, classes[chosen[k]].owner] |= BITS[tiles[k]]
            weights[found] = weight[depth]
            found += 1
            stage -= 1
            continue
        chosen[stage] += 1
        c = chosen[stage]
        if c == count:
            chosen[stage] = -1
            stage -= 1
            continue
        taken, to = _taken(classes, count, c, stage, filling[stage])
        if classes[c].may & BITS[tiles[stage]] != 0 and taken < classes[c].room and ways[stage + 1, to] > 0.0:
            filling[stage + 1] = to
            weight[stage + 1] = weight[stage] * (classes[c].room - taken)
            stage += 1
    return found


@jit
def _taken(classes: Any, count: Any, wanted: Any, stage: Any, filling: Any) -> Any:
    """Places taken in class ``wanted``, and the filling once one more is."""
    rest = stage
    step = np.int64(1)
    for c in range(count - 1):
        taken = filling // step % (classes[c].room + 1)
        if c == wanted:
            return taken, filling + step
        rest -= taken
        step *= classes[c].room + 1
    return rest, filling
