"""Records with a damaged event or round: refused, and the message names round and event."""

from __future__ import annotations

from typing import Any

import pytest

from tests.damage import MATCHES, MISSING, Record, changed, refused
from tests.golden import golden_record

# Damage to events: every event of the first and of the last round of every golden match


def damaged_events(event: Record) -> list[tuple[str, Any]]:
    """The event after each kind of damage, and the word that the message must hold."""
    drew = event["move"] == "draw"
    out: list[tuple[str, Any]] = [
        (f"seat={event['seat'] + 1!r}", event | {"seat": event["seat"] + 1}),
        ("seat='0'", event | {"seat": "0"}),
        ("seat=", event | {"seat": float(event["seat"])}),
        ("points=", event | {"points": event["points"] + 1}),
        ("points=", event | {"points": event["points"] - 1}),
        ("points=", event | {"points": float(event["points"])}),
        ("points=None", event | {"points": None}),
        ("1-7", event | {"move": "1-7@left"}),
        ("move 5", event | {"move": 5}),
        ("move None", event | {"move": None}),
        ("legal", event | {"move": "pass" if event["move"] != "pass" else "draw"}),
        ("", "draw"),
        ("", None),
        ("", 5),
        ("", []),
    ]
    out += [(f"no {key!r}", {k: v for k, v in event.items() if k != key}) for key in ("seat", "move", "points")]
    if not drew:
        out.append(("tile='0-0'", event | {"tile": "0-0"}))
    else:
        out.append(("tile=None", {k: v for k, v in event.items() if k != "tile"}))
        out.append(("tile=", event | {"tile": "0-1" if event["tile"] != "0-1" else "0-2"}))
    return out


@pytest.mark.parametrize("name", MATCHES)
def test_damaged_event(name: str) -> None:
    """The first events of the first round, and the first of the last round."""
    record = golden_record(name)
    places = [(0, count) for count in range(min(8, len(record["rounds"][0]["events"])))] + [(len(record["rounds"]) - 1, 0)]
    for number, count in places:
        event = record["rounds"][number]["events"][count]
        for word, damaged in damaged_events(event):
            if word == "legal" and name.startswith("lucky_threes") and event["move"] in ("draw", "pass"):
                continue  # a stuck player may do either
            refused(changed(record, "rounds", number, "events", count, to=damaged), f"round {number}, event {count}", word)


@pytest.mark.parametrize("name", MATCHES)
def test_a_tile_that_the_leader_does_not_hold(name: str) -> None:
    record = golden_record(name)
    for number, entry in enumerate(record["rounds"]):
        other = entry["hands"][(entry["leader"] + 1) % record["num_players"]][0]
        damaged = changed(record, "rounds", number, "events", 0, "move", to=other)
        refused(damaged, f"round {number}, event 0", f"({other}) is not legal for seat {entry['leader']}")


@pytest.mark.parametrize("name", MATCHES)
def test_events_too_many_or_too_few(name: str) -> None:
    record = golden_record(name)
    for number, entry in enumerate(record["rounds"]):
        events = entry["events"]
        extra = {"seat": 0, "move": "pass", "points": 0}
        late = f"round {number}, event {len(events)}"
        refused(changed(record, "rounds", number, "events", to=[*events, extra]), late, f"the round is over ({entry['end']})")
        refused(changed(record, "rounds", number, "events", to=events[:-1]), f"round {number}", "can go on")
        twice = [*events[:1], *events]
        refused(changed(record, "rounds", number, "events", to=twice), f"round {number}, event 1")


# Damage to rounds


