"""The replay page: what stands in it is true, hides what is hidden, and needs no network."""

from __future__ import annotations

import base64
import copy
import hashlib
import itertools
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from domino_env.encoding import Encoding
from domino_env.engine import batch as engine
from domino_env.errors import CheckpointError, OptionsError, RecordError
from domino_env.notation.records import replay_moves
from domino_env.pages import check_judge, replay_page
from domino_env.pages.words import text_words
from domino_env.policies import Batch, load_policy, think
from domino_env.policies.pimc import PIMCPolicy
from domino_env.variants import VARIANTS
from tests.command_cases import Run
from tests.page_cases import GOLDEN, golden, page_data, played

RECORDS = sorted(path.stem for path in GOLDEN.glob("*_*p*.json") if "perft" not in path.stem)


class Reader(HTMLParser):
    """Elements with their attributes, ids, and whether every element is closed."""

    VOID = {"meta", "input", "br"}

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def searched(worlds: int = 16, blunder: float | None = None) -> Any:
    return check_judge(PIMCPolicy(worlds), blunder)


# What stands in it


@pytest.mark.parametrize("name", RECORDS)
def test_a_page_tells_all_of_a_record(name: str) -> None:
    record = golden(name)
    data = page_data(replay_page(record))
    places = [(number, count) for number, one in enumerate(record["rounds"]) for count in range(len(one["events"]) + 1)]
    assert [(position["round"], position["event"]) for position in data["positions"]] == places
    events = [event for one in record["rounds"] for event in [*one["events"], None]]
    for position, event in zip(data["positions"], events, strict=True):
        if event is None:
            assert position["next"] is None
            continue
        told = position["next"]
        assert (told["seat"], told["text"].split()[0], told["points"]) == (event["seat"], event["move"], event["points"])
        assert told["text"] == event["move"] + (f" {event['tile']}" if "tile" in event else "")
    shown = [sum(len(hand) for hand in position["hands"]) + position["table"].count('class="tile') for position in data["positions"]]
    drawn = len(record["rounds"][0]["hands"]) * len(record["rounds"][0]["hands"][0])
    assert min(shown) == drawn
    ends = [position["over"] for position in data["positions"] if position["over"] is not None]
    assert len(ends) == sum("end" in one for one in record["rounds"])


def test_decisions_are_the_choices_of_the_game_and_the_moves_that_were_made() -> None:
    record = golden("all_fives_2p")
    data = page_data(replay_page(record))
    found = 0
    for number, game in enumerate(replay_moves(record)):
        decision = data["decisions"].get(str(number))
        assert (decision is not None) == (game.phase == 0 and game.num_legal > 1)
        if decision is None:
            continue
        found += 1
        assert [move["text"] for move in decision["moves"]] == game.legal_moves()
        assert decision["seat"] == game.seat
        for move in decision["moves"]:
            after = game.copy()
            after.make_move(game.move_index(move["text"]))
            assert move["points"] == (None if move["text"] == "draw" else after.rounds[-1].events[-1].points)
        position = data["positions"][number]
        made = record["rounds"][position["round"]]["events"][position["event"]]["move"]
        assert decision["moves"][decision["played"]]["text"] == made
    assert found > 20


def test_thoughts_are_those_of_the_policies() -> None:
    record = played("bergen", ["greedy", "random"], seed=3, episode="match")
    specs = ["bergen/ppo", "bergen/dqn", "random", "search:ismcts?simulations=30"]
    data = page_data(replay_page(record, thinkers=[load_policy(spec) for spec in specs], judge_by=searched()))
    assert [one["names"] for one in data["thinkers"]] == [[spec, spec] for spec in specs]
    checked = 0
    for number, game in enumerate(replay_moves(record)):
        decision = data["decisions"].get(str(number))
        if decision is None or number % 3:
            continue
        checked += 1
        other = game.copy()
        keyed = other.games.copy()
        engine.seed_games(keyed, np.zeros(1, np.int64), np.array([record["seed"]], np.uint64))
        other.games["key"] = keyed["key"]
        batch = Batch.of_game(other, Encoding(game.rules, 2))
        take = other.legal_actions()
        for spec, told in zip(specs, decision["thoughts"], strict=True):
            thoughts = think(load_policy(spec), batch)
            assert told["chance"] == [round(float(p), 4) for p in thoughts.probabilities[0, take]]
            assert told["takes"] == (None if thoughts.sampled else take.index(thoughts.actions[0]))
            if thoughts.values is None:
                assert "value" not in told
            else:
                scale = 15 if thoughts.unit == "reward" else 1
                assert told["value"] == pytest.approx(thoughts.values[0] * scale, abs=0.006)
        found = think(PIMCPolicy(16), batch)
        assert found.action_values is not None
        assert decision["search"]["values"] == pytest.approx(found.action_values[0, take].tolist(), abs=0.006)
        assert decision["greedy"] == take.index(think(load_policy("greedy"), batch).actions[0])
    assert checked > 3


