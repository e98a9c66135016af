"""Records of the memory game: there and back at any time, damage refused by name."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from domino_env.errors import OptionsError, PolicyError, RecordError
from domino_env.notation import load_record, save_record
from domino_env.shopping import ShoppingRules, Table, load_speaker, replay
from domino_env.shopping.aec import ShoppingAECEnv
from domino_env.shopping.records import replay_words, to_record
from domino_env.shopping.telling import story_text
from domino_env.shopping.words import themes
from tests.damage import MISSING, Record, changed
from tests.test_shopping_aec import WAYS, started, talk


def played(seed: int = 1, options: Record | None = None, steps: int = 100_000, right: float = 0.97, **kwargs: Any) -> ShoppingAECEnv:
    game = started(seed, options, **kwargs)
    talk(game, random.Random(seed), steps, right)
    return game


def set_up(game: ShoppingAECEnv) -> Record:
    """Options for a game of four of the theme that it draws."""
    first = 0 if game.theme is None else game.rules.themes.index(game.theme) * 4
    return {"words": [game.rules.words(letter)[first + letter] for letter in range(3)], "speaker": 2, "out": [1], "theme": None}


# Plain ones, and ones that were set up or go on from where a generator stands
KINDS = ["new", "set up", "second"]


@pytest.mark.parametrize(("theme", "new_words"), WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_there_and_back_at_any_time(kind: str, theme: str | None, new_words: str, tmp_path: Path) -> None:
    game = started(5, num_players=4, num_letters=9, theme=theme, new_words=new_words)
    if kind == "set up":
        game.reset(seed=5, options=set_up(game))
    elif kind == "second":
        talk(game, random.Random(0), 3)
        game.reset()
    rng = random.Random(kind)
    while True:
        record = game.record()
        party = replay(json.loads(json.dumps(record)))
        assert to_record(party) == record
        assert (party.words(), party.seat, party.due, party.theme) == (game.words, game.party.seat, game.party.due, game.theme)
        assert (party.seats_in(), party.winners(), party.over) == (game.party.seats_in(), game.winners, game.party.over)
        assert ("end" in record) == game.party.over
        if not game.agents:
            break
        talk(game, rng, 1, right=0.95)
    save_record(record, tmp_path / "game.json")
    assert load_record(tmp_path / "game.json") == record
    seen = [len(party.said) for party in replay_words(record)]
    assert seen == list(range(len(record["events"]) + 1))


def small_party() -> tuple[Record, str]:
    """A game of three, told by hand: its record and its story."""
    rules = ShoppingRules(3, 3)
    a, b = rules.words(0), rules.words(1)
    told = [(0, a[1], True, True), (1, a[1], False, True), (1, b[0], True, True), (2, a[1], False, True), (2, b[3], False, False)]
    told += [(0, a[1], False, True), (0, b[0], False, True), (0, None, True, False)]
    names = ("seat", "word", "new", "right")
    record = {"format": 1, "variant": "shopping", "rules": {"num_letters": 3}, "num_players": 3, "seed": 7}
    record |= {"events": [dict(zip(names, event, strict=True)) for event in told], "end": "last", "winners": [1]}
    opening = "I went to the shop and bought"
    story = f"player_0: {opening} {a[1]}\nplayer_1: {opening} {a[1]} and {b[0]}\nplayer_2: {opening} {a[1]}, {b[3]}: wrong, out\n"
    return record, f"{story}player_0: {opening} {a[1]}, {b[0]}, ...: gives up, out\nwon: player_1"


def test_a_record_reads_like_the_party() -> None:
    record, story = small_party()
    party = replay(record)
    assert to_record(party) == record
    assert story_text(party) == story
    game = started(7, num_letters=3)
    for event in record["events"]:
        game.step(game.rules.num_words if event["word"] is None else game.move_index(event["word"]))
        while game.agents and game.terminations[game.agent_selection]:
            game.step(None)
    assert game.record() == record
    with_theme = played(theme="drawn", num_letters=4, right=1.0)
    assert story_text(with_theme.party).startswith(f"theme: {with_theme.theme}\nplayer_0: ")
    assert with_theme.record()["end"] == "alphabet"


# -------------------------------------------------------------------------------------------------------------- damage

ALIEN = (None, True, False, -1, 0, 1, 2, 9, 2**70, 1.5, "x", "", "abc", [], {}, [5], ["x"], [["words", 3]], {"x": 1}, "give up", "drawn")


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of everything in a record."""
    for key in value if isinstance(value, dict) else range(len(value)):
        yield (*path, key)
        if isinstance(value[key], (dict, list)):
            yield from places(value[key], (*path, key))


