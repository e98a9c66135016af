"""The ``domino`` command: every command does its work, and every fault is one clear line and exit status 2."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from domino_env.cli import app
from domino_env.notation import load_record, replay, save_record
from domino_env.notation.game import PlayedGame
from domino_env.notation.records import to_record
from domino_env.variants import VARIANTS
from tests.command_cases import Run

COMMANDS = ("variants", "play", "watch", "replay", "arena", "ratings", "bench", "bench-policy")


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """A whole match of three rounds on file."""
    game = PlayedGame(VARIANTS["bergen"], 3, one_round=False)
    game.start(3)
    while not game.over:
        game.deal_if_due()
        game.make_move(game.legal_actions()[-1])
    path = tmp_path / "match.json"
    save_record(to_record(game), path)
    return path


def python(*arguments: str, **options: Any) -> subprocess.Popen[str]:
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, *arguments], text=True, cwd=Path(__file__).parent.parent, **{**pipes, **options})


# --------------------------------------------------------------------------------------------------------- everything


def test_help_of_the_command_names_all_of_them(domino: Run) -> None:
    for arguments in ([], ["--help"]):
        done = domino(*arguments)
        assert done.status == 0
        assert all(re.search(rf"^ +{name} ", done.out, re.M) for name in COMMANDS)
    assert len(app.registered_commands) == len(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_each_command_has_an_example(domino: Run, command: str) -> None:
    done = domino(command, "--help")
    assert done.status == 0
    assert f"Example: domino {command}" in done.out
    assert ("--seed" in done.out) == (command not in ("variants", "replay", "ratings", "bench-policy"))
    assert ("--json" in done.out) == (command != "play")


def test_the_examples_of_the_help_are_good_command_lines(
    domino: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    record.rename(tmp_path / "game.json")
    quick = {"arena": ["--deals", "20"], "bench": ["--moves", "5", "--games", "8"], "watch": ["--delay", "0"]}
    for command in ("variants", "replay", "watch", "arena", "bench", "play"):
        text = " ".join(domino(command, "--help").out.split())
        example = re.search(r"Example: domino (.*?) (Arguments|Options):", text)
        assert example
        assert domino(*example[1].split(), *quick.get(command, [])).status == 0


def test_version(domino: Run) -> None:
    import domino_env

    assert domino("--version").out == f"domino-env {domino_env.__version__}\n"


def test_help_does_not_load_the_kernels() -> None:
    code = """
import sys
from domino_env.cli import main
try:
    main(["--help"])
except SystemExit:
    print([name for name in ("numba", "torch", "yaml") if name in sys.modules])
