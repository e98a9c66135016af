"""The nine variants as presets of ``Rules``: THE file that a new variant edits.

Source of every field: RULES.md, the section named beside the variant; ``text`` numbers are those of docs/RULES.md.
"""

from __future__ import annotations

from domino_env.errors import RulesError
from domino_env.rule_terms import (
    DoubleHit,
    Doubles,
    DrawWhen,
    EndCount,
    LowestHand,
    MatchWinner,
    NextLeader,
    Opening,
    Scoring,
)
from domino_env.rules import Rules

__all__ = ["SOURCES", "VARIANTS", "get_rules"]

# 3.1 — Fives and threes: sums divisible by five and by three count at once; nobody draws, the round outlives the first out.
FIVES_AND_THREES = Rules(
    variant="fives_and_threes",
    hand={2: 7, 3: 7, 4: 6, 5: 5},
    opening=Opening.ANY,
    next_leader=NextLeader.LEFT_OF_LEADER,
    scoring=Scoring.QUOTIENT,
    divisors=(5, 3),
    play_on=True,
    out_points=1,
    target={2: 41, 3: 41, 4: 41, 5: 41},
)

# 3.2 — Bergen: both ends equal. A double played counts more.
BERGEN = Rules(
    variant="bergen",
    hand={2: 6, 3: 6, 4: 5},
    opening=Opening.LOWEST_DOUBLE,
    draw_when=DrawWhen.STUCK,
    draw_limit=1,
    reserve=2,
    scoring=Scoring.EQUAL_ENDS,
    hit_points=2,
    double_points=3,
    double_hit=DoubleHit.PLAYED,
    lead_double_points=2,
    out_points=2,
    lowest_hand=LowestHand.FEWEST_DOUBLES,
    blocked_points=1,
    target={2: 15, 3: 10, 4: 10},
)

# 3.3 — Bergen as the older texts have it: a double that stands at an end counts, whichever tile came last.
BERGEN_CLASSIC = BERGEN.replace(
    variant="bergen_classic",
    double_hit=DoubleHit.STANDING,
    lowest_hand=LowestHand.LOWEST_DOUBLE,
    blocked_points=2,
)

# 3.4 — Fives: a fifth of a sum divisible by five; doubles lie as the player likes.
FIVES = Rules(
    variant="fives",
    hand={2: 6, 3: 6, 4: 5},
    opening=Opening.LOWEST_DOUBLE,
    doubles=Doubles.CHOICE,
    draw_when=DrawWhen.STUCK,
    draw_limit=1,
    reserve=2,
    scoring=Scoring.QUOTIENT,
    divisors=(5,),
    out_points=2,
    stop_when_boneyard_exhausted=True,
    lowest_hand=LowestHand.FEWEST_PIPS,
    blocked_points=1,
    target={2: 25, 3: 20, 4: 20},
)

# 3.5 — Threes: as fives by three, and one tile a turn may be drawn even when not stuck.
THREES = FIVES.replace(
    variant="threes",
    divisors=(3,),
    draw_when=DrawWhen.ANYTIME,
    target={2: 33, 3: 22, 4: 22},
)

# 3.6 — Lucky threes: up to five tiles drawn in a row; a hit wins ten points, a miss costs five.
LUCKY_THREES = THREES.replace(
    variant="lucky_threes",
    draw_limit=5,
    must_draw=False,
    lucky_draws=True,
    lucky_hit_points=10,
    lucky_miss_points=5,
    scoring=Scoring.FLAT,
    hit_points=5,
    double_points=7,
    lead_double_points=8,
)

# 3.7 — All fives: four arms about a spinner; a sum divisible by five counts in full.
ALL_FIVES = Rules(
    variant="all_fives",
    hand={2: 7, 3: 5, 4: 5},
    opening=Opening.ANY,
    next_leader=NextLeader.WINNER,
    arms=4,
    doubles=Doubles.CHOICE,
    draw_when=DrawWhen.STUCK,
    scoring=Scoring.SUM,
    divisors=(5,),
    out_points=10,
    lowest_hand=LowestHand.FEWEST_PIPS,
    blocked_count=EndCount.PIPS,
    round_to=5,
    target={2: 200, 3: 200, 4: 200},
)

# 3.8 — Draw: no points for plays; every loser adds the pips in hand, the lowest total wins.
DRAW = Rules(
    variant="draw",
    hand={2: 7, 3: 5, 4: 5},
    opening=Opening.LOWEST_DOUBLE,
    draw_when=DrawWhen.STUCK,
    out_count=EndCount.PIPS,
    out_points=0,
    lowest_hand=LowestHand.FEWEST_PIPS,
    lowest_tie_wins=True,
    blocked_count=EndCount.PIPS,
    lone_blank_pips=25,
    target={2: 100, 3: 100, 4: 100},
    target_at_round_end=True,
    match_winner=MatchWinner.LOWEST,
)

# 3.9 — Block: nobody draws; the winner scores the pips left in the other hands.
BLOCK = Rules(
    variant="block",
    hand={2: 7, 3: 5, 4: 5},
    opening=Opening.ANY,
    next_leader=NextLeader.WINNER,
    out_count=EndCount.PIPS,
    out_points=0,
    lowest_hand=LowestHand.FEWEST_PIPS,
    blocked_count=EndCount.PIPS,
    target={2: 100, 3: 100, 4: 100},
    target_at_round_end=True,
)

VARIANTS: dict[str, Rules] = {
    rules.variant: rules for rules in (FIVES_AND_THREES, BERGEN, BERGEN_CLASSIC, FIVES, THREES, LUCKY_THREES, ALL_FIVES, DRAW, BLOCK)
}

SOURCES: dict[str, str] = {
    "fives_and_threes": "3.1, text 000 (first game)",
    "bergen": "3.2, text 000 (second game)",
    "bergen_classic": "3.3, texts 001 and 004",
    "fives": "3.4, texts 001 and 004",
    "threes": "3.5, texts 001 and 004",
    "lucky_threes": "3.6, text 004",
    "all_fives": "3.7, text 004 (head of the page)",
    "draw": "3.8, text 002",
    "block": "3.9, the game that text 000 refers to",
}
"""Section of RULES.md and source text of each variant."""


def get_rules(variant: str) -> Rules:
    """The preset of that name; ``RulesError`` where there is none."""
    if not isinstance(variant, str) or variant not in VARIANTS:
        raise RulesError(f"variant={variant!r}, but the variants are {', '.join(VARIANTS)}")
    return VARIANTS[variant]
