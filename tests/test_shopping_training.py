"""Training on the memory game: configs, checkpoints, evaluations, and runs that are stopped and go on."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sb3_contrib import RecurrentPPO
from stable_baselines3 import PPO

from domino_env.errors import PolicyError
from domino_env.shopping import ShoppingRules, load_speaker
from domino_env.shopping.checkpoint import load_shopping_checkpoint
from domino_env.shopping.learned import LearnedSpeaker
from domino_env.shopping.learner import ShoppingGames
from domino_env.shopping.policies import Listening
from domino_env.shopping.survival import memoryless_ceiling
from tests.training_cases import assert_equal, evaluations, run, started, stopping, write
from training import shopping
from training.config import ConfigError
from training.config_file import load_config
from training.ship import agent_name
from training.shopping_config import ShoppingConfig
from training.state_file import load_state

SMALL: dict[str, Any] = {
    "variant": "shopping",
    "num_players": 3,
    "num_letters": 5,
    "num_envs": 8,
    "decisions": 640,
    "lstm": 12,
    "opponents": ["perfect", "forgetful?p=0.2"],
    "tensorboard": False,
    "evaluation": {"every": 192, "games": 20},
    "ppo": {"n_steps": 20, "batch_size": 40, "final_learning_rate": 5e-4},
}
"""Four updates."""

PLAIN = {**{key: value for key, value in SMALL.items() if key != "lstm"}, "algorithm": "ppo", "layers": [16, 12]}
DEEP = {**SMALL, "layers": [16], "activation": "tanh", "theme": "drawn", "words_per_letter": 2}
RUNS = {"recurrent": SMALL, "plain": PLAIN, "deep": DEEP}


def configured(base: dict[str, Any] = SMALL, **changes: Any) -> ShoppingConfig:
    return ShoppingConfig.model_validate({**base, **changes})


def tensors(path: Path) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in load_shopping_checkpoint(path).weights.items()}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_that_was_stopped_equals_one_that_was_not(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The memories of the learner and of the others go on too."""
    config = configured(RUNS[name])
    straight = started(config, tmp_path / "straight")  # type: ignore[arg-type]
    broken = tmp_path / "broken"
    for updates in (1, 2):
        with stopping(monkeypatch, updates), pytest.raises(KeyboardInterrupt):
            started(config, broken, resume=True)  # type: ignore[arg-type]
        np.random.seed(len(name))  # noqa: NPY002 -- another process starts with other numbers
        torch.manual_seed(len(name))
    started(config, broken, resume=True)  # type: ignore[arg-type]
    assert len(evaluations(straight)) >= 3
    for file in ("last.safetensors", "best.safetensors"):
        assert tensors(straight / file) == tensors(broken / file)
    assert (straight / "evaluations.json").read_bytes() == (broken / "evaluations.json").read_bytes()
    assert_equal(load_state(straight / "state.npz"), load_state(broken / "state.npz"))


def test_the_seed_decides(tmp_path: Path) -> None:
    found = [tensors(started(configured(seed=seed), tmp_path / str(k)) / "last.safetensors") for k, seed in enumerate((3, 3, 4))]  # type: ignore[arg-type]
    assert found[0] == found[1]
    assert all(found[0][name] != found[2][name] for name in found[0])


@pytest.mark.parametrize("name", RUNS)
def test_a_checkpoint_says_what_the_model_says(name: str, tmp_path: Path) -> None:
    """Whole games of the exported network beside SB3's own ``predict``, memory included."""
    config = configured(RUNS[name])
    env = shopping.make_env(config)
    model: Any = shopping.make_model(config, env)
    model.learn(160)
    learned = LearnedSpeaker(shopping.ShoppingCheckpoint(shopping.checkpoint_meta(config, 160, "x"), shopping.checkpoint_weights(model)))
    games = ShoppingGames(6, "perfect", **config.read_rules().to_json())
    games.reset(np.arange(6, dtype=np.uint64))
    rows, state, starts = np.arange(6), None, np.ones(6, bool)
    for _ in range(80):
        wanted, state = model.predict(games.observation, state=state, episode_start=starts, deterministic=True)
        listening = Listening.of_games(games.rows, rows, games.learner, games.rules, games.encoding)
        assert (learned.act(listening) == wanted).all()
        games.step(wanted)
        starts = games.done.copy()


