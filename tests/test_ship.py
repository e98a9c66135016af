"""Making the shipped agents: one name each, and what a stop leaves; and that the benchmarks of training start."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.learners import ours
from tests.training_cases import configured, values, write
from training import ship as shipping
from training.algorithms import make_env
from training.config import ConfigError, TrainingConfig
from training.config_file import load_config

ROOT = Path(__file__).resolve().parent.parent


def test_every_shipped_config_has_a_name_of_its_own() -> None:
    configs = sorted((ROOT / "configs").glob("*.yaml"))
    names = {shipping.agent_name(load_config(path)) for path in configs}
    assert len(names) == len(configs) == 24


@pytest.mark.parametrize("change", [{}, {"seed": 3}, {"rules": {"max_pip": 7}}])
def test_two_configs_never_share_a_checkpoint(change: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipping, "_start", lambda *_: pytest.fail("started"))
    paths = [write(tmp_path / f"{name}.yaml", values(**more)) for name, more in (("a", {}), ("b", change))]
    with pytest.raises(ConfigError, match=r"b\.yaml"):
        shipping.ship(paths, 1)


@pytest.mark.parametrize("jobs", [0, -1, 1000])
def test_jobs_that_cannot_be(jobs: int) -> None:
    with pytest.raises(ConfigError, match=f"jobs={jobs}"):
        shipping.ship([], jobs)


CHILD = """
import signal, subprocess, sys
from pathlib import Path
from training import ship
signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs the tests may ignore it
def start(path, core):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
    print(child.pid, flush=True)
    return child
ship._start = start
ship._checkpoint = lambda config: Path("none.safetensors")
ship.ship([Path(sys.argv[1])], 1)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_ends_the_trainings_too(number: int, tmp_path: Path) -> None:
    config = write(tmp_path / "a.yaml", values())
    with subprocess.Popen([sys.executable, "-c", CHILD, str(config)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT) as one:
        assert one.stdout is not None
        assert b"begun" in one.stdout.readline()
        child = int(one.stdout.readline())
        time.sleep(0.5)  # it is waiting by then
        one.send_signal(number)
        try:
            one.wait(60)
        finally:
            one.kill()
    for _ in range(100):
        if not Path(f"/proc/{child}").exists():
            return
        time.sleep(0.1)
    pytest.fail("the training goes on")


def test_games_of_other_seeds_are_other_games() -> None:
    one, two = (make_env(configured(seed=seed, num_envs=8, opponents=["random"])).reset() for seed in (0, 1))
    seen = {row.tobytes() for row in np.asarray(one)}
    assert len(seen & {row.tobytes() for row in np.asarray(two)}) < 3  # short observations may well agree by chance


@pytest.mark.parametrize("more", [{}, {"ppo": {"every_seat": True, "n_steps": 4, "batch_size": 8}}, {"algorithm": "dqn"}])
def test_what_the_benchmarks_measure_learns(more: dict[str, Any]) -> None:
    told = {**values(num_envs=8), **more}
    if "algorithm" in more:
        told.pop("ppo", None)
        told["dqn"] = {"learning_starts": 8}
    if "ppo" in more:
        told.pop("opponents", None)
    learner = ours(TrainingConfig.model_validate(told))
    before = learner.weights()
    assert learner.learn_for(0.3, lambda _: 1.0) > 0
    assert any((learner.weights()[name] != array).any() for name, array in before.items())
