"""The server of ``domino play --web``: what it refuses, what it keeps, and that a slow policy holds up nobody."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from domino_env.errors import PolicyError, RulesError
from domino_env.notation import load_record, replay
from domino_env.policies import Batch
from domino_env.rules import Rules
from domino_env.variants import VARIANTS
from domino_env.web import journal, setup
from domino_env.web.guard import MOST_BYTES
from domino_env.web.journal import Journal, JournalError
from domino_env.web.room import policies_for
from domino_env.web.rules_text import rules_line, rules_text
from domino_env.web.setup import FieldError, Setup
from domino_env.web.table import Table
from tests.command_cases import Run
from tests.strategies import preset_cases
from tests.test_web_leaks import games_of, play
from tests.web_client import HOST, Client


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path / "games")


def bergen(client: Client, **more: Any) -> tuple[Table, str]:
    table = client.table(**{"variant": "bergen", "specs": [None, "greedy"], "seed": 3, "episode": "round", **more})
    return table, f"/api/games/{table.name}"


# What it refuses


@pytest.mark.parametrize("path", ["/", "/api/start", "/files/table.js", "/api/games/x"])
@pytest.mark.parametrize("host", ["evil.example", "evil.example:8477", "127.0.0.1", "127.0.0.1:80", "", f"{HOST}.evil.example"])
def test_another_name_that_leads_here_is_refused(client: Client, path: str, host: str) -> None:
    answer = client.get(path, host=host)
    assert answer.status == 421
    assert "this server is 127.0.0.1:8477" in answer.json["error"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": None}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": f"https://{HOST}"}, 403),
        ({"origin": f"http://{HOST}.evil.example"}, 403),
        ({"content_type": "text/plain"}, 415),
        ({"content_type": "application/x-www-form-urlencoded"}, 415),
        ({"content_type": None}, 415),
        ({"content_length": None}, 411),
        ({"content_length": str(MOST_BYTES + 1)}, 413),
        ({"content_length": "9" * 5000}, 413),
        ({"host": "evil.example"}, 421),
    ],
)
def test_posts_of_foreign_pages_are_refused(client: Client, headers: dict[str, str | None], status: int) -> None:
    table, path = bergen(client)
    answer = client.post(f"{path}/move", {"number": 0, "move": table.game.legal_moves()[0]}, **headers)
    assert answer.status == status
    assert list(answer.json) == ["error"]
    assert table.steps == []


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH"])
def test_other_methods_are_refused(client: Client, method: str) -> None:
    assert client.ask(method, "/api/start", b"", {"host": HOST}).status == 405


def test_every_answer_carries_the_headers(client: Client) -> None:
    _, path = bergen(client)
    for where in ("/", "/nowhere", "/files/table.js", "/files/nothing", path, "/api/games/nothing", f"{path}?since=x"):
        headers = client.get(where).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"


def test_pages_ask_for_nothing_from_elsewhere(client: Client) -> None:
    for where in ("/", "/game/abc"):
        page = client.get(where).body.decode()
        for address in re.findall(r'(?:href|src)="([^"#]+)"', page):
            assert address == "/" or client.get(address).status == 200
        assert not re.search(r"<script(?![^>]*src=)|<style|\son\w+=|https?://", page)


BAD_MOVES: list[tuple[Any, int, str]] = [
    (b"", 400, "no JSON"),
    (b"{", 400, "no JSON"),
    (b"\xff\xfe", 400, "no JSON"),
    (b"[" * 50_000, 400, "no JSON"),
    ([], 400, "it is an object"),
    ("move", 400, "it is an object"),
    ({}, 400, "number=None"),
    ({"number": 0}, 400, "move=None"),
    ({"number": "0", "move": "1-1"}, 400, "number='0'"),
    ({"number": True, "move": "1-1"}, 400, "number=True"),
    ({"number": 0.0, "move": "1-1"}, 400, "number=0.0"),
    ({"number": -1, "move": "1-1"}, 400, "number=-1"),
    (b'{"number": 1e999, "move": "1-1"}', 400, "number=inf"),
    (b'{"number": NaN, "move": "1-1"}', 400, "number=nan"),
    ({"number": 10**30, "move": "1-1"}, 400, "number=10000"),
    ({"number": 0, "move": ["1-1"]}, 400, "move=['1-1']"),
    ({"number": 0, "move": "1-1", "since": "x"}, 400, "since='x'"),
    ({"number": 0, "move": "0-0@left"}, 400, "the legal ones are"),
    ({"number": 0, "move": "6-6"}, 400, "the legal ones are"),
    ({"number": 0, "move": "draw"}, 400, "the legal ones are"),
    ({"number": 0, "move": "next"}, 400, "the legal ones are"),
    ({"number": 0, "move": "<script>" * 100}, 400, "the legal ones are"),
    ({"number": 1, "move": "0-0"}, 409, "stands at step 0"),
    ({"number": 77, "move": "0-0"}, 409, "stands at step 0"),
]


@pytest.mark.parametrize(("body", "status", "text"), BAD_MOVES)
def test_bad_moves_are_refused_and_change_nothing(client: Client, body: Any, status: int, text: str) -> None:
    table, path = bergen(client)
    before = client.get(path).body
    answer = client.post(f"{path}/move", body)
    assert answer.status == status, answer.body
    assert text in answer.json["error"]
    assert "Traceback" not in answer.json["error"]
    assert client.get(path).body == before
    assert table.steps == []


@pytest.mark.parametrize(
    "path",
    ["/api/games/nothing", "/api/games/AAAAAAAAAAAA", "/api/games/..%2f..%2fetc", "/api/games/AAAAAAAAAAAA/record", "/api/none", "/x"],
)
def test_what_is_not_there(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status == 404
    assert answer.json["error"]


BAD_SETUPS: list[tuple[Any, str, str]] = [
    ({}, "variant", "variant=None"),
    ({"variant": "poker", "specs": [None, "greedy"]}, "variant", "variant='poker'"),
    ({"variant": "bergen"}, "specs", "specs=None"),
    ({"variant": "bergen", "specs": ["greedy", "greedy"]}, "specs", "0 seats for persons"),
    ({"variant": "bergen", "specs": [None, None]}, "specs", "2 seats for persons"),
    ({"variant": "bergen", "specs": [None]}, "specs", "num_players=1"),
    ({"variant": "bergen", "specs": [None] + ["greedy"] * 4}, "specs", "num_players=5"),
    ({"variant": "bergen", "specs": [None, 3]}, "specs", "a policy for each seat"),
    ({"variant": "bergen", "specs": [None, " "]}, "specs.1", "seat 1 has no policy"),
    ({"variant": "bergen", "specs": [None, "deep_blue"]}, "specs.1", "policy 'deep_blue'"),
    ({"variant": "bergen", "specs": ["/etc/passwd", None]}, "specs.0", "/etc/passwd"),
    ({"variant": "bergen", "specs": ["block/ppo", None]}, "specs.0", "made for block"),
    ({"variant": "bergen", "specs": [None, "greedy", "bergen/ppo"]}, "specs.2", "made for 2 players"),
    ({"variant": "bergen", "specs": [None, "greedy"], "rules": {"sides": True}}, "specs", "sides=True needs four seats"),
    ({"variant": "bergen", "specs": [None, "greedy"], "rules": {"colour": 1}}, "rules", "colour"),
    ({"variant": "bergen", "specs": [None, "greedy"], "rules": 3}, "rules", "rules=3"),
    ({"variant": "bergen", "specs": [None, "greedy"], "episode": "week"}, "episode", "episode='week'"),
    ({"variant": "bergen", "specs": [None, "greedy"], "seed": -1}, "seed", "seed=-1"),
    ({"variant": "bergen", "specs": [None, "greedy"], "seed": "18446744073709551616"}, "seed", "seed=18446744073709551616"),
    ({"variant": "bergen", "specs": [None, "greedy"], "seed": "seven"}, "seed", "seed='seven'"),
    ({"variant": "bergen", "specs": [None, "greedy"], "seed": 1.5}, "seed", "seed=1.5"),
    ({"variant": "bergen", "specs": [None, "greedy"], "sead": 1}, "sead", "unknown sead"),
]


@pytest.mark.parametrize(("body", "field", "text"), BAD_SETUPS)
def test_bad_setups_name_their_field(client: Client, body: Any, field: str, text: str) -> None:
    answer = client.post("/api/games", body)
    assert answer.status == 400, answer.body
    assert answer.json["field"] == field
    assert text in answer.json["error"]
    assert client.room.journal.names() == []


@pytest.mark.parametrize(("policy", "status"), [("deep_blue", 400), ("block/ppo", 400), (3, 400), ("greedy", 200), ("bergen/ppo", 200)])
def test_hints(client: Client, policy: Any, status: int) -> None:
    table, path = bergen(client)
    answer = client.post(f"{path}/hint", {"number": 0, "policy": policy})
    assert answer.status == status
    if status == 200:
        assert answer.json["move"] in table.game.legal_moves()
        assert client.post(f"{path}/hint", {"number": 5, "policy": policy}).status == 409
        assert table.steps == []


# What it keeps


def test_the_same_post_again_does_nothing(client: Client) -> None:
    table, path = bergen(client)
    body = {"number": 0, "move": table.game.legal_moves()[0], "since": 0}
    first = client.post(f"{path}/move", body)
    steps = list(table.steps)
    again = client.post(f"{path}/move", body)
    assert (first.status, again.status) == (200, 200)
    assert first.body == again.body
    assert table.steps == steps


@pytest.mark.parametrize(("variant", "seats", "sides"), preset_cases())
def test_a_server_that_starts_again_has_the_very_game(variant: str, seats: int, sides: bool, tmp_path: Path) -> None:
    rng = random.Random(f"{variant} {seats} {sides}")
    client = Client(tmp_path)
    specs = [None, *(rng.choice(["random", "greedy"]) for _ in range(seats - 1))]
    table = client.table(variant=variant, specs=specs, rules={"target": 12, **({"sides": True} if sides else {})}, seed=rng.getrandbits(64))
    path = f"/api/games/{table.name}"
    for _ in range(12):
        other = Client(tmp_path)
        assert other.get(path).json == client.get(path).json
        assert other.room.table(table.name).game.to_bytes() == table.game.to_bytes()
        last = client.get(path).json
        if last["over"]:
            break
        step = "next" if last["frames"][-1]["phase"] == "between" else rng.choice(last["frames"][-1]["moves"])["move"]
        assert client.post(f"{path}/move", {"number": last["number"], "move": step}).status == 200


def test_a_whole_match_and_its_record(client: Client, tmp_path: Path) -> None:
    table = client.room.new_table(
        Setup.from_json({"variant": "draw", "specs": ["greedy", None, "random"], "rules": {"target": 40}, "seed": 5}),
        tmp_path / "game.json",
    )
    answers = play(client, table, random.Random(0))
    assert answers[-1]["over"]
    assert len(table.game.rounds) > 1
    assert load_record(tmp_path / "game.json") == client.get(f"/api/games/{table.name}/record").json
    assert replay(load_record(tmp_path / "game.json")).scores() == table.game.scores()
    assert [round_["scores"] for round_ in answers[-1]["sheet"]] == [log.scores for log in table.game.rounds]
    refused = client.post(f"/api/games/{table.name}/move", {"number": len(table.steps), "move": "pass"})
    assert (refused.status, refused.json["error"]) == (409, "the game is over")
    listed = client.get("/api/start").json["games"]
    assert [(game["id"], game["over"]) for game in listed] == [(table.name, True)]


def test_a_page_that_missed_steps_gets_them_all_or_the_last(client: Client) -> None:
    table, path = bergen(client, specs=[None, "random", "random"])
    play(client, table, random.Random(2))
    last = len(table.steps)
    assert [one["number"] for one in client.get(f"{path}?since={last - 4}").json["frames"]] == list(range(last - 3, last + 1))
    assert client.get(f"{path}?since={last}").json["frames"] == []
    for since in (-1, last + 5, -99):
        assert [one["number"] for one in client.get(f"{path}?since={since}").json["frames"]] == [last]
    assert client.get(f"{path}?since=x").status == 400


def test_a_move_that_cannot_be_kept_was_not_made(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    table, path = bergen(client)
    before = client.get(path).body

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(journal, "write_file", full)
        answer = client.post(f"{path}/move", {"number": 0, "move": table.game.legal_moves()[0]})
        assert answer.status == 503
        assert "No space left on device" in answer.json["error"]
    assert client.get(path).body == before
    assert client.post(f"{path}/move", {"number": 0, "move": table.game.legal_moves()[0]}).status == 200


def test_two_servers_cannot_fork_a_game(client: Client) -> None:
    table, path = bergen(client, variant="all_fives")
    other = Client(client.room.journal.folder)
    moves, number = table.game.legal_moves(), len(table.steps)
    assert other.get(path).status == 200
    assert client.post(f"{path}/move", {"number": number, "move": moves[0]}).status == 200
    refused = other.post(f"{path}/move", {"number": number, "move": moves[-1]})
    assert refused.status == 409
    assert "another server" in refused.json["error"]
    assert other.get(path).json == client.get(path).json
    assert Journal(client.room.journal.folder).load(table.name).steps == table.steps


def first_step(client: Client) -> tuple[Any, str]:
    """A table at which nobody has moved yet: the person leads."""
    for seed in range(20):
        table, path = bergen(client, variant="block", seed=str(seed))
        if not table.steps:
            return table, path
    raise AssertionError("the person never leads")


def test_the_first_step_forks_no_game_either(client: Client) -> None:
    """A server that still stands at the deal cannot write over a game that another played on, nor bring back one that was removed."""
    table, path = first_step(client)
    other = Client(client.room.journal.folder)
    assert other.get(path).status == 200
    moves = table.game.legal_moves()
    assert client.post(f"{path}/move", {"number": 0, "move": moves[0]}).status == 200
    assert other.post(f"{path}/move", {"number": 0, "move": moves[-1]}).status == 409
    assert Journal(client.room.journal.folder).load(table.name).steps == table.steps
    gone, path = first_step(client)
    assert other.get(path).status == 200
    assert client.post(f"{path}/remove", {}).status == 200
    assert other.post(f"{path}/move", {"number": 0, "move": gone.game.legal_moves()[0]}).status == 404
    assert gone.name not in Journal(client.room.journal.folder).names()


def test_what_is_no_text_is_refused_and_harms_nothing(client: Client) -> None:
    """A half of a pair of UTF-16, which JSON may hold and UTF-8 may not: in a key, in a value, and in a file of the journal."""
    odd = "zz\ud800"
    assert client.post("/api/games", {"variant": "bergen", "specs": [None, "greedy"], odd: 1}).status == 400
    assert client.post("/api/games", {"variant": odd, "specs": [None, "greedy"]}).status == 400
    assert client.post("/api/games", {"variant": "bergen", "specs": [None, odd]}).status == 400
    _, path = bergen(client)
    assert client.post(f"{path}/move", {"number": 0, "move": odd}).status in (400, 409)
    file = client.room.journal.folder / "abcdefghijkl.json"
    file.write_text(json.dumps({"format": 1, "setup": {odd: 1, "seed": "3"}, "steps": []}), encoding="utf-8")
    assert client.get("/api/start").status == 200


def test_a_folder_that_went_away_is_told(client: Client) -> None:
    table, path = bergen(client)
    file = client.room.journal.folder / f"{table.name}.json"
    file.unlink()
    file.mkdir()
    assert client.post(f"{path}/remove", {}).status == 503
    shutil.rmtree(client.room.journal.folder)
    assert client.post("/api/games", {"variant": "bergen", "specs": [None, "greedy"]}).status == 503


DAMAGES = [
    ("", "cannot be read"),
    ("[]", "another format"),
    ('{"format": 9}', "another format"),
    ('{"format": true, "steps": []}', "another format"),
    ('{"format": 1, "steps": [], "setup": {"variant": "bergen", "specs": [null, "greedy"]}}', "no seed"),
    ('{"format": 1, "steps": 3}', "no list of texts"),
    ('{"format": 1, "steps": [], "setup": {"variant": "poker", "seed": "3"}}', "poker"),
    ('{"format": 1, "steps": ["6-6"], "setup": {"variant": "bergen", "specs": [null, "greedy"], "seed": "3"}}', "step 0: move '6-6'"),
    ('{"format": 1, "steps": [], "setup": {"variant": "bergen", "specs": [null, "gone.safetensors"], "seed": "3"}}', "gone.safetensors"),
]


@pytest.mark.parametrize(("text", "told"), DAMAGES)
def test_a_damaged_game_says_so_and_the_others_go_on(client: Client, text: str, told: str) -> None:
    table, path = bergen(client)
    (client.room.journal.folder / "AAAAAAAAAAAA.json").write_text(text, encoding="utf-8")
    listed = {game["id"]: game for game in client.get("/api/start").json["games"]}
    assert told in listed["AAAAAAAAAAAA"]["fault"]
    assert "fault" not in listed[table.name]
    answer = client.get("/api/games/AAAAAAAAAAAA")
    assert 400 <= answer.status < 500
    assert told in answer.json["error"]
    assert client.get(path).status == 200
    assert client.post("/api/games/AAAAAAAAAAAA/remove", {}).status == 200
    assert [game["id"] for game in client.get("/api/start").json["games"]] == [table.name]


def test_remove_and_rematch(client: Client) -> None:
    table, path = bergen(client)
    other = client.post(f"{path}/rematch", {}).json["id"]
    again = client.room.table(other).setup
    assert (again.specs, again.rules, again.episode) == (table.setup.specs, table.setup.rules, table.setup.episode)
    assert again.seed != table.setup.seed
    assert client.post(f"{path}/remove", {}).status == 200
    assert client.get(path).status == 404
    assert client.post(f"{path}/remove", {}).status == 404
    with pytest.raises(JournalError, match="there is no game"):
        client.room.journal.load("../../secrets")


# Slow and faulty policies


class Slow:
    """Moves when it is let; raises what it is told to."""

    def __init__(self) -> None:
        self.may, self.asked, self.error = threading.Event(), threading.Event(), None

    def act(self, batch: Batch) -> Any:
        self.asked.set()
        assert self.may.wait(20)
        if self.error:
            raise self.error
        return np.argmax(batch.action_mask, axis=1)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    policy = Slow()
    honest = setup.load_policy
    monkeypatch.setattr(setup, "load_policy", lambda spec, *rest: policy if spec == "slow" else honest(spec, *rest))
    return policy


def until(true: Any) -> None:
    for _ in range(1000):
        if true():
            return
        time.sleep(0.01)
    raise AssertionError("it took too long")


def test_a_slow_policy_holds_up_nobody(tmp_path: Path, slow: Slow) -> None:
    client = Client(tmp_path)
    client.room._workers = ThreadPoolExecutor(1)
    table, path = bergen(client, variant="all_fives", specs=[None, "slow"], seed=11)
    if table.game.seat == 0:
        client.post(f"{path}/move", {"number": 0, "move": table.game.legal_moves()[0]})
    assert slow.asked.wait(20)
    began = time.monotonic()
    view = client.get(path).json
    number = view["number"]
    assert view["thinking"]
    refused = client.post(f"{path}/move", {"number": number, "move": "pass"})
    assert refused.status == 409
    assert "seat 1 is on turn" in refused.json["error"]
    assert client.post(f"{path}/hint", {"number": number, "policy": "greedy"}).status == 409
    assert client.get("/api/start").status == 200
    assert time.monotonic() - began < 5
    slow.may.set()
    until(lambda: not client.get(path).json["thinking"])
    assert len(table.steps) > number
    client.room.close()


@pytest.mark.parametrize(
    ("error", "told"), [(PolicyError("it lost its head"), "it lost its head"), (RuntimeError("a bug"), "the terminal says more")]
)
def test_a_policy_that_fails_says_so_and_is_asked_again(client: Client, slow: Slow, error: Exception, told: str, caplog: Any) -> None:
    slow.may.set()
    slow.error = error
    table, path = bergen(client, variant="all_fives", specs=[None, "slow"], seed=11)
    if table.game.seat == 0:
        client.post(f"{path}/move", {"number": 0, "move": table.game.legal_moves()[0]})
    view = client.get(path).json
    assert told in view["fault"]
    assert not view["thinking"]
    assert ("a bug" in caplog.text) == isinstance(error, RuntimeError)
    slow.error = None
    view = client.post(f"{path}/again", {}).json
    assert (view["fault"], view["thinking"]) == ("", False)
    assert view["number"] > len(table.steps) - 2
    assert view["frames"][-1]["turn"] in (0, None)


def test_worker_threads_play_as_at_once(tmp_path: Path) -> None:
    """The moves of a game do not hang on threads."""
    steps = []
    for name, workers in (("one", None), ("two", ThreadPoolExecutor(3))):
        client = Client(tmp_path / name, workers)
        table = client.table(variant="fives", specs=[None, "random", "greedy", "search:pimc?worlds=8"], seed=9, episode="round")
        path = f"/api/games/{table.name}"
        while not table.game.over:
            until(lambda: not client.get(path).json["thinking"])  # noqa: B023 -- used at once
            view = client.get(path).json
            if not view["over"]:
                client.post(f"{path}/move", {"number": view["number"], "move": view["frames"][-1]["moves"][0]["move"]})
        steps.append(table.steps)
    assert steps[0] == steps[1]
    assert games_of(table)[-1].scores() == table.game.scores()


# Words


@pytest.mark.parametrize(("variant", "seats", "sides"), preset_cases())
def test_policies_that_are_offered_can_sit_down(variant: str, seats: int, sides: bool) -> None:
    rules = VARIANTS[variant].replace(sides=True) if sides else VARIANTS[variant]
    for spec, label in policies_for(rules, seats):
        assert label
        assert Setup(rules, (None, *[spec] * (seats - 1)), "match", 0).load_policies()[1] is not None


OTHER_VALUES: dict[str, list[Any]] = {
    "max_pip": [7], "hand": [4, 3], "sides": [True], "opening": ["any", "lowest_double"],
    "next_leader": ["opening", "left_of_leader", "winner"], "arms": [2, 4], "doubles": ["crosswise", "choice"],
    "draw_when": ["never", "stuck", "anytime"], "draw_limit": [0, 1, 3], "must_draw": [True, False], "reserve": [0, 1, 3],
    "lucky_draws": [True, False], "lucky_hit_points": [3], "lucky_miss_points": [2], "scoring": ["quotient", "sum", "flat"],
    "divisors": [[4], [5, 3]], "hit_points": [4], "double_points": [6], "double_hit": ["played", "standing"], "lead_double_points": [9],
    "play_on": [True, False], "out_count": ["flat", "pips"], "out_points": [7], "stop_when_boneyard_exhausted": [True, False],
    "lowest_hand": ["nobody", "fewest_pips", "fewest_doubles", "lowest_double"], "lowest_tie_wins": [True, False],
    "blocked_count": ["flat", "pips"], "blocked_points": [3], "round_to": [5, 10], "lone_blank_pips": [25], "target": [33],
    "target_at_round_end": [True, False], "match_winner": ["highest", "lowest"],
}  # fmt: skip


def test_the_rules_beside_the_table_tell_of_every_field() -> None:
    """Change any field of the rules that can be changed, and the text changes."""
    told, names = set(), set(Rules().to_json()) - {"variant"}
    assert names == set(OTHER_VALUES) | ({"players"} & names)
    for rules in VARIANTS.values():
        for name, values in OTHER_VALUES.items():
            for value in values:
                try:
                    other = rules.replace(**{name: value})
                except RulesError:
                    continue
                if rules_text(other, 4, False) != rules_text(rules, 4, False):
                    told.add(name)
    assert told == set(OTHER_VALUES)


@pytest.mark.parametrize(("variant", "seats", "sides"), preset_cases())
def test_rules_are_sentences(variant: str, seats: int, sides: bool) -> None:
    rules = VARIANTS[variant].replace(sides=True) if sides else VARIANTS[variant]
    for one_round in (True, False):
        for heading, lines in rules_text(rules, seats, one_round):
            assert heading
            assert lines
            assert all(re.fullmatch(r"[A-Z0-9].*[a-z0-9]\.", line) and "  " not in line for line in lines), lines
    assert len({rules_line(each) for each in VARIANTS.values()}) >= len(VARIANTS) - 1  # the two Bergens differ in the small print


def test_a_setup_reads_what_it_writes() -> None:
    for body in (
        {"variant": "fives", "specs": [None, "greedy"]},
        {"variant": "block", "specs": ["random", None, "greedy", "random"], "rules": {"sides": True, "target": 30}, "seed": str(2**64 - 1)},
    ):
        made = Setup.from_json(body)
        assert Setup.from_json(json.loads(json.dumps(made.to_json()))) == made
    with pytest.raises(FieldError, match="a setup of list"):
        Setup.from_json([])


# The command


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "Missing argument 'VARIANT'"),
        (["bergen", "--port", "0"], "--port is for --web"),
        (["bergen", "--no-browser"], "--no-browser is for --web"),
        (["--web", "--seed", "3"], "--seed needs a VARIANT"),
        (["--web", "--record", "x.json"], "--record needs a VARIANT"),
        (["bergen", "--web", "--port", "70000"], "port=70000, but it is from 0"),
        (["bergen", "--web", "--seat", "2"], "seat=2"),
        (["bergen", "--web", "--against", "deep_blue"], "policy 'deep_blue'"),
        (["bergen", "--web", "--episode", "week"], "episode='week'"),
        (["bergen", "--web", "--record", "no_such_folder/game.json"], "there is no folder"),
        (["bergen", "--web", "--games", os.devnull], "for the games"),
        (["poker", "--web"], "variant='poker'"),
    ],
)
def test_bad_arguments(domino: Run, arguments: list[str], told: str) -> None:
    done = domino("play", *arguments)
    assert done.status == 2
    assert told in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_serves_until_it_is_stopped(tmp_path: Path, number: signal.Signals) -> None:
    arguments = [
        "bergen",
        "--web",
        "--no-browser",
        "--port",
        "0",
        "--games",
        str(tmp_path / "games"),
        "--record",
        str(tmp_path / "game.json"),
    ]
    command = [sys.executable, "-m", "domino_env", "play", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=Path(__file__).parent.parent) as running:
        assert running.stdout is not None
        line = running.stdout.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/game/[\w-]{12}", line)
        assert address, line
        with urllib.request.urlopen(address[0], timeout=20) as answer:
            assert b"<!doctype html>" in answer.read()
        running.send_signal(number)
        out, err = running.communicate(timeout=20)
    assert (running.returncode, out) == (0, "stopped\n"), err
    assert "Traceback" not in err
    assert load_record(tmp_path / "game.json")["variant"] == "bergen"
    assert len(list((tmp_path / "games").glob("*.json"))) == 1
