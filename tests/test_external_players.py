"""Players in another process: whatever they do, they forfeit their own rounds at most, nobody else suffers, and no process is left."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from domino_env.benchmark import SETTINGS, Limits, PairFound, Setting, run
from domino_env.benchmark.adapters import open_entrant
from domino_env.benchmark.external import CommandEntrant
from domino_env.benchmark.playing import play_pair
from domino_env.errors import CheckpointError, PolicyError
from tests import external_cases

ROOT = Path(__file__).resolve().parents[1]
BERGEN = SETTINGS["bergen/2"]
LIMITS = Limits(start_seconds=20, decision_seconds=20, failures=3)
HASTY = Limits(start_seconds=20, decision_seconds=2, failures=2)
DEALS = 6
Play = Callable[..., PairFound]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="players in a process of their own need POSIX")


def first_legal(observation: Any, action_mask: Any) -> Any:
    """What the player does when it behaves."""
    return action_mask.argmax(axis=1)


def command(mode: str, folder: Path) -> str:
    return f"{sys.executable} {external_cases.__file__} {mode} {folder}"


def alive(folder: Path) -> list[int]:
    """Processes that said they were there, and still are."""
    found = []
    for path in folder.glob("*.pid"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(path.stem), 0)
            found.append(int(path.stem))
    return found


def wait_for_end(folder: Path) -> list[int]:
    """Those still alive a moment later: a killed grandchild is buried by init in its own time."""
    deadline = time.monotonic() + 5
    while alive(folder) and time.monotonic() < deadline:
        time.sleep(0.01)
    return alive(folder)


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Play]:
    """Play a mode against greedy; afterwards no process is left."""

    def against_greedy(mode: str, limits: Limits = LIMITS, setting: Setting = BERGEN) -> PairFound:
        with contextlib.closing(CommandEntrant(setting, command(mode, tmp_path), limits)) as entrant:
            return play_pair(setting, setting.opponents[0], entrant, DEALS)

    yield against_greedy
    assert list(tmp_path.glob("*.pid"))
    assert wait_for_end(tmp_path) == []


@pytest.fixture(scope="module")
def honest() -> PairFound:
    """The same moves, played in this process."""
    return play_pair(BERGEN, BERGEN.opponents[0], open_entrant(first_legal, BERGEN), DEALS)


def rounds_lost(found: PairFound, honest: PairFound) -> float:
    """Checks that deals without a forfeit are as the honest player had them; returns how many rounds the others lost."""
    lost = 0.0
    for mine, theirs in zip(found.points_by_deal, honest.points_by_deal, strict=True):
        if mine != theirs:
            # one sitting of two, or both
            lost += 2 if mine == -BERGEN.forfeit else 1
            assert mine <= theirs / 2 - BERGEN.forfeit / 2 + 6
    return lost


def test_a_good_player_has_the_results_of_its_moves(play: Play, honest: PairFound) -> None:
    found = play("good")
    assert (found.points_by_deal, found.won_by_deal) == (honest.points_by_deal, honest.won_by_deal)
    assert (found.forfeits, found.rounds) == ({}, 12)


@pytest.mark.parametrize(
    ("mode", "reason", "limits"),
    [
        ("crash", "crash", LIMITS),
        ("exit", "crash", LIMITS),
        ("close_stdout", "crash", LIMITS),
        ("close_stdin", "crash", LIMITS),
        ("hang", "timeout", HASTY),
        ("rubbish", "rubbish", LIMITS),
        ("list", "rubbish", LIMITS),
        ("deep", "rubbish", LIMITS),
        ("wrong_id", "rubbish", LIMITS),
        ("no_move", "rubbish", LIMITS),
        ("two_moves", "rubbish", LIMITS),
        ("flood", "rubbish", LIMITS),
        ("endless_line", "rubbish", LIMITS),
        ("long_line", "rubbish", LIMITS),
        ("float_id", "rubbish", LIMITS),
    ],
)
def test_a_failing_player_forfeits_the_round_and_is_started_again(
    play: Play, honest: PairFound, mode: str, reason: str, limits: Limits, tmp_path: Path
) -> None:
    found = play(mode, limits)
    given_up = found.forfeits.get("given_up", 0)
    assert found.forfeits == {reason: limits.failures, "given_up": given_up}
    assert len(list(tmp_path.glob("*.pid"))) == limits.failures
    # four good answers of each process, and five where the fifth is good and the end comes after it
    answered = len((tmp_path / "requests.jsonl").read_text().splitlines())
    assert answered == 4 * limits.failures
    assert 0 < given_up < 12
    assert rounds_lost(found, honest) == found.forfeited


def test_a_line_may_be_as_long_as_is_said(play: Play, honest: PairFound) -> None:
    assert play("longest_line").points_by_deal == honest.points_by_deal


@pytest.mark.parametrize("mode", ["illegal", "illegal_id", "no_such_move"])
def test_an_illegal_move_forfeits_the_round_and_the_player_goes_on(play: Play, honest: PairFound, mode: str, tmp_path: Path) -> None:
    found = play(mode)
    assert found.forfeits == {"illegal": 1}
    assert len(list(tmp_path.glob("*.pid"))) == 1
    assert rounds_lost(found, honest) == 1


def test_a_player_that_does_not_start_again_forfeits(play: Play, honest: PairFound) -> None:
    found = play("start_later")
    assert found.forfeits.pop("given_up") > 0
    assert found.forfeits == {"crash": 1, "start": 2}
    assert rounds_lost(found, honest) > 3


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("start_crash", "it ended, or closed its output; its stderr ends in 'RuntimeError: no table found'"),
        ("start_exit", "it ended, or closed its output"),
        ("start_hang", "no answer in time"),
        ("start_rubbish", "a line that is no JSON object"),
        ("start_other", "it speaks protocol 99, but this is protocol 1"),
    ],
)
def test_a_player_that_never_gets_ready_is_an_error(play: Play, mode: str, message: str) -> None:
    with pytest.raises(PolicyError, match="did not get ready") as caught:
        play(mode, Limits(start_seconds=0.5) if mode == "start_hang" else LIMITS)
    assert message in str(caught.value)


def test_a_player_may_say_that_it_does_not_play_a_setting(play: Play) -> None:
    with pytest.raises(CheckpointError, match="does not play bergen/2: 'two seats are too few'"):
        play("start_unfit")


def test_processes_of_the_player_end_with_it(play: Play, honest: PairFound, tmp_path: Path) -> None:
    assert play("start_child").points_by_deal == honest.points_by_deal
    assert len(list(tmp_path.glob("*.pid"))) == 2


def test_stderr_never_blocks_and_is_shown_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for shown in (False, True):
        with contextlib.closing(CommandEntrant(BERGEN, command("stderr", tmp_path), LIMITS, show_stderr=shown)) as entrant:
            assert play_pair(BERGEN, BERGEN.opponents[0], entrant, 2).forfeits == {}
        assert ("thinking" in capsys.readouterr().err) == shown


@pytest.mark.parametrize("name", ["lucky_threes/2", "all_fives/4", "block/4-sides"])
def test_a_request_tells_what_the_seat_sees_and_no_more(play: Play, name: str, tmp_path: Path) -> None:
    setting = SETTINGS[name]
    play("good", setting=setting)
    hello = json.loads((tmp_path / "hello.json").read_text())
    assert (hello["setting"], hello["num_players"], hello["rules"]["sides"]) == (name, setting.num_players, setting.sides)
    hands: dict[tuple[int, int], set[str]] = {}
    for line in (tmp_path / "requests.jsonl").read_text().splitlines():
        request = json.loads(line)
        seat = request["seat"]
        played = [event["move"].split("@")[0].split(":")[0] for event in request["log"] if event["move"] not in ("draw", "pass")]
        drawn = [event for event in request["log"] if event["move"] == "draw"]
        assert len(request["hand"]) == request["hand_sizes"][seat]
        assert not set(request["hand"]) & set(played)
        assert sum(request["hand_sizes"]) + request["boneyard"] + len(played) == 28
        assert len(request["observation"]) == hello["observation_size"]
        assert all("tile" in event for event in drawn if event["seat"] == seat)
        # its tiles are those it was dealt, drew or laid; nothing is told of the draws of others
        assert all("tile" not in event for event in drawn if event["seat"] != seat)
        mine = set(request["hand"]) | {
            tile
            for event, tile in zip([event for event in request["log"] if event["move"] not in ("draw", "pass")], played, strict=True)
            if event["seat"] == seat
        }
        mine -= {event["tile"] for event in drawn if event["seat"] == seat}
        assert hands.setdefault((request["round"], seat), mine) == mine
        texts = {legal["action"]: legal["move"] for legal in request["legal"]}
        assert len(texts) > 1
        # before the lead no arm is named
        assert all(hello["actions"][action].replace("@left", "") == text.replace("@left", "") for action, text in texts.items())
    assert len(hands) > DEALS
    # nor that two seats which it holds are of one round
    assert len({number for number, _ in hands}) == len(hands)


def test_two_runs_are_the_same_but_for_times(tmp_path: Path) -> None:
    spec = f"cmd:{sys.executable} {ROOT / 'docs' / 'examples' / 'json_player.py'}"
    found = []
    for name in ("one", "two"):
        run(spec, variants=["bergen/2"], size="quick", out=tmp_path / f"{name}.json")
        found.append(json.loads((tmp_path / f"{name}.json").read_text()))
    for result in found:
        assert result["policy"] == {"name": "plain player", "spec": spec, "kind": "command"}
        for pair in result["settings"][0]["pairs"]:
            assert pair.pop("time")["decisions"] > 0
            assert pair["forfeits"] == {}
    assert found[0] == found[1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_whatever_stops_the_command_ends_the_player_too(tmp_path: Path, number: signal.Signals) -> None:
    """The player hangs and does not look at its input, so that its end would not end it."""
    spec = f"cmd:{command('hang', tmp_path)}"
    arguments = ["-m", "domino_env", "bench-policy", spec, "--variant", "bergen/2", "--out", str(tmp_path / "out.json"), "--size", "quick"]
    process = subprocess.Popen([sys.executable, *arguments], cwd=ROOT, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (tmp_path / "requests.jsonl").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(number)
    assert process.communicate(timeout=60)[1].endswith("stopped\n")
    assert process.returncode == 128 + number
    assert list(tmp_path.glob("*.pid"))
    assert wait_for_end(tmp_path) == []
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize("text", ["", "no_such_command_at_all", "'unclosed"])
def test_what_cannot_be_started_is_a_named_error(text: str) -> None:
    with pytest.raises(PolicyError, match="cmd:"):
        CommandEntrant(BERGEN, text, LIMITS)


def test_the_order_of_requests_does_not_tell_which_rounds_share_a_deal(play: Play, tmp_path: Path) -> None:
    play("good")
    requests = [json.loads(line) for line in (tmp_path / "requests.jsonl").read_text().splitlines()]
    firsts = [
        (request["round"], request["leader"])
        for request in requests
        if request["round"] == max(r["round"] for r in requests[: requests.index(request) + 1])
    ]
    assert len({number for number, _ in firsts}) == 2 * DEALS
    assert len({request["random"] for request in requests}) == len(requests)
    # in bergen the leader of both sittings of a deal is the same seat: neighbours would agree in pairs
    leaders = np.array([leader for _, leader in sorted(set(firsts))])
    assert not np.array_equal(leaders[::2], leaders[1::2])
