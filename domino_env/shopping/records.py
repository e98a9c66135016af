"""Records of the memory game: whole games as JSON (format 1), and their replay.

``{"format": 1, "variant": "shopping", "rules": {what differs from the defaults}, "num_players", "seed" (null: the game began where a
generator stood), "theme" where there is one, "start": {"words", "speaker", "out"} where the game was set up so, "events": [{"seat", "word"
(null: gave up), "new" and "right" (bool)}], "end": "last" (one is left) or "alphabet" (it has run out), "winners"}``. A game that is
not over has no ``end``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from domino_env.errors import DominoError, RecordError
from domino_env.shopping.options import read_start
from domino_env.shopping.party import Party, Said
from domino_env.shopping.rules import ShoppingRules

__all__ = ["VARIANT", "replay", "replay_words", "to_record"]

VARIANT = "shopping"
RECORD_FORMAT = 1

_KEYS = ("format", "variant", "rules", "num_players", "seed", "theme", "start", "events", "end", "winners")


def to_record(party: Party) -> dict[str, Any]:
    """The record of a game, at any time."""
    rules = party.rules
    record: dict[str, Any] = {"format": RECORD_FORMAT, "variant": VARIANT, "rules": rules.overrides(), "num_players": rules.num_players}
    record["seed"] = party.seed
    if party.theme is not None:
        record["theme"] = party.theme
    first = party.first
    if first.words or first.speaker or first.out:
        words = [rules.words(letter)[number] for letter, number in enumerate(first.words)]
        record["start"] = {"words": words, "speaker": first.speaker, "out": list(first.out)}
    record["events"] = [_event(rules, said) for said in party.said]
    if party.over:
        record["end"] = "alphabet" if party.games["length"][0] == rules.num_letters else "last"
    record["winners"] = party.winners()
    return record


def _event(rules: ShoppingRules, said: Said) -> dict[str, Any]:
    word = None if said.word == rules.num_words else rules.words(said.letter)[said.word]
    return {"seat": said.seat, "word": word, "new": said.new, "right": said.right}


def replay(record: Mapping[str, Any]) -> Party:
    """Play a record again. Raises ``RecordError``, naming the event, where it breaks a rule."""
    *_, party = replay_words(record)
    return party


def replay_words(record: Mapping[str, Any]) -> Iterator[Party]:
    """As ``replay``, word by word: the game (one object) before each event and at the end."""
    try:
        party = _opened(record)
        events = list(record["events"])
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(f"record: {error!r}" if isinstance(error, KeyError) else f"record: {error}") from None
    for number, event in enumerate(events):
        yield party
        _repeat(party, number, event)
    found = to_record(party)
    for name in ("end", "winners"):
        given, right = (repr(one[name]) if name in one else "left out" for one in (record, found))
        if given != right:  # as texts: in Python true == 1 == 1.0, in a record they differ
            raise RecordError(f"record: {name} is {given}, but the events lead to {right}")
    yield party


def _opened(record: Mapping[str, Any]) -> Party:
    unknown = [name for name in record if name not in _KEYS]
    if unknown:
        raise RecordError(f"unknown key {unknown[0]!r}; the keys are {', '.join(_KEYS)}")
    if record["variant"] != VARIANT or repr(record["format"]) != repr(RECORD_FORMAT):
        raise RecordError(f"variant {record['variant']!r}, format {record['format']!r}, but it is {VARIANT!r}, format {RECORD_FORMAT}")
    seed, theme = record["seed"], record.get("theme")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**64):
        raise RecordError(f"seed {seed!r}, but it is null or a whole number from 0 to 2**64 - 1")
    party = Party(ShoppingRules(num_players=record["num_players"], **record["rules"]))
    party.start(seed or 0)
    start = dict(record.get("start", {}))
    if not set(start) <= {"words", "speaker", "out"}:
        raise RecordError(f"start {start!r}, but it has words, speaker and out")
    set_up = {**start, **({"theme": theme} if party.rules.theme == "drawn" else {})}
    first = read_start(party, set_up)
    if first is not None:
        party.set_up(first)
    if party.theme != theme:
        raise RecordError(f"theme {theme!r}, but the rules have {party.theme!r}")
    party.seed = seed
    return party


def _repeat(party: Party, number: int, event: Any) -> None:
    """Say what the event says; ``RecordError`` where the game answers otherwise."""
    where = f"record, event {number}"
    rules = party.rules
    if not isinstance(event, Mapping) or set(event) != {"seat", "word", "new", "right"}:
        raise RecordError(f"{where}: {event!r}, but it is a table of seat, word, new and right")
    if party.over:
        raise RecordError(f"{where}: the game was over before")
    try:
        word = rules.num_words if event["word"] is None else rules.move_index(party.due, event["word"])
    except DominoError as error:
        raise RecordError(f"{where}: {error}") from None
    if word == rules.num_words and event["word"] is not None:
        raise RecordError(f"{where}: word {event['word']!r}, but giving up is null")
    found = _event(rules, party.say(word, word))
    if found != event or any(type(found[name]) is not type(event[name]) for name in found):
        raise RecordError(f"{where}: {dict(event)}, but the rules make it {found}")
