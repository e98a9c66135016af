"""What a seat has seen of the open round, as the tiles that each place of the deal may hold.

A place is an index in the order of the deal. Who holds what lies there, and since when, is public; so are the moves. A
finished round lies face up: its hands were counted before everybody.
"""

from __future__ import annotations

from dataclasses import dataclass

from domino_env.engine.packed import DRAW, DRAW_STUCK, PASS, numbers
from domino_env.engine.state import PLAYING
from domino_env.notation.game import Event, PlayedGame
from domino_env.rule_terms import NextLeader, Opening
from domino_env.rules import Rules
from domino_env.tiles import DOUBLES, IS_DOUBLE, SUITS, WEIGHT, set_mask, tiles_in

__all__ = ["possible_places"]

NOBODY = -1
DEALT = -1
"""When a dealt tile came, before event 0."""


@dataclass(frozen=True)
class _Place:
    """Who holds the tile that lies here in the deal (or NOBODY), and the event that brought it."""

    owner: int
    came: int


@dataclass(frozen=True)
class _Move:
    """One event, as everybody sees it; tiles are masks."""

    seat: int
    played: int
    """The tile laid, or none."""
    unfit: int
    """Tiles that the seat is proven not to hold: those that fit, where it passes or draws because it is stuck."""
    drawn: int
    """Tiles that a draw may have brought."""


def possible_places(game: PlayedGame, seat: int, begin: PlayedGame) -> list[list[int]]:
    """The deals that agree with what ``seat`` has seen, as one or more separate cases.

    A case is the mask of possible tiles by index in the order. ``begin`` is the game at the start of the open round; it
    is played on. What no mask can say is left to the caller: that somebody can still play, or has a decision.
    """
    log = game.rounds[-1]
    moves = _watch(begin, log.events)
    places = _places(game, log.events)
    possible = {place: _tiles_at(game, place, moves) for place in set(places) if place.owner != seat}
    fits = [1 << log.order[index] if place.owner == seat else possible[place] for index, place in enumerate(places)]
    own = sum(mask for mask, place in zip(fits, places, strict=True) if place.owner == seat)
    fits = [mask if place.owner == seat else mask & ~own for mask, place in zip(fits, places, strict=True)]
    if game.phase != PLAYING:
        _turn_up(game, places, fits)
    return _lead_cases(game, seat, fits)


def _watch(begin: PlayedGame, events: list[Event]) -> list[_Move]:
    """What each event shows to everybody."""
    table = numbers(begin.packed)
    arms, tiles, drawn_by_stuck = table.action_arm.tolist(), table.action_tile.tolist(), table.draw_when == DRAW_STUCK
    lucky, sum_points = bool(table.lucky), table.sum_points.tolist()
    out = []
    for number, event in enumerate(events):
        arm = arms[event.action]
        played = 1 << tiles[event.action] if arm >= 0 else 0
        stuck = arm == PASS or (arm == DRAW and drawn_by_stuck)
        ends = begin.games["arm_pip"][0].tolist()
        drawn = -1
        if arm == DRAW and lucky:
            after = events[number + 1].action if number + 1 < len(events) else None
            placed = -1 if after is None else 1 << tiles[after] if arms[after] >= 0 else 0
            missed = event.points == -table.lucky_miss_points
            drawn = _lucky_tiles(_scoring(begin, ends, sum_points), missed, event.points == 0, placed)
        out.append(_Move(event.seat, played, _fitting(ends) if stuck else 0, drawn))
        begin.make_move(event.action)
    return out


def _fitting(ends: list[int]) -> int:
    """Mask of the tiles that fit an open end."""
    mask = 0
    for pip in ends:
        if pip >= 0:
            mask |= int(SUITS[pip])
    return mask


def _scoring(game: PlayedGame, ends: list[int], sum_points: list[int]) -> int:
    """Mask of the tiles that can be placed for a sum that scores."""
    counts = game.games["arm_count"][0].tolist()
    flat = bool(numbers(game.packed).choice) and (game.rules.arms == 2 or game.games["spinner"][0] >= 0)
    mask = 0
    for pip, count in zip(ends, counts, strict=True):
        for tile in tiles_in(_fitting([pip])):
            end = int(WEIGHT[tile]) - pip
            lies = [end] if not IS_DOUBLE[tile] else [2 * end, end] if flat else [2 * end]
            if any(sum_points[sum(counts) - count + lie] > 0 for lie in lies):
                mask |= 1 << tile
    return mask


def _lucky_tiles(hits: int, missed: bool, unpunished: bool, placed: int) -> int:
    """Mask of the tiles that a lucky draw may have brought: a miss costs points, a hit is placed at once (or now: -1)."""
    return (~hits if missed else 0) | (hits & placed if unpunished else 0)


def _places(game: PlayedGame, events: list[Event]) -> list[_Place]:
    size = game.rules.hand[game.num_players]
    out = [_Place(seat, DEALT) for seat in range(game.num_players) for _ in range(size)]
    out += [_Place(event.seat, time) for time, event in enumerate(events) if event.tile >= 0]
    return out + [_Place(NOBODY, len(events))] * (game.rules.num_tiles - len(out))


def _tiles_at(game: PlayedGame, place: _Place, moves: list[_Move]) -> int:
    """Mask of the tiles that may have come to a place of another seat, or may lie in the boneyard still."""
    mask = set_mask(game.rules.max_pip)
    if place.owner != NOBODY and place.came >= 0:
        mask &= moves[place.came].drawn
    gone = 0
    for time, move in enumerate(moves):
        if move.seat != place.owner or time <= place.came:
            mask &= ~move.played | gone
        else:
            mask &= ~move.unfit | gone
        gone |= move.played
    return mask


def _turn_up(game: PlayedGame, places: list[_Place], fits: list[int]) -> None:
    """Narrow ``fits`` by the hands that were left at the end of a round."""
    hands = game.games["hands"][0].tolist()
    for index, place in enumerate(places):
        for seat in range(game.num_players):
            if seat != place.owner:
                fits[index] &= ~hands[seat]


def _lead_cases(game: PlayedGame, seat: int, fits: list[int]) -> list[list[int]]:
    """``fits`` for every tile that the opening may have forced the leader to lead."""
    log, rules = game.rounds[-1], game.rules
    if rules.opening == Opening.ANY or (len(game.rounds) > 1 and rules.next_leader != NextLeader.OPENING):
        return [fits]
    size = rules.hand[game.num_players]
    dealt = size * game.num_players
    if log.events:
        leads = [int(numbers(game.packed).action_tile[log.events[0].action])]
    else:
        leads = [int(game.row.lead_tile)] if log.leader == seat else list(range(rules.num_tiles))
    cases = []
    for lead in leads:
        barred = _led_before(rules, lead)
        case = [mask & ~barred for mask in fits[:dealt]] + fits[dealt:]
        own = range(log.leader * size, (log.leader + 1) * size)
        case = [mask if index in own else mask & ~(1 << lead) for index, mask in enumerate(case)]
        if all(case):
            cases.append(case)
    return cases


def _led_before(rules: Rules, lead: int) -> int:
    """Mask of the tiles that would have been led in place of ``lead`` by whoever held them."""
    if IS_DOUBLE[lead]:
        return DOUBLES & ((1 << lead) - 1)
    rank = (WEIGHT[lead], lead)
    return sum(1 << tile for tile in range(rules.num_tiles) if IS_DOUBLE[tile] or (WEIGHT[tile], tile) < rank)
