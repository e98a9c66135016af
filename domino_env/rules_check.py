"""What ``Rules`` does at construction: bring values to their type, refuse what cannot be played."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from domino_env.errors import RulesError
from domino_env.rule_terms import (
    MAX_SEATS,
    BySeats,
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
from domino_env.tiles import MAX_PIP, MIN_PIP, num_tiles

if TYPE_CHECKING:
    from domino_env.rules import Rules

ENUMS: dict[str, type[StrEnum]] = {
    "opening": Opening,
    "next_leader": NextLeader,
    "doubles": Doubles,
    "draw_when": DrawWhen,
    "scoring": Scoring,
    "double_hit": DoubleHit,
    "out_count": EndCount,
    "blocked_count": EndCount,
    "lowest_hand": LowestHand,
    "match_winner": MatchWinner,
}
BY_SEATS = ("hand", "target")
FLAGS = (
    "sides",
    "must_draw",
    "lucky_draws",
    "play_on",
    "stop_when_boneyard_exhausted",
    "lowest_tie_wins",
    "target_at_round_end",
)
LARGEST = {"max_pip": MAX_PIP, "arms": 4, "draw_limit": 55, "reserve": 55, "round_to": 100, "hand": 55, "target": 1_000_000}
SMALLEST = {"max_pip": MIN_PIP, "arms": 2, "round_to": 1, "hand": 1, "target": 1}
MOST_POINTS = 1000


def any_of(values: Iterable[object]) -> str:
    """``a, b or c``."""
    texts = [str(value) for value in values]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} or {texts[-1]}"


def merge(base: Rules, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Overrides as full field values: tables by seat count are merged into those of ``base``."""
    if not isinstance(overrides, Mapping):
        raise RulesError(f"rules={overrides!r}, but overrides are a dict of fields, such as {{'target': {{2: 21}}}}")
    names = [item.name for item in dataclasses.fields(base)]
    unknown = [name for name in overrides if name not in names and name != "players"]
    if unknown:
        raise RulesError(f"rules: unknown field {unknown[0]!r}; the fields are {', '.join(names)} and players")
    values = {name: value for name, value in overrides.items() if name != "players"}
    keep = _seat_counts(overrides["players"]) if "players" in overrides else None
    for seats in keep or []:
        if any(seats not in getattr(base, name) and not isinstance(values.get(name), (int, Mapping)) for name in BY_SEATS):
            raise RulesError(
                f"players={seats}, but {base.variant} is for {any_of(base.players)}; for other counts give hand and target too"
            )
    for name in BY_SEATS:
        if name in values or keep is not None:
            values[name] = _merged_table(name, getattr(base, name), values.get(name, {}), keep)
    return values


def _seat_counts(value: Any) -> list[int]:
    counts = [value] if isinstance(value, int) else value
    if not isinstance(counts, (list, tuple)) or not counts:
        raise RulesError(f"players={value!r}, but it is a number of seats or a list of them, such as 2 or [2, 3]")
    return [_whole("players", seats, 2, MAX_SEATS) for seats in counts]


def _merged_table(name: str, old: Mapping[int, int], value: Any, keep: list[int] | None) -> dict[int, int]:
    seats = sorted(keep if keep is not None else old)
    if isinstance(value, Mapping):
        merged = {n: old[n] for n in seats if n in old}
        merged.update((_seats_key(name, key), number) for key, number in value.items())
        return merged
    return dict.fromkeys(seats, value)


def _seats_key(name: str, key: Any) -> int:
    if isinstance(key, str) and key.isdecimal():
        key = int(key)
    return _whole(f"a seat count of {name}", key, 2, MAX_SEATS)


def normalise(rules: Rules) -> None:
    """Turn text, lists and dicts into the declared types, refusing what has no such form."""
    for item in dataclasses.fields(rules):
        name, value = item.name, getattr(rules, item.name)
        object.__setattr__(rules, name, _normal(name, value))


def _normal(name: str, value: Any) -> Any:
    if name == "variant":
        if not isinstance(value, str) or not value:
            raise RulesError(f"variant={value!r}, but it is a name")
        return value
    if name in ENUMS:
        try:
            return ENUMS[name](value)
        except ValueError:
            raise RulesError(f"{name}={value!r}, but it is {any_of(member.value for member in ENUMS[name])}") from None
    if name in BY_SEATS:
        if not isinstance(value, Mapping) or not value:
            raise RulesError(f"{name}={value!r}, but it is a table by number of seats, such as {{2: 7, 3: 5}}")
        low, high = SMALLEST[name], LARGEST[name]
        return BySeats({_seats_key(name, key): _whole(f"{name}[{key}]", number, low, high) for key, number in value.items()})
    if name == "divisors":
        if not isinstance(value, (list, tuple)):
            raise RulesError(f"divisors={value!r}, but it is a list of numbers, such as [5, 3]")
        return tuple(_whole("a divisor", number, 2, MOST_POINTS) for number in value)
    if name in FLAGS:
        if not isinstance(value, bool):
            raise RulesError(f"{name}={value!r}, but it is true or false")
        return value
    return _whole(name, value, SMALLEST.get(name, 0), LARGEST.get(name, MOST_POINTS))


