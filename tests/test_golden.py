"""Golden games replay to the letter, and the golden files are as their command makes them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from domino_env.notation import load_record, replay
from domino_env.notation.game import PlayedGame
from domino_env.notation.records import read_rules, to_record
from domino_env.variants import VARIANTS
from tests import make_golden
from tests.golden import FOLDER, golden_names, golden_record

NAMES = golden_names()
MATCHES = [name for name in NAMES if not name.endswith("_book")]


def points_of(record: dict[str, Any]) -> list[tuple[int, str, int]]:
    """Seat, tile (or word) and points of every event of the first round."""
    return [(event["seat"], event["move"].partition("@")[0], event["points"]) for event in record["rounds"][0]["events"]]


def test_bergen_as_in_the_book() -> None:
    record = golden_record("bergen_4p_book")
    assert points_of(record) == [
        (0, "1-1", 2),
        (1, "1-4", 0),
        (2, "1-6", 0),
        (3, "2-6", 0),
        (0, "2-4", 2),
        (1, "4-4", 3),
        (2, "4-5", 0),
        (3, "0-5", 0),
        (0, "3-4", 0),
        (1, "draw", 0),
        (1, "3-6", 0),
        (2, "0-6", 2),
        (3, "6-6", 3),
    ]
    assert record["rounds"][0]["events"][9]["tile"] == "3-6"
    game = replay(record)
    assert game.scores() == [4, 3, 2, 3]
    assert not game.over


def test_bergen_in_the_book_who_draws_is_stuck() -> None:
    record = golden_record("bergen_4p_book")
    record["rounds"][0]["events"] = record["rounds"][0]["events"][:9]
    game = replay(record)
    assert game.seat == 1
    assert game.legal_moves() == ["draw"]
    assert sorted(game.row.arm_pip[:2].tolist()) == [0, 3]


def test_fives_and_threes_as_in_the_book() -> None:
    record = golden_record("fives_and_threes_3p_book")
    assert points_of(record) == [
        (0, "4-5", 3),
        (1, "1-4", 2),
        (2, "2-5", 1),
        (0, "2-4", 1),
        (1, "4-4", 3),
        (2, "1-1", 2),
        (0, "3-4", 1),
        (1, "1-2", 1),
        (2, "2-3", 2),
        (0, "pass", 0),
        (1, "3-3", 3),
        (2, "1-3", 0),
        (0, "1-6", 3),
    ]
    assert replay(record).scores() == [8, 9, 5]
    record["rounds"][0]["events"].pop()
    game = replay(record)
    assert game.scores() == [5, 9, 5]
    assert (game.seat, game.over) == (0, False)


def test_fives_and_threes_in_the_book_who_passes_is_stuck() -> None:
    record = golden_record("fives_and_threes_3p_book")
    record["rounds"][0]["events"] = record["rounds"][0]["events"][:9]
    game = replay(record)
    assert (game.seat, game.legal_moves()) == (0, ["pass"])


@pytest.mark.parametrize("name", NAMES)
def test_golden_record_replays_and_nothing_differs(name: str) -> None:
    record = golden_record(name)
    game = replay(record)
    assert to_record(game) | {"seed": record["seed"]} == record
    assert bool(record["winners"]) == game.over == (name in MATCHES)


@pytest.mark.parametrize("name", MATCHES)
def test_seed_deals_the_same_tiles_for_ever(name: str) -> None:
    """The deals of a golden match come from its seed: whoever notes a seed finds the same game in every later version."""
    record = golden_record(name)
    game = PlayedGame(read_rules(record), record["num_players"], one_round=False)
    game.start(record["seed"])
    for entry in record["rounds"]:
        for event in entry["events"]:
            game.make_move(game.move_index(event["move"]))
        game.deal_if_due()
    assert to_record(game) == record


def test_every_variant_and_seat_count_has_a_match() -> None:
    assert {f"{variant}_{seats}p" for variant, rules in VARIANTS.items() for seats in rules.players} <= set(MATCHES)


def test_golden_matches_show_every_end() -> None:
    ends = {name: {entry["end"] for entry in golden_record(name)["rounds"]} for name in MATCHES}
    for variant in VARIANTS:
        seen = set().union(*(found for name, found in ends.items() if name.rpartition("_")[0].removesuffix("_4p") == variant))
        possible = {"out", "blocked", "target"} if variant != "lucky_threes" else {"out", "target"}
        assert seen >= possible | ({"exhausted"} if VARIANTS[variant].stop_when_boneyard_exhausted else set()), variant


def test_files_are_as_the_command_makes_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert make_golden.main(["--check"]) == 0, capsys.readouterr().out


def test_check_sees_what_differs(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"one": "{}\n", "two": "{}\n"}
    monkeypatch.setattr(make_golden, "FOLDER", tmp_path)
    monkeypatch.setattr(make_golden, "golden_texts", lambda: texts)
    (tmp_path / "old.json").write_text("{}\n", encoding="utf-8")
    (tmp_path / "two.json").write_text("[]\n", encoding="utf-8")
    assert make_golden.differences(texts) == ["old", "one", "two"]
    assert make_golden.main(["--check"]) == 1
    assert make_golden.main([]) == 0
    assert make_golden.main(["--check"]) == 0
    assert sorted(path.stem for path in tmp_path.glob("*.json")) == ["one", "two"]


@pytest.mark.parametrize("name", NAMES)
def test_the_hand_set_text_is_the_record(name: str) -> None:
    record = golden_record(name)
    assert json.loads(make_golden.record_text(record)) == record == load_record(FOLDER / f"{name}.json")
