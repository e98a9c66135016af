"""What a seat has seen of the open round, as the tiles that each place of the deal may hold.

A place is an index in the order of the deal. Who holds what lies there, and since when, is public; so are the moves. A
finished round lies face up: its hands were counted before everybody.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from domino_env.engine.packed import DRAW_STUCK, PASS, numbers
from domino_env.engine.state import PLAYING
from domino_env.notation.game import Event, PlayedGame
from domino_env.rule_terms import NextLeader, Opening
from domino_env.rules import Rules
from domino_env.tiles import DOUBLES, IS_DOUBLE, LOW, SUITS, WEIGHT, set_mask, tiles_in

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
class _Table:
    """The open ends before an event: what everybody sees."""

    pips: list[int]
    counts: list[int]
    may_lie_flat: bool

    @property
    def fitting(self) -> int:
        """Mask of the tiles that fit an open end."""
        mask = 0
        for pip in self.pips:
            if pip >= 0:
                mask |= int(SUITS[pip])
        return mask

    def scoring(self, sum_points: Any) -> int:
        """Mask of the tiles that can be placed for a sum that scores."""
        mask = 0
        for tile in tiles_in(self.fitting):
            for pip, count in zip(self.pips, self.counts, strict=True):
                if pip in (LOW[tile], WEIGHT[tile] - LOW[tile]):
                    end = int(WEIGHT[tile]) - pip
                    lies = ([2 * end] if IS_DOUBLE[tile] else [end]) + ([end] if IS_DOUBLE[tile] and self.may_lie_flat else [])
                    if any(sum_points[sum(self.counts) - count + lie] > 0 for lie in lies):
                        mask |= 1 << tile
        return mask


def possible_places(game: PlayedGame, seat: int, begin: PlayedGame) -> list[list[int]]:
    """The deals that agree with what ``seat`` has seen, as one or more separate cases.

    A case is the mask of possible tiles by index in the order. ``begin`` is the game at the start of the open round; it
    is played on. What no mask can say is left to the caller: that somebody can still play, or has a decision.
    """
    log = game.rounds[-1]
    tables = _watch(begin, log.events)
    places = _places(game, log.events)
    fits = [0] * len(places)
    own = [index for index, place in enumerate(places) if place.owner == seat]
    hidden = set_mask(game.rules.max_pip)
    for index in own:
        fits[index] = 1 << log.order[index]
        hidden &= ~fits[index]
    for index, place in enumerate(places):
        if place.owner != seat:
            fits[index] = hidden & _tiles_at(game, place, log.events, tables)
    if game.phase != PLAYING:
        _turn_up(game, places, fits)
    return _lead_cases(game, seat, fits)


def _watch(begin: PlayedGame, events: list[Event]) -> list[_Table]:
    """The table before each event."""
    out = []
    choice = bool(numbers(begin.packed).choice)
    for event in events:
        row = begin.row
        flat = choice and (begin.rules.arms == 2 or row.spinner >= 0)
        out.append(_Table(row.arm_pip.tolist(), row.arm_count.tolist(), flat))
        begin.make_move(event.action)
    return out


def _places(game: PlayedGame, events: list[Event]) -> list[_Place]:
    size = game.rules.hand[game.num_players]
    out = [_Place(seat, DEALT) for seat in range(game.num_players) for _ in range(size)]
    out += [_Place(event.seat, time) for time, event in enumerate(events) if event.tile >= 0]
    return out + [_Place(NOBODY, len(events))] * (game.rules.num_tiles - len(out))


def _tiles_at(game: PlayedGame, place: _Place, events: list[Event], tables: list[_Table]) -> int:
    """Mask of the tiles that may have come to a place of another seat, or may lie in the boneyard still."""
    table = numbers(game.packed)
    gone = unfit = 0
    for time, event in enumerate(events):
        arm = int(table.action_arm[event.action])
        if arm >= 0:
            tile = 1 << int(table.action_tile[event.action])
            if event.seat != place.owner or time < place.came:
                unfit |= tile & ~gone
            gone |= tile
        elif event.seat == place.owner and time > place.came and (arm == PASS or table.draw_when == DRAW_STUCK):
            unfit |= tables[time].fitting & ~gone
    mask = ~unfit
    if place.came >= 0 and place.owner != NOBODY and table.lucky:
        mask &= _lucky_tiles(table, events, place.came, tables[place.came])
    return mask


def _lucky_tiles(table: Any, events: list[Event], time: int, seen: _Table) -> int:
    """Mask of the tiles that a lucky draw may have brought: a miss costs points, a hit is placed at once."""
    hits = seen.scoring(table.sum_points)
    points = events[time].points
    mask = ~hits if points == -table.lucky_miss_points else 0
    if points == 0 and time + 1 == len(events):
        mask |= hits
    elif points == 0:
        after = events[time + 1].action
        mask |= hits & (1 << int(table.action_tile[after])) if table.action_arm[after] >= 0 else 0
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
