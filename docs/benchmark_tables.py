"""The tables of ``docs/benchmark.md``, each a list of Markdown lines: the protocol, and the results in ``docs/benchmark.json``."""

from __future__ import annotations

import json
from typing import Any

from docs.tables import ROOT, table
from domino_env.benchmark import SETTINGS

__all__ = ["benchmark_protocol", "benchmark_scores"]

FILE = ROOT / "docs" / "benchmark.json"
TRACKS = {"two": "two seats", "more": "more seats"}


def benchmark_protocol() -> list[str]:
    """Every setting, with its deals and opponents."""
    rows = []
    for name, setting in SETTINGS.items():
        opponents = ", ".join(f"`{opponent.spec}`" for opponent in setting.opponents)
        rounds = setting.deals("full") * setting.rounds_per_deal
        rows.append([f"`{name}`", f"{setting.deals('full'):,}", f"{rounds:,}", str(setting.spread), str(setting.seed), opponents])
    return table(["setting", "deals", "rounds against each", "spread", "seed", "opponents"], rows)


def benchmark_scores() -> list[str]:
    """The scores of the policies that come with the benchmark, a row for each setting and each track."""
    results = json.loads(FILE.read_text(encoding="utf-8"))["results"]
    scores = [{found["setting"]: found["score"] for found in told["settings"]} for told in results.values()]
    rows = [[f"`{name}`", *(_text(of.get(name)) for of in scores)] for name in SETTINGS]
    for track, meaning in TRACKS.items():
        rows.append([f"**{meaning}**", *(_text(told["scores"][track]) for told in results.values())])
    return table(["score", *(f"`{told['policy']['spec']}`" for told in results.values())], rows)


def _text(score: dict[str, Any] | None) -> str:
    return "" if score is None else f"{score['mean']:+.1f} ± {(score['high'] - score['low']) / 2:.1f}"
