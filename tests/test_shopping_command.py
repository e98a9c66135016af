"""``domino shopping`` and ``domino replay`` of its records: they do their work, and every fault is one clear line and exit status 2."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from domino_env.notation import load_record, save_record
from domino_env.shopping import ShoppingRules, Table, replay
from domino_env.shopping.records import to_record
from domino_env.shopping.telling import story_text
from tests.command_cases import Run
from tests.test_shopping_records import small_party


def test_help(domino: Run) -> None:
    text = domino("shopping", "--help").out
    for command in ("watch", "play", "recite"):
        assert f" {command} " in text
        done = domino("shopping", command, "--help")
        assert done.status == 0
        assert f"Example: domino shopping {command}" in done.out


@pytest.mark.parametrize("options", [[], ["--theme", "drawn", "--new-words", "drawn", "--letters", "5", "--words", "3"]])
def test_watch(domino: Run, options: list[str], tmp_path: Path) -> None:
    specs, path = ["perfect", "forgetful?p=0.05", "random"], tmp_path / "game.json"
    rules = ShoppingRules(3, 5, 3, "drawn", "drawn") if options else ShoppingRules(3)
    party = Table(rules, list(specs), 3).play()
    done = domino("shopping", "watch", *specs, "--seed", 3, "--json", "--record", path, *options)
    assert (done.status, done.err) == (0, f"record saved in {path}\n")
    assert json.loads(done.out) == load_record(path) == to_record(party)
    done = domino("shopping", "watch", *specs, "--seed", 3, *options)
    assert done.out == "seed 3; player_0: perfect, player_1: forgetful?p=0.05, player_2: random\n" + story_text(party) + "\n"
    unseeded = [json.loads(domino("shopping", "watch", "random", "random", "--json").out)["seed"] for _ in range(2)]
    assert unseeded[0] != unseeded[1]


def test_replay(domino: Run, tmp_path: Path) -> None:
    record, story = small_party()
    path = tmp_path / "party.json"
    save_record(record, path)
    assert domino("replay", path) == (0, story + "\n", "")
    told = json.loads(domino("replay", path, "--json").out)
    assert (told["variant"], told["num_players"], told["seed"], told["said"]) == ("shopping", 3, 7, 8)
    assert (told["words"], told["over"], told["winners"]) == ([record["events"][0]["word"], record["events"][2]["word"]], True, [1])
    save_record({**record, "winners": [0]}, path)
    for arguments in (["replay", path], ["replay", path, "--json"], ["replay", path, "--to", "0:1"]):
        done = domino(*arguments)
        assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
        assert done.err.startswith("domino: ")


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("new_words", ["chosen", "drawn"])
def test_play_a_whole_game(domino: Run, seat: int, new_words: str, tmp_path: Path) -> None:
    """The words that a good memory would say, typed by number and by name."""
    rules = ShoppingRules(3, 6, new_words=new_words)
    specs: list[str | None] = ["perfect"] * 3
    specs[seat] = None
    table, typed = Table(rules, specs, 9), []
    while not table.party.over:
        action = table.listen()
        if action < 0:
            party = table.party
            new = party.due == len(party.words())
            action = 2 if new else rules.move_index(party.due, party.words()[party.due])
            typed.append(str(action + 1) if len(typed) % 2 else rules.move_text(party.due, action))
        table.party.say(action)
    path = tmp_path / "game.json"
    options = ["--players", 3, "--letters", 6, "--new-words", new_words, "--seed", 9, "--seat", seat, "--record", path]
    done = domino("shopping", "play", *options, typed="\n".join(["?", "nonsense", "99", *typed, ""]))
    assert done.status == 0
    assert done.out.startswith(f"seed 9; you are player_{seat}. ")
    assert done.out.count("is no word for the letter a") == 2
    assert all(f"{number} {word}" in done.out for number, word in enumerate(rules.words(0), 1))
    assert done.out.endswith("you win\n")
    assert load_record(path) == to_record(table.party)


def test_play_and_be_out(domino: Run, tmp_path: Path) -> None:
    """The others play on to the end."""
    path = tmp_path / "game.json"
    done = domino("shopping", "play", "--players", 3, "--letters", 4, "--seed", 2, "--record", path, typed="give up\n")
    assert done.status == 0
    assert "you are out" in done.out
    assert done.out.endswith("the others win\n")
    assert replay(load_record(path)).winners() == [1, 2]


@pytest.mark.parametrize("typed", ["q\n", "quit\n", "", "1\n", "1\nq\n"])
def test_leaving_saves_the_record(domino: Run, typed: str, tmp_path: Path) -> None:
    path = tmp_path / "left.json"
    done = domino("shopping", "play", "--seed", 2, "--against", "perfect", "--against", "random", "--record", path, typed=typed)
    assert (done.status, done.err) == (0, f"record saved in {path}\n")
    assert done.out.endswith("\nstopped\n")
    party = replay(load_record(path))
    assert (party.over, party.rules.num_players) == (False, 3)
    assert [said.word for said in party.said if said.seat == 0] == [0] * typed.count("1")


BAD = [
    (["watch"], "SPEC"),
    (["watch", "perfect"], "num_players=1"),
    (["watch", *["random"] * 9], "num_players=9"),
    (["watch", "random", "clever"], "clever"),
    (["watch", "random", "forgetful?p=2"], "p=2"),
    (["watch", "random", "forgetful?q=1"], "forgetful?q=1"),
    (["watch", "random", "missing.safetensors"], "missing.safetensors"),
    (["watch", "random", "random", "--letters", "27"], "num_letters=27"),
    (["watch", "random", "random", "--letters", "x"], "'--letters'"),
    (["watch", "random", "random", "--words", "1"], "words_per_letter=1"),
    (["watch", "random", "random", "--theme", "cars"], "theme='cars'"),
    (["watch", "random", "random", "--new-words", "none"], "new_words='none'"),
    (["watch", "random", "random", "--seed", "-1"], "seed=-1"),
    (["watch", "random", "random", "--seed", str(2**64)], f"seed={2**64}"),
    (["watch", "random", "random", "--record", "no_such_folder/a.json"], "there is no folder"),
    (["play", "--players", "1"], "num_players=1"),
    (["play", "--players", "9"], "num_players=9"),
    (["play", "--players", "4", "--against", "random", "--against", "random"], "2 opponents"),
    (["play", "--against", "clever"], "clever"),
    (["play", "--seat", "2"], "seat=2"),
    (["play", "--seat", "-1"], "seat=-1"),
    (["play", "--letters", "0"], "num_letters=0"),
    (["play", "--theme", "cars"], "theme='cars'"),
    (["play", "--seed", "-1"], "seed=-1"),
    (["play", "--record", "."], "is a folder"),
    (["sing"], "sing"),
    (["recite", "clever"], "clever"),
    (["recite", "perfect", "--games", "0"], "games=0"),
    (["recite", "perfect", "--letters", "0"], "num_letters=0"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[" ".join(arguments) for arguments, _ in BAD])
def test_bad_input_is_one_line_and_status_2(
    domino: Run, arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = domino("shopping", *arguments)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("domino: ")
    assert done.err.count("\n") == 1
    assert message in done.err
    assert list(tmp_path.iterdir()) == []
