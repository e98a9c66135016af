"""What the tests of the arena share."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import numpy as np
from rich.console import Console

from domino_env.arena import Comparison
from domino_env.policies import Batch, RandomPolicy


class OtherRandom(RandomPolicy):
    """As good as random, but with other chances."""

    name = "other random"

    def __init__(self, number: int) -> None:
        self.number = np.uint64(number * 0x9E3779B97F4A7C15 % 2**64)

    def act(self, batch: Batch) -> Any:
        return super().act(replace(batch, random=batch.random ^ self.number))


def printed(result: Comparison) -> str:
    console = Console(width=160, file=io.StringIO(), record=True)
    console.print(result.table())
    return console.export_text()
