"""The table of exact figures in ``docs/openspiel.md``, from ``docs/exact.json`` as ``benchmarks.exact`` writes it."""

from __future__ import annotations

import json
import re

from docs.tables import ROOT, table

__all__ = ["exact"]

FILE = ROOT / "docs" / "exact.json"


def exact() -> list[str]:
    """Size, value and exploitability, a row for each game."""
    found = json.loads(FILE.read_text(encoding="utf-8"))
    policies = list(next(iter(found.values()))["exploitability"])
    rows = []
    for text, one in found.items():
        low, high = one["value"]
        value = "0, alike for both" if "leader" not in text else f"{(low + high) / 2 + 0.0:+.4f}"
        figures = (f"{one['exploitability'][name]:.4f}" for name in policies)
        rows.append([f"`{_short(text)}`", f"{one['positions']:,}", f"{one['sets']:,}", value, *figures])
    heads = (f"`{name.removeprefix('search:')}`" if ":" in name else name for name in policies)
    return table(["game", "positions", "information sets", "value for the leader", *heads], rows)


def _short(text: str) -> str:
    """``bergen(max_pip=2,hand=2)`` for ``domino_bergen(max_pip=2,hand=2)``; a reserve that leaves all to be drawn is not told."""
    return re.sub(r",reserve=0|,leader=0", "", text.removeprefix("domino_"))