@pytest.mark.parametrize("name", MATCHES)
def test_damaged_round(name: str) -> None:
    record = golden_record(name)
    number = len(record["rounds"]) // 2
    entry, seats = record["rounds"][number], record["num_players"]
    others = [end for end in ("out", "blocked", "exhausted", "target") if end != entry["end"]]
    swapped = [[*entry["hands"][0][:-1], entry["hands"][1][0]], *entry["hands"][1:]]
    cases: list[tuple[str, Any, str]] = [
        *(("end", end, f"end={end!r}, but by the rules it is {entry['end']!r}") for end in [*others, None, 1]),
        ("bonus", [entry["bonus"][0] + 1, *entry["bonus"][1:]], "bonus="),
        ("bonus", [*entry["bonus"], 0], "bonus="),
        ("bonus", None, "bonus=None"),
        ("scores", [*entry["scores"][:-1], entry["scores"][-1] - 1], "scores="),
        ("scores", [float(score) for score in entry["scores"]], "scores="),
        ("scores", {}, "scores={}"),
        ("leader", seats, f"leader={seats}, but seats are 0 to {seats - 1}"),
        ("leader", -1, "leader=-1"),
        ("leader", "0", "leader='0'"),
        ("leader", None, "leader=None"),
        ("leader", True, "leader=True"),
        ("hands", swapped, "different tiles"),
        ("hands", entry["hands"][:-1], "hands of"),
        ("hands", [[*entry["hands"][0], entry["hands"][1][0]], entry["hands"][1][1:], *entry["hands"][2:]], "hands of"),
        ("hands", [["0-9", *entry["hands"][0][1:]], *entry["hands"][1:]], "'0-9'"),
        ("hands", [[3, *entry["hands"][0][1:]], *entry["hands"][1:]], "tile 3"),
        ("hands", 7, "int"),
        ("hands", None, "None"),
        ("boneyard", [*entry["boneyard"], "0-0"], "different tiles"),
        ("boneyard", entry["boneyard"][1:], "different tiles"),
        ("boneyard", None, "None"),
        ("events", 3, "int"),
        ("events", None, "None"),
    ]
    for key, to, word in cases:
        refused(changed(record, "rounds", number, key, to=to), f"round {number}", word)
    for key in ("hands", "boneyard", "leader", "events"):
        refused(changed(record, "rounds", number, key, to=MISSING), f"round {number}", f"no {key!r}")
    for key in ("end", "bonus", "scores"):
        refused(changed(record, "rounds", number, key, to=MISSING), f"round {number}", f"{key}=None")


@pytest.mark.parametrize("name", MATCHES)
def test_another_leader(name: str) -> None:
    record = golden_record(name)
    for number, entry in enumerate(record["rounds"]):
        other = (entry["leader"] + 1) % record["num_players"]
        refused(changed(record, "rounds", number, "leader", to=other), f"round {number}", "leader=" if number else "round 0")


@pytest.mark.parametrize("bad", [None, 5, "round", [], [1, 2]])
def test_a_round_that_is_no_round(bad: Any) -> None:
    refused(changed(golden_record("bergen_2p"), "rounds", 1, to=bad), "round 1")


def test_rounds_too_many_or_too_few() -> None:
    record = golden_record("bergen_2p")
    rounds = record["rounds"]
    refused(changed(record, "rounds", to=[*rounds, rounds[0]]), f"round {len(rounds)}", "the game is over")
    refused(changed(record, "rounds", to=rounds[:-1]), "winners=")
    refused(changed(record, "rounds", to=rounds[1:]), "round 0")
    refused(changed(record, "rounds", to=[]), "rounds=[]")
    refused(changed(record, "rounds", to={"0": rounds[0]}), "list of rounds")
    refused(changed(record, "rounds", to=MISSING), "rounds=None")
    cut = changed(changed(record, "rounds", 0, "events", to=rounds[0]["events"][:3]), "rounds", 0, "end", to=MISSING)
    refused(cut, "round 0", "can go on")


def test_an_open_round_has_no_end() -> None:
    record = golden_record("bergen_4p_book")
    for key, value in (("end", "out"), ("end", None), ("bonus", [0] * 4), ("scores", [4, 3, 2, 3])):
        refused(changed(record, "rounds", 0, key, to=value), "round 0", "can go on")
    refused(changed(record, "winners", to=[0]), "winners=[0]")
