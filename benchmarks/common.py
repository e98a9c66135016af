"""How things are timed: short slices of all cases in turn; the fastest and the median are told, and ratios turn by turn."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Any

from rich.console import Console
from rich.table import Table

__all__ = ["Case", "Rate", "machine", "measure", "options", "parser", "pin", "positive", "report", "seconds", "tell"]


@dataclass(frozen=True)
class Case:
    """One thing to measure: ``run`` makes some steps and returns how many."""

    name: str
    run: Callable[[], int]
    note: str = ""


@dataclass(frozen=True)
class Rate:
    """Steps per second of one case."""

    name: str
    best: float
    """Of the fastest slice: what the code can do when nothing else runs."""
    median: float
    times_baseline: float | None
    """Median over the slices of its rate divided by the baseline's in the same turn, which holds when the machine's speed drifts."""
    note: str


def pin(cores: int = 1) -> None:
    """Stay on so many cores, where the system lets a process choose."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:cores]))


def measure(cases: Sequence[Case], slices: int, baseline: str | None = None) -> list[Rate]:
    """Warm every case up, then time all of them in turn, ``slices`` times."""
    for case in cases:
        case.run()
    rates: dict[str, list[float]] = {case.name: [] for case in cases}
    for _ in range(slices):
        for case in cases:
            start = time.perf_counter()
            steps = case.run()
            rates[case.name].append(steps / (time.perf_counter() - start))
    base = rates.get(baseline or "")
    out = []
    for case in cases:
        mine = rates[case.name]
        times = statistics.median(a / b for a, b in zip(mine, base, strict=True)) if base else None
        out.append(Rate(case.name, max(mine), statistics.median(mine), times, case.note))
    return out


def positive(text: str) -> int:
    """A whole number from 1 on, for ``argparse``."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value}, but it is at least 1")
    return value


def seconds(text: str) -> float:
    """A time above 0, for ``argparse``."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{value}, but it is above 0")
    return value


def parser(description: str, slices: int = 15) -> argparse.ArgumentParser:
    """What the command lines of all benchmarks have in common."""
    out = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    out.add_argument("--json", action="store_true", help="print JSON")
    out.add_argument("--slices", type=positive, default=slices, help="how often each case has its turn (%(default)s)")
    return out


def options(description: str) -> argparse.Namespace:
    """Command line of a benchmark that asks for no more than that."""
    return parser(description).parse_args()


def machine() -> dict[str, Any]:
    """What the figures depend on."""
    packages = ("domino-env", "numba", "numpy", "gymnasium", "pettingzoo", "stable-baselines3", "sb3-contrib", "torch", "open-spiel")
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


def tell(text: str) -> None:
    """Show on a terminal how far a long run has come."""
    if sys.stderr.isatty():
        print(text, file=sys.stderr, flush=True)


def report(title: str, rates: Sequence[Rate], baseline: str, as_json: bool) -> None:
    """Print the rates, and how many times as fast as ``baseline`` each is."""
    if as_json:
        print(json.dumps({"title": title, "machine": machine(), "baseline": baseline, "rates": [asdict(rate) for rate in rates]}, indent=1))
        return
    table = Table(title=title, caption=f"times: median over turns of the rate divided by that of {baseline} in the same turn")
    table.add_column("what")
    for head in ("steps/s, fastest slice", "steps/s, median", "times"):
        table.add_column(head, justify="right")
    table.add_column("note")
    for rate in rates:
        times = "" if rate.times_baseline is None else f"{rate.times_baseline:,.2f}"
        table.add_row(rate.name, f"{rate.best:,.0f}", f"{rate.median:,.0f}", times, rate.note)
    console = Console(width=140)
    console.print(table)
    console.print(machine())
