"""What the source says of itself: docstrings of fields, enum members and modules, and the line above each preset."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from domino_env import rule_terms
from domino_env.rules_check import ENUMS

PACKAGE = Path(rule_terms.__file__).parent

UNSAID = {
    "divisors": "The numbers that a sum of the ends is tried against.",
    "hit_points": "Points for a play that scores (`equal_ends` and `flat`).",
    "double_points": "Points for a play that scores with a double (`equal_ends` and `flat`).",
    "lucky_hit_points": "Points for a drawn tile that is placed for a scoring sum.",
    "out_points": "Points for going out, where `out_count` is `flat`.",
}
"""Fields whose name says it all in the source."""


def told(text: str) -> str:
    """A docstring as one line of Markdown."""
    return " ".join(text.split()).replace("``", "`")


def _attribute_docs(path: Path) -> dict[str, dict[str, str]]:
    """Class -> attribute -> the string that stands below it in the source."""
    docs: dict[str, dict[str, str]] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.ClassDef):
            continue
        found = docs.setdefault(node.name, {})
        for item, after in zip(node.body, node.body[1:], strict=False):
            target = item.target if isinstance(item, ast.AnnAssign) else item.targets[0] if isinstance(item, ast.Assign) else None
            if isinstance(target, ast.Name) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                found[target.id] = told(str(after.value.value))
    return docs


def field_meaning(name: str) -> str:
    """What a field of ``Rules`` means, as its source says it."""
    text = _attribute_docs(PACKAGE / "rules.py")["Rules"].get(name) or UNSAID.get(name)
    if text is None and name in ENUMS:
        text = told(ENUMS[name].__doc__ or "")
    if not text:
        raise ValueError(f"field {name} of Rules has no docstring")
    return text


def member_meanings(name: str) -> dict[str, str]:
    """Value -> meaning of the enum that the field ``name`` is of; empty where it is of none."""
    if name not in ENUMS:
        return {}
    kind = ENUMS[name]
    docs = _attribute_docs(Path(rule_terms.__file__))[kind.__name__]
    return {member.value: docs.get(member.name, "") for member in kind}


def in_a_line() -> dict[str, str]:
    """Name of a preset -> what the comment above it says behind the colon."""
    source = (PACKAGE / "variants.py").read_text(encoding="utf-8")
    found = re.findall(r"^# \d+\.\d+ — [^:\n]+: (.+)\n([A-Z_]+) = ", source, re.MULTILINE)
    return {name.lower(): text[0].upper() + text[1:] for text, name in found}


def module_meaning(path: Path) -> str:
    """The first paragraph of a module's docstring."""
    return told((ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n\n")[0])
