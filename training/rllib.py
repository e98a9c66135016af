"""A whole run on RLlib: from a config to checkpoints, and on from where it stopped or where a process was lost."""

from __future__ import annotations

import json
import math
import shlex
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import ray
from stable_baselines3.common.logger import Logger

from domino_env.errors import DominoError
from domino_env.files import replacing, write_file
from domino_env.integrations.ray_cluster import LOCAL, connected
from domino_env.policies import save_checkpoint
from training.algorithms import VERSIONS, checkpoint_meta
from training.config import ConfigError
from training.config_file import dump_config
from training.evaluation import Evaluator, curve_tag
from training.league import League
from training.progress import Progress
from training.rllib_algorithm import Runners, make_algorithm, module_weights, stop_algorithm
from training.rllib_config import RllibConfig
from training.run_folder import RunFolder, check_output
from training.running import check_same, open_logger, stop_signals
from training.state_file import load_state, save_state

__all__ = ["train"]

_PATIENCE = 300.0
"""Seconds without a decision after which a run is taken for lost."""


def train(
    config: RllibConfig, folder: Path, command: list[str], address: str = LOCAL, resume: bool = False, output: Path | None = None
) -> Path:
    """Train as ``config`` says, in ``folder``, on the cluster at ``address``; returns the best checkpoint. ``command`` is kept in headers.

    With ``resume``, go on from the last save in the folder; from the start where there is none. ``output``: a place for a copy of the best
    checkpoint. Ctrl-C and SIGTERM save and raise ``KeyboardInterrupt``. Raises ``ConfigError`` before training starts if the files
    could not be written, the folder holds a run, or the state is that of another config; ``OptionsError`` where there is no cluster.
    """
    place = RunFolder(folder)
    run = _Run(config, place, shlex.join(command))
    check_output(output)
    with place.claim(resume), run.progress, connected(address, max(2, config.ray.num_env_runners + config.ray.num_learners + 1)):
        run.play()
    best = place.best if place.best.exists() else place.last
    if output is None:
        return best
    with replacing(output) as beside:
        shutil.copyfile(best, beside)
    return output


