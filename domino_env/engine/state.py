"""The state of one game: one row of a structured array. Its fields leave no gap, so equal games are equal bytes.

A row is everything: clone a game by copying it, save it with ``tobytes``. Masks are ``int64`` with bit ``tile id`` set; seats are 0..n-1,
entries beyond the number of players stay 0.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = [
    "ARMS",
    "BLOCKED",
    "EXHAUSTED",
    "GAME",
    "GAME_OVER",
    "GOING_ON",
    "LOG",
    "LOG_HIT",
    "LOG_SEAT",
    "NONE",
    "OUT",
    "PLAYING",
    "ROUND_OVER",
    "SEATS",
    "TARGET",
    "Games",
    "new_games",
]

SEATS = 5
ARMS = 4
NONE = -1
"""No tile, no seat, no pip."""

# phase
PLAYING, ROUND_OVER, GAME_OVER = 0, 1, 2

# end of a round; the names are those of a record
GOING_ON, OUT, BLOCKED, EXHAUSTED, TARGET = 0, 1, 2, 3, 4

LOG = 254
"""Moves of a round that its row keeps; hardly ever are there more."""
LOG_SEAT, LOG_HIT = 9, 1 << 12

GAME = np.dtype(
    [
        # chance: the game's own generator is (key, counters); nothing else is ever read
        ("key", np.uint64),  # made from the seed
        ("deals", np.int32),  # deals made so far: number of the next shuffle
        ("moves", np.int32),  # moves made so far, over all rounds and restarts
        # course
        ("phase", np.int32),  # PLAYING, ROUND_OVER (a next deal is due) or GAME_OVER
        ("end", np.int32),  # how the last round that is over ended; GOING_ON before the first end
        ("round_index", np.int32),  # rounds finished before this one in this game
        ("leader", np.int32),  # seat that leads this round
        ("lead_tile", np.int32),  # tile that must be led, or NONE
        ("seat", np.int32),  # seat on turn; after the end the last mover
        ("round_winner", np.int32),  # seat that leads next where the winner does, or NONE
        ("winners", np.int32),  # bit per seat; 0 until GAME_OVER
        # tiles
        ("order", np.int8, 56),  # the deal: hands by seat, then the boneyard, next drawn first
        ("hands", np.int64, SEATS),
        ("hand_sizes", np.int32, SEATS),
        ("next_tile", np.int32),  # index in order of the next tile to be drawn
        ("played", np.int64, SEATS),  # tiles on the table, by who played them
        ("table", np.int64),  # all tiles on the table
        # layout; arms left, right, up, down
        ("arm_pip", np.int32, ARMS),  # open pip, or NONE while the arm is closed
        ("arm_cross", np.int32, ARMS),  # 1 where the end is a crosswise double
        ("arm_count", np.int32, ARMS),  # what the end counts, once no tile is alone on the table
        ("arm_tiles", np.int32, ARMS),  # tiles laid on the arm after the lead
        ("spinner", np.int32),  # pip of the spinner, or NONE
        ("spinner_ends", np.int32),  # bit per arm whose end is a free long side of the spinner
        # turn
        ("draws", np.int32),  # tiles drawn in this turn
        ("drawn_tile", np.int32),  # lucky draws: the tile that must be placed now, or NONE
        ("unresolved", np.int32),  # tiles drawn in this turn that may still show any pip, as the others see it
        ("passes", np.int32),  # passes in a row without a draw
        ("voids", np.int32, SEATS),  # bit per pip that the seat is proven not to hold (unresolved tiles aside)
        ("first_out", np.int32),  # seat that was first out in this round, or NONE
        # the open round, as everybody saw it: what may be concluded of hidden tiles hangs on it
        ("log_size", np.int32),  # moves made, also those beyond LOG that are not kept
        ("log", np.int16, LOG),  # of each move the action, the seat (from bit LOG_SEAT on), and whether a lucky draw hit (LOG_HIT)
        # points, by seat; partners hold the same numbers
        ("score", np.int32, SEATS),
        ("start_score", np.int32, SEATS),  # at the start of the round
        ("penalties", np.int32, SEATS),  # part of score that lucky draws took off
        ("bonus", np.int32, SEATS),  # what the end of the last round brought
        ("gain", np.int32, SEATS),  # points since the caller last cleared it
        # the last move
        ("last_points", np.int32),
        ("last_tile", np.int32),  # tile drawn, or NONE
        # what the seat on turn may do; all empty unless PLAYING
        ("may_draw", np.int32),
        ("may_pass", np.int32),
        ("num_legal", np.int32),
        ("plays", np.int64, ARMS),  # tiles that may go on the arm (doubles crosswise)
        ("flats", np.int64, ARMS),  # doubles that may go on the arm lengthwise
    ],
    align=True,
)

Games = npt.NDArray[np.void]
"""An array of GAME rows."""


def new_games(num_games: int) -> Games:
    """(num_games,) empty rows."""
    return np.zeros(num_games, dtype=GAME)
