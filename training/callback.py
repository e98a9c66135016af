"""What happens between updates: evaluating, taking snapshots, seating opponents, logging, saving, stopping."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback

from domino_env.files import write_file
from domino_env.policies import save_checkpoint
from training.config import RunConfig, TrainingConfig
from training.evaluation import curve_tag
from training.kinds import kind_of
from training.league import League
from training.progress import Progress
from training.run_folder import RunFolder
from training.state import get_model_state, set_model_state
from training.state_file import save_state

__all__ = ["RunCallback", "StopRun"]

_LOG_EVERY = 16_384
"""Decisions between two lines of the log."""


class StopRun(Exception):  # noqa: N818 -- no error
    """The run was asked to stop, and is saved."""


class RunCallback(BaseCallback):
    """Everything is due by the number of decisions made, never by the clock, but for saving: so a run that was stopped and
    resumed does the same as one that was not.
    """

    def __init__(self, config: RunConfig, env: Any, folder: RunFolder, progress: Progress, command: str) -> None:
        super().__init__()
        self.config, self.env, self.folder, self.progress, self.command = config, env, folder, progress, command
        self.stop: Callable[[], bool] = lambda: False
        """Whether the run was asked to stop."""
        self.kind = kind_of(config)
        meta = self.kind.checkpoint_meta(config, 0, command)
        self.evaluator = self.kind.make_evaluator(config, meta)
        self.league = League(config, meta) if isinstance(config, TrainingConfig) and config.has_opponents else None
        self._every = {"evaluation": config.evaluation_every, "snapshot": config.snapshot_every, "log": _LOG_EVERY}
        # next evaluation, snapshot, line of the log
        self._due = dict(self._every)
        self._saved_at = -np.inf
        self._logged_at = -1

    # ---------------------------------------------------------------------------------------------------- state

    def state(self) -> dict[str, Any]:
        """The whole run, for ``state_file``."""
        return {
            "versions": self.kind.VERSIONS,
            "command": self.command,
            "config": self.config.whole(),
            "model": get_model_state(self.model, self.env, self.kind),
            "league": None if self.league is None else self.league.get_state(),
            "evaluator": self.evaluator.get_state(),
            "due": dict(self._due),
            "seconds": self.progress.seconds,
        }

    def restore(self, model: Any, state: dict[str, Any]) -> None:
        """Go on from a state."""
        set_model_state(model, self.env, self.kind, state["model"])
        if self.league is not None:
            self.league.set_state(state["league"])
        self.evaluator.set_state(state["evaluator"])
        self._due = dict(state["due"])
        self.progress.seconds = state["seconds"]

    # ---------------------------------------------------------------------------------------------------- hooks

    def _on_training_start(self) -> None:
        self._seat_opponents()
        self._saved_at = time.monotonic()
        self.progress.begin(self.num_timesteps)

    def _on_step(self) -> bool:
        if self.league is not None:
            self.league.count(self.env.games.views)
        return True

    def _on_rollout_start(self) -> None:
        self._between_updates()
        if self.stop():
            self.save()
            raise StopRun
        if time.monotonic() - self._saved_at >= 60 * self.config.save_minutes:
            self.save()

    def _on_training_end(self) -> None:
        self._between_updates(last=True)
        self.save()

    def _between_updates(self, last: bool = False) -> None:
        tell = last and self._logged_at < self.num_timesteps
        if self._is_due("evaluation") or (last and self._is_unevaluated()):
            self._evaluate()
            tell = True
        if self._is_due("snapshot") and self.league is not None:
            self.league.add_snapshot(self.kind.checkpoint_weights(self.model), self.num_timesteps)
            self._seat_opponents()
        if self._is_due("log"):
            if self.league is not None:
                self.league.refresh()
                self._seat_opponents()
            tell = True
        if tell:
            self._log()

    def _is_unevaluated(self) -> bool:
        results = self.evaluator.results
        return self._every["evaluation"] > 0 and (not results or results[-1]["decisions"] < self.num_timesteps)

    def _is_due(self, what: str) -> bool:
        every = self._every[what]
        if not every or self.num_timesteps < self._due[what]:
            return False
        self._due[what] = (self.num_timesteps // every + 1) * every
        return True

    def _seat_opponents(self) -> None:
        if self.league is not None:
            self.league.seat(self.env)

    # ---------------------------------------------------------------------------------------------------- output

    def save(self) -> None:
        """Write the checkpoint and the state of this moment. The state comes last: where it stands, all before it does."""
        self._write_checkpoint(self.folder.last)
        save_state(self.folder.state, self.state())
        self._saved_at = time.monotonic()

    def _write_checkpoint(self, path: Path) -> None:
        meta = self.kind.checkpoint_meta(self.config, self.num_timesteps, self.command)
        save_checkpoint(path, self.kind.checkpoint_weights(self.model), meta)

    def _evaluate(self) -> None:
        best = self.evaluator.best
        result = self.evaluator.run(self.kind.checkpoint_weights(self.model), self.num_timesteps)
        if self.evaluator.best > best:
            self._write_checkpoint(self.folder.best)
        write_file(self.folder.evaluations, json.dumps(self.evaluator.results, indent=1) + "\n")
        for name, value in self.evaluator.curves(result).items():
            self.logger.record(f"evaluation/{name}", value)
        self.progress.evaluated(self.evaluator.headline(result))

    def _log(self) -> None:
        """One line of the curves; what the update itself tells is in the logger already."""
        league, record = self.league, self.logger.record
        episodes = self.model.ep_info_buffer or ()
        rate = self.progress.tell(self.num_timesteps, _mean(episodes, "r"), None if league is None else league.win_share)
        record("time/total_timesteps", self.num_timesteps)
        record("time/decisions_per_second", rate)
        record("time/seconds", self.progress.seconds)
        record("train/learning_rate", self.model.policy.optimizer.param_groups[0]["lr"])
        if episodes or league is not None:
            record("rollout/return", _mean(episodes, "r"))
            record("rollout/decisions_per_game", _mean(episodes, "l"))
        if league is not None:
            record("rollout/win_share", league.win_share)
            for name, share, chance in league.report():
                record(f"opponents/{curve_tag(name)}_win_share", share)
                record(f"opponents/{curve_tag(name)}_chance", chance)
        self.logger.dump(self.num_timesteps)
        self._logged_at = self.num_timesteps


def _mean(episodes: Any, key: str) -> float:
    return float(np.mean([episode[key] for episode in episodes])) if len(episodes) else float("nan")