class _Run:
    """Everything but saving is due by the number of decisions made, never by the clock."""

    def __init__(self, config: RllibConfig, place: RunFolder, command: str) -> None:
        self.config, self.place, self.command = config, place, command
        self.progress = Progress(config.decisions)
        self._meta = checkpoint_meta(config, 0, command)
        self._every = {"evaluation": config.evaluation_every, "snapshot": config.snapshot_every}
        self._begin()

    def _begin(self) -> None:
        """As a run begins, before its state is read."""
        self.decisions = 0
        self._due = dict(self._every)
        self._evaluator = Evaluator(self.config, self._meta)
        self._league = League(self.config, self._meta) if self.config.has_opponents else None

    def play(self) -> None:
        """Train to the end; where a process is lost that learns, go on from the last save, ``ray.max_failures`` times."""
        failures = 0
        while True:
            try:
                self._play()
                return
            except (ray.exceptions.RayError, ConnectionError) as error:
                cause = getattr(error, "cause", None)
                if isinstance(cause, DominoError):
                    raise cause from None  # it would happen again
                failures += 1
                why = " ".join(str(error).split())[:300]
                if failures > self.config.ray.max_failures:
                    raise ConfigError(f"ray: {failures} failures, the last one: {why}; --resume goes on from the last save") from None
                print(f"a process was lost ({why}); going on from the last save", file=sys.stderr, flush=True)

    def _play(self) -> None:
        self._begin()
        state = self._read_state()
        algorithm = make_algorithm(self.config, self.decisions)
        try:
            # nothing is written for a start that is refused
            if state is None:
                self.place.begin()
            write_file(self.place.config, dump_config(self.config))
            with stop_signals() as stop:
                if state is not None:
                    algorithm.restore_from_path(str(self._ray_folder(self.decisions).absolute()))
                runners = Runners(algorithm)
                self._seat(runners)
                logger = open_logger(self.place, self.config, self.decisions)
                try:
                    self._loop(algorithm, runners, logger, stop)
                finally:
                    logger.close()
        finally:
            stop_algorithm(algorithm)

    def _loop(self, algorithm: Any, runners: Runners, logger: Logger, stop: Any) -> None:
        self.progress.begin(self.decisions)
        saved_at = played_at = time.monotonic()
        if not self.place.state.exists():
            self._save(algorithm)
        while self.decisions < self.config.decisions:
            found = algorithm.train()
            played = found.get("env_runners", {})
            made = _count(played.get("num_env_steps_sampled", 0))
            self.decisions += made
            played_at = time.monotonic() if made else played_at
            if time.monotonic() - played_at > _PATIENCE:
                raise ConnectionError(f"no env runner played for {_PATIENCE:g} seconds")
            if self._league is not None:
                self._league.count(runners.take_results())
            last = self.decisions >= self.config.decisions
            self._between_updates(algorithm, runners, logger, last)
            self._log(found, logger)
            stopping = stop()
            if last or stopping or time.monotonic() - saved_at >= 60 * self.config.save_minutes:
                self._save(algorithm)
                saved_at = time.monotonic()
            if stopping and not last:
                print(f"stopped after {self.decisions:,} decisions; --resume goes on from there", file=sys.stderr)
                raise KeyboardInterrupt

    def _between_updates(self, algorithm: Any, runners: Runners, logger: Logger, last: bool) -> None:
        if self._is_due("evaluation") or (last and self._every["evaluation"]):
            self._evaluate(algorithm, logger)
        if self._league is None:
            return
        if self._is_due("snapshot"):
            self._league.add_snapshot(module_weights(algorithm), self.decisions)
            self._seat(runners)
        elif self.config.self_play.rule == "weighted":
            self._league.refresh()
            self._seat(runners)

    def _is_due(self, what: str) -> bool:
        every = self._every[what]
        if not every or self.decisions < self._due[what]:
            return False
        self._due[what] = (self.decisions // every + 1) * every
        return True

    def _seat(self, runners: Runners) -> None:
        if self._league is not None:
            self._league.seat(runners)

    # -------------------------------------------------------------------------------------------------------- output

    def _evaluate(self, algorithm: Any, logger: Logger) -> None:
        best, weights = self._evaluator.best, module_weights(algorithm)
        result = self._evaluator.run(weights, self.decisions)
        if self._evaluator.best > best:
            self._write_checkpoint(self.place.best, weights)
        write_file(self.place.evaluations, json.dumps(self._evaluator.results, indent=1) + "\n")
        for name, value in self._evaluator.curves(result).items():
            logger.record(f"evaluation/{name}", value)
        self.progress.evaluated(self._evaluator.headline(result))

    def _log(self, found: dict[str, Any], logger: Logger) -> None:
        played, learnt = found.get("env_runners", {}), found.get("learners", {}).get("learner", {})
        returns = played.get("module_episode_returns_mean", {}).get("learner", float("nan"))
        win_share = None if self._league is None else self._league.win_share
        rate = self.progress.tell(self.decisions, returns, win_share)
        logger.record("time/total_timesteps", self.decisions)
        logger.record("time/decisions_per_second", rate)
        logger.record("rollout/return", returns)
        for name in ("policy_loss", "vf_loss", "entropy", "vf_explained_var"):
            if name in learnt:
                logger.record(f"train/{name}", float(learnt[name]))
        for what, seconds in found.get("timers", {}).items():
            if what in ("env_runner_sampling_timer", "learner_update_timer", "synch_weights"):
                logger.record(f"time/{what}", float(seconds))
        if self._league is not None:
            logger.record("rollout/win_share", self._league.win_share)
            for name, share, chance in self._league.report():
                logger.record(f"opponents/{curve_tag(name)}_win_share", share)
                logger.record(f"opponents/{curve_tag(name)}_chance", chance)
        logger.dump(self.decisions)

    def _write_checkpoint(self, path: Path, weights: Any) -> None:
        save_checkpoint(path, weights, checkpoint_meta(self.config, self.decisions, self.command))

    # --------------------------------------------------------------------------------------------------------- state

    def _ray_folder(self, decisions: int) -> Path:
        """What Ray keeps of the run after so many decisions: only this code reads it, for it holds pickles."""
        return self.place.path / "ray" / f"decisions_{decisions}"

    def _save(self, algorithm: Any) -> None:
        """Write the checkpoint and the state of this moment. The state comes last: where it stands, all before it does."""
        self._write_checkpoint(self.place.last, module_weights(algorithm))
        folder = self._ray_folder(self.decisions)
        beside = folder.with_name(f".{folder.name}")
        shutil.rmtree(beside, ignore_errors=True)
        algorithm.save_to_path(str(beside.absolute()))
        shutil.rmtree(folder, ignore_errors=True)
        beside.rename(folder)
        save_state(
            self.place.state,
            {
                "versions": VERSIONS,
                "command": self.command,
                "config": self.config.whole(),
                "decisions": self.decisions,
                "league": None if self._league is None else self._league.get_state(),
                "evaluator": self._evaluator.get_state(),
                "due": dict(self._due),
                "seconds": self.progress.seconds,
            },
        )
        for other in folder.parent.iterdir():
            if other != folder:
                shutil.rmtree(other, ignore_errors=True)

    def _read_state(self) -> dict[str, Any] | None:
        """Take up what was saved; None where nothing was. ``ConfigError`` where it is that of another run."""
        path = self.place.state
        if not path.exists():
            return None
        state = load_state(path)
        if state.get("versions") != VERSIONS:
            raise ConfigError(f"state {path}: of versions {state.get('versions')}, but this code has {VERSIONS}: begin the run anew")
        check_same(state["config"], self.config.whole(), path)
        self.decisions = state["decisions"]
        if not self._ray_folder(self.decisions).exists():
            raise ConfigError(f"state {path}: its folder {self._ray_folder(self.decisions)} is gone: begin the run anew")
        if self._league is not None:
            self._league.set_state(state["league"])
        self._evaluator.set_state(state["evaluator"])
        self._due, self.progress.seconds = dict(state["due"]), state["seconds"]
        return state


def _count(value: float) -> int:
    """RLlib reports no number where no env runner answered."""
    return 0 if math.isnan(value) else int(value)
