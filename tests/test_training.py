"""The first training loop: config, run, checkpoint, opponent, table."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml

from domino_env import Games, load_policy
from domino_env.commands.common import run_app
from domino_env.policies import Batch, load_checkpoint
from domino_env.variants import VARIANTS
from training.__main__ import app
from training.config import ConfigError, TrainingConfig, load_config
from training.ppo import make_env, make_ppo
from training.progress import ProgressCallback
from training.train import train

ROOT = Path(__file__).resolve().parent.parent
SMALL: dict[str, Any] = {
    "variant": "bergen",
    "num_envs": 16,
    "decisions": 512,
    "layers": [16, 12],
    "threads": 1,
    "ppo": {"n_steps": 8, "batch_size": 64},
}


def write(path: Path, values: object) -> Path:
    path.write_text(yaml.safe_dump(values), encoding="utf-8")
    return path


def run(*arguments: str) -> int:
    """``python -m training ...`` within this process: its exit status."""
    return run_app(app, "training", arguments)


@pytest.mark.parametrize("path", sorted((ROOT / "configs").glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_configs_can_be_used(path: Path) -> None:
    config = load_config(path)
    assert path.stem == f"{config.variant}_{config.algorithm}"
    env = make_env(config.model_copy(update={"num_envs": 2}))
    assert env.reset().shape == (2, env.observation_space.shape[0])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"variant": "bergn"}, "the variants are"),
        ({"decision": 5}, "decision"),
        ({"decisions": 0}, "decisions"),
        ({"decisions": "many"}, "decisions"),
        ({"num_players": 5}, "2, 3 or 4 players"),
        ({"opponents": []}, "opponents"),
        ({"layers": [16, 0]}, "at least one unit"),
        ({"rules": {"hand": 20}}, "at most 14 each"),
        ({"rules": {"hands": 2}}, "unknown field"),
        ({"seed": -1}, "seed"),
        ({"ppo": {"n_step": 3}}, "ppo.n_step"),
        ({"ppo": {"batch_size": 10_000}}, "batch_size"),
        ({"ppo": {"gamma": 1.5}}, "ppo.gamma"),
        ({"ppo": {"learning_rate": float("nan")}}, "ppo.learning_rate"),
    ],
)
def test_wrong_configs(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    path = write(tmp_path / "c.yaml", {**SMALL, **change})
    with pytest.raises(ConfigError, match=words) as caught:
        load_config(path)
    assert "\n" not in str(caught.value)


def test_settings_replace_keys(tmp_path: Path) -> None:
    path = write(tmp_path / "c.yaml", SMALL)
    config = load_config(path, ["ppo.n_epochs=7", "layers=[3]", "rules.target.2=21", "device=cpu"])
    assert (config.ppo.n_epochs, config.layers, config.device) == (7, [3], "cpu")
    assert config.read_rules().target[2] == 21
    for wrong in ("ppo", "=3", "variant.x=3", "layers=[", "ppo.n_epochs.x=1"):
        with pytest.raises(ConfigError):
            load_config(path, [wrong])
    for text in ("- 1\n", "a: [", "\x00"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError):
            load_config(path)
    with pytest.raises(ConfigError, match="No such file"):
        load_config(tmp_path / "missing.yaml")


def test_every_key_says_what_it_is() -> None:
    for model in (TrainingConfig, TrainingConfig.model_fields["ppo"].annotation):
        for name, field in model.model_fields.items():  # type: ignore[union-attr]
            assert field.description or name == "ppo"


@pytest.mark.parametrize("variant", VARIANTS)
def test_train_save_load_play(variant: str, tmp_path: Path) -> None:
    """The exported network is the trained one: same logits as torch, and it plays legal moves only."""
    seats = max(VARIANTS[variant].players)
    config = TrainingConfig.model_validate({**SMALL, "variant": variant, "num_players": seats, "decisions": 128})
    model = make_ppo(config, make_env(config))
    path = train(config, tmp_path / "agent.safetensors", ["test"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["agent.safetensors", "agent.zip"]
    model.set_parameters(str(tmp_path / "agent.zip"), device="cpu")
    policy: Any = load_policy(str(path), rules=VARIANTS[variant], num_players=seats)
    games = Games(variant, 64, num_players=seats, seed=3)
    for _ in range(40):
        batch = Batch.of_games(games.rows, np.arange(64), games.packed, games.rules, seats, games.encoding)
        actions = policy.act(batch)
        with torch.no_grad():
            distribution = model.policy.get_distribution(torch.as_tensor(batch.observation), action_masks=batch.action_mask)
        best = distribution.distribution.logits.numpy()
        chosen = best[np.arange(64), actions]
        np.testing.assert_allclose(chosen, best.max(axis=1), atol=1e-4)
        games.step(actions)


def test_same_seed_same_weights(tmp_path: Path) -> None:
    config = TrainingConfig.model_validate(SMALL)
    first, second = (load_checkpoint(train(config, tmp_path / f"{name}.safetensors", ["test"])) for name in "ab")
    other = load_checkpoint(train(config.model_copy(update={"seed": 1}), tmp_path / "c.safetensors", ["test"]))
    for name, weights in first.weights.items():
        assert weights.tobytes() == second.weights[name].tobytes()
    assert any(weights.tobytes() != other.weights[name].tobytes() for name, weights in first.weights.items())


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = write(tmp_path / "small.yaml", SMALL)
    output = tmp_path / "out" / "agent.safetensors"
    assert run("train", str(config), "--output", str(output)) == 0
    meta = load_checkpoint(output).meta
    assert (meta.variant, meta.algorithm, meta.layers, meta.steps_trained, meta.seed) == ("bergen", "ppo", [16, 12], 512, 0)
    assert meta.command.startswith("python -m training")
    again = tmp_path / "again.safetensors"
    assert run("export", str(config), str(output.with_suffix(".zip")), "--output", str(again)) == 0
    assert load_checkpoint(again).weights["logits.weight"].tobytes() == load_checkpoint(output).weights["logits.weight"].tobytes()
    capsys.readouterr()
    assert run("evaluate", "--variant", "bergen", str(again), "random", "--deals", "50", "--json") == 0
    assert json.loads(capsys.readouterr().out)


def test_command_line_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = write(tmp_path / "small.yaml", SMALL)
    (tmp_path / "file").write_text("x")
    (tmp_path / "agent.zip").write_text("x")
    for arguments, words in [
        (("train", str(tmp_path / "none.yaml")), "No such file"),
        (("train", str(config), "--output", str(tmp_path / "agent.zip")), ".safetensors"),
        (("train", str(config), "--output", str(tmp_path / "file" / "a.safetensors")), "file"),
        (("train", str(config), "--set", "opponents=[nobody]"), "nobody"),
        (("train", str(config), "--sett", "x"), "--sett"),
        (("evaluate", "--variant", "bergn", "random", "greedy"), "bergn"),
        (("export", str(config), str(tmp_path / "agent.zip"), "--output", str(tmp_path / "a.safetensors")), "zip"),
    ]:
        assert run(*arguments) == 2
        said = capsys.readouterr().err
        assert words in said
        assert len(said.strip().splitlines()) == 1
    assert not list(tmp_path.glob("*.safetensors"))


def test_ctrl_c_saves_what_was_learnt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def stop(self: ProgressCallback) -> bool:
        if self.num_timesteps >= 256:
            raise KeyboardInterrupt
        return True

    monkeypatch.setattr(ProgressCallback, "_on_step", stop)
    output = tmp_path / "agent.safetensors"
    assert run("train", str(write(tmp_path / "small.yaml", SMALL)), "--output", str(output), "--seed", "3") == 130
    assert load_checkpoint(output).meta.steps_trained == 256
    assert load_checkpoint(output).meta.seed == 3
    assert "stopped after 256" in capsys.readouterr().err


def test_module_runs() -> None:
    command = [sys.executable, "-m", "training", "train", "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, "Example: python -m training train" in done.stdout) == (0, True)