def outcome(record: Any) -> Any:
    party = replay(record)
    return party.said, party.words(), party.winners(), party.theme, party.seats_in()


def refusal(record: Any, expected: Any) -> str:
    """What the ``RecordError`` says; empty where the record leads to the game that it should."""
    try:
        found = outcome(record)
    except RecordError as error:
        return str(error)
    assert found == expected
    return ""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("theme", "new_words"), [(None, "chosen"), (themes()[0], "drawn"), ("drawn", "chosen"), ("drawn", "drawn")])
def test_damage_is_refused_or_changes_nothing(theme: str | None, new_words: str, kind: str) -> None:
    game = started(3, num_players=4, num_letters=5, theme=theme, new_words=new_words)
    if kind == "second":
        game.reset()
    elif kind == "set up":
        game.reset(seed=3, options=set_up(game))
    talk(game, random.Random(0), right=0.95)
    record = game.record()
    assert len(record["events"]) > 5
    expected, refused = outcome(record), 0
    damaged = [(path, changed(record, *path, to=value)) for path in places(record) for value in (*ALIEN, MISSING)]
    damaged += [(("more",), {**record, "more": 1}), (("rules",), changed(record, "rules", "color", to=1))]
    for path, copy in damaged:
        if path[-1] == "word" and copy["events"][path[1]].get("word", "") is None and not copy["events"][path[1]]["right"]:
            continue  # who errs may as well give up
        message = refusal(copy, expected)
        refused += bool(message)
        if message and path[0] == "events" and len(path) > 1:
            place = re.match(r"record, event (\d+): ", message)
            assert int(place[1]) >= path[1] if place else message.startswith(("record: end is", "record: winners is")), (path, message)
    assert refused > 0.8 * len(damaged) - 40
    assert game.record() == record


@pytest.mark.parametrize("record", [None, 5, "shopping", [], [{}], b"{}", {}])
def test_no_record(record: Any) -> None:
    with pytest.raises(RecordError, match="record"):
        replay(record)


def test_events_too_many_too_few_and_changed() -> None:
    record = played(num_letters=5, right=0.9).record()
    events = record["events"]
    for k, event in enumerate(events):
        others = [word for word in ShoppingRules().words(0) if word != event["word"]]
        cases = [events[:k] + events[k + 1 :], [*events[: k + 1], *events[k:]]]
        cases += [[*events[:k], {**event, **change}, *events[k + 1 :]] for change in ({"seat": 1 - event["seat"]}, {"more": 1})]
        cases += [[*events[:k], {**event, name: not event[name]}, *events[k + 1 :]] for name in ("new", "right")]
        if event["right"] and not event["new"]:
            cases += [[*events[:k], {**event, "word": None}, *events[k + 1 :]]]
            cases += [[*events[:k], {**event, "word": word}, *events[k + 1 :]] for word in others]
        for case in cases:
            with pytest.raises(RecordError, match=r"record(, event \d+)?: "):
                replay({**record, "events": case})
    with pytest.raises(RecordError, match=f"event {len(events)}: the game was over"):
        replay({**record, "events": [*events, events[0]]})


@pytest.mark.parametrize("spec", ["random", "perfect", "forgetful?p=0.3"])
def test_a_policy_chooses_for_the_seat_on_turn(spec: str) -> None:
    """``choose`` answers as one that has sat there from the start, and leaves the game as it is."""
    game = started(5, num_players=4, num_letters=7)
    table = Table(game.rules, [spec] * 4, 5)
    while not table.party.over:
        before, answer = game.get_state(), table.listen()
        assert game.choose(spec) == game.choose(load_speaker(spec)) == answer
        assert game.get_state() == before
        table.party.say(answer)
        game.step(answer)
        while game.agents and game.terminations[game.agent_selection]:
            game.step(None)
    with pytest.raises(OptionsError, match="nobody is on turn"):
        game.choose(spec)
    with pytest.raises(PolicyError):
        started(1).choose("nobody")
