"""``domino variants``: all rule sets in a table, or one of them in full."""

from __future__ import annotations

import ast
import inspect
import textwrap
from enum import StrEnum
from pathlib import Path
from typing import Any

from domino_env.commands.common import load_rules, print_table, say, say_json
from domino_env.rules import Rules
from domino_env.variants import SOURCES, VARIANTS

__all__ = ["show_variant", "show_variants"]

INDENT = 30


def show_variants(as_json: bool) -> None:
    """Every variant with its seats, hands, target and sizes."""
    if as_json:
        say_json([_specs(rules) for rules in VARIANTS.values()])
        return
    rows = []
    for rules in VARIANTS.values():
        seats = _specs(rules)["seats"]
        texts = [_joined(seat[name] for seat in seats) for name in ("players", "hand", "target", "observation", "actions")]
        rows.append([rules.variant, *texts])
    columns = ("variant", "players", "hand", "target", "observation", "actions")
    print_table("", columns, rows, caption="by number of players; 'domino variants NAME' shows the rules of one in full")


def show_variant(variant: str, rules_file: Path | None, as_json: bool) -> None:
    """One rule set, field by field, each with what it means."""
    rules = load_rules(variant, rules_file)
    if as_json:
        say_json({**_specs(rules), "rules": rules.to_json()})
        return
    specs = _specs(rules)
    say(f"{variant}: rules of {specs['source']}; fingerprint {specs['fingerprint']}")
    say()
    for seat in specs["seats"]:
        sizes = f"{seat['observation']} numbers observed, {seat['actions']} actions"
        say(f"{seat['players']} players: {seat['hand']} tiles each, target {seat['target']}; {sizes}")
    say()
    meanings = _meanings(Rules)
    for name, value in rules.to_json().items():
        _say_field(name, value, meanings.get(name, ""), getattr(rules, name))


def _specs(rules: Rules) -> dict[str, Any]:
    from domino_env.encoding import Encoding
    from domino_env.engine.packed import numbers, pack_rules

    seats = []
    for players in rules.players if not rules.sides else (4,):
        actions = int(numbers(pack_rules(rules, players, one_round=True)).num_actions)
        sizes = {"observation": Encoding(rules, players).size, "actions": actions}
        seats.append({"players": players, "hand": rules.hand[players], "target": rules.target[players], **sizes})
    return {"variant": rules.variant, "source": SOURCES.get(rules.variant, ""), "fingerprint": rules.fingerprint(), "seats": seats}


def _joined(values: Any) -> str:
    """``7/7/6/5``; one value where all are equal."""
    texts = [str(value) for value in values]
    return texts[0] if len(set(texts)) == 1 else "/".join(texts)


def _say_field(name: str, value: Any, meaning: str, member: Any) -> None:
    if isinstance(value, dict):
        value = ", ".join(f"{seats} players {number}" for seats, number in value.items())
    elif isinstance(value, list):
        value = ", ".join(map(str, value)) or "none"
    elif isinstance(value, bool):
        value = "yes" if value else "no"
    if isinstance(member, StrEnum):
        meaning = " ".join(text for text in (meaning, _meanings(type(member)).get(member.name, "")) if text)
    if name == "variant" or value == "":
        return
    say(f"{name:<{INDENT - 1}} {value}")
    if meaning:
        say(textwrap.fill(meaning.replace("``", ""), 100, initial_indent=" " * INDENT, subsequent_indent=" " * INDENT))


def _meanings(owner: type) -> dict[str, str]:
    """Name -> the text that stands under a field of a class, in its source."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
    assert isinstance(body, ast.ClassDef)
    out = {}
    for field, text in zip(body.body, body.body[1:], strict=False):
        names = [target.id for target in getattr(field, "targets", [getattr(field, "target", None)]) if isinstance(target, ast.Name)]
        if names and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str):
            out[names[0]] = " ".join(text.value.value.split())
    return out