def test_blunders_are_what_the_page_says_they_are() -> None:
    record = played("all_fives", ["random", "greedy"], seed=1, episode="match")
    data = page_data(replay_page(record, judge_by=searched(64)))
    assert data["search"] == {"name": "search:pimc?worlds=64", "blunder": 4.0, "clear": 3.0}
    marks: list[bool] = []
    for decision in data["decisions"].values():
        found = decision["search"]
        loss = max(found["values"]) - found["values"][decision["played"]]
        assert found["loss"] == pytest.approx(loss, abs=0.02)
        error = found["errors"][decision["played"]]
        assert found["loss"] > 0 or not found["blunder"]
        if abs(loss - 4) > 0.02 and abs(loss - 3 * error) > 0.05:
            assert found["blunder"] == (loss >= 4 and loss >= 3 * error)
        marks.append(found["blunder"])
    assert 5 < sum(marks) < len(marks)
    stricter = page_data(replay_page(record, judge_by=searched(64, 20.0)))
    few = [decision["search"]["blunder"] for decision in stricter["decisions"].values()]
    assert sum(few) < sum(marks)
    assert all(mark or not one for mark, one in zip(marks, few, strict=True))


def test_a_search_finds_no_fault_with_its_own_moves() -> None:
    """The page gives a policy the random bits that it had in the game, so a search sees the same worlds again."""
    record = played("bergen", ["search:pimc?worlds=8"] * 2, seed=11, episode="match")
    data = page_data(replay_page(record, judge_by=searched(8)))
    assert len(data["decisions"]) > 10
    assert all(decision["search"]["best"] == decision["played"] for decision in data["decisions"].values())


def test_each_seat_may_have_a_thinker_of_its_own() -> None:
    record = played("fives", ["greedy", "greedy", "random"])
    policies = [load_policy(spec) for spec in ("greedy", "random", "search:ismcts?simulations=20")]
    data = page_data(replay_page(record, thinkers=[policies], seats=["a", "b", "c"]))
    assert data["thinkers"] == [{"names": ["greedy", "random", "search:ismcts?simulations=20"]}]
    assert data["seats"] == ["a", "b", "c"]
    for decision in data["decisions"].values():
        (thought,) = decision["thoughts"]
        assert (thought["takes"] is None) == (decision["seat"] == 1)
        assert ("value" in thought) == (decision["seat"] == 2)
    with pytest.raises(OptionsError, match="2 policies that think, but the game has 3 seats"):
        replay_page(record, thinkers=[policies[:2]])


def test_a_record_that_is_not_over_ends_with_an_open_decision() -> None:
    record = played("block", ["greedy", "greedy"], moves=3)
    data = page_data(replay_page(record, judge_by=searched()))
    assert data["result"] == "The game is not over"
    assert data["positions"][-1]["next"] is None
    decision = data["decisions"].get(str(len(data["positions"]) - 1))
    if decision is not None:
        assert decision["played"] is None
        assert "loss" not in decision["search"]


def test_the_same_record_gives_the_same_bytes() -> None:
    record = golden("threes_3p")
    first = replay_page(record, judge_by=searched())
    assert first == replay_page(copy.deepcopy(record), judge_by=searched())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1-4", "1-4"),
        ("1-4@left", "1-4 on the left"),
        ("4-4@down:lengthwise", "4-4 below, lengthwise"),
        ("4-4:lengthwise", "4-4, lengthwise"),
    ],
)
def test_moves_in_words(text: str, words: str) -> None:
    assert text_words(text) == words


# What it hides


