"""How things are timed: short slices, of which the fastest and the median are told, on one core."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Any

from rich.console import Console
from rich.table import Table

__all__ = ["Rate", "options", "pin", "rate_of", "report"]


@dataclass(frozen=True)
class Rate:
    """Steps per second of one thing measured."""

    name: str
    best: float
    """Of the fastest slice: what the code can do when nothing else runs."""
    median: float
    note: str = ""


def pin() -> None:
    """Stay on one core, where the system lets a process choose."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def rate_of(name: str, run: Callable[[], int], slices: int, note: str = "") -> Rate:
    """Call ``run``, which returns the steps it made, once to warm up and then ``slices`` times."""
    run()
    rates = []
    for _ in range(slices):
        start = time.perf_counter()
        steps = run()
        rates.append(steps / (time.perf_counter() - start))
    return Rate(name, max(rates), statistics.median(rates), note)


def options(description: str) -> argparse.Namespace:
    """Command line of a benchmark."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--slices", type=int, default=15, help="how often each thing is timed")
    return parser.parse_args()


def machine() -> dict[str, Any]:
    """What the figures depend on."""
    packages = ("domino-env", "numba", "numpy", "gymnasium", "pettingzoo", "stable-baselines3", "open-spiel")
    versions = {name: _version(name) for name in packages}
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 0
    return {
        "python": platform.python_version(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": round(pages / 2**30),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "versions": versions,
    }


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def report(title: str, rates: Sequence[Rate], baseline: str | None, as_json: bool) -> None:
    """Print the rates, and how many times as fast as ``baseline`` each is."""
    base = next((rate.median for rate in rates if rate.name == baseline), None)
    if as_json:
        print(json.dumps({"title": title, "machine": machine(), "baseline": baseline, "rates": [asdict(rate) for rate in rates]}, indent=1))
        return
    table = Table(title=title)
    table.add_column("what")
    for head in ("steps/s, fastest slice", "steps/s, median", f"times {baseline}" if base else ""):
        if head:
            table.add_column(head, justify="right")
    table.add_column("note")
    for rate in rates:
        cells = [rate.name, f"{rate.best:,.0f}", f"{rate.median:,.0f}"]
        if base:
            cells.append(f"{rate.median / base:,.2f}")
        table.add_row(*cells, rate.note)
    console = Console(width=140)
    console.print(table)
    console.print(machine())