def test_what_a_run_leaves(tmp_path: Path) -> None:
    path = write(tmp_path / "run.yaml", SMALL)
    folder = tmp_path / "run"
    assert run("train", path, "--run", folder, "--output", tmp_path / "out.safetensors", "--set", "seed=5") == 0
    meta = load_shopping_checkpoint(tmp_path / "out.safetensors").meta
    assert (meta.seed, meta.lstm, meta.algorithm) == (5, 12, "recurrent_ppo")
    assert meta.read_rules() == configured().read_rules()
    found = evaluations(folder)
    assert all(one["low"] <= one["recited"] <= one["high"] and one["games"] == 20 for one in found)
    with (folder / "logs" / "from_0" / "progress.csv").open(encoding="utf-8") as file:
        last = list(csv.DictReader(file))[-1]
    for curve in ("rollout/return", "rollout/decisions_per_game", "evaluation/recited", "evaluation/survived", "train/loss"):
        assert math.isfinite(float(last[curve])), curve
    assert run("export", folder, "--output", tmp_path / "again.safetensors") == 0
    assert tensors(tmp_path / "again.safetensors") == tensors(folder / "last.safetensors")
    load_speaker(tmp_path / "again.safetensors", ShoppingRules(3, 26, 4))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"num_players": 9}, "num_players=9"),
        ({"num_letters": 27}, "num_letters=27"),
        ({"words_per_letter": 1}, "words_per_letter=1"),
        ({"theme": "stars"}, "theme='stars'"),
        ({"word_reward": -1}, "word_reward=-1"),
        ({"lstm": 0}, "lstm"),
        ({"layers": [0]}, r"layers=\[0\]"),
        ({"algorithm": "ppo"}, "lstm=12"),
        ({"algorithm": "dqn"}, "algorithm"),
        ({"episode": "round"}, "episode"),
        ({"new_words": "chosen"}, "new_words"),
        ({"opponents": []}, "opponents"),
        ({"ppo": {"n_steps": 20, "batch_size": 161}}, "batch_size=161"),
        ({"ppo": {"n_steps": 20, "batch_size": 53}}, "batch_size=53"),
        ({"ppo": {"every_seat": True}}, "every_seat"),
        ({"evaluation": {"deals": 3}}, "deals"),
    ],
)
def test_wrong_configs_are_refused(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    path = write(tmp_path / "run.yaml", {**SMALL, **change})
    with pytest.raises(ConfigError, match=words):
        load_config(path)
    assert run("train", path, "--run", tmp_path / "run") == 2
    assert not (tmp_path / "run").exists()


def test_unknown_opponents_are_refused_before_a_folder_is_made(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="greedy"):
        started(configured(opponents=["greedy"]), tmp_path / "run")  # type: ignore[arg-type]
    assert not (tmp_path / "run").exists()


def test_a_resumed_run_is_told_the_same(tmp_path: Path) -> None:
    folder = started(configured(), tmp_path / "run")  # type: ignore[arg-type]
    for change in ({"lstm": 13}, {"num_letters": 6}, {"ppo": {**SMALL["ppo"], "gamma": 0.5}}):
        with pytest.raises(ConfigError, match=next(iter(change))):
            started(configured(**change), folder, resume=True)  # type: ignore[arg-type]


def test_keys_reach_games_and_learner() -> None:
    config = configured(ppo={**SMALL["ppo"], "gamma": 0.7, "clip_range": 0.3, "n_epochs": 3}, word_reward=0.25)
    env = shopping.make_env(config)
    assert env.games.rules == ShoppingRules(3, 5, 4, None, "drawn", 0.25)
    assert [speaker.name for speaker in env.games.speakers] == ["perfect", "forgetful?p=0.2"]  # type: ignore[attr-defined]
    model: Any = shopping.make_model(config, env)
    assert isinstance(model, RecurrentPPO)
    assert (model.gamma, model.clip_range(1), model.n_epochs, model.n_steps) == (0.7, 0.3, 3, 20)
    assert model.policy.lstm_actor.hidden_size == 12
    assert type(shopping.make_model(configured(PLAIN), env)) is PPO


def test_the_shipped_agents() -> None:
    """The recurrent one recites clearly further than any policy without a memory can; the plain one stays at that ceiling."""
    root = Path(__file__).resolve().parent.parent
    names = {}
    for path in sorted((root / "configs").glob("shopping_*.yaml")):
        config = load_config(path)
        names[config.algorithm] = agent_name(config)
        meta = load_shopping_checkpoint(root / "checkpoints" / f"{agent_name(config)}.safetensors").meta
        assert (meta.algorithm, meta.layers, meta.seed) == (config.algorithm, config.layers, config.seed)
        assert f"train {path.relative_to(root).as_posix()} " in meta.command
        assert "--set" not in meta.command
    tables = {kind: json.loads((root / "checkpoints" / f"{name}.json").read_text(encoding="utf-8")) for kind, name in names.items()}
    for kind, name in names.items():
        for one in tables[kind]["results"]:
            if one["policy"] == name:
                rules = ShoppingRules(tables[kind]["num_players"], one["letters"], tables[kind]["words_per_letter"], new_words="drawn")
                ceiling = float(memoryless_ceiling(rules))
                if kind == "ppo":
                    assert one["low"] <= ceiling + 1e-9
                elif one["letters"] > 4:
                    assert one["low"] > 4 * ceiling


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["recurrent_ppo", "ppo"])
def test_the_table_of_an_agent_comes_out_again(algorithm: str) -> None:
    place = Path(__file__).resolve().parent.parent / "checkpoints" / "shopping" / f"{algorithm}.json"
    kept = json.loads(place.read_text(encoding="utf-8"))
    assert shopping.measured(f"shopping/{algorithm}", place.with_suffix(".safetensors")) == kept
