"""The tables of the docs, each a list of Markdown lines made from the code: rules, encoding, action ids, perft counts, engine files."""

from __future__ import annotations

import dataclasses
import json
from enum import StrEnum
from pathlib import Path
from typing import Any

from docs.source_docs import PACKAGE, field_meaning, in_a_line, member_meanings, module_meaning
from domino_env.encoding import ENCODING_VERSION, Encoding, Section
from domino_env.engine.packed import numbers, pack_rules
from domino_env.envs.registry import env_id
from domino_env.notation.moves import ARM_NAMES, move_text
from domino_env.rule_terms import BySeats
from domino_env.rules import Rules
from domino_env.rules_check import BY_SEATS
from domino_env.variants import VARIANTS

ROOT = Path(__file__).resolve().parent.parent
PERFT = ROOT / "tests" / "golden" / "perft.json"

PIP_NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

SHAPING = ("opening", "next_leader", "doubles", "draw_when", "scoring")
"""Fields that every variant's table shows, at their default or not."""


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines]


def by_seats(numbers_by_seats: dict[int, int]) -> str:
    """``7 (2 or 3 players), 6 (4)``: one number where all are equal."""
    values = list(dict.fromkeys(numbers_by_seats.values()))
    if len(values) == 1:
        return str(values[0])
    parts: list[str] = []
    for value in values:
        seats = [str(n) for n, number in numbers_by_seats.items() if number == value]
        parts.append(f"{value} ({' or '.join(seats)}{' players' if not parts else ''})")
    return ", ".join(parts)


