"""Write the generated parts of the docs: ``python -m docs.make_tables``; with ``--check`` only say which are stale.

A generated part stands between ``<!-- name argument -->`` and ``<!-- /name -->``. On a page of ``docs/variants/`` the
argument may be left out: it is the variant that the page is named after.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path

from docs import benchmark_tables, exact_tables, integration_tables, shopping_tables, strength_tables, tables, training_tables

__all__ = ["MAKERS", "VARIANT_PARTS", "fill", "main", "pages", "parts_of"]

ROOT = tables.ROOT
MAKERS: dict[str, Callable[..., list[str]]] = {
    "specs": tables.specs,
    "observation": tables.observation,
    "actions": tables.actions,
    "perft": tables.perft,
    "variants": tables.variants,
    "fields": tables.fields,
    "presets": tables.presets,
    "files": tables.files,
    "config_keys": training_tables.config_keys,
    "agents": training_tables.agents,
    "best_agents": training_tables.best_agents,
    "exact": exact_tables.exact,
    "integration": integration_tables.integration,
    "benchmark_protocol": benchmark_tables.benchmark_protocol,
    "benchmark_scores": benchmark_tables.benchmark_scores,
    "strength": strength_tables.strength,
    "strength_gap": strength_tables.strength_gap,
    "strength_times": strength_tables.strength_times,
    "shopping_observation": shopping_tables.shopping_observation,
    "shopping_words": shopping_tables.shopping_words,
    "shopping_keys": shopping_tables.shopping_keys,
    "shopping_survival": shopping_tables.shopping_survival,
    "shopping_agents": shopping_tables.shopping_agents,
}
VARIANT_PARTS = ("specs", "observation", "actions", "perft")
"""Parts that the page of every variant must have."""

_PART = re.compile(rf"<!-- ({'|'.join(MAKERS)})(?: (\S+))? -->\n(.*?)<!-- /\1 -->", re.DOTALL)


def pages() -> list[Path]:
    """README, that of ``checkpoints``, and all pages below ``docs``."""
    return [ROOT / "README.md", ROOT / "checkpoints" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def parts_of(text: str) -> list[str]:
    """Names of the generated parts of a page, in order."""
    return [match[1] for match in _PART.finditer(text)]


def fill(path: Path, text: str) -> str:
    """The text of the page ``path`` with its generated parts made anew."""

    def made(match: re.Match[str]) -> str:
        name, argument = match[1], match[2]
        if argument is None and name in VARIANT_PARTS:
            argument = path.stem
        lines = MAKERS[name]() if argument is None else MAKERS[name](argument)
        head = f"<!-- {match[1]}{' ' + match[2] if match[2] else ''} -->"
        return "\n".join([head, *lines, f"<!-- /{name} -->"])

    return _PART.sub(made, text)


def main(arguments: list[str] | None = None) -> int:
    """Write the pages, or check them. Returns 1 where a checked page is stale."""
    parser = argparse.ArgumentParser(prog="python -m docs.make_tables", description="Write the generated parts of the docs.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 where a page is stale")
    check = parser.parse_args(arguments).check
    stale = 0
    for path in pages():
        old = path.read_text(encoding="utf-8")
        new = fill(path, old)
        if new != old:
            stale += 1
            sys.stdout.write(f"{'stale' if check else 'written'}: {path.relative_to(ROOT).as_posix()}\n")
            if not check:
                path.write_text(new, encoding="utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
