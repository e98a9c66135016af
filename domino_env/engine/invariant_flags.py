"""The invariants of a game by name, and the flag of each."""

from __future__ import annotations

__all__ = ["INVARIANTS", "broken_names"]

INVARIANTS = {
    "range": "pips, seats, tiles and phases are such; the rest is looked at only where this holds",
    "order": "the deal is a permutation of the set",
    "tiles": "hands, table and boneyard are the whole set, no tile twice",
    "pips": "the pips over hands, table and boneyard sum to those of the set",
    "owners": "a tile dealt to a seat is in its hand or was played by it",
    "hand_sizes": "hand_sizes count the hands",
    "table": "the table is what the seats have played",
    "strangers": "seats beyond the number of players own and score nothing",
    "boneyard": "every drawn tile is somebody's, and none of them is reserved",
    "arms": "arms are open where tiles lie, arm_tiles count the table, and every open end is on the table",
    "joins": "every half on the table lies open or is joined to another of the same pip",
    "counts": "each end counts what it should, and so does the sum of the ends",
    "spinner": "the spinner is a double on the table; its short sides open once its long sides are covered",
    "draws": "draws and passes are within their limits",
    "drawn_tile": "a drawn tile that must be placed is in the hand, and only with lucky draws",
    "voids": "a seat holds no pip that it is proven not to hold",
    "choice": "while a round is played the seat on turn has a move; afterwards nobody has",
    "legal": "the moves are those that hand, ends and boneyard allow; whoever can play may not pass",
    "num_legal": "num_legal counts the moves",
    "course": "a round goes on just while somebody can, and its end is the true one",
    "target": "a match goes on below the target and ends at it",
    "winners": "the winners are the seats with the best score, once the game is over",
    "sides": "partners hold the same scores",
}
"""Name -> what holds, in the order of the flags: the k-th is bit ``k``."""

(
    RANGE, ORDER, TILES, PIPS, OWNERS, HAND_SIZES, TABLE, STRANGERS, UNDRAWN, ENDS, JOINS, COUNTS, SPINNER,
    DRAWS, DRAWN_TILE, VOIDS, CHOICE, LEGAL, NUM_LEGAL, COURSE, AT_TARGET, WINNERS, SIDES,
) = (1 << k for k in range(len(INVARIANTS)))  # fmt: skip


def broken_names(flags: int) -> list[str]:
    """Names (keys of ``INVARIANTS``) of the flags that are set."""
    return [name for k, name in enumerate(INVARIANTS) if flags >> k & 1]
