"""The command line, run within a test."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Done(NamedTuple):
    status: int
    out: str
    err: str


Run = Callable[..., Done]
