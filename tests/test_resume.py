"""A run that was stopped, killed or broken off goes on as if nothing had happened."""

from __future__ import annotations

import copy
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from domino_env.policies import load_checkpoint
from tests.training_cases import SMALL_DQN, Values, assert_equal, configured, evaluations, run, started, stopping, values, weights, write
from training.callback import RunCallback
from training.state_file import load_state

ROOT = Path(__file__).resolve().parent.parent

LOOKS: Values = {"every": 192, "deals": 6, "best_by": "random"}
SELF_PLAY: Values = {"every": 160, "keep": 2, "rule": "weighted"}
RUNS: dict[str, Values] = {
    "self_play": values(evaluation=LOOKS, self_play=SELF_PLAY, decisions=640),
    "match": values(
        decisions=640, evaluation=LOOKS, self_play={**SELF_PLAY, "rule": "latest"},
        variant="threes", num_players=3, rules={"target": {3: 12}},
        episode="match", reward="win", skip_forced=False, activation="tanh", residual=True, layers=[12, 12], ppo={"fused_adam": False},
    ),
    "every_seat_3": values(evaluation=LOOKS, decisions=640, num_players=3, ppo={"every_seat": True, "gamma": 0.9}),
    "every_seat_4": values(evaluation=LOOKS, variant="all_fives", num_players=4, ppo={"every_seat": True, "n_steps": 5, "batch_size": 40}),
    "dqn": values(SMALL_DQN, evaluation=LOOKS, self_play=SELF_PLAY, dqn={"n_steps": 2}),
}  # fmt: skip


def assert_same_run(one: Path, other: Path) -> None:
    """Everything that two runs left is the same: all checkpoints, all evaluations, and the whole state."""
    for name in ("last.safetensors", "best.safetensors"):
        assert weights(one / name) == weights(other / name), name
    assert (one / "evaluations.json").read_bytes() == (other / "evaluations.json").read_bytes()
    assert_equal(load_state(one / "state.npz"), load_state(other / "state.npz"))


def written(values: Values, folder: Path) -> Path:
    """The config file of a run."""
    return write(folder / "run.yaml", values)


# --------------------------------------------------------------------------------------------------------- exactness