"""
    out, _ = python("-c", code).communicate(timeout=60)
    assert out.splitlines()[-1] == "[]"


def test_python_m_domino_env() -> None:
    process = python("-m", "domino_env", "variants", "nothing")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert out == ""
    assert err.startswith("domino: variant='nothing', but the variants are fives_and_threes, bergen")


BAD = [
    (["nothing"], "No such command"),
    (["play"], "Missing argument 'VARIANT'"),
    (["play", "bergen", "--frobnicate"], "No such option"),
    (["play", "poker"], "variant='poker', but the variants are"),
    (["play", "bergen", "--against", "deep_blue"], "policy 'deep_blue'"),
    (["play", "bergen", "--against", "no/such.safetensors"], "no/such.safetensors"),
    (["play", "bergen", "--players", "7"], "num_players=7, but these rules are for 2, 3 or 4 players"),
    (["play", "bergen", "--players", "4", "--against", "random", "--against", "greedy"], "2 opponents, but 4 players need 3"),
    (["play", "bergen", "--seat", "2"], "seat=2, but seats are 0 to 1"),
    (["play", "bergen", "--seed", "-1"], "seed=-1"),
    (["play", "bergen", "--seed", "x"], "--seed"),
    (["play", "bergen", "--episode", "week"], "episode='week', but it is 'round' or 'match'"),
    (["play", "bergen", "--rules-file", "missing.json"], "rules file 'missing.json'"),
    (["watch", "bergen", "greedy", "greedy", "--html", "x.html", "--record", "x.html"], "one would be lost"),
    (["play", "bergen", "--record", "no_such_folder/game.json"], "there is no folder"),
    (["watch", "bergen"], "Missing argument 'SPEC...'"),
    (["watch", "bergen", "greedy"], "num_players=1"),
    (["watch", "bergen", "greedy", "nobody"], "policy 'nobody'"),
    (["watch", "bergen", "greedy", "greedy", "--delay", "-1"], "delay=-1.0"),
    (["watch", "bergen", "greedy", "greedy", "--delay", "nan"], "delay=nan"),
    (["watch", "bergen", "greedy", "greedy", "--record", "no_such_folder/game.json"], "there is no folder"),
    (["replay", "missing.json"], "record 'missing.json'"),
    (["arena", "bergen", "greedy"], "a comparison takes at least two"),
    (["arena", "bergen", "greedy", "random", "--deals", "1"], "deals=1"),
    (["arena", "bergen", "greedy", "random", "--players", "5"], "num_players=5"),
    (["arena", "bergen", "greedy", "random", "--csv", "no_such_folder/table.csv"], "there is no folder"),
    (["arena", "bergen", "greedy", "random", "--csv", "."], "is a folder"),
    (["bench", "chess"], "variant='chess'"),
    (["bench", "--players", "9"], "players=9"),
    (["bench", "bergen", "--players", "5"], "num_players=5"),
    (["bench", "bergen", "--games", "0"], "num_games=0"),
    (["bench", "bergen", "--moves", "0"], "moves=0"),
    (["variants", "chess"], "variant='chess'"),
    (["variants", "--rules-file", "x.json"], "--rules-file needs the NAME"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[" ".join(arguments) for arguments, _ in BAD])
def test_bad_input_is_one_line_and_status_2(
    domino: Run, arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = domino(*arguments)
    assert done.status == 2
    assert done.out == ""
    assert done.err.startswith("domino: ")
    assert done.err.count("\n") == 1
    assert message in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["deep.json", "deep.yaml"])
def test_rules_nested_without_end_are_refused(domino: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("[" * 100_000, encoding="utf-8")
    done = domino("play", "bergen", "--rules-file", tmp_path / name)
    assert done.status == 2
    assert name in done.err
    assert done.err.count("\n") == 1


# ----------------------------------------------------------------------------------------------------------- variants


def test_variants_lists_all_nine(domino: Run) -> None:
    rows = json.loads(domino("variants", "--json").out)
    assert [row["variant"] for row in rows] == list(VARIANTS)
    text = domino("variants").out
    for row in rows:
        rules = VARIANTS[row["variant"]]
        assert [(seat["players"], seat["hand"], seat["target"]) for seat in row["seats"]] == [
            (n, rules.hand[n], rules.target[n]) for n in rules.players
        ]
        (line,) = [line for line in text.splitlines() if f" {row['variant']} " in line]
        sizes = "/".join(str(seat["observation"]) for seat in row["seats"])
        assert re.search(rf" {sizes} +. +{row['seats'][0]['actions']} ", line)


def test_sizes_are_those_of_the_environment(domino: Run) -> None:
    from domino_env.envs.aec import raw_env

    for row in json.loads(domino("variants", "--json").out):
        for seat in row["seats"]:
            env = raw_env(row["variant"], num_players=seat["players"])
            assert env.observation_space("player_0")["observation"].shape == (seat["observation"],)
            assert env.action_space("player_0").n == seat["actions"]


def test_one_variant_in_full(domino: Run) -> None:
    text = domino("variants", "lucky_threes").out
    for name in VARIANTS["lucky_threes"].to_json():
        assert name == "variant" or re.search(rf"^{name} ", text, re.M), name
    assert re.search(r"^hand +2 players 6, 3 players 6, 4 players 5$", text, re.M)
    assert re.search(r"^opening +lowest_double\n +The holder of the lowest double must lead it", text, re.M)
    as_json = json.loads(domino("variants", "lucky_threes", "--json").out)
    assert as_json["rules"] == VARIANTS["lucky_threes"].to_json()
    assert as_json["fingerprint"] == VARIANTS["lucky_threes"].fingerprint()


@pytest.mark.parametrize(("name", "text"), [("mine.json", '{"target": {"2": 21}, "sides": false}'), ("mine.yaml", "target: {2: 21}\n")])
def test_rules_from_a_file(domino: Run, tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert json.loads(domino("variants", "bergen", "--rules-file", path, "--json").out)["rules"]["target"]["2"] == 21
    assert "match to 21" in domino("watch", "bergen", "greedy", "random", "--episode", "match", "--rules-file", path).out


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", "{", "rules file"),
        ("a.yaml", "a: [", "rules file"),
        ("a.json", '{"colour": 3}', "unknown field 'colour'"),
        ("a.json", "[]", "overrides are a dict"),
        ("a.yaml", "hand: 20", "tiles"),
    ],
)
def test_rules_from_a_bad_file(domino: Run, tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    done = domino("watch", "bergen", "greedy", "random", "--rules-file", path)
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert message in done.err


# --------------------------------------------------------------------------------------------------------------- play


def test_a_whole_game_is_played_and_recorded(domino: Run, tmp_path: Path) -> None:
    path = tmp_path / "game.json"
    done = domino("play", "block", "--seed", 5, "--against", "random", "--episode", "round", "--record", path, typed="1\n" * 40)
    assert done.status == 0
    assert "block, seed 5; seat 0: you, seat 1: random" in done.out
    assert "game over: " in done.out
    game = replay(load_record(path))
    assert game.over
    assert game.seed == 5
    assert f"you {'win' if 0 in game.winners() else 'lose'}" in done.out.splitlines()[-1]


def test_number_and_text_name_the_same_move(domino: Run, tmp_path: Path) -> None:
    """The first choice of a game, made by number, by its text, and by a tile that has one place."""
    first = domino("play", "block", "--seed", 1, "--seat", 0, "--episode", "round")
    moves = re.findall(r"^ +\d+  (\S+)", first.out.split("your moves")[1], re.M)
    assert len(moves) > 2
    played = []
    for number, answer in enumerate(("3", moves[2])):
        path = tmp_path / f"{number}.json"
        domino("play", "block", "--seed", 1, "--episode", "round", "--record", path, typed=f"{answer}\n")
        played.append(load_record(path)["rounds"][0]["events"][0]["move"])
    assert played == [moves[2]] * 2


def test_a_tile_without_its_arm(domino: Run) -> None:
    game = PlayedGame(VARIANTS["block"], 2, one_round=True)
    game.set_up(list(range(28)), 0, [0, 0])
    game.make_move(game.move_index("0-1"))
    from domino_env.commands.play import _chosen
    from domino_env.errors import NotationError

    game.set_up([7, 8, 1, *(t for t in range(28) if t not in (7, 8, 1))], 0, [0, 0])
    game.make_move(game.move_index("1-3"))  # ends 1 and 3
    actions = [game.move_index("3-4@right"), game.move_index("1-3@left"), game.move_index("1-3@right")]
    assert _chosen(game, actions, "3-4") == actions[0]
    with pytest.raises(NotationError, match="fits in 2 places"):
        _chosen(game, actions, "1-3")
    for answer in ("0", "4", "", "3-4@left", "draw", "²", "-1"):
        with pytest.raises(NotationError, match="none of your moves"):
            _chosen(game, actions, answer)


def test_help_and_nonsense_at_the_table(domino: Run) -> None:
    done = domino("play", "block", "--seed", 1, typed="?\n99\nhello\n6-6@up\nq\n")
    assert done.status == 0
    assert "Type the number of a move" in done.out
    assert done.out.count("is none of your moves") == 3
    assert done.out.endswith("\nstopped\n")


@pytest.mark.parametrize("typed", ["q\n", "quit\n", "", "1\n", "1\nq\n"])
def test_leaving_saves_the_record(domino: Run, tmp_path: Path, typed: str) -> None:
    path = tmp_path / "left.json"
    done = domino("play", "fives_and_threes", "--against", "random", "--players", 3, "--seed", 2, "--record", path, typed=typed)
    assert done.status == 0
    assert done.out.endswith("stopped\n")
    assert done.err == f"record saved in {path}\n"
    game = replay(load_record(path))
    assert not game.over
    assert game.num_players == 3
    made = [event for event in game.rounds[-1].events if event.seat == 0]
    assert len(made) >= typed.count("1")


def test_the_table_never_shows_what_others_hold_or_draw(domino: Run, tmp_path: Path) -> None:
    path = tmp_path / "game.json"
    done = domino("play", "draw", "--seed", 6, "--seat", 1, "--against", "random", "--episode", "round", "--record", path, typed="1\n" * 60)
    events = load_record(path)["rounds"][0]["events"]
    lines = re.findall(r"^ +\d+\. seat (\d)  (?:leads )?(\S+)(?: (\d-\d))?", done.out, re.M)
    assert any(event["move"] == "draw" and event["seat"] == 0 for event in events), "this game tests nothing"
    for seat, move, tile in lines:
        if move == "draw":
            assert bool(tile) == (seat == "1")
    assert not re.search(r"^. seat 0 +\d+  \d-\d", done.out, re.M)


def test_opponents_sit_to_the_left_in_order(domino: Run) -> None:
    done = domino("play", "block", "--seat", 2, "--seed", 0, "--against", "random", "--against", "greedy")
    assert "seat 0: random, seat 1: greedy, seat 2: you" in done.out


def test_the_worth_of_moves_is_what_they_make(domino: Run, tmp_path: Path) -> None:
    seen = 0
    for seed in range(8):
        first = domino("play", "all_fives", "--seed", seed, "--against", "random", "--episode", "round")
        for number, move, points in re.findall(r"^ +(\d+)  (\S+)  \+(\d+)$", first.out.split("your moves")[1], re.M):
            path = tmp_path / "one.json"
            domino("play", "all_fives", "--seed", seed, "--against", "random", "--episode", "round", "--record", path, typed=f"{number}\n")
            event = next(event for event in load_record(path)["rounds"][0]["events"] if event["seat"] == 0)
            assert (event["move"], event["points"]) == (move, int(points))
            seen += 1
    assert seen > 3


def test_control_c_ends_cleanly_and_saves(tmp_path: Path) -> None:
    path = tmp_path / "stopped.json"
    arguments = ["-m", "domino_env", "play", "block", "--seed", "1", "--record", str(path)]
    process = python(*arguments)
    assert process.stdout is not None
    text, deadline = "", time.monotonic() + 120
    while "move> " not in text and time.monotonic() < deadline:
        if select.select([process.stdout], [], [], 1)[0]:
            text += os.read(process.stdout.fileno(), 4096).decode()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert out.endswith("stopped\n")
    assert "Traceback" not in err
    assert replay(load_record(path)).num_players == 2


# -------------------------------------------------------------------------------------------------------------- watch


def test_watch_prints_move_by_move_and_the_same_again(domino: Run, tmp_path: Path) -> None:
    path = tmp_path / "game.json"
    first = domino("watch", "fives", "greedy", "random", "greedy", "--seed", 9, "--record", path)
    assert first.status == 0
    game = replay(load_record(path))
    assert game.over
    assert game.one_round
    for number, event in enumerate(game.rounds[0].events):
        assert re.search(rf"^ +{number}\. seat {event.seat}  ", first.out, re.M)
    assert "game over: " in first.out
    assert domino("watch", "fives", "greedy", "random", "greedy", "--seed", 9).out == first.out
    assert domino("watch", "fives", "greedy", "random", "greedy", "--seed", 10).out != first.out


def test_watch_as_json_is_the_record(domino: Run) -> None:
    done = domino("watch", "draw", "greedy", "random", "--seed", 3, "--episode", "match", "--json")
    game = replay(json.loads(done.out))
    assert game.over
    assert not game.one_round
    assert game.seed == 3


def test_watch_hides_what_is_hidden_unless_told(domino: Run) -> None:
    plain = domino("watch", "draw", "random", "random", "--seed", 3, "--tables").out
    assert not re.search(r"^. seat \d +\d+  \d-\d", plain, re.M)
    assert re.search(r"seat \d  draw$", plain, re.M)
    assert not re.search(r"draw \d-\d", plain)
    told = domino("watch", "draw", "random", "random", "--seed", 3, "--tables", "--reveal").out
    assert re.search(r"^. seat \d +\d+  \d-\d", told, re.M)
    assert re.search(r"draw \d-\d", told)


def test_watch_waits(domino: Run) -> None:
    begin = time.monotonic()
    done = domino("watch", "block", "random", "random", "--seed", 3, "--delay", 0.02)
    moves = len(re.findall(r"^ +\d+\. seat", done.out.split("\n\n")[0], re.M))
    assert time.monotonic() - begin >= 0.02 * moves > 0


# ------------------------------------------------------------------------------------------------------------- replay


def test_replay_prints_the_whole_record(domino: Run, record: Path) -> None:
    game = replay(load_record(record))
    done = domino("replay", record)
    assert done.status == 0
    assert len(re.findall(r"^round \d+: seat \d leads", done.out, re.M)) == len(game.rounds)
    printed = done.out[: done.out.rindex("\nbergen, 3 players")]
    assert len(re.findall(r"^ +\d+\. seat", printed, re.M)) == sum(len(log.events) for log in game.rounds)
    summary = json.loads(domino("replay", record, "--json").out)
    assert summary["scores"] == game.scores()
    assert summary["winners"] == game.winners()
    assert summary["over"] is True


def test_replay_stops_where_asked(domino: Run, record: Path) -> None:
    for place in ("0:0", "0:3", "1:2"):
        number, event = map(int, place.split(":"))
        done = domino("replay", record, "--to", place)
        last = re.findall(r"^(?:moves)? +(\d+)\. seat", done.out, re.M)[-1]
        assert int(last) == event
        assert f": round {number}\n" in done.out
        summary = json.loads(domino("replay", record, "--to", place, "--json").out)
        assert summary["rounds"] == number + 1
        assert summary["seed"] == 3
        assert not summary["over"]


def test_replay_shows_a_seat_its_own(domino: Run, record: Path) -> None:
    game = replay(load_record(record))
    draws = {event.seat for log in game.rounds for event in log.events if event.tile >= 0}
    assert {0, 1} <= draws
    out = domino("replay", record, "--seat", 1).out
    assert re.search(r"seat 1  draw \d-\d", out)
    assert not re.search(r"seat [02]  draw \d-\d", out)
    assert not re.search(r"draw \d-\d", domino("replay", record).out)
    assert len(re.findall(r"seat \d  draw$", domino("replay", record, "--reveal").out, re.M)) == 0


@pytest.mark.parametrize("place", ["9:0", "0:999", "x", "1", "1:", ":1", "-1:0", "0:-1", "0:²"])
def test_replay_to_nowhere(domino: Run, record: Path, place: str) -> None:
    done = domino("replay", record, f"--to={place}")
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert f"--to {place}" in done.err


def damage(record: dict[str, Any], how: str) -> None:
    event = record["rounds"][0]["events"][1]
    if how == "points":
        event["points"] += 1
    elif how == "move":
        event["move"] = "6-6@right"
    elif how == "end":
        record["rounds"][-1]["end"] = "exhausted"
    elif how == "format":
        record["format"] = 99
    elif how == "rounds":
        del record["rounds"]
    else:
        record["winners"] = [0, 1, 2]


@pytest.mark.parametrize("how", ["points", "move", "end", "format", "rounds", "winners"])
def test_replay_of_a_bad_record(domino: Run, record: Path, how: str) -> None:
    """Refused in one line, also where only a part before the fault was asked for."""
    value = load_record(record)
    damage(value, how)
    record.write_text(json.dumps(value))
    for more in ([], ["--to", "0:0"]):
        done = domino("replay", record, *more)
        assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
        assert done.err.startswith("domino: record")


@pytest.mark.parametrize("text", ["", "[]", "{", '"text"', "\x00"])
def test_replay_of_what_is_no_record(domino: Run, tmp_path: Path, text: str) -> None:
    path = tmp_path / "none.json"
    path.write_text(text)
    done = domino("replay", path)
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)


def test_replay_of_a_seat_that_is_none(domino: Run, record: Path) -> None:
    done = domino("replay", record, "--seat", 3)
    assert (done.status, done.out) == (2, "")
    assert "seat=3, but seats are 0 to 2" in done.err


# -------------------------------------------------------------------------------------------------- arena and bench


def test_arena_prints_a_table_and_the_same_figures_as_json_and_csv(domino: Run, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    arguments = ["arena", "bergen", "greedy", "random", "--deals", 100, "--seed", 3]
    done = domino(*arguments, "--csv", path, "--json")
    assert (done.status, done.err) == (0, "")  # no bar where stderr is no terminal
    found = json.loads(done.out)
    assert (found["deals"], found["seed"], found["num_players"], found["variant"]) == (100, 3, 2, "bergen")
    (pair,) = found["pairs"]
    assert pair["first"] == "greedy"
    assert pair["points"]["low"] <= pair["points"]["mean"] <= pair["points"]["high"]
    lines = path.read_text().splitlines()
    assert len(lines) == 2
    assert f"{pair['points']['mean']}" in lines[1]
    table = domino(*arguments).out
    assert f"{pair['points']['mean']:+.3f}" in table
    again = json.loads(domino(*arguments, "--json").out)
    assert again["pairs"] == found["pairs"]
    other = json.loads(domino(*arguments[:-1], 4, "--json").out)
    assert other["pairs"] != found["pairs"]


def test_arena_takes_rules_from_a_file(domino: Run, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text('{"hand": {"2": 3}}')
    found = json.loads(domino("arena", "bergen", "greedy", "random", "--deals", 10, "--rules-file", path, "--json").out)
    assert found["rules"] == {"hand": {"2": 3, "3": 6, "4": 5}}


def test_bench(domino: Run) -> None:
    done = domino("bench", "block", "draw", "--games", 16, "--moves", 20, "--repeats", 1, "--json")
    assert (done.status, done.err) == (0, "")
    rows = json.loads(done.out)
    assert [row["variant"] for row in rows] == ["block", "draw"]
    for row in rows:
        assert row["steps_per_second"] > 0
        assert row["steps_per_second_observed"] > 0
        assert (row["players"], row["games"], row["moves"], row["repeats"], row["seed"]) == (2, 16, 20, 1, 0)
    table = domino("bench", "--games", 4, "--moves", 2, "--repeats", 1, "--players", 5).out
    assert "fives_and_threes" in table
    assert "bergen" not in table  # which five cannot play


def test_a_closed_pipe_is_no_traceback() -> None:
    process = python("-m", "domino_env", "watch", "block", "greedy", "greedy", "--episode", "match", "--delay", "0.01")
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr is not None
    err = process.stderr.read()
    process.wait(timeout=60)
    assert "Traceback" not in err
    assert process.stdin is not None
    process.stdin.close()
    process.stderr.close()
