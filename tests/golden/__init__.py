"""Golden games as records, and perft counts. Made by ``python -m tests.make_golden``; tests replay them and change nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from domino_env.notation import load_record

__all__ = ["FOLDER", "golden_names", "golden_record"]

FOLDER = Path(__file__).resolve().parent


def golden_names() -> list[str]:
    """Names of the golden records, ascending."""
    return sorted(path.stem for path in FOLDER.glob("*.json") if not path.stem.startswith("perft"))


def golden_record(name: str) -> dict[str, Any]:
    """The golden record of that name."""
    return load_record(FOLDER / f"{name}.json")
