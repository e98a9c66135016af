"""Small runs, and what is compared of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger

from domino_env.commands.common import run_app
from domino_env.policies import load_checkpoint
from training.__main__ import app
from training.algorithms import make_env, make_model
from training.config import TrainingConfig
from training.train import train

Values = dict[str, Any]

SMALL: Values = {
    "variant": "bergen",
    "num_envs": 16,
    "decisions": 512,
    "layers": [16, 12],
    "tensorboard": False,
    "evaluation": {"every": 0},
    "ppo": {"n_steps": 8, "batch_size": 64, "final_learning_rate": 5e-4},  # SB3 makes the last update at this one
}
"""Four updates of PPO."""

SMALL_DQN: Values = {
    **{key: value for key, value in SMALL.items() if key != "ppo"},
    "algorithm": "dqn",
    "dqn": {
        "buffer_size": 320,
        "learning_starts": 96,
        "batch_size": 32,
        "train_freq": 4,
        "gradient_steps": 2,
        "target_update_interval": 128,
        "final_learning_rate": 2e-4,
    },
}
"""Eight rounds of collecting, of which all but the first two are learnt from; the buffer turns over."""


def values(base: Values = SMALL, **changes: Any) -> Values:
    """``base`` with other keys; tables are merged."""
    out = dict(base)
    for name, value in changes.items():
        out[name] = {**out.get(name, {}), **value} if isinstance(value, dict) and name != "rules" else value
    return out


EVALUATED: Values = values(evaluation={"every": 256, "deals": 2})
"""The same with evaluations."""


def configured(base: Values = SMALL, **changes: Any) -> TrainingConfig:
    """The config of ``values``."""
    return TrainingConfig.model_validate(values(base, **changes))


def write(path: Path, content: object) -> Path:
    """A YAML file."""
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path


def run(*arguments: object) -> int:
    """``python -m training ...`` within this process: its exit status."""
    return run_app(app, "training", [str(argument) for argument in arguments])


def started(config: TrainingConfig, folder: Path, **options: Any) -> Path:
    """Train, and return the folder."""
    train(config, folder, ["test"], **options)
    return folder


def weights(path: Path) -> dict[str, bytes]:
    """Every number of a checkpoint."""
    return {name: array.tobytes() for name, array in load_checkpoint(path).weights.items()}


def evaluations(folder: Path) -> list[dict[str, Any]]:
    """What a run found at its evaluations."""
    found: list[dict[str, Any]] = json.loads((folder / "evaluations.json").read_text(encoding="utf-8"))
    return found


def content(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, but for the lock, which says nothing."""
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file() and file.name != ".lock"}


def copied(folder: Path, target: Path) -> Path:
    """A copy of the folder of a run, to do with as one likes."""
    for name, data in content(folder).items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes(data)
    return target


@contextmanager
def stopping(monkeypatch: pytest.MonkeyPatch, updates: int) -> Iterator[None]:
    """Runs in the block are asked to stop when so many updates are made, as by Ctrl-C."""

    @contextmanager
    def signals() -> Iterator[Callable[[], bool]]:
        asked = iter([False] * updates)
        yield lambda: next(asked, True)

    with monkeypatch.context() as patch:
        patch.setattr("training.train.stop_signals", signals)
        yield


def assert_equal(one: Any, other: Any, where: str = "state") -> None:
    """Two states of runs hold the same, to the last bit; only the clock may differ."""
    assert type(one) is type(other), where
    if isinstance(one, Mapping):
        assert list(one) == list(other), where
        for key in one:
            if key not in ("seconds", "t", "command"):  # of the run, and of a game; what was typed
                assert_equal(one[key], other[key], f"{where}.{key}")
    elif isinstance(one, list):
        assert len(one) == len(other), where
        for place, pair in enumerate(zip(one, other, strict=True)):
            assert_equal(*pair, f"{where}.{place}")
    elif isinstance(one, np.ndarray):
        assert (one.dtype, one.shape) == (other.dtype, other.shape), where
        for name in one.dtype.names or ():  # one by one, for what lies between fields says nothing
            assert_equal(np.array(one[name]), np.array(other[name]), f"{where}.{name}")
        assert one.dtype.names or one.tobytes() == other.tobytes(), where
    else:
        assert one == other or (one != one and other != other), where


class Watching(BaseCallback):
    """Keeps the infos of finished games: (step, game, info)."""

    def __init__(self) -> None:
        super().__init__()
        self.infos: list[tuple[int, int, dict[str, Any]]] = []
        self.steps = 0

    def _on_step(self) -> bool:
        infos = self.locals.get("infos", [])
        self.infos += [(self.steps, game, info) for game, info in enumerate(infos) if "episode" in info]
        self.steps += 1
        return True


def learner(config: TrainingConfig) -> Any:
    """A model ready to collect."""
    model = make_model(config, make_env(config))
    model.set_logger(Logger(folder=None, output_formats=[]))
    model._setup_learn(1 << 30)
    return model


def collect(model: Any, callback: BaseCallback | None = None) -> Any:
    """One rollout; returns the buffer."""
    callback = callback or Watching()
    callback.init_callback(model)
    model.collect_rollouts(model.env, callback, model.rollout_buffer, model.n_steps)
    return model.rollout_buffer
