"""Exact figures of games small enough to be looked at whole: their values, and what a perfect opponent wins against each policy.

``python -m benchmarks.exact --write`` works out what is missing in ``docs/exact.json`` and writes it there, a game at a time;
``python -m docs.make_tables`` puts it into ``docs/openspiel.md``. Needs OpenSpiel.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from domino_env import VARIANTS, load_policy
from domino_env.errors import OptionsError
from domino_env.files import write_file
from domino_env.rule_terms import DrawWhen, Opening

FILE = Path(__file__).resolve().parents[1] / "docs" / "exact.json"
POLICIES = ("random", "greedy", "search:pimc?worlds=64", "search:ismcts?simulations=1000")
ITERATIONS = 1024
"""Of CFR+, from which the bounds of the value come."""


def games() -> list[str]:
    """Of every variant double-two with two tiles a hand; those whose leader is drawn by lot with seat 0 leading; and double-three."""
    out = []
    for variant, rules in VARIANTS.items():
        leader = ",leader=0" if rules.opening == Opening.ANY else ""
        # of double-three one tile may be drawn: with two the game is too large to be looked at whole
        for max_pip, reserve in ((2, 0), (3, 5)):
            drawn = "" if rules.draw_when == DrawWhen.NEVER else f",reserve={reserve}"
            out.append(f"domino_{variant}(max_pip={max_pip},hand=2{drawn}{leader})")
    return out


def worked_out(text: str) -> dict[str, Any]:
    """Size, bounds of the value for seat 0, and exploitability of each policy, in points a round."""
    import pyspiel

    from domino_env.integrations.openspiel.small import SmallGame
    from training.exploitability import cfr_plus

    small = SmallGame(pyspiel.load_game(text))
    last = {count: table for count, table in cfr_plus(small.tree, ITERATIONS) if count in (32, ITERATIONS)}
    low, high = small.value_bounds(last[ITERATIONS])
    found = {spec: small.exploitability(small.policy(load_policy(spec))) for spec in POLICIES}
    found["CFR+ after 32 iterations"] = small.exploitability(last[32])
    return {"positions": small.num_positions, "sets": len(small.states), "value": [low, high], "exploitability": found}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exact", description=__doc__.split("\n")[0])
    parser.add_argument("games", nargs="*", default=games(), help="names as OpenSpiel takes them (left out: two of each variant)")
    parser.add_argument("--write", action="store_true", help=f"keep the result in {FILE.name}; what it holds already is not done again")
    asked = parser.parse_args()
    kept: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8")) if asked.write and FILE.exists() else {}
    for text in asked.games:
        if text in kept:
            continue
        try:
            found = kept[text] = worked_out(text)
        except OptionsError as error:  # too large
            print(error, flush=True)
            continue
        low, high = found["value"]
        told = ", ".join(f"{name} {value:.4f}" for name, value in found["exploitability"].items())
        print(f"{text}: {found['positions']:,} positions, value {(low + high) / 2:.4f} +- {(high - low) / 2:.4f}; {told}", flush=True)
        if asked.write:
            write_file(FILE, json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
