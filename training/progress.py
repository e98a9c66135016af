"""What a run says while it goes on: a bar on a terminal, a line now and then elsewhere; always on stderr."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

__all__ = ["Progress"]


class Progress:
    """Decisions per second, remaining time, mean return and win share over the last games, and the last evaluation."""

    def __init__(self, total: int, lines: int = 10) -> None:
        self._total = total
        self._each = max(1, total // lines)
        self._next_line = self._each
        self.seconds = 0.0
        """Seconds that the run has taken, over all its starts."""
        self._last = (time.perf_counter(), 0)
        self._found = ""
        columns: list[ProgressColumn] = [
            BarColumn(),
            TextColumn("{task.fields[text]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        ]
        self._bar = Bar(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty())
        self._task = self._bar.add_task("training", total=total, text="")

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bar.stop()

    def begin(self, decisions: int) -> None:
        """The run goes on from so many decisions."""
        self._last = (time.perf_counter(), decisions)
        self._next_line = (decisions // self._each + 1) * self._each
        self._bar.update(self._task, completed=decisions)

    def evaluated(self, headline: str) -> None:
        """Keep what an evaluation found for the next line."""
        self._found = f", {headline}"

    def tell(self, decisions: int, mean_return: float, win_share: float | None) -> float:
        """Show where the run is; returns the decisions per second since the last call."""
        now = time.perf_counter()
        begun, before = self._last
        self._last = (now, decisions)
        self.seconds += now - begun
        rate = (decisions - before) / max(1e-9, now - begun)
        games = "" if win_share is None else f", return {mean_return:+.3f}, won {win_share:.1%}"
        text = f"{rate:,.0f} decisions/s{games}{self._found}"
        self._bar.update(self._task, completed=min(decisions, self._total), text=text)
        if self._bar.disable and decisions >= self._next_line:
            self._next_line = (decisions // self._each + 1) * self._each
            print(f"{decisions:>12,} of {self._total:,} decisions: {text}", file=sys.stderr, flush=True)
        return rate
