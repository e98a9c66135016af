"""Records: whole games as JSON (format 1). Written from a ``PlayedGame``, replayed move by move on the engine.

``{"format": 1, "variant", "rules": {what differs from the preset}, "num_players", "seed", "rounds": [{"hands", "boneyard"
(next drawn first), "leader", "events": [{"seat", "move", "points", "tile" where one was drawn}], "end", "bonus", "scores"}],
"winners"}``. An open round has no ``end``. ``"episode": "round"`` stands where the game is one round, and
``"start_scores"`` in the first round where it did not start at 0.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from domino_env.engine.state import PLAYING
from domino_env.errors import DominoError, RecordError
from domino_env.files import write_file
from domino_env.notation.game import END_NAMES, PlayedGame, RoundLog
from domino_env.notation.moves import move_text, parse_tile, tile_text
from domino_env.rules import Rules
from domino_env.variants import VARIANTS

__all__ = ["RECORD_FORMAT", "load_record", "read_rules", "replay", "replay_moves", "save_record", "to_record"]

RECORD_FORMAT = 1


def to_record(game: PlayedGame) -> dict[str, Any]:
    """The record of a game, at any time."""
    base = VARIANTS.get(game.rules.variant)
    record: dict[str, Any] = {"format": RECORD_FORMAT, "variant": game.rules.variant}
    record["rules"] = game.rules.overrides_from(base) if base is not None else game.rules.to_json()
    record["num_players"] = game.num_players
    record["seed"] = game.seed
    if game.one_round:
        record["episode"] = "round"
    record["rounds"] = [_round_record(game, log) for log in game.rounds]
    record["winners"] = game.winners()
    return record


def _round_record(game: PlayedGame, log: RoundLog) -> dict[str, Any]:
    size = game.rules.hand[game.num_players]
    dealt = size * game.num_players
    texts = [tile_text(tile) for tile in log.order]
    out: dict[str, Any] = {
        "hands": [texts[start : start + size] for start in range(0, dealt, size)],
        "boneyard": texts[dealt:],
        "leader": log.leader,
    }
    if log is game.rounds[0] and any(log.start_scores):
        out["start_scores"] = list(log.start_scores)
    out["events"] = [_event_record(game, number, *event) for number, event in enumerate(log.events)]
    if log.end:
        out["end"] = END_NAMES[log.end]
        out["bonus"] = list(log.bonus)
        out["scores"] = list(log.scores)
    return out


def _event_record(game: PlayedGame, number: int, seat: int, action: int, tile: int, points: int) -> dict[str, Any]:
    out: dict[str, Any] = {"seat": seat, "move": move_text(game.packed, action, number == 0)}
    if tile >= 0:
        out["tile"] = tile_text(tile)
    out["points"] = points
    return out


def save_record(record: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write a record as JSON: beside the file, then renamed over it."""
    write_file(path, json.dumps(record, indent=1) + "\n")


def load_record(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a record; ``RecordError`` if the file is missing or no JSON object. ``replay`` checks what it says."""
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise RecordError(f"record {os.fspath(path)!r}: {error}") from None
    if not isinstance(record, dict):
        raise RecordError(f"record {os.fspath(path)!r}: a record is a JSON object, this is {type(record).__name__}")
    return record


def read_rules(record: Mapping[str, Any]) -> Rules:
    """The rules that a record was played by. Raises ``RecordError``."""
    if not isinstance(record, Mapping):
        raise RecordError(f"record: a record is a dict, this is {type(record).__name__}")
    if repr(record.get("format")) != repr(RECORD_FORMAT):
        raise RecordError(f"record: format={record.get('format')!r}, but this version reads format {RECORD_FORMAT}")
    variant, overrides = record.get("variant"), record.get("rules", {})
    try:
        if isinstance(variant, str) and variant in VARIANTS:
            return Rules.from_overrides(VARIANTS[variant], overrides)
        if isinstance(variant, str) and isinstance(overrides, Mapping) and overrides.get("variant") == variant:
            return Rules.from_overrides(Rules(), _only_their_seats(overrides))
    except DominoError as error:
        raise RecordError(f"record: rules: {error}") from None
    raise RecordError(f"record: variant={variant!r}, but the variants are {', '.join(VARIANTS)}; other rules must be given whole")


def _only_their_seats(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Rules given whole are for the seat counts that they name, not for those of the defaults too."""
    hand = fields.get("hand")
    players = [int(seats) for seats in hand if str(seats).isdecimal()] if isinstance(hand, Mapping) else []
    return {"players": players, **fields} if players else dict(fields)


def replay(record: Mapping[str, Any]) -> PlayedGame:
    """Play a record on the engine; returns the game as it stands at the record's end.

    Raises ``RecordError``, naming round and event, where the record breaks a rule, a score or the format.
    """
    *_, game = replay_moves(record)
    return game


def replay_moves(record: Mapping[str, Any]) -> Iterator[PlayedGame]:
    """As ``replay``, but gives the game after each deal and each move: the same object, played on."""
    game = _new_game(record)
    rounds = record.get("rounds")
    if not isinstance(rounds, list) or not rounds:
        raise RecordError(f"record: rounds={rounds!r}, but a record has a list of rounds, at least the deal of its first")
    for number, entry in enumerate(rounds):
        with _Place(f"round {number}"):
            _deal(game, number, entry)
        yield game
        yield from _play_round(game, number, entry, last=number == len(rounds) - 1)
    game.seed = record.get("seed")
    _compare("record", "winners", record.get("winners", []), game.winners())


def _new_game(record: Mapping[str, Any]) -> PlayedGame:
    """The game of a record, nothing dealt yet."""
    rules = read_rules(record)
    players, episode, seed = record.get("num_players"), record.get("episode", "match"), record.get("seed")
    if type(players) is not int or players not in rules.players:
        raise RecordError(f"record: num_players={players!r}, but {rules.variant} is for {', '.join(map(str, rules.players))}")
    if episode not in ("match", "round"):
        raise RecordError(f"record: episode={episode!r}, but it is 'match' or 'round'")
    if seed is not None and (type(seed) is not int or not 0 <= seed < 2**64):
        raise RecordError(f"record: seed={seed!r}, but it is null or a whole number from 0 to 2**64 - 1")
    with _Place("rules"):
        return PlayedGame(rules, players, episode == "round")


class _Place:
    """Names the round and event in whatever goes wrong inside."""

    def __init__(self, place: str) -> None:
        self.place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, RecordError) and str(error).startswith("record"):
            return
        if isinstance(error, KeyError):
            raise RecordError(f"record, {self.place}: no {error}") from None
        if isinstance(error, (ValueError, TypeError, IndexError, AttributeError)):
            raise RecordError(f"record, {self.place}: {error}") from None


