"""Where a seat must think the hidden tiles to lie: for each place of the deal the tiles that it may hold, worked out from the log.

A *class* is a set of places that are alike: the hand dealt to a seat, one for each tile drawn since, and the rest of the boneyard. The
rules are those of ``worlds/seen.py``, compiled; that file treats seats off turn and finished rounds too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from domino_env.engine._jit import jit
from domino_env.engine.boneyard import can_score
from domino_env.engine.layout import BITS, clear_layout, open_tiles, place
from domino_env.engine.legal import split_action
from domino_env.engine.packed import DRAW, DRAW_STUCK, LEAD_OPENING, PASS
from domino_env.engine.state import LOG, LOG_HIT, LOG_SEAT, NONE
from domino_env.tiles import IS_DOUBLE, WEIGHT

__all__ = ["BONEYARD", "CLASS", "MOST_CLASSES", "find_classes", "set_class"]

BONEYARD = -1
"""Owner of the tiles that nobody holds."""
MOST_CLASSES = 62

CLASS = np.dtype([("owner", np.int64), ("room", np.int64), ("may", np.int64)])
"""A class: whose places they are, how many, and the mask of the tiles that each of them may hold."""


@jit
def find_classes(seen: Any, rules: Any, seat: Any, table: Any, classes: Any) -> Any:
    """Write the classes of a game as ``seat``, on turn, sees it; returns how many, or 0 where the log is too long to tell.

    ``seen``: its row. ``table`` is a row to lay the tiles on again; ``classes`` (MOST_CLASSES,) CLASS. The first ``num_players`` are
    the hands dealt, the last is the boneyard; those of ``seat`` have no places left.
    """
    if seen.log_size > LOG:
        return 0
    everything = (np.int64(1) << rules.num_tiles) - 1
    for owner in range(rules.num_players):
        set_class(classes[owner], owner, rules.hand_size, everything)
    count = _read_log(seen, rules, table, classes, everything)
    if count == 0:
        return 0
    own = seen.hands[seat] | seen.played[seat]
    set_class(classes[count], BONEYARD, rules.num_tiles - seen.next_tile, everything & ~seen.table)
    for k in range(count + 1):
        classes[k].may &= ~own
        if classes[k].owner == seat:
            classes[k].room = 0
            classes[k].may = 0
    _bar_leads(seen, rules, classes)
    return count + 1


@jit
def set_class(places: Any, owner: Any, room: Any, may: Any) -> None:
    """Write one class."""
    places.owner = owner
    places.room = room
    places.may = may


@jit
def _read_log(seen: Any, rules: Any, table: Any, classes: Any, everything: Any) -> Any:
    """Go through the moves of the round; returns the number of classes, 0 where there are too many."""
    clear_layout(table)
    count = rules.num_players
    for k in range(seen.log_size):
        owner = (seen.log[k] >> LOG_SEAT) & 7
        arm, tile, flat = split_action(rules, seen.log[k] & ((1 << LOG_SEAT) - 1))
        if arm == PASS or (arm == DRAW and rules.draw_when == DRAW_STUCK):
            _note_stuck(classes, count, owner, open_tiles(table, rules), table.table)
        if arm == DRAW:
            if count == MOST_CLASSES - 1:
                return 0
            set_class(classes[count], owner, 1, everything & ~table.table)
            if rules.lucky:
                _note_luck(seen, rules, table, k, classes[count])
            count += 1
        elif arm != PASS:
            for c in range(count):
                if classes[c].owner != owner:
                    classes[c].may &= ~BITS[tile]
            table.seat = owner
            place(table, rules, arm, tile, flat)
    return count


@jit
def _note_stuck(classes: Any, count: Any, owner: Any, fitting: Any, gone: Any) -> None:
    """``owner`` holds nothing that fits now; what it held before and has played is not touched by that."""
    for c in range(count):
        if classes[c].owner == owner:
            classes[c].may &= ~fitting | gone


@jit
def _note_luck(seen: Any, rules: Any, table: Any, k: Any, drawn: Any) -> None:
    """A lucky draw that hit is a tile that scores, and the next to be placed; one that missed is none."""
    hits = np.int64(0)
    for tile in range(rules.num_tiles):
        if can_score(table, rules, tile):
            hits |= BITS[tile]
    if seen.log[k] & LOG_HIT == 0:
        drawn.may &= ~hits
        return
    drawn.may &= hits
    if k + 1 < seen.log_size:
        _, tile, _ = split_action(rules, seen.log[k + 1] & ((1 << LOG_SEAT) - 1))
        drawn.may &= BITS[tile]


@jit
def _bar_leads(seen: Any, rules: Any, classes: Any) -> None:
    """Where the opening forced the lead, nobody was dealt a tile that would have been led in its place."""
    if not rules.forced_lead or (seen.round_index > 0 and rules.next_leader != LEAD_OPENING):
        return
    lead = seen.lead_tile
    if seen.log_size > 0:
        _, lead, _ = split_action(rules, seen.log[0] & ((1 << LOG_SEAT) - 1))
    if lead == NONE:
        return
    barred = np.int64(0)
    for tile in range(rules.num_tiles):
        if _leads_before(tile, lead):
            barred |= BITS[tile]
    for owner in range(rules.num_players):
        classes[owner].may &= ~barred


@jit
def _leads_before(tile: Any, lead: Any) -> Any:
    if IS_DOUBLE[lead] == 1:
        return IS_DOUBLE[tile] == 1 and tile < lead
    return IS_DOUBLE[tile] == 1 or WEIGHT[tile] * 64 + tile < WEIGHT[lead] * 64 + lead
