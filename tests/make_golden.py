"""Make the golden files: ``python -m tests.make_golden``; with ``--check`` say whether they are as this command makes them.

Book games are the worked examples of the source texts. Of each variant and seat count one match from its seed is kept: among a few seeds
the one whose rounds end in the most ways, then the shortest. Then the perft counts. Golden files are made anew only where a rule was
changed on purpose: look at every difference before keeping it.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterable
from typing import Any

from domino_env.engine import batch
from domino_env.notation.game import PlayedGame
from domino_env.notation.moves import parse_tile
from domino_env.notation.records import to_record
from domino_env.rules import Rules
from domino_env.variants import VARIANTS
from tests.golden import FOLDER
from tests.perft import DEPTH, PERFT_CASES, perft, perft_game

SEEDS = range(6)
SIDES = ("fives_and_threes", "bergen", "all_fives", "draw", "block")
"""Variants with a golden match of sides: one of each way in which sides change a rule."""

BOOK: dict[str, dict[str, Any]] = {
    # Seat 1 is stuck at ends 0 and 3, draws 3-6 and plays it. 0-0 sleeps in the boneyard, so 1-1 is the lead.
    "bergen_4p_book": {
        "variant": "bergen",
        "hands": ["1-1 2-4 3-4 2-3 2-5", "1-4 4-4 1-5 2-2 5-6", "1-6 4-5 0-6 3-3 1-3", "2-6 0-5 6-6 5-5 4-6"],
        "boneyard": "3-6 0-1 0-2 0-3 3-5 0-0 0-4 1-2",
        "moves": "1-1 1-4@right 1-6@left 2-6@left 2-4@left 4-4@right 4-5@right 0-5@right 3-4@left draw 3-6@left 0-6@right 6-6@left",
    },
    # Seat 0 passes at ends 3 and 3: besides 1-6 it holds three tiles without a three.
    "fives_and_threes_3p_book": {
        "variant": "fives_and_threes",
        "hands": ["4-5 2-4 3-4 1-6 0-0 0-5 6-6", "1-4 4-4 1-2 3-3 0-6 2-2 5-5", "2-5 1-1 2-3 1-3 0-1 4-6 5-6"],
        "boneyard": "0-2 0-3 0-4 1-5 2-6 3-5 3-6",
        "moves": "4-5 1-4@left 2-5@right 2-4@right 4-4@right 1-1@left 3-4@right 1-2@left 2-3@left pass 3-3@right 1-3@right 1-6@right",
    },
}


def book_record(name: str) -> dict[str, Any]:
    """The record of a book game: its round stays open."""
    book = BOOK[name]
    order = [parse_tile(text) for text in " ".join([*book["hands"], book["boneyard"]]).split()]
    game = PlayedGame(VARIANTS[book["variant"]], len(book["hands"]), one_round=False)
    game.set_up(order, leader=0, scores=[0] * game.num_players)
    for move in book["moves"].split():
        game.make_move(game.move_index(move))
    return to_record(game)


def choose(game: PlayedGame, rng: random.Random) -> int:
    """Half of the moves are the play with the most points now, the others any; ``random()`` alone is the same in every Python."""
    actions = game.legal_actions()
    if rng.random() < 0.5:
        return actions[int(rng.random() * len(actions))]
    return max(actions, key=lambda action: (_points_now(game, action), -action))


def _points_now(game: PlayedGame, action: int) -> int:
    if game.move_text(action) in ("draw", "pass"):
        return 0
    return batch.make_move(game.games.copy(), 0, game.packed, action)[3]


def play_match(rules: Rules, num_players: int, seed: int) -> PlayedGame:
    """A whole match from a seed."""
    rng = random.Random(seed)
    game = PlayedGame(rules, num_players, one_round=False)
    game.start(seed)
    while not game.over:
        game.make_move(choose(game, rng))
        game.deal_if_due()
    return game


def match_record(rules: Rules, num_players: int) -> dict[str, Any]:
    """The match kept for a variant and seat count."""
    games = [play_match(rules, num_players, seed) for seed in SEEDS]

    def rank(game: PlayedGame) -> tuple[int, int]:
        return -len({log.end for log in game.rounds}), sum(len(log.events) for log in game.rounds)

    return to_record(min(games, key=rank))


def record_text(record: dict[str, Any]) -> str:
    """A record as JSON, an event a line."""
    lines = []
    for entry in record["rounds"]:
        events = ",\n   ".join(json.dumps(event) for event in entry["events"])
        parts = [f'"{key}": ' + (f"[\n   {events}]" if key == "events" else json.dumps(value)) for key, value in entry.items()]
        lines.append("{" + ",\n  ".join(parts) + "}")
    rounds = ",\n ".join(lines)
    parts = [f'"{key}": ' + (f"[\n {rounds}]" if key == "rounds" else json.dumps(value)) for key, value in record.items()]
    return "{" + ",\n".join(parts) + "}\n"


def perft_texts() -> dict[str, str]:
    """The perft files: numbers by variant, seat count and depth; ``perft`` itself holds the numbers of sequences."""
    counts = {case: perft(perft_game(*case), DEPTH) for case in PERFT_CASES}
    files = {"perft": "sequences", "perft_rounds_over": "rounds_over", "perft_points": "points"}
    texts = {}
    for file, column in files.items():
        by_variant = [
            f' "{variant}": {{\n  ' + ",\n  ".join(f'"{seats}": {counts[variant, seats][column]}' for seats in rules.players) + "}"
            for variant, rules in VARIANTS.items()
        ]
        texts[file] = "{\n" + ",\n".join(by_variant) + "\n}\n"
    return texts


def golden_texts() -> dict[str, str]:
    """Name (without ``.json``) -> text of every golden file."""
    texts = {name: record_text(book_record(name)) for name in BOOK}
    for variant, rules in VARIANTS.items():
        for seats in rules.players:
            texts[f"{variant}_{seats}p"] = record_text(match_record(rules, seats))
    for variant in SIDES:
        texts[f"{variant}_4p_sides"] = record_text(match_record(VARIANTS[variant].replace(sides=True, players=4), 4))
    return {**texts, **perft_texts()}


def differences(texts: dict[str, str]) -> list[str]:
    """Names of the files that are missing, differ from ``texts``, or that nothing makes."""
    on_disk = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")}
    return sorted(name for name in texts.keys() | on_disk.keys() if texts.get(name) != on_disk.get(name))


def main(arguments: Iterable[str] | None = None) -> int:
    """Write the files, or with ``--check`` compare them; returns the exit code: 1 where they differ."""
    parser = argparse.ArgumentParser(prog="python -m tests.make_golden", description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="write nothing; say which files differ")
    wanted = parser.parse_args(None if arguments is None else list(arguments))
    texts = golden_texts()
    changed = differences(texts)
    if not wanted.check:
        for name in changed:
            if name in texts:
                (FOLDER / f"{name}.json").write_text(texts[name], encoding="utf-8")
            else:
                (FOLDER / f"{name}.json").unlink()
    verb = "differ" if wanted.check else "written"
    sys.stdout.write(f"{len(texts)} golden files, {len(changed)} {verb}{': ' if changed else ''}{', '.join(changed)}\n")
    return 1 if wanted.check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
