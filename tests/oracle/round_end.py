"""Openings, lowest hands, the bonus at the end of a round and who leads next (RULES.md sections 3, 4 and 5)."""

from __future__ import annotations

from domino_env.rule_terms import EndCount, LowestHand, MatchWinner, NextLeader
from domino_env.rules import Rules

from .layout import Tile
from .scoring import is_double

Hand = list[Tile]


def make_teams(rules: Rules, num_players: int) -> list[list[int]]:
    """Who counts together: seats 0, 2 against 1, 3 with sides, else each for itself (RULES.md section 5)."""
    return [[0, 2], [1, 3]] if rules.sides else [[seat] for seat in range(num_players)]


def forced_lead(hands: list[Hand]) -> tuple[int, Tile]:
    """Seat and tile of the lowest double, else of the fewest pips, ties to the lower id (RULES.md 3.2, lead)."""
    held = [(tile, seat) for seat, hand in enumerate(hands) for tile in hand]
    doubles = sorted((tile[0], seat, tile) for tile, seat in held if is_double(tile))
    if doubles:
        return doubles[0][1], doubles[0][2]
    by_pips = sorted((low + high, high * (high + 1) // 2 + low, seat, (low, high)) for (low, high), seat in held)
    return by_pips[0][2], by_pips[0][3]


def hand_pips(rules: Rules, hand: Hand) -> int:
    """Pips in one hand; a hand of just 0-0 counts ``lone_blank_pips`` (RULES.md 3.8, penalty)."""
    if hand == [(0, 0)]:
        return rules.lone_blank_pips
    return sum(low + high for low, high in hand)


def team_pips(rules: Rules, hands: list[Hand], team: list[int]) -> int:
    """Hands of a side are added (RULES.md section 5).

    Reading: 0-0 as the only tile counts by the hand of one seat, not by the two hands of a side.
    """
    return sum(hand_pips(rules, hands[seat]) for seat in team)


def lowest_teams(rules: Rules, hands: list[Hand], teams: list[list[int]]) -> list[int]:
    """Numbers of the teams that win a round with nobody out (RULES.md 3.2 to 3.9 "blocked", section 4 on ties, 5 on sides)."""
    if rules.lowest_hand == LowestHand.NOBODY:
        return []
    pips = [team_pips(rules, hands, team) for team in teams]
    doubles = [[tile[0] for seat in team for tile in hands[seat] if is_double(tile)] for team in teams]
    without = [t for t in range(len(teams)) if not doubles[t]]
    measure: dict[int, tuple[int, ...]]
    if rules.lowest_hand == LowestHand.FEWEST_PIPS:
        measure = {t: (pips[t],) for t in range(len(teams))}
    elif without:
        measure = {t: (pips[t],) for t in without}
    elif rules.lowest_hand == LowestHand.FEWEST_DOUBLES:
        measure = {t: (len(doubles[t]), min(doubles[t])) for t in range(len(teams))}
    else:
        measure = {t: (min(doubles[t]),) for t in range(len(teams))}
    best = min(measure.values())
    lowest = [t for t, value in measure.items() if value == best]
    return lowest if len(lowest) == 1 or rules.lowest_tie_wins else []


def round_to_nearest(value: int, step: int) -> int:
    """Nearest multiple of ``step`` (RULES.md section 6, rounding). Reading: a value half way goes up."""
    below = value - value % step
    above = below + step
    return below if value - below < above - value else above


def penalties(rules: Rules, hands: list[Hand], teams: list[list[int]], spared: list[int]) -> list[int]:
    """Every team but the spared adds the pips in hand (RULES.md 3.8).

    Reading: where a tie wins nothing, nobody is spared. ``round_to`` rounds gains, not penalties.
    """
    return [0 if t in spared else team_pips(rules, hands, teams[t]) for t in range(len(teams))]


def out_bonus(rules: Rules, hands: list[Hand], teams: list[list[int]], winner: int) -> list[int]:
    """Bonus of each team when the team ``winner`` went out (RULES.md 3.2 "going out", 3.8, 3.9, section 5)."""
    if rules.match_winner == MatchWinner.LOWEST:
        return penalties(rules, hands, teams, [winner])
    bonus = [0] * len(teams)
    if rules.out_count == EndCount.FLAT:
        bonus[winner] = rules.out_points
    else:
        # Reading: the partner's pips are not taken off; "going out: the winner scores the pips in all other hands".
        bonus[winner] = sum(team_pips(rules, hands, teams[t]) for t in range(len(teams)) if t != winner)
    return bonus


def lowest_bonus(rules: Rules, hands: list[Hand], teams: list[list[int]], winners: list[int]) -> list[int]:
    """Bonus of each team when a round ends with nobody out (RULES.md 3.2 to 3.9 "blocked", "lowest hand")."""
    if rules.match_winner == MatchWinner.LOWEST:
        return penalties(rules, hands, teams, winners)
    bonus = [0] * len(teams)
    for winner in winners:
        if rules.blocked_count == EndCount.FLAT:
            bonus[winner] = rules.blocked_points
        else:
            # Reading: no gain is lifted to 0; a winner by doubles may hold more pips than the others.
            others = sum(team_pips(rules, hands, teams[t]) for t in range(len(teams)) if t != winner)
            bonus[winner] = round_to_nearest(others - team_pips(rules, hands, teams[winner]), rules.round_to)
    return bonus


def leader_after(
    rules: Rules, num_players: int, teams: list[list[int]], leader: int, seat_out: int | None, winners: list[int]
) -> int | None:
    """Who leads the next round; None where the opening rule decides (RULES.md section 3 "lead", section 5, last lines)."""
    if rules.next_leader == NextLeader.OPENING:
        return None
    to_the_left = [(leader + steps) % num_players for steps in range(1, num_players + 1)]
    if rules.next_leader == NextLeader.LEFT_OF_LEADER:
        return to_the_left[0]
    if seat_out is not None:
        return seat_out
    if len(winners) == 1:
        return next(seat for seat in to_the_left if seat in teams[winners[0]])
    return to_the_left[0]