def _whole(name: str, value: Any, low: int, high: int) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or not low <= value <= high:
        raise RulesError(f"{name}={value!r}, but it is a whole number from {low} to {high}")
    return int(value)


def check(rules: Rules) -> None:
    """Raise ``RulesError`` where fields contradict each other."""
    for broken, message in [*_table_faults(rules), *_play_faults(rules), *_end_faults(rules)]:
        if broken:
            raise RulesError(f"{rules.variant}: {message}")


def _table_faults(rules: Rules) -> list[tuple[bool, str]]:
    hand, target, tiles = dict(rules.hand), dict(rules.target), num_tiles(rules.max_pip)
    faults = [(set(hand) != set(target), f"hand is for {list(hand)} seats, target for {list(target)}; both need the same seat counts")]
    for seats, size in hand.items():
        need = seats * size
        most = f"at most {tiles // seats} each (players=[...] keeps just the seat counts you want)"
        message = f"hand={size} for {seats} seats needs {need} tiles, but the double-{rules.max_pip} set has {tiles}; {most}"
        faults.append((need > tiles, message))
    faults.append((rules.sides and 4 not in hand, f"sides=True needs four seats, but the seat counts are {list(hand)}"))
    return faults


def _play_faults(rules: Rules) -> list[tuple[bool, str]]:
    never = rules.draw_when == DrawWhen.NEVER
    sums = rules.scoring in (Scoring.QUOTIENT, Scoring.SUM, Scoring.FLAT)
    flat = rules.scoring in (Scoring.EQUAL_ENDS, Scoring.FLAT)
    return [
        (rules.arms == 3, "arms=3, but a layout has 2 arms, or 4 with a spinner"),
        (never and (rules.draw_limit > 0 or rules.reserve > 0), "draw_limit and reserve need draw_when 'stuck' or 'anytime'"),
        (rules.lucky_draws and never, "lucky_draws=True needs draw_when 'stuck' or 'anytime'"),
        (rules.lucky_draws and not sums, f"lucky_draws=True needs a scoring by the sum of the ends, not {rules.scoring.value!r}"),
        (
            not rules.lucky_draws and (rules.lucky_hit_points > 0 or rules.lucky_miss_points > 0),
            "lucky_hit_points and lucky_miss_points need lucky_draws=True",
        ),
        (sums and not rules.divisors, f"scoring={rules.scoring.value!r} needs divisors, such as [5]"),
        (not sums and bool(rules.divisors), f"divisors={list(rules.divisors)} need a scoring by the sum of the ends"),
        (len(set(rules.divisors)) != len(rules.divisors), f"divisors={list(rules.divisors)} name one twice"),
        (
            not flat and max(rules.hit_points, rules.double_points, rules.lead_double_points) > 0,
            f"hit_points, double_points and lead_double_points mean nothing with scoring={rules.scoring.value!r}",
        ),
        (
            rules.scoring == Scoring.EQUAL_ENDS and rules.arms != 2,
            "scoring='equal_ends' compares two ends, so arms must be 2",
        ),
    ]


def _end_faults(rules: Rules) -> list[tuple[bool, str]]:
    penalties = rules.match_winner == MatchWinner.LOWEST
    pips = EndCount.PIPS
    return [
        (
            penalties and (rules.out_count != pips or rules.blocked_count != pips),
            "match_winner='lowest' counts penalties, so out_count and blocked_count must be 'pips'",
        ),
        (
            penalties and (rules.scoring != Scoring.NONE or rules.play_on),
            "match_winner='lowest' counts penalties at the end of a round, so scoring must be 'none' and play_on false",
        ),
        (
            penalties and not rules.target_at_round_end,
            "match_winner='lowest' looks at the target when a round is over: target_at_round_end must be true",
        ),
        (rules.out_count == pips and rules.out_points > 0, "out_count='pips' counts the hands, so out_points must be 0"),
        (rules.play_on and rules.out_count == pips, "play_on=True gives a bonus in mid-round, so out_count must be 'flat'"),
        (rules.blocked_count == pips and rules.blocked_points > 0, "blocked_count='pips' counts the hands, so blocked_points must be 0"),
        (
            rules.lowest_hand == LowestHand.NOBODY and (rules.blocked_count == pips or rules.blocked_points > 0),
            "a blocked round that counts needs a lowest_hand rule",
        ),
        (
            rules.stop_when_boneyard_exhausted and rules.draw_when == DrawWhen.NEVER,
            "stop_when_boneyard_exhausted=True needs draw_when 'stuck' or 'anytime'",
        ),
        (_nothing_counts(rules), "nothing in these rules makes a point, so no match would end"),
    ]


def _nothing_counts(rules: Rules) -> bool:
    bonus = rules.out_points > 0 or rules.blocked_points > 0 or EndCount.PIPS in (rules.out_count, rules.blocked_count)
    by_sum = rules.scoring in (Scoring.QUOTIENT, Scoring.SUM, Scoring.FLAT)
    if by_sum and min(rules.divisors, default=1) > 2 * rules.max_pip * rules.arms:
        return not bonus
    by_play = rules.scoring in (Scoring.QUOTIENT, Scoring.SUM) or rules.hit_points > 0 or rules.double_points > 0
    return not (bonus or by_play or rules.lead_double_points > 0 or rules.lucky_hit_points > 0)