def test_a_seat_sees_its_own_hand_and_thoughts_alone() -> None:
    record = played("lucky_threes", ["random", "greedy"], seed=5, episode="round")
    page = replay_page(record, judge_by=searched(4), seat=1, reveal=False)
    data = page_data(page)
    assert all(tile == -1 for position in data["positions"] for tile in position["hands"][0])
    assert any(tile >= 0 for position in data["positions"] for tile in position["hands"][1])
    assert {decision["seat"] for decision in data["decisions"].values()} == {1}
    for position in data["positions"]:
        if position["turn"] == 0:
            assert position["choices"] is None
            assert not position["next"]["text"].startswith("draw ")
            assert "must place" not in position["notes"][0]
    assert "seed" not in data["title"]  # whoever has it can deal again
    nobody = page_data(replay_page(record, judge_by=searched(4), reveal=False))
    assert nobody["decisions"] == {}
    assert all(tile == -1 for position in nobody["positions"] for hand in position["hands"] for tile in hand)


def test_tiles_that_a_seat_never_saw_leave_no_trace() -> None:
    """The boneyard that nobody draws from holds other tiles first, the seed is another: the page has the same bytes."""
    record = played("fives_and_threes", ["random", "greedy", "random"], seed=9)
    other = copy.deepcopy(record)
    other["seed"] = 77
    other["rounds"][0]["boneyard"].reverse()
    assert other["rounds"][0]["boneyard"] != record["rounds"][0]["boneyard"]
    left = [
        tile for tile in record["rounds"][0]["hands"][0] if tile not in {e["move"].split("@")[0] for e in record["rounds"][0]["events"]}
    ]
    if left:
        swapped = other["rounds"][0]["hands"][0]
        swapped.append(swapped.pop(swapped.index(left[0])))

    def shown(one: dict[str, Any]) -> str:
        data = page_data(replay_page(one, thinkers=[load_policy("greedy")], seat=1, reveal=False))
        return json.dumps(data)

    assert shown(record) == shown(other)


# How the file is made


