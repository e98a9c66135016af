"""Records to make pages of, and what stands in a page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from domino_env.commands.table import Table
from domino_env.notation.records import to_record
from domino_env.variants import VARIANTS

GOLDEN = Path(__file__).resolve().parent / "golden"


def golden(name: str) -> dict[str, Any]:
    """A golden record."""
    record: dict[str, Any] = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    return record


def played(variant: str, specs: list[str], seed: int = 0, episode: str = "round", moves: int | None = None) -> dict[str, Any]:
    """The record of a game between policies, of its first ``moves`` where given."""
    table = Table(VARIANTS[variant], specs, episode, seed)
    made = 0
    while not table.game.over and made != moves:
        table.game.deal_if_due()
        policy = table.policies[table.game.seat]
        assert policy is not None
        table.move(table.decide(policy), shown=True)
        made += 1
    return to_record(table.game)


def page_data(page: str) -> dict[str, Any]:
    """The JSON in a page."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data
