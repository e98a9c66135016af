"""What the hands left at the end of a round are worth, and which is the lowest (rows "blocked", "going out", "penalty").

With sides the two hands of a side count as one (RULES.md section 5); ``party`` is a seat, or with sides a side.
"""

from __future__ import annotations

from typing import Any

from domino_env.engine._jit import count_bits, jit, lowest_bit
from domino_env.engine.packed import HAND_FEWEST_DOUBLES, HAND_FEWEST_PIPS, HAND_NOBODY
from domino_env.engine.scoring import add_points
from domino_env.tiles import DOUBLES, LOW, WEIGHT

__all__ = ["settle_lowest", "settle_out"]

_NEVER = 1 << 30


@jit
def hand_pips(mask: Any, rules: Any) -> Any:
    """Pips of one hand; a hand of just 0-0 counts what the rules say."""
    if mask == 1:
        return rules.lone_blank_pips
    total = 0
    while mask != 0:
        total += WEIGHT[lowest_bit(mask)]
        mask &= mask - 1
    return total


@jit
def num_parties(rules: Any) -> Any:
    """Two sides, or every seat by itself."""
    return 2 if rules.sides else rules.num_players


@jit
def party_pips(game: Any, rules: Any, party: Any) -> Any:
    """Pips in the hands of a party."""
    total = hand_pips(game.hands[party], rules)
    if rules.sides:
        total += hand_pips(game.hands[party + 2], rules)
    return total


@jit
def party_tiles(game: Any, rules: Any, party: Any) -> Any:
    """Mask of the tiles in the hands of a party."""
    return game.hands[party] | game.hands[party + 2] if rules.sides else game.hands[party]


@jit
def others_pips(game: Any, rules: Any, party: Any) -> Any:
    """Pips in all hands but those of a party."""
    total = 0
    for other in range(num_parties(rules)):
        if other != party:
            total += party_pips(game, rules, other)
    return total


@jit
def give_bonus(game: Any, rules: Any, party: Any, points: Any) -> None:
    """Points from the end of the round."""
    game.bonus[party] += points
    if rules.sides:
        game.bonus[party + 2] += points
    add_points(game, rules, party, points)


@jit
def settle_out(game: Any, rules: Any) -> None:
    """The seat on turn went out: its bonus, or the others' penalties."""
    winner = game.seat % 2 if rules.sides else game.seat
    game.round_winner = game.seat
    if not rules.out_pips:
        give_bonus(game, rules, winner, rules.out_points)
    elif rules.lowest_wins:
        _add_penalties(game, rules, 1 << winner)
    else:
        give_bonus(game, rules, winner, others_pips(game, rules, winner))


@jit
def settle_lowest(game: Any, rules: Any) -> None:
    """Nobody went out: what the lowest hand brings."""
    if rules.lowest_hand == HAND_NOBODY:
        return
    winners = _lowest_parties(game, rules)
    if count_bits(winners) == 1:
        game.round_winner = _seat_to_lead(game, rules, lowest_bit(winners))
    elif not rules.tie_wins:
        winners = 0
    if rules.lowest_wins:
        _add_penalties(game, rules, winners)
        return
    for party in range(num_parties(rules)):
        if winners & (1 << party):
            give_bonus(game, rules, party, _lowest_gain(game, rules, party))


@jit
def _lowest_gain(game: Any, rules: Any, party: Any) -> Any:
    if not rules.blocked_pips:
        return rules.blocked_points
    gain = others_pips(game, rules, party) - party_pips(game, rules, party)
    return (gain + rules.round_to // 2) // rules.round_to * rules.round_to


@jit
def _add_penalties(game: Any, rules: Any, winners: Any) -> None:
    for party in range(num_parties(rules)):
        if not winners & (1 << party):
            give_bonus(game, rules, party, party_pips(game, rules, party))


@jit
def _lowest_parties(game: Any, rules: Any) -> Any:
    """Bit per party with the lowest hand, all who tie; a party with no tile left has no hand to compare."""
    every_has_double = True
    for party in range(num_parties(rules)):
        tiles = party_tiles(game, rules, party)
        if tiles != 0 and tiles & DOUBLES == 0:
            every_has_double = False
    lowest = 0
    best = _NEVER
    for party in range(num_parties(rules)):
        tiles = party_tiles(game, rules, party)
        rank = _NEVER if tiles == 0 else _rank(game, rules, party, tiles, every_has_double)
        if rank < best:
            best = rank
            lowest = 0
        if rank == best and rank < _NEVER:
            lowest |= 1 << party
    return lowest


@jit
def _rank(game: Any, rules: Any, party: Any, tiles: Any, every_has_double: Any) -> Any:
    """Lower wins."""
    doubles = tiles & DOUBLES
    if rules.lowest_hand == HAND_FEWEST_PIPS:
        return party_pips(game, rules, party)
    if not every_has_double:
        return party_pips(game, rules, party) if doubles == 0 else _NEVER
    lowest_double = LOW[lowest_bit(doubles)]
    if rules.lowest_hand == HAND_FEWEST_DOUBLES:
        return count_bits(doubles) * 16 + lowest_double
    return lowest_double


@jit
def _seat_to_lead(game: Any, rules: Any, party: Any) -> Any:
    """The seat that leads next for a party: with sides its first seat to the left of the last leader."""
    if not rules.sides:
        return party
    left = (game.leader + 1) % 4
    return left if left % 2 == party else (left + 1) % 4