def shown(value: Any) -> str:
    """The value of a field as one would write it in YAML."""
    if isinstance(value, BySeats):
        return "{" + ", ".join(f"{seats}: {number}" for seats, number in value.items()) + "}"
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple):
        return str(list(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def defaults() -> dict[str, Any]:
    """Field -> default; the tables by seat count as a preset would hold them."""
    found = {}
    for item in dataclasses.fields(Rules):
        value: Any = item.default_factory() if callable(item.default_factory) else item.default
        found[item.name] = BySeats(value) if item.name in BY_SEATS else value
    return found


def _preset_meaning(name: str, value: Any) -> str:
    chosen = member_meanings(name).get(value.value) if isinstance(value, StrEnum) else None
    return chosen or field_meaning(name)


def specs(variant: str) -> list[str]:
    """Numbers of a variant, then the fields of its preset that are not at their default, and those that shape every game."""
    rules = VARIANTS[variant]
    packed = {seats: numbers(pack_rules(rules, seats, False)) for seats in rules.players}
    left = {seats: rules.num_tiles - seats * rules.hand[seats] for seats in rules.players}
    may_draw = {seats: int(row.first_reserved) - seats * rules.hand[seats] for seats, row in packed.items()}
    sizes = {seats: Encoding(rules, seats).size for seats in rules.players}
    numbers_of = [
        ["Module", f"`domino_env.{variant}_v0`"],
        ["Registry id", f"`{env_id(variant)}`"],
        ["Players", ", ".join(str(seats) for seats in rules.players)],
        ["Tiles", f"{rules.num_tiles} (double-{PIP_NAMES[rules.max_pip]} set)"],
        ["Hand", by_seats(dict(rules.hand))],
        ["Left after the deal", by_seats(left)],
        ["Reserve", str(rules.reserve)],
        ["Drawable", by_seats(may_draw)],
        ["Arms", str(rules.arms)],
        ["Target", by_seats(dict(rules.target))],
        ["Actions", f"`Discrete({packed[rules.players[0]].num_actions})`"],
        ["Observation", f"`Box(-1, 1, (D,), float32)`, D = {by_seats(sizes)}"],
        ["Rules hash", f"`{rules.fingerprint()}`"],
    ]
    rows = [
        [f"`{name}`", f"`{shown(getattr(rules, name))}`", _preset_meaning(name, getattr(rules, name))]
        for name, default in defaults().items()
        # the name and the tables by seat count stand above
        if name in SHAPING or (getattr(rules, name) != default and name not in ("variant", *BY_SEATS))
    ]
    return [*table(["", variant], numbers_of), "", *table(["field of `Rules`", "value", "meaning"], rows)]


def observation(variant: str) -> list[str]:
    """Sections of the observation, with their place at each seat count."""
    rules = VARIANTS[variant]
    encodings = {seats: Encoding(rules, seats) for seats in rules.players}
    first = encodings[rules.players[0]]
    rows = [
        [
            f"`{section.name}`",
            *(_place(encodings[seats], section.name) for seats in rules.players),
            _scale(encodings, section),
            section.meaning,
        ]
        for section in first.sections
    ]
    head = ["section", *(f"{seats} players" for seats in rules.players), "1.0 stands for", "meaning"]
    total = ["all", *(str(encodings[seats].size) for seats in rules.players), "", f"encoding version {ENCODING_VERSION}"]
    return table(head, [*rows, total])


def _place(encoding: Encoding, name: str) -> str:
    section = encoding.section(name)
    last = section.start + section.size - 1
    return str(section.start) if section.size == 1 else f"{section.start} to {last}"


def _scale(encodings: dict[int, Encoding], section: Section) -> str:
    return by_seats({seats: int(encoding.section(section.name).scale) for seats, encoding in encodings.items()})


def actions(variant: str) -> list[str]:
    """Action ids in blocks, each with the text of its first and last."""
    rules = VARIANTS[variant]
    packed = pack_rules(rules, rules.players[0], False)
    row = numbers(packed)
    pips = rules.max_pip + 1
    blocks = [
        (arm * rules.num_tiles, rules.num_tiles, f"tile on arm `{ARM_NAMES[arm]}`, a double crosswise{'; the lead' if arm == 0 else ''}")
        for arm in range(rules.arms)
    ]
    if row.choice:
        blocks += [
            (int(row.flat_action) + arm * pips, pips, f"double lengthwise on arm `{ARM_NAMES[arm]}`{'; the lead' if arm == 0 else ''}")
            for arm in range(rules.arms)
        ]
    blocks += [(int(row.draw_action), 1, "draw one tile"), (int(row.pass_action), 1, "pass")]
    return table(["ids", "first", "last", "move"], [_block(packed, *block) for block in blocks])


def _block(packed: Any, start: int, count: int, meaning: str) -> list[str]:
    last = start + count - 1
    ids = f"{start} to {last}" if count > 1 else str(start)
    return [ids, f"`{move_text(packed, start, False)}`", f"`{move_text(packed, last, False)}`", meaning]


def perft(variant: str) -> list[str]:
    """Numbers of sequences of moves by depth, from the deal of seed 0."""
    counts: dict[str, list[int]] = json.loads(PERFT.read_text(encoding="utf-8"))[variant]
    depths = zip(*counts.values(), strict=True)
    rows = [[str(depth), *(f"{count:,}" for count in row)] for depth, row in enumerate(depths, 1)]
    return table(["moves", *(f"{seats} players" for seats in counts)], rows)


def variants(folder: str) -> list[str]:
    """All variants in one table; ``folder`` leads from the page to their pages."""
    rows, lines = [], in_a_line()
    for name, rules in VARIANTS.items():
        if name not in lines:
            raise ValueError(f"variants.py: no line '# 3.x — Title: what it is.' stands above {name.upper()}")
        target = by_seats(dict(rules.target))
        rows.append([f"[`{name}`]({folder}{name}.md)", f"{rules.players[0]} to {rules.players[-1]}", target, lines[name]])
    return table(["variant", "players", "target", "in a line"], rows)


def fields() -> list[str]:
    """Every field of ``Rules``: meaning, values, default."""
    rows = []
    for name, default in defaults().items():
        values = [f"`{value}`: {meaning}" if meaning else f"`{value}`" for value, meaning in member_meanings(name).items()]
        rows.append([f"`{name}`", f"`{shown(default)}`", "<br>".join([field_meaning(name), *values])])
    return table(["field", "default", "meaning"], rows)


def presets() -> list[str]:
    """Field by variant, for the fields in which the variants differ."""
    rows = []
    for item in dataclasses.fields(Rules):
        values = [shown(getattr(rules, item.name)) for rules in VARIANTS.values()]
        if item.name != "variant" and len(set(values)) > 1:
            rows.append([f"`{item.name}`", *values])
    return table(["field", *VARIANTS], rows)


def files(folder: str) -> list[str]:
    """The modules of a folder of the package, or of the clone, each with the first paragraph of its docstring."""
    rows = []
    place = PACKAGE / folder if (PACKAGE / folder).is_dir() else ROOT / folder
    for path in sorted(place.glob("*.py")):
        if path.stem != "__init__":
            rows.append([f"`{folder}/{path.name}`", module_meaning(path)])
    return table(["file", "question that it answers"], rows)
