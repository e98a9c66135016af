"""What a config says reaches the games and the learner."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sb3_contrib import MaskablePPO

from tests.training_cases import SMALL, SMALL_DQN, Values, configured, started
from training import ship
from training.algorithms import make_env, make_model
from training.config_tables import DQNConfig, PPOConfig
from training.dqn import DoubleQTarget, MaskedDQN
from training.every_seat import EverySeatPPO
from training.network import linear_schedule

EVERY_SEAT: Values = {**SMALL, "ppo": {**SMALL["ppo"], "every_seat": True}}


@pytest.mark.parametrize("base", [SMALL, SMALL_DQN, EVERY_SEAT], ids=["ppo", "dqn", "every seat"])
@pytest.mark.parametrize(
    ("key", "value", "seen"),
    [
        ("reward", "win", lambda games: games._by_win),
        ("reward", "points", lambda games: not games._by_win),
        ("skip_forced", False, lambda games: not games.skip_forced),
        ("skip_forced", True, lambda games: games.skip_forced),
        ("episode", "match", lambda games: not games.packed["one_round"][0]),
        ("episode", "round", lambda games: games.packed["one_round"][0]),
        ("num_players", 3, lambda games: games.num_players == 3),
        ("num_envs", 24, lambda games: len(games.rows) == 24),
        ("rules", {"hand": 4}, lambda games: games.rules.hand[2] == 4),
    ],
)
def test_keys_reach_the_games(base: Values, key: str, value: Any, seen: Callable[[Any], bool]) -> None:
    assert seen(make_env(configured(base, **{key: value})).games)


def test_opponents_reach_the_games() -> None:
    env: Any = make_env(configured(opponents=["greedy", "random", "greedy"]))
    assert [policy.name for policy in env.games.pool.policies] == ["greedy", "random", "greedy"]


def other(kind: type, name: str) -> Any:
    """A value that is not the default, and allowed."""
    default = kind.model_fields[name].default  # type: ignore[attr-defined]
    if isinstance(default, bool):
        return not default
    if isinstance(default, int):
        return default + 16 if default > 8 else default + 1
    return default / 2 if default else 0.25


@pytest.mark.parametrize("name", [n for n in PPOConfig.model_fields if n not in ("every_seat", "autocast", "fused_adam")])
def test_keys_of_ppo_reach_the_learner(name: str) -> None:
    value = 256 if name == "batch_size" else other(PPOConfig, name)
    config = configured(num_envs=64, ppo={"batch_size": 512, name: value})
    model = make_model(config, make_env(config))
    assert isinstance(model, MaskablePPO)
    found = {"learning_rate": model.lr_schedule(1.0), "final_learning_rate": model.lr_schedule(0.0), "clip_range": model.clip_range}
    seen = found.get(name, getattr(model, name, None))
    assert (seen(1.0) if callable(seen) else seen) == pytest.approx(value)


@pytest.mark.parametrize("name", list(DQNConfig.model_fields))
def test_keys_of_dqn_reach_the_learner(name: str) -> None:
    value = {"learning_starts": 200, "buffer_size": 640, "batch_size": 64}.get(name, other(DQNConfig, name))
    config = configured(SMALL_DQN, dqn={name: value})
    model = make_model(config, make_env(config))
    assert isinstance(model, MaskedDQN)
    found = {
        "learning_rate": model.lr_schedule(1.0),
        "final_learning_rate": model.lr_schedule(0.0),
        "train_freq": model.train_freq.frequency,  # type: ignore[union-attr]
        "double_q": isinstance(model.q_net_target, DoubleQTarget),
    }
    assert found.get(name, getattr(model, name, None)) == pytest.approx(value)


def test_the_forms_of_ppo() -> None:
    for every_seat in (False, True):
        config = configured(ppo={"every_seat": every_seat, "fused_adam": not every_seat})
        model = make_model(config, make_env(config))
        assert isinstance(model, EverySeatPPO) == every_seat
        assert model.policy.optimizer.defaults["fused"] is (not every_seat)


def test_the_step_size_falls_to_its_end() -> None:
    schedule = linear_schedule(1.0, 0.5)
    assert [schedule(remaining) for remaining in (1.0, 0.5, 0.0, -0.1)] == [1.0, 0.75, 0.5, 0.5]


@pytest.mark.parametrize("wanted", [False, True])
def test_tensorboard_is_written_where_it_is_wanted(wanted: bool, tmp_path: Path) -> None:
    folder = started(configured(tensorboard=wanted, decisions=128), tmp_path / "run")
    assert bool(list(folder.glob("logs/*/events.out.tfevents*"))) == wanted


def test_shipped_tables_are_of_ten_thousand_deals_that_no_run_trained_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ship, "ROOT", tmp_path)
    path = started(configured(decisions=128), tmp_path / "run") / "last.safetensors"
    target = tmp_path / "checkpoints" / "bergen" / "ppo.safetensors"
    target.parent.mkdir(parents=True)
    path.rename(target)
    asked: dict[str, Any] = {}

    class Found:
        def to_json(self) -> dict[str, Any]:
            return {"times": [], "pairs": []}

    def compare(policies: Any, rules: Any, **more: Any) -> Found:
        asked.update(more, names=list(policies))
        return Found()

    monkeypatch.setattr(ship, "compare", compare)
    ship.measure(target)
    assert asked == {"names": ["bergen/ppo", "random", "greedy"], "num_players": 2, "deals": 10_000, "seed": 1}
    assert target.with_suffix(".json").exists()
