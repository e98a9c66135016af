"""The results that come with the benchmark: random, greedy, the search and the shipped agents, in full.

``python -m benchmarks.references FOLDER`` plays what is missing in the result files of FOLDER and writes their figures to
``docs/benchmark.json``; stopped, it goes on where it was. ``python -m docs.make_tables`` puts them into ``docs/benchmark.md``.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks.common import pin
from domino_env.benchmark import PROTOCOL_VERSION, Result, run
from domino_env.benchmark.result import to_text
from domino_env.files import write_file

FILE = Path(__file__).resolve().parents[1] / "docs" / "benchmark.json"
REFERENCES = {
    "random": "random",
    "greedy": "greedy",
    "search64": "search:pimc?worlds=64",
    "dqn": "{variant}/dqn",
    "ppo": "{variant}/ppo",
    "ppo_more_seats": "{variant}/ppo_{players}players",
}
"""Name -> what ``domino bench-policy`` takes."""
FIRST_DEALS = 20
"""Deals whose results are kept one by one, so that a test can play them again."""


def figures(result: Result) -> dict[str, Any]:
    """What is kept of a result: all but the single deals after the first ones."""
    told = result.to_json()
    for setting in told["settings"]:
        for pair in setting["pairs"]:
            pair["first_deals"] = pair.pop("points_by_deal")[:FIRST_DEALS]
            del pair["won_by_deal"]
    return told


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.references", description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="of the result files")
    asked = parser.parse_args()
    pin()
    asked.folder.mkdir(parents=True, exist_ok=True)
    kept = {}
    for name, spec in REFERENCES.items():
        kept[name] = figures(run(spec, out=asked.folder / f"{name}.json", name=name))
        print(f"{name}: {kept[name]['scores']}", flush=True)
    write_file(FILE, to_text({"protocol": PROTOCOL_VERSION, "results": kept}))


if __name__ == "__main__":
    main()
