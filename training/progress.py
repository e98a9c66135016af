"""What a run says while it goes on: a bar with rate, remaining time and mean return, silent where nobody watches."""

from __future__ import annotations

import sys
from types import TracebackType

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from stable_baselines3.common.callbacks import BaseCallback

__all__ = ["ProgressCallback"]


class ProgressCallback(BaseCallback):
    """Shows decisions per second and the learner's mean return over the last games. A bar on a terminal, a line now and then elsewhere."""

    def __init__(self, total: int, lines: int = 10) -> None:
        super().__init__()
        self._total = total
        self._next_line = self._each = max(1, total // lines)
        columns: list[ProgressColumn] = [
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[rate]:>8,.0f} decisions/s  return {task.fields[mean]:+.3f}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        ]
        self._bar = Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty())
        self._task = self._bar.add_task("training", total=total, rate=0.0, mean=0.0)

    def __enter__(self) -> ProgressCallback:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bar.stop()

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        mean = self.mean_return
        rate = self.num_timesteps / max(1e-9, self._bar.tasks[0].elapsed or 1e-9)
        self._bar.update(self._task, completed=min(self.num_timesteps, self._total), rate=rate, mean=mean)
        if self._bar.disable and self.num_timesteps >= self._next_line:
            self._next_line += self._each
            print(
                f"{self.num_timesteps:>12,} of {self._total:,} decisions, {rate:,.0f} a second, mean return {mean:+.3f}",
                file=sys.stderr,
                flush=True,
            )

    @property
    def mean_return(self) -> float:
        """Mean return of the last 2,000 games."""
        recent = self.model.ep_info_buffer
        return float(np.mean([game["r"] for game in recent])) if recent else 0.0
