"""What leaves the server while a game is played says nothing of hidden tiles, nor of the seed that would give them away."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from domino_env.engine.state import PLAYING
from domino_env.notation.game import PlayedGame
from domino_env.notation.moves import tile_text
from domino_env.tiles import tiles_in
from domino_env.variants import VARIANTS
from domino_env.web.seen import event_words, frame, round_sheet
from domino_env.web.table import NEXT, Table
from domino_env.worlds import resample
from tests.strategies import preset_cases
from tests.web_client import Client

SEED = 7_654_321_987_654_321_987
MOST_MOVES = 200
TILE = re.compile(r"(?<![0-9])[0-9]-[0-9](?![0-9])")


def games_of(table: Table) -> list[PlayedGame]:
    """The game after each step, made again from the steps."""
    game = PlayedGame(table.setup.rules, len(table.setup.specs), table.setup.one_round)
    game.start(table.setup.seed)
    out = [game.copy()]
    for step in table.steps:
        game.deal_if_due() if step == NEXT else game.make_move(game.move_index(step))
        out.append(game.copy())
    return out


def hidden(game: PlayedGame, seat: int) -> set[str]:
    """Tiles that the seat does not know the place of, as texts: the other hands while the round is played, and the boneyard."""
    row = game.games[0]
    tiles = set(game.rounds[-1].order[int(row["next_tile"]) :])
    if game.phase == PLAYING:
        tiles |= {tile for other in range(game.num_players) if other != seat for tile in tiles_in(int(row["hands"][other]))}
    return {tile_text(tile) for tile in tiles}


def told(game: PlayedGame, seat: int) -> dict[str, Any]:
    """All of a position that an answer is made of."""
    log = game.rounds[-1]
    moves = [event_words(game, log, number, seat) for number in range(len(log.events))]
    return {"frame": frame(game, seat), "moves": moves, "sheet": round_sheet(game)}


def play(client: Client, table: Table, rng: random.Random) -> list[dict[str, Any]]:
    """Play the person's moves at random through the application; returns every answer about the game."""
    path = f"/api/games/{table.name}"
    answers = [client.get(f"{path}?since=0").json, client.get(path).json]
    for _ in range(MOST_MOVES):
        last = answers[-1]["frames"][-1]
        if answers[-1]["over"]:
            return answers
        step = NEXT if last["phase"] == "between" else rng.choice(last["moves"])["move"]
        number = answers[-1]["number"]
        answer = client.post(f"{path}/move", {"number": number, "move": step, "since": number})
        assert answer.status == 200, answer.body
        answers.append(answer.json)
    return answers


@pytest.mark.parametrize(("variant", "seats", "sides"), preset_cases())
def test_every_answer_of_a_game_is_the_same_when_hidden_tiles_are_redealt(variant: str, seats: int, sides: bool, tmp_path: Path) -> None:
    rng = random.Random(f"{variant} {seats} {sides}")
    client = Client(tmp_path)
    seat = rng.randrange(seats)
    specs = [None if other == seat else rng.choice(["random", "greedy"]) for other in range(seats)]
    rules = {"sides": True} if sides else {}
    table = client.table(variant=variant, specs=specs, rules=rules, seed=SEED + rng.randrange(1000), episode="round")
    answers = play(client, table, rng)
    games = games_of(table)
    sent = {one["number"]: one for answer in answers for one in answer["frames"]}
    first = min(sent)  # what others did before the page asked, or nothing
    assert sorted(sent) == list(range(first, len(games)))
    assert first <= 1
    differ = 0
    for number, game in list(enumerate(games))[first:]:
        expected = {name: value for name, value in sent[number].items() if name != "number"}
        assert expected == json.loads(json.dumps(frame(game, seat)))
        shown = set(TILE.findall(json.dumps(expected)))
        # a tile that is laid down or drawn is no secret any more; of the rest no text says anything
        assert not shown & hidden(game, seat)
        if number % 2 == 0 or game.over:
            other = resample(game, seat, number, False)
            differ += hidden(other, seat) != hidden(game, seat) or other.games["hands"].tolist() != game.games["hands"].tolist()
            assert json.dumps(told(other, seat)) == json.dumps(told(game, seat))
    assert differ > 0


@pytest.mark.parametrize("variant", ["fives", "draw", "all_fives"])
def test_whole_answers_are_the_same_bytes_over_another_deal(variant: str, tmp_path: Path) -> None:
    """The answers of the application itself, hints included, with the game of the table exchanged for another one."""
    rng = random.Random(variant)
    client = Client(tmp_path)
    table = client.table(variant=variant, specs=["greedy", None, "random"], seed=SEED, rules={"target": 30})
    path = f"/api/games/{table.name}"
    asked = differ = 0
    while not table.game.over and asked < 12:
        game = table.game
        advisers = ["greedy", "random", "search:pimc?worlds=8"] if game.phase == PLAYING else []
        other = resample(game, 1, asked, False)
        differ += other.games["hands"].tolist() != game.games["hands"].tolist()
        answers = []
        for deal in (game, other):
            table.game, table.frames = deal, [*table.frames[:-1], frame(deal, 1)]
            got = [client.get(path), client.get(f"{path}/about"), client.get(f"{path}/record")]
            got += [client.post(f"{path}/hint", {"number": len(table.steps), "policy": spec}) for spec in advisers]
            answers.append(got)
        assert answers[0] == answers[1]
        table.game = game
        number = len(table.steps)
        step = NEXT if game.phase != PLAYING else rng.choice(game.legal_moves())
        client.post(f"{path}/move", {"number": number, "move": step})
        asked += 1
    assert differ > 3


def test_seed_and_record_are_told_when_the_game_is_over_and_not_before(tmp_path: Path) -> None:
    client = Client(tmp_path)
    table = client.table(variant="bergen", specs=[None, "greedy"], seed=SEED, rules={"target": 4})
    path = f"/api/games/{table.name}"
    rng = random.Random(1)
    while not table.game.over:
        refused = client.get(f"{path}/record")
        assert (refused.status, list(refused.json)) == (403, ["error"])
        client.get(f"{path}/about")
        client.get("/api/start")
        last = client.get(path).json
        step = NEXT if last["frames"][-1]["phase"] == "between" else rng.choice(last["frames"][-1]["moves"])["move"]
        client.post(f"{path}/move", {"number": last["number"], "move": step})
    key = str(int(table.game.games["key"][0]))
    assert all(str(SEED).encode() not in answer.body and key.encode() not in answer.body for answer in client.answers)
    record = client.get(f"{path}/record")
    assert record.headers["content-disposition"] == 'attachment; filename="game.json"'
    assert record.json["seed"] == SEED


def test_a_leak_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault: one word of the answer hangs on a hidden hand."""
    game = PlayedGame(VARIANTS["bergen"], 3, True)
    game.start(3)
    others = [resample(game, 0, seed, False) for seed in range(10)]
    assert all(told(other, 0) == told(game, 0) for other in others)
    honest = frame

    def faulty(game: PlayedGame, seat: int) -> dict[str, Any]:
        return {**honest(game, seat), "boneyard": str(game.games["hands"][0, 1])}

    monkeypatch.setitem(globals(), "frame", faulty)
    assert any(told(other, 0) != told(game, 0) for other in others)
