"""``Rules`` as one row of numbers, for one number of players and one kind of episode."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from domino_env.engine.state import ARMS
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
from domino_env.tiles import MAX_PIP, MAX_TILES, double_id

__all__ = [
    "DRAW",
    "DRAW_ANYTIME",
    "DRAW_NEVER",
    "DRAW_STUCK",
    "HAND_FEWEST_DOUBLES",
    "HAND_FEWEST_PIPS",
    "HAND_LOWEST_DOUBLE",
    "HAND_NOBODY",
    "LEAD_LEFT",
    "LEAD_OPENING",
    "LEAD_WINNER",
    "MAX_SUM",
    "PASS",
    "SCORE_EQUAL_ENDS",
    "SCORE_FLAT",
    "SCORE_NONE",
    "Packed",
    "numbers",
    "pack_rules",
]

MAX_SUM = 4 * 18
"""Highest sum of the ends: four arms with crosswise double nines."""

MAX_ACTIONS = ARMS * MAX_TILES + ARMS * (MAX_PIP + 1) + 2
DRAW, PASS = -1, -2
"""Arms that stand for the moves without a tile."""

PACKED = np.dtype(
    [
        ("num_players", np.int64),
        ("sides", np.int64),
        ("one_round", np.int64),  # the game is one round: the target does not end it
        ("max_pip", np.int64),
        ("num_tiles", np.int64),
        ("hand_size", np.int64),
        # action ids
        ("arms", np.int64),
        ("choice", np.int64),  # doubles may lie lengthwise
        ("action_arm", np.int8, MAX_ACTIONS),  # by action id: arm, or DRAW or PASS
        ("action_tile", np.int8, MAX_ACTIONS),
        ("action_flat", np.int8, MAX_ACTIONS),  # 1: the double lies lengthwise
        ("flat_action", np.int64),  # first id of the lengthwise doubles
        ("draw_action", np.int64),
        ("pass_action", np.int64),
        ("num_actions", np.int64),
        # lead
        ("forced_lead", np.int64),
        ("next_leader", np.int64),
        # boneyard
        ("draw_when", np.int64),
        ("draw_limit", np.int64),
        ("must_draw", np.int64),
        ("first_reserved", np.int64),  # index in the order of the first tile that may not be drawn
        ("lucky", np.int64),
        ("lucky_hit_points", np.int64),
        ("lucky_miss_points", np.int64),
        # points for plays
        ("scoring", np.int64),
        ("sum_points", np.int64, MAX_SUM + 1),  # points by sum of the ends (FLAT: 1 for a hit)
        ("hit_points", np.int64),
        ("double_points", np.int64),
        ("standing_double", np.int64),
        ("lead_double_points", np.int64),
        ("most_points", np.int64),  # no play can make more
        # end of a round
        ("play_on", np.int64),
        ("out_pips", np.int64),
        ("out_points", np.int64),
        ("stop_exhausted", np.int64),
        ("lowest_hand", np.int64),
        ("tie_wins", np.int64),
        ("blocked_pips", np.int64),
        ("blocked_points", np.int64),
        ("round_to", np.int64),
        ("lone_blank_pips", np.int64),
        # match
        ("target", np.int64),
        ("target_at_round_end", np.int64),
        ("lowest_wins", np.int64),
    ],
    align=True,
)

Packed = npt.NDArray[np.void]
"""(1,) array of PACKED."""

DRAW_NEVER, DRAW_STUCK, DRAW_ANYTIME = (list(DrawWhen).index(member) for member in DrawWhen)
LEAD_OPENING, LEAD_LEFT, LEAD_WINNER = (list(NextLeader).index(member) for member in NextLeader)
SCORE_NONE, SCORE_EQUAL_ENDS, SCORE_QUOTIENT, SCORE_SUM, SCORE_FLAT = range(len(Scoring))
HAND_NOBODY, HAND_FEWEST_PIPS, HAND_FEWEST_DOUBLES, HAND_LOWEST_DOUBLE = range(len(LowestHand))


def pack_rules(rules: Rules, num_players: int, one_round: bool) -> Packed:
    """(1,) array of the numbers that kernels read. Raises ``RulesError`` for a seat count these rules have not."""
    seats = rules.check_players(num_players)
    row = np.zeros(1, dtype=PACKED)
    tiles = rules.num_tiles
    choice = rules.doubles == Doubles.CHOICE
    flat_action = rules.arms * tiles
    draw_action = flat_action + (rules.arms * (rules.max_pip + 1) if choice else 0)
    draws = rules.draw_when != DrawWhen.NEVER
    dealt = seats * rules.hand[seats]
    values = {
        "num_players": seats,
        "sides": rules.sides,
        "one_round": one_round,
        "max_pip": rules.max_pip,
        "num_tiles": tiles,
        "hand_size": rules.hand[seats],
        "arms": rules.arms,
        "choice": choice,
        **_action_tables(rules.arms, tiles, rules.max_pip, choice),
        "flat_action": flat_action,
        "draw_action": draw_action,
        "pass_action": draw_action + 1,
        "num_actions": draw_action + 2,
        "forced_lead": rules.opening == Opening.LOWEST_DOUBLE,
        "next_leader": list(NextLeader).index(rules.next_leader),
        "draw_when": list(DrawWhen).index(rules.draw_when),
        "draw_limit": rules.draw_limit or tiles,
        "must_draw": rules.must_draw,
        "first_reserved": max(dealt, tiles - rules.reserve) if draws else dealt,
        "lucky": rules.lucky_draws,
        "lucky_hit_points": rules.lucky_hit_points,
        "lucky_miss_points": rules.lucky_miss_points,
        "scoring": list(Scoring).index(rules.scoring),
        "sum_points": [_points_of_sum(rules, total) for total in range(MAX_SUM + 1)],
        "hit_points": rules.hit_points,
        "double_points": rules.double_points,
        "standing_double": rules.double_hit == DoubleHit.STANDING,
        "lead_double_points": rules.lead_double_points,
        "most_points": _most_points(rules),
        "play_on": rules.play_on,
        "out_pips": rules.out_count == EndCount.PIPS,
        "out_points": rules.out_points,
        "stop_exhausted": rules.stop_when_boneyard_exhausted,
        "lowest_hand": list(LowestHand).index(rules.lowest_hand),
        "tie_wins": rules.lowest_tie_wins,
        "blocked_pips": rules.blocked_count == EndCount.PIPS,
        "blocked_points": rules.blocked_points,
        "round_to": rules.round_to,
        "lone_blank_pips": rules.lone_blank_pips,
        "target": rules.target[seats],
        "target_at_round_end": rules.target_at_round_end,
        "lowest_wins": rules.match_winner == MatchWinner.LOWEST,
    }
    for name, value in values.items():
        row[name] = value
    return row


def numbers(packed: Packed) -> Any:
    """The row of ``packed`` with its fields as attributes, for reading outside kernels."""
    return packed.view(np.recarray)[0]


def _action_tables(arms: int, tiles: int, max_pip: int, choice: bool) -> dict[str, list[int]]:
    """Arm, tile and lie of every action id: places by arm, lengthwise doubles by arm, draw, pass."""
    moves = [(arm, tile, 0) for arm in range(arms) for tile in range(tiles)]
    if choice:
        moves += [(arm, double_id(pip), 1) for arm in range(arms) for pip in range(max_pip + 1)]
    moves += [(DRAW, 0, 0), (PASS, 0, 0)]
    moves += [(PASS, 0, 0)] * (MAX_ACTIONS - len(moves))
    arm_of, tile_of, flat_of = zip(*moves, strict=True)
    return {"action_arm": list(arm_of), "action_tile": list(tile_of), "action_flat": list(flat_of)}


def _most_points(rules: Rules) -> int:
    highest_sum = 2 * rules.max_pip * rules.arms
    by_sum = max(_points_of_sum(rules, total) for total in range(highest_sum + 1)) if rules.divisors else 0
    return max(1, by_sum, rules.hit_points, rules.double_points, rules.lead_double_points, rules.lucky_hit_points)


def _points_of_sum(rules: Rules, total: int) -> int:
    """Points for a sum of the ends; a sum of 0 scores nothing in any variant (RULES.md 3.6, Decisions)."""
    hits = [divisor for divisor in rules.divisors if total > 0 and total % divisor == 0]
    if rules.scoring == Scoring.QUOTIENT:
        return sum(total // divisor for divisor in hits)
    if rules.scoring == Scoring.SUM:
        return total if hits else 0
    return int(bool(hits))
