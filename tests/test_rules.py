"""Rules as data: presets as the text has them, overrides, and refusals at construction."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from typing import Any

import pytest
import yaml

from domino_env.engine.packed import numbers, pack_rules
from domino_env.errors import RulesError
from domino_env.rules import Rules
from domino_env.tiles import double_id, num_tiles, tile_id, tile_pips
from domino_env.variants import SOURCES, VARIANTS, get_rules

# RULES.md section 3, by hand: players -> hand, and players -> target
TABLES: dict[str, tuple[dict[int, int], dict[int, int]]] = {
    "fives_and_threes": ({2: 7, 3: 7, 4: 6, 5: 5}, {2: 41, 3: 41, 4: 41, 5: 41}),
    "bergen": ({2: 6, 3: 6, 4: 5}, {2: 15, 3: 10, 4: 10}),
    "bergen_classic": ({2: 6, 3: 6, 4: 5}, {2: 15, 3: 10, 4: 10}),
    "fives": ({2: 6, 3: 6, 4: 5}, {2: 25, 3: 20, 4: 20}),
    "threes": ({2: 6, 3: 6, 4: 5}, {2: 33, 3: 22, 4: 22}),
    "lucky_threes": ({2: 6, 3: 6, 4: 5}, {2: 33, 3: 22, 4: 22}),
    "all_fives": ({2: 7, 3: 5, 4: 5}, {2: 200, 3: 200, 4: 200}),
    "draw": ({2: 7, 3: 5, 4: 5}, {2: 100, 3: 100, 4: 100}),
    "block": ({2: 7, 3: 5, 4: 5}, {2: 100, 3: 100, 4: 100}),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_presets(variant: str) -> None:
    rules = VARIANTS[variant]
    hand, target = TABLES[variant]
    assert (dict(rules.hand), dict(rules.target), rules.max_pip, rules.sides) == (hand, target, 6, False)
    assert rules.players == tuple(hand)
    assert rules.variant == variant
    assert variant in SOURCES


def test_points_by_sum() -> None:
    """The scoring tables of RULES.md 3.1, 3.4, 3.5 and 3.7."""
    both = numbers(pack_rules(VARIANTS["fives_and_threes"], 2, True)).sum_points
    assert {s: int(both[s]) for s in (0, 3, 5, 6, 9, 10, 12, 15, 18, 20, 1)} == dict(
        zip((0, 3, 5, 6, 9, 10, 12, 15, 18, 20, 1), (0, 1, 1, 2, 3, 2, 4, 8, 6, 4, 0), strict=True)
    )
    assert [int(numbers(pack_rules(VARIANTS["fives"], 2, True)).sum_points[s]) for s in (0, 5, 10, 20, 15, 7)] == [0, 1, 2, 4, 3, 0]
    assert [int(numbers(pack_rules(VARIANTS["threes"], 2, True)).sum_points[s]) for s in (0, 18, 3, 10)] == [0, 6, 1, 0]
    assert [int(numbers(pack_rules(VARIANTS["all_fives"], 2, True)).sum_points[s]) for s in (0, 5, 15, 35, 12)] == [0, 5, 15, 35, 0]


def test_tile_ids() -> None:
    for max_pip in range(2, 10):
        ids = [tile_id(low, high) for high in range(max_pip + 1) for low in range(high + 1)]
        assert ids == list(range(num_tiles(max_pip)))
    assert tile_id(4, 1) == tile_id(1, 4) == 11
    assert tile_pips(double_id(6)) == (6, 6)


@pytest.mark.parametrize("variant", VARIANTS)
def test_copies_and_overrides(variant: str) -> None:
    rules = VARIANTS[variant]
    other = rules.replace(target={2: 21})
    assert dict(other.target) == {**dict(rules.target), 2: 21}
    assert rules.target[2] != 21
    assert other.overrides_from(rules) == {"target": {str(n): other.target[n] for n in other.players}}
    for same in (copy.deepcopy(other), pickle.loads(pickle.dumps(other)), Rules.from_overrides(rules, other.overrides_from(rules))):
        assert same == other
        assert hash(same) == hash(other)
        assert same.fingerprint() == other.fingerprint() != rules.fingerprint()
    by_text = Rules.from_overrides(rules, yaml.safe_load(json.dumps(other.to_json())))
    assert by_text == other
    assert rules.replace(variant="mine").fingerprint() == rules.fingerprint()
    small = rules.replace(players=2, max_pip=3, hand=3, reserve=0)
    assert (small.players, small.num_tiles) == ((2,), 10)
    assert Rules.from_overrides(rules, small.overrides_from(rules)) == small
    with pytest.raises(dataclasses.FrozenInstanceError):
        rules.max_pip = 3  # type: ignore[misc]


def test_yaml_overrides() -> None:
    text = "target: {2: 21}\nscoring: equal_ends\nplayers: [2, 3]\n"
    rules = Rules.from_overrides(VARIANTS["bergen"], yaml.safe_load(text))
    assert (rules.players, dict(rules.target)) == ((2, 3), {2: 21, 3: 10})


@pytest.mark.parametrize(
    ("base", "change", "words"),
    [
        ("bergen", {"hand": 15}, "needs 30 tiles, but the double-6 set has 28; at most 14"),
        ("bergen", {"hand": {4: 8}}, "at most 7 each"),
        ("bergen", {"hand": 0}, "from 1"),
        ("bergen", {"hand": {6: 2}, "target": {6: 9}}, "from 2 to 5"),
        ("bergen", {"hand": {5: 2}}, "same seat counts"),
        ("bergen", {"hand": "six"}, "'six'"),
        ("bergen", {"players": 5}, "players=5"),
        ("bergen", {"players": []}, "players="),
        ("bergen", {"target": {2: 0}}, "from 1"),
        ("bergen", {"target": {2: 1.5}}, "1.5"),
        ("bergen", {"max_pip": 1}, "from 2 to 9"),
        ("bergen", {"max_pip": 10}, "from 2 to 9"),
        ("bergen", {"max_pip": True}, "True"),
        ("bergen", {"max_pip": 2}, "the double-2 set has 6"),
        ("bergen", {"reserve": -1}, "from 0"),
        ("bergen", {"arms": 4}, "arms must be 2"),
        ("all_fives", {"arms": 3}, "2 arms, or 4"),
        ("bergen", {"sides": 1}, "true or false"),
        ("bergen", {"sides": True, "players": [2, 3]}, "four seats"),
        ("bergen", {"opening": "highest"}, "any or lowest_double"),
        ("bergen", {"scoring": "sum"}, "needs divisors"),
        ("bergen", {"divisors": [5]}, "need a scoring"),
        ("fives", {"divisors": [5, 5]}, "twice"),
        ("fives", {"divisors": [1]}, "from 2"),
        ("fives", {"divisors": 5}, "list of numbers"),
        ("fives", {"hit_points": 2}, "mean nothing"),
        ("block", {"reserve": 2}, "need draw_when"),
        ("block", {"lucky_draws": True}, "needs draw_when"),
        ("bergen", {"lucky_draws": True}, "sum of the ends"),
        ("threes", {"lucky_miss_points": 5}, "need lucky_draws"),
        ("draw", {"out_count": "flat"}, "must be 'pips'"),
        ("draw", {"target_at_round_end": False}, "must be true"),
        ("draw", {"scoring": "sum", "divisors": [5]}, "scoring must be 'none'"),
        ("block", {"out_points": 5}, "out_points must be 0"),
        ("block", {"blocked_points": 5}, "blocked_points must be 0"),
        ("block", {"play_on": True}, "must be 'flat'"),
        ("bergen", {"lowest_hand": "nobody"}, "needs a lowest_hand"),
        ("block", {"stop_when_boneyard_exhausted": True}, "needs draw_when"),
        ("fives_and_threes", {"scoring": "none", "divisors": [], "out_points": 0}, "no match would end"),
        ("block", {"scoring": "quotient", "divisors": [1000], "out_count": "flat", "blocked_count": "flat"}, "no match would end"),
        ("bergen", {"colour": 1}, "unknown field 'colour'"),
    ],
)
def test_refusals(base: str, change: dict[str, Any], words: str) -> None:
    with pytest.raises(RulesError, match=words):
        Rules.from_overrides(VARIANTS[base], change)


def test_unknown_names() -> None:
    with pytest.raises(RulesError, match="bergen_classic"):
        get_rules("bergn")
    with pytest.raises(RulesError, match="dict of fields"):
        Rules.from_overrides(VARIANTS["bergen"], ["target"])  # type: ignore[arg-type]
    with pytest.raises(RulesError, match="2, 3 or 4 players"):
        VARIANTS["bergen"].check_players(5)
    with pytest.raises(RulesError, match="four seats"):
        VARIANTS["bergen"].replace(sides=True).check_players(3)