def test_the_file_stands_alone() -> None:
    page = replay_page(golden("bergen_2p"), judge_by=searched(4))
    read = Reader(page)
    assert not read.open
    assert "{{" not in page
    policy = next(attributes["content"] for _, attributes in read.elements if attributes.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    for tag, kind in (("style", "style-src"), ("script", "script-src")):
        text = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)[-1]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy
    for _, attributes in read.elements:
        assert not {"src", "srcset", "action", "background"} & set(attributes)
        assert (attributes.get("href") or "#").startswith("#")
    assert set(re.findall(r"https?://[^\s\"'\\]+", page)) <= {"http://www.w3.org/2000/svg"}
    assert "url(" not in page
    assert "@import" not in page
    ids = [attributes["id"] for _, attributes in read.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    wanted = set(re.findall(r'\$\("([\w-]+)"\)', page))
    assert wanted - {"cursor"} <= set(ids)  # the cursor is drawn


def test_names_cannot_break_out_of_the_data() -> None:
    policy: Any = load_policy("greedy")
    policy.name = "</script><!--<script>alert(1)</script>&\u2028"
    page = replay_page(played("block", ["greedy", "greedy"]), thinkers=[policy])
    assert page.count("</script>") == 2
    assert page_data(page)["thinkers"][0]["names"][0] == policy.name


def test_a_whole_match_is_no_big_file() -> None:
    page = replay_page(golden("all_fives_2p"))
    positions = len(page_data(page)["positions"])
    assert len(page) < 150_000 + 8_000 * positions


# What is refused


def test_what_is_no_record_of_dominoes_is_refused() -> None:
    with pytest.raises(RecordError, match="the memory game has no replay page"):
        replay_page({"format": 1, "variant": "shopping"})
    broken = golden("bergen_2p")
    broken["rounds"][0]["events"][0]["points"] = 9
    with pytest.raises(RecordError, match="round 0, event 0"):
        replay_page(broken)


def test_wishes_that_do_not_fit_are_refused() -> None:
    record = golden("bergen_2p")
    with pytest.raises(OptionsError, match="seat=2"):
        replay_page(record, seat=2)
    with pytest.raises(OptionsError, match="start=0:99"):
        replay_page(record, start=(0, 99))
    with pytest.raises(CheckpointError, match="all_fives"):
        replay_page(record, thinkers=[load_policy("all_fives/ppo")])
    with pytest.raises(OptionsError, match="search='greedy'"):
        check_judge(load_policy("greedy"), None)
    for blunder in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(OptionsError, match="blunder="):
            check_judge(None, blunder)


# The commands


def test_watch_writes_a_page(domino: Run, tmp_path: Path) -> None:
    html, record = tmp_path / "game.html", tmp_path / "game.json"
    done = domino(
        "watch", "bergen", "bergen/ppo", "greedy", "--seed", 3, "--html", html, "--record", record, "--search", "search:pimc?worlds=8"
    )
    assert done.status == 0
    assert f"page saved in {html}" in done.err
    data = page_data(html.read_text(encoding="utf-8"))
    assert data["seats"] == ["bergen/ppo", "greedy"]
    assert data["search"]["name"] == "search:pimc?worlds=8"
    assert len(data["positions"]) == len(json.loads(record.read_text())["rounds"][0]["events"]) + 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["game.html", "game.json"]


def test_replay_writes_a_page(domino: Run, tmp_path: Path) -> None:
    record, html = GOLDEN / "fives_2p.json", tmp_path / "game.html"
    more = ("--think", "fives/ppo", "--think", "greedy", "--search", "none", "--to", "0:4", "--seat", 1, "--json")
    done = domino("replay", record, "--html", html, *more)
    assert done.status == 0
    assert json.loads(done.out)["variant"] == "fives"
    data = page_data(html.read_text(encoding="utf-8"))
    assert [one["names"][0] for one in data["thinkers"]] == ["fives/ppo", "greedy"]
    assert data["search"] is None
    assert (data["positions"][data["start"]]["event"], data["onlooker"]) == (5, "Shown is what seat 1 could see.")
    for options, words in (
        ((), "All hands are shown."),
        (("--hide",), "No hand is shown."),
        (("--seat", 1, "--reveal"), "All hands are shown."),
    ):
        assert domino("replay", record, "--html", html, "--search", "none", *options).status == 0
        assert page_data(html.read_text(encoding="utf-8"))["onlooker"] == words


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--html", "game.html", "--think", "fives/ppo"), "fives"),
        (("--html", "game.html", "--think", "nobody"), "policy 'nobody'"),
        (("--html", "game.html", "--search", "search:ismcts"), "search:pimc"),
        (("--html", "game.html", "--search", "greedy"), "search:pimc"),
        (("--html", "game.html", "--blunder", "0"), "blunder=0.0"),
        (("--html", "game.txt"), ".html"),
        (("--html", "missing/game.html"), "there is no folder"),
        (("--html", "game.html", "--seat", "7"), "seat=7"),
        (("--html", "game.html", "--to", "0:99"), "--to 0:99"),
        (("--html", "game.html", "--to", "x"), "ROUND:EVENT"),
        (("--think", "greedy"), "--html"),
        (("--search", "none"), "--html"),
        (("--blunder", "0"), "--html"),
    ],
)
def test_bad_wishes_are_one_line_and_write_nothing(
    domino: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = domino("replay", GOLDEN / "bergen_2p.json", *options)
    assert done.status == 2
    assert message in done.err
    assert len(done.err.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_a_page_of_the_memory_game_is_refused(domino: Run, tmp_path: Path) -> None:
    record = tmp_path / "party.json"
    record.write_text(json.dumps({"format": 1, "variant": "shopping"}))
    done = domino("replay", record, "--html", tmp_path / "party.html")
    assert (done.status, len(list(tmp_path.iterdir()))) == (2, 1)
    assert "memory game" in done.err


def test_every_variant_has_a_record_here() -> None:
    assert {name.rsplit("_", 1)[0] for name in RECORDS if name[-1] == "p"} == set(VARIANTS)


@pytest.mark.parametrize("name", RECORDS)
def test_who_went_out_is_told(name: str) -> None:
    """In every variant: the first seat to play its last tile; with sides, where the round goes on, the last tile of its side."""
    data = page_data(replay_page(golden(name)))
    together = data["sides"] and name.startswith("fives_and_threes")
    first = None
    for before, position in itertools.pairwise(data["positions"]):
        mover, hands = before["turn"], position["hands"]
        if position["event"] == 0:
            first = None
        elif first is None and not hands[mover] and not (together and hands[(mover + 2) % 4]):
            first = mover
        if position["over"] and " goes out" in position["over"]:
            assert position["over"].startswith(f"Seat {first} goes out")
