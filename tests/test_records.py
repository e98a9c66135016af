"""Records: there and back for every kind of game; damaged heads and files are refused by name."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from domino_env.errors import RecordError
from domino_env.notation import load_record, replay, save_record
from domino_env.notation.game import PlayedGame
from domino_env.notation.records import replay_moves, to_record
from domino_env.rules import Rules
from domino_env.variants import VARIANTS
from tests.damage import MISSING, changed, refused
from tests.golden import golden_record

# There and back


def random_game(rules: Rules, num_players: int, one_round: bool, seed: int, most_moves: int = 10_000) -> PlayedGame:
    rng = random.Random(seed)
    game = PlayedGame(rules, num_players, one_round)
    game.start(seed)
    for _ in range(most_moves):
        if game.over:
            break
        game.make_move(rng.choice(game.legal_actions()))
        game.deal_if_due()
    return game


OWN_RULES: list[tuple[Rules, int]] = [
    (VARIANTS["bergen"].replace(target={2: 21}, reserve=0), 2),
    (VARIANTS["all_fives"].replace(sides=True, players=4), 4),
    (VARIANTS["draw"].replace(max_pip=9, target=150), 3),
    (VARIANTS["block"].replace(max_pip=3, players=2, hand=4), 2),
    (VARIANTS["lucky_threes"].replace(variant="my_threes", draw_limit=2), 4),
    (Rules.from_overrides(Rules(), {"variant": "house", "out_count": "pips", "out_points": 0, "players": [2], "target": 30}), 2),
]


@pytest.mark.parametrize("one_round", [False, True], ids=["match", "round"])
@pytest.mark.parametrize(("rules", "num_players"), OWN_RULES, ids=lambda value: getattr(value, "variant", str(value)))
def test_there_and_back(rules: Rules, num_players: int, one_round: bool, tmp_path: Path) -> None:
    game = random_game(rules, num_players, one_round, seed=3)
    save_record(to_record(game), tmp_path / "game.json")
    record = load_record(tmp_path / "game.json")
    assert record == to_record(game)
    again = replay(record)
    assert to_record(again) == record
    assert again.rules.fingerprint() == rules.fingerprint()
    assert again.scores() == game.scores()
    assert again.winners() == game.winners()
    assert [path.name for path in tmp_path.iterdir()] == ["game.json"]


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_record_may_be_taken_at_any_time(variant: str) -> None:
    game = PlayedGame(VARIANTS[variant], 3, one_round=False)
    game.start(11)
    rng = random.Random(2)
    for _ in range(60):
        record = to_record(game)
        again = replay(json.loads(json.dumps(record)))
        assert to_record(again) == record
        assert (again.seat, again.legal_actions(), again.scores()) == (game.seat, game.legal_actions(), game.scores())
        if game.over:
            break
        game.make_move(rng.choice(game.legal_actions()))
        game.deal_if_due()


def test_start_scores() -> None:
    game = PlayedGame(VARIANTS["bergen"], 2, one_round=False)
    game.start(0)
    order = game.rounds[0].order
    game.set_up(order, -1, [14, -3])
    record = to_record(game)
    assert record["rounds"][0]["start_scores"] == [14, -3]
    assert replay(record).scores() == [14, -3]
    for bad in ([15, 0], [0], [0, 0, 0], ["1", 2], [True, 0], [1.0, 0], 5, None, {"0": 1}, [2**40, 0]):
        refused(changed(record, "rounds", 0, "start_scores", to=bad), "round 0", "start_scores=")


def test_replay_moves_shows_every_position() -> None:
    record = golden_record("bergen_3p")
    positions = [(len(game.rounds), len(game.rounds[-1].events)) for game in replay_moves(record)]
    assert positions == [(k + 1, n) for k, entry in enumerate(record["rounds"]) for n in range(len(entry["events"]) + 1)]


# Damage to the head


@pytest.mark.parametrize(
    ("key", "bad"),
    [
        *(("format", bad) for bad in (2, 0, "1", 1.0, True, None, MISSING)),
        *(("variant", bad) for bad in ("shopping", "Bergen", "", None, 5, ["bergen"], {}, MISSING)),
        *(("rules", bad) for bad in ({"target": {"2": 0}}, {"hands": 3}, {"arms": 3}, {"hand": 20}, [], 5, "x", None)),
        ("rules", {"target": {"2": 12}}),
        *(("num_players", bad) for bad in (1, 5, 3, "2", 2.0, True, None, [2], MISSING)),
        *(("seed", bad) for bad in ("0", -1, 2**64, 1.5, True, [0])),
        *(("episode", bad) for bad in ("round", "game", "", None, 1, ["match"])),
        *(("winners", bad) for bad in ([], [0], [0, 1], ["1"], [True], 1, None, MISSING)),
    ],
)
def test_damaged_head(key: str, bad: Any) -> None:
    text = refused(changed(golden_record("bergen_2p"), key, to=bad))
    assert text.startswith("record")


@pytest.mark.parametrize("bad", [None, 5, "bergen", [], [{}], b"{}"])
def test_no_record(bad: Any) -> None:
    refused(bad, "a record is a dict")


def test_all_refusals_leave_the_record_alone() -> None:
    record = golden_record("fives_4p")
    refused(changed(record, "rounds", 0, "events", 3, "points", to=77))
    assert record == golden_record("fives_4p")
    replay(record)


# Files


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.9, 0.999])
def test_truncated_file(tmp_path: Path, share: float) -> None:
    text = json.dumps(golden_record("block_3p"))
    path = tmp_path / "cut.json"
    path.write_text(text[: int(len(text) * share)], encoding="utf-8")
    with pytest.raises(RecordError, match=r"cut\.json"):
        load_record(path)


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"[]", b"5", b"null", b"[" * 100_000, b"{'format': 1}", b'{"format": 1} x'])
def test_foreign_file(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "foreign.json"
    path.write_bytes(data)
    with pytest.raises(RecordError, match=r"foreign\.json"):
        load_record(path)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="nothing"):
        load_record(tmp_path / "nothing.json")
    (tmp_path / "folder").mkdir()
    with pytest.raises(RecordError, match="folder"):
        load_record(tmp_path / "folder")


def test_saving_takes_the_place_of_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "game.json"
    path.write_text("old", encoding="utf-8")
    save_record(golden_record("draw_2p"), path)
    assert load_record(path) == golden_record("draw_2p")
    with pytest.raises(FileNotFoundError):
        save_record(golden_record("draw_2p"), tmp_path / "no" / "game.json")