@pytest.mark.parametrize("name", RUNS)
def test_a_run_that_was_stopped_equals_one_that_was_not(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped after 1, 3 and 4 updates (of at least 4), and each time taken up by a new model in new games."""
    config = configured(RUNS[name])
    straight = started(config, tmp_path / "straight")
    broken = tmp_path / "broken"
    for updates in (1, 2, 1):
        with stopping(monkeypatch, updates), pytest.raises(KeyboardInterrupt):
            started(config, broken, resume=True)
        np.random.seed(len(name))  # noqa: NPY002 -- another process starts with other numbers
        torch.manual_seed(len(name))
    started(config, broken, resume=True)
    assert len(evaluations(straight)) >= 2
    assert len(list((broken / "logs").iterdir())) == 4
    assert_same_run(straight, broken)


def test_the_seed_decides(tmp_path: Path) -> None:
    for name, base in (("ppo", values()), ("dqn", SMALL_DQN), ("every_seat", values(ppo={"every_seat": True}))):
        found = [
            weights(started(configured(base, seed=seed), tmp_path / f"{name}_{number}") / "last.safetensors")
            for number, seed in enumerate((3, 3, 4))
        ]
        assert found[0] == found[1]
        assert all(found[0][key] != found[2][key] for key in found[0] if key.endswith("weight"))


def test_a_dqn_that_goes_on_has_its_buffer_and_its_exploration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PAINS 26: counters, schedules, buffer and optimiser of the middle of a run come back, not those of a start."""
    config = configured(RUNS["dqn"])
    with stopping(monkeypatch, 4), pytest.raises(KeyboardInterrupt):
        started(config, tmp_path)
    kept = load_state(tmp_path / "state.npz")["model"]
    assert kept["counters"]["num_timesteps"] == 256
    assert 0.02 < kept["counters"]["exploration_rate"] < 1.0
    assert (kept["buffer"]["pos"], kept["buffer"]["full"]) == (16, False)
    found: list[Any] = []

    def look(self: RunCallback) -> None:
        model: Any = self.model
        moments = copy.deepcopy(model.policy.optimizer.state_dict()["state"][0])
        found.append((model.num_timesteps, model.exploration_rate, model.replay_buffer.pos, moments))

    monkeypatch.setattr(RunCallback, "_on_rollout_start", look)
    started(config, tmp_path, resume=True)
    decisions, exploration, place, moments = found[0]
    assert (decisions, exploration, place) == (256, kept["counters"]["exploration_rate"], 16)
    assert moments["step"] == 6  # three rounds of two minibatches were learnt from
    assert moments["exp_avg"].numpy().tobytes() == kept["optimizer"]["state"]["0"]["exp_avg"].tobytes()
    assert all(later[1] <= exploration for later in found)


def test_more_decisions_are_allowed_and_the_rest_is_as_it_was(tmp_path: Path) -> None:
    folder = started(configured(), tmp_path / "run")
    before = weights(folder / "last.safetensors")
    started(configured(), folder, resume=True)  # nothing is left to do
    assert weights(folder / "last.safetensors") == before
    started(configured(decisions=768, threads=1, save_minutes=0.5), folder, resume=True)
    assert load_checkpoint(folder / "last.safetensors").meta.steps_trained == 768
    assert weights(folder / "last.safetensors") != before
    assert load_state(folder / "state.npz")["config"]["decisions"] == 768


# ------------------------------------------------------------------------------------------------- signals and kills


def test_a_run_killed_at_a_random_moment_goes_on(tmp_path: Path) -> None:
    """SIGKILL, which no process can catch, in the middle of whatever a run is at that saves after every update."""
    config = values(evaluation={**LOOKS, "every": 512}, self_play=SELF_PLAY, decisions=4096)
    straight = started(configured(config), tmp_path / "straight")
    folder, path = tmp_path / "killed", written(config, tmp_path)
    command = [sys.executable, "-m", "training", "train", str(path), "--run", str(folder), "--set", "save_minutes=0"]
    saves, delay = random.randrange(1, 12), random.uniform(0, 0.05)
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        try:
            wait_for_saves(folder / "state.npz", saves, process)
            time.sleep(delay)
        finally:
            process.kill()
        said = process.communicate(timeout=60)[1].decode()
    assert process.returncode == -signal.SIGKILL, said
    reached = load_state(folder / "state.npz")["model"]["counters"]["num_timesteps"]
    assert 0 < reached < 4096, (saves, delay)
    assert run("train", path, "--run", folder, "--resume") == 0
    assert_same_run(straight, folder)


def wait_for_saves(path: Path, saves: int, process: subprocess.Popen[bytes]) -> None:
    """Until the file has been replaced so many times, or the process is over."""
    limit, seen = time.monotonic() + 120, set()
    while len(seen) < saves and process.poll() is None and time.monotonic() < limit:
        if path.exists():
            seen.add(path.stat().st_mtime_ns)
        time.sleep(0.002)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_save_and_the_run_goes_on(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert threading.current_thread() is threading.main_thread()
    config = values(evaluation=LOOKS, decisions=640)
    straight = started(configured(config), tmp_path / "straight")
    before = {kind: signal.getsignal(kind) for kind in (signal.SIGTERM, signal.SIGINT)}
    folder, path = tmp_path / "run", written(config, tmp_path)
    with at_decision(monkeypatch, 304, lambda: os.kill(os.getpid(), number)):
        assert run("train", path, "--run", folder, "--output", tmp_path / "out.safetensors") == 130
    said = capsys.readouterr()
    assert "stopped after 384 decisions; --resume" in said.err
    assert said.out == ""
    assert {kind: signal.getsignal(kind) for kind in before} == before
    assert load_checkpoint(folder / "last.safetensors").meta.steps_trained == 384
    assert not (tmp_path / "out.safetensors").exists()
    assert run("train", path, "--run", folder, "--resume", "--output", tmp_path / "out.safetensors") == 0
    assert_same_run(straight, folder)
    assert weights(tmp_path / "out.safetensors") == weights(folder / "best.safetensors")


def test_a_second_ctrl_c_stops_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was saved before is still there, and goes on to the same end."""
    config = values(evaluation=LOOKS, decisions=640, save_minutes=0)
    straight = started(configured(config), tmp_path / "straight")
    folder, path = tmp_path / "run", written(config, tmp_path)

    def twice() -> None:
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)

    with at_decision(monkeypatch, 304, twice):
        assert run("train", path, "--run", folder) == 130
    assert load_state(folder / "state.npz")["model"]["counters"]["num_timesteps"] == 256
    assert run("train", path, "--run", folder, "--resume") == 0
    assert_same_run(straight, folder)


@contextmanager
def at_decision(monkeypatch: pytest.MonkeyPatch, decisions: int, act: Callable[[], None]) -> Iterator[None]:
    """In the block, ``act`` is called when a run has made so many decisions, in the middle of a rollout."""
    step = RunCallback._on_step

    def with_act(self: RunCallback) -> bool:
        if self.num_timesteps == decisions:
            act()
        return step(self)

    with monkeypatch.context() as patch:
        patch.setattr(RunCallback, "_on_step", with_act)
        yield