def _deal(game: PlayedGame, number: int, entry: Mapping[str, Any]) -> None:
    rules, seats = game.rules, game.num_players
    hands = [[parse_tile(text, rules.max_pip) for text in hand] for hand in entry["hands"]]
    order = [tile for hand in hands for tile in hand] + [parse_tile(text, rules.max_pip) for text in entry["boneyard"]]
    if [len(hand) for hand in hands] != [rules.hand[seats]] * seats:
        raise RecordError(f"hands of {[len(hand) for hand in hands]} tiles, but {seats} players get {rules.hand[seats]} each")
    if sorted(order) != list(range(rules.num_tiles)):
        raise RecordError(f"hands and boneyard hold {len(set(order))} different tiles of {len(order)}, but the set has {rules.num_tiles}")
    leader = entry["leader"]
    if isinstance(leader, bool) or not isinstance(leader, int) or not 0 <= leader < seats:
        raise RecordError(f"leader={leader!r}, but seats are 0 to {seats - 1}")
    if number == 0:
        game.set_up(order, leader, _start_scores(game, entry.get("start_scores", [0] * seats)))
    else:
        if game.phase == PLAYING or game.over:
            raise RecordError("a next deal, but the game is over" if game.over else "a next deal, but the round before is not over")
        game.deal_next(order, leader)
        _compare("", "leader", leader, int(game.row.leader))


def _start_scores(game: PlayedGame, scores: Any) -> list[int]:
    target = game.rules.target[game.num_players]
    if not isinstance(scores, list) or len(scores) != game.num_players or not all(type(score) is int for score in scores):
        raise RecordError(f"start_scores={scores!r}, but they are {game.num_players} whole numbers")
    if any(abs(score) >= 2**30 for score in scores) or (not game.one_round and max(scores) >= target):
        raise RecordError(f"start_scores={scores!r}, but the match is over at {target}")
    if game.rules.sides and scores[:2] != scores[2:]:
        raise RecordError(f"start_scores={scores!r}, but with sides partners have the same score")
    return scores


def _play_round(game: PlayedGame, number: int, entry: Mapping[str, Any], last: bool) -> Iterator[PlayedGame]:
    with _Place(f"round {number}"):
        events = list(enumerate(entry["events"]))
    for count, event in events:
        with _Place(f"round {number}, event {count}"):
            if game.phase != PLAYING:
                raise RecordError(f"{event!r}, but the round is over ({END_NAMES[int(game.row.end)]})")
            _compare("", "seat", event["seat"], game.seat)
            game.make_move(game.move_index(event["move"]))
            done = game.rounds[-1].events[-1]
            _compare("", "tile", event.get("tile"), tile_text(done.tile) if done.tile >= 0 else None)
            _compare("", "points", event["points"], done.points)
        yield game
    with _Place(f"round {number}"):
        log = game.rounds[-1]
        given = {name: entry[name] for name in ("end", "bonus", "scores") if name in entry}
        if not log.end and (not last or given):
            raise RecordError(f"{given or 'a next round'}, but seat {game.seat} can go on: {', '.join(game.legal_moves())}")
        if log.end:
            _compare("", "end", entry.get("end"), END_NAMES[log.end])
            _compare("", "bonus", entry.get("bonus"), log.bonus)
            _compare("", "scores", entry.get("scores"), log.scores)


def _compare(place: str, what: str, given: object, right: object) -> None:
    if repr(given) != repr(right):  # in Python true == 1 == 1.0, in a record they differ
        raise RecordError(f"{place + ': ' if place else ''}{what}={given!r}, but by the rules it is {right!r}")
