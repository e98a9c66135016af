"""The tables of ``docs/strength.md``, each a list of Markdown lines, from ``docs/strength.json`` as ``benchmarks.strength`` writes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from docs.tables import ROOT, table

__all__ = ["strength", "strength_gap", "strength_times"]

FILE = ROOT / "docs" / "strength.json"
SEARCH = "search:pimc?worlds=64"


def _read() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def _pair(found: Mapping[str, Any], first: str, second: str) -> tuple[float, float, float]:
    """Mean, low and high of the points of ``first`` against ``second``."""
    for pair in found["pairs"]:
        points = pair["points"]
        if (pair["first"], pair["second"]) == (first, second):
            return points["mean"], points["low"], points["high"]
        if (pair["first"], pair["second"]) == (second, first):
            return -points["mean"], -points["high"], -points["low"]
    raise ValueError(f"{FILE.name}: no pair {first}, {second}")


def _text(points: tuple[float, float, float]) -> str:
    return f"{points[0]:+.2f} [{points[1]:+.2f}, {points[2]:+.2f}]"


def _policies(variant: str, found: Mapping[str, Any]) -> dict[str, str]:
    """Name in the head of a table -> name of the policy."""
    return {time["name"].removeprefix(f"{variant}/").removeprefix("search:"): time["name"] for time in found["times"]}


def strength() -> list[str]:
    """Every policy against greedy, a row for each variant."""
    rows, head = [], ["variant", "deals"]
    for variant, found in _read().items():
        policies = {short: name for short, name in _policies(variant, found).items() if name != "greedy"}
        head = ["variant", "deals", *(f"`{short}`" for short in policies)]
        rows.append([f"`{variant}`", f"{found['deals']:,}", *(_text(_pair(found, name, "greedy")) for name in policies.values())])
    return table(head, rows)


def strength_gap() -> list[str]:
    """The search with 64 worlds against the agents, head to head."""
    rows = []
    for variant, found in _read().items():
        rows.append([f"`{variant}`", *(_text(_pair(found, SEARCH, f"{variant}/{kind}")) for kind in ("ppo", "dqn"))])
    return table(["variant", f"`{SEARCH}` against PPO", "against DQN"], rows)


def strength_times() -> list[str]:
    """Milliseconds per decision."""
    rows, head = [], ["variant"]
    for variant, found in _read().items():
        policies = _policies(variant, found)
        times = {time["name"]: time["microseconds"] for time in found["times"]}
        head = ["variant", *(f"`{short}`" for short in policies)]
        rows.append([f"`{variant}`", *(f"{times[name] / 1000:.3g}" for name in policies.values())])
    return table(head, rows)
