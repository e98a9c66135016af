"""The ladder: random, greedy, searches and trained agents of every variant with two seats, each against each on duplicate deals.

``python -m benchmarks.strength --deals 1000 --write`` plays what is missing in ``docs/strength.json`` and writes it there, a variant at a
time, so that a run that was stopped goes on; ``python -m docs.make_tables`` puts it into ``docs/strength.md``. Times are of one core.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks.common import pin
from domino_env import VARIANTS
from domino_env.arena import compare
from domino_env.files import write_file

FILE = Path(__file__).resolve().parents[1] / "docs" / "strength.json"
SEED = 2
"""Of the deals; the tables of the shipped agents have seed 1, trainings others."""
SEARCHES = ("search:pimc?worlds=16", "search:pimc?worlds=64", "search:ismcts?simulations=200", "search:ismcts?simulations=1000")


def ladder(variant: str) -> list[str]:
    return ["random", "greedy", *SEARCHES, f"{variant}/dqn", f"{variant}/ppo"]


def measured(variant: str, deals: int) -> dict[str, Any]:
    found = compare(ladder(variant), variant, deals=deals, seed=SEED).to_json()
    return {"deals": deals, "seed": SEED, **{name: found[name] for name in ("pairs", "times", "ratings") if name in found}}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.strength", description=__doc__.split("\n")[0])
    parser.add_argument("variants", nargs="*", default=list(VARIANTS))
    parser.add_argument("--deals", type=int, default=1000)
    parser.add_argument("--write", action="store_true", help=f"keep the result in {FILE.name}; what it holds already is not played again")
    asked = parser.parse_args()
    pin()
    kept: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8")) if asked.write and FILE.exists() else {}
    for variant in asked.variants:
        if kept.get(variant, {}).get("deals") == asked.deals:
            continue
        kept[variant] = measured(variant, asked.deals)
        for pair in kept[variant]["pairs"]:
            points = pair["points"]
            print(
                f"{variant}: {pair['first']} {points['mean']:+.3f} [{points['low']:+.3f}, {points['high']:+.3f}] against {pair['second']}"
            )
        if asked.write:
            write_file(FILE, json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
