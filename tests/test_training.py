"""Training: configs, the command line, evaluation while a run goes on, and what a run leaves behind."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from domino_env.policies import load_checkpoint
from tests.policy_cases import random_checkpoint
from tests.training_cases import SMALL, SMALL_DQN, Values, run, started, values, write
from training.algorithms import make_env
from training.config import ConfigError, TrainingConfig
from training.config_file import dump_config, load_config
from training.train import default_folder

ROOT = Path(__file__).resolve().parent.parent
CONFIGS = [path for path in sorted((ROOT / "configs").glob("*.yaml")) if not path.stem.startswith("shopping")]
EVERY_SEAT: Values = values(ppo={"every_seat": True})

# ------------------------------------------------------------------------------------------------------------ configs


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_shipped_configs_say_what_they_are_and_start(path: Path) -> None:
    config = load_config(path)
    seats = f"_{config.num_players}players" if config.num_players != 2 else ""
    assert path.stem == f"{config.variant}{seats}_{config.algorithm}"
    env = make_env(config.model_copy(update={"num_envs": 2}))
    assert env.reset().shape == (2, *env.observation_space.shape)
    assert config.evaluation.best_by in config.evaluation.anchors
    assert default_folder(path) == Path("runs") / path.stem


WRONG: list[tuple[Values, Values, str]] = [
    (SMALL, {"variant": "bergn"}, "the variants are"),
    (SMALL, {"decision": 5}, "decision"),
    (SMALL, {"decisions": 0}, "decisions"),
    (SMALL, {"decisions": "many"}, "decisions"),
    (SMALL, {"num_players": 5}, "2, 3 or 4 players"),
    (SMALL, {"opponents": []}, "opponents"),
    (SMALL, {"opponents": "random"}, "opponents"),
    (SMALL, {"layers": []}, "layers"),
    (SMALL, {"layers": [16, 0]}, "at least one unit"),
    (SMALL, {"activation": "gelu"}, "activation"),
    (SMALL, {"residual": "perhaps"}, "residual"),
    (SMALL, {"episode": "day"}, "episode"),
    (SMALL, {"reward": "money"}, "reward"),
    (SMALL, {"algorithm": "sac"}, "algorithm"),
    (SMALL, {"rules": {"hand": 20}}, "at most 14 each"),
    (SMALL, {"rules": {"hands": 2}}, "unknown field"),
    (SMALL, {"seed": -1}, "seed"),
    (SMALL, {"seed": 2**32}, "seed"),
    (SMALL, {"num_envs": 0}, "num_envs"),
    (SMALL, {"threads": 0}, "threads"),
    (SMALL, {"save_minutes": -1}, "save_minutes"),
    (SMALL, {"save_minutes": float("inf")}, "save_minutes"),
    (SMALL, {"ppo": {"n_step": 3}}, "ppo.n_step"),
    (SMALL, {"ppo": {"n_steps": 1}}, "ppo.n_steps"),
    (SMALL, {"ppo": {"batch_size": 129}}, r"batch_size=129.*num_envs \* n_steps = 128"),
    (SMALL, {"ppo": {"gamma": 1.5}}, "ppo.gamma"),
    (SMALL, {"ppo": {"learning_rate": float("nan")}}, "ppo.learning_rate"),
    (SMALL, {"ppo": {"autocast": "float16"}}, "ppo.autocast"),
    (SMALL, {"dqn": {}}, "dqn: the algorithm is ppo"),
    (SMALL, {"self_play": {"share": 0}}, "self_play.share"),
    (SMALL, {"self_play": {"keep": 0}}, "self_play.keep"),
    (SMALL, {"self_play": {"rule": "best"}}, "self_play.rule"),
    (SMALL, {"evaluation": {"deals": 1}}, "evaluation.deals"),
    (SMALL, {"evaluation": {"anchors": []}}, "evaluation.anchors"),
    (SMALL, {"evaluation": {"anchors": ["random", "first"]}}, r"best_by='greedy', but the anchors are \['random', 'first'\]"),
    (SMALL, {"evaluation": {"best_by": "nobody"}}, "best_by='nobody'"),
    (EVERY_SEAT, {"opponents": ["random"]}, "every_seat"),
    (EVERY_SEAT, {"self_play": {"every": 100}}, r"self_play.every=100.*every_seat"),
    (SMALL_DQN, {"ppo": {"n_steps": 8}}, "ppo: the algorithm is dqn"),
    (SMALL_DQN, {"dqn": {"buffer_size": 15}}, r"buffer_size=15.*num_envs=16"),
    (SMALL_DQN, {"dqn": {"exploration_fraction": 0}}, "dqn.exploration_fraction"),
    (SMALL_DQN, {"dqn": {"every_seat": True}}, "dqn.every_seat"),
]


@pytest.mark.parametrize(("base", "change", "words"), WRONG)
def test_wrong_configs(base: Values, change: Values, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "c.yaml", values(base, **change))
    with pytest.raises(ConfigError, match=words) as caught:
        load_config(path)
    assert "\n" not in str(caught.value)
    assert run("train", path, "--run", tmp_path / "run") == 2
    assert capsys.readouterr().err == f"training: {caught.value}\n"
    assert not (tmp_path / "run").exists()


def test_settings_replace_keys(tmp_path: Path) -> None:
    path = write(tmp_path / "c.yaml", SMALL)
    settings = ["ppo.n_epochs=7", "layers=[3]", "rules.target.2=21", "device=cpu", "self_play.every=9", "save_minutes=0"]
    config = load_config(path, settings)
    assert (config.ppo.n_epochs, config.layers, config.device, config.self_play.every) == (7, [3], "cpu", 9)
    assert (config.ppo.n_steps, config.ppo.batch_size) == (8, 64)  # those of the file
    assert config.read_rules().target[2] == 21
    assert load_config(path, ["seed=1", "seed=2"]).seed == 2
    for wrong in ("ppo", "=3", "variant.x=3", "layers=[", "ppo.n_epochs.x=1", "ppo=3", "ppo.=3"):
        with pytest.raises(ConfigError, match=r"\A[^\n]+\Z"):
            load_config(path, [wrong])
    for text in ("- 1\n", "a: [", "\x00", "", "!!python/object/apply:os.system ['false']"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError, match=r"\A[^\n]+\Z"):
            load_config(path)
    path.write_bytes(b"variant: \xff\n")
    with pytest.raises(ConfigError, match="utf-8"):
        load_config(path)
    with pytest.raises(ConfigError, match="No such file"):
        load_config(tmp_path / "missing.yaml")


def test_what_a_run_was_told_can_be_told_again(tmp_path: Path) -> None:
    told = load_config(write(tmp_path / "c.yaml", SMALL), ["rules.target.2=21", "ppo.gamma=0.9", "evaluation.every=7"])
    (tmp_path / "again.yaml").write_text(dump_config(told), encoding="utf-8")
    assert load_config(tmp_path / "again.yaml") == told
    folder = started(told.model_copy(update={"decisions": 128}), tmp_path / "run")
    assert load_config(folder / "config.yaml") == told.model_copy(update={"decisions": 128})


def test_every_key_says_what_it_is() -> None:
    tables = {name: field.annotation for name, field in TrainingConfig.model_fields.items() if hasattr(field.annotation, "model_fields")}
    assert set(tables) == {"self_play", "evaluation", "ppo", "dqn"}
    for model in (TrainingConfig, *tables.values()):
        for name, field in model.model_fields.items():  # type: ignore[union-attr]
            assert field.description or name in tables


# --------------------------------------------------------------------------------------------------------- command line


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = write(tmp_path / "small.yaml", values(evaluation={"every": 256, "deals": 2}))
    output, folder = tmp_path / "out" / "agent.safetensors", tmp_path / "run"
    assert run("train", config, "--run", folder, "--output", output, "--seed", "3", "--set", "ppo.n_epochs=2", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["checkpoint"], said["run"]) == (str(output), str(folder))
    assert (said["config"]["seed"], said["config"]["ppo"]["n_epochs"]) == (3, 2)
    meta = load_checkpoint(output).meta
    assert (meta.variant, meta.algorithm, meta.layers, meta.seed) == ("bergen", "ppo", [16, 12], 3)
    assert meta.command.startswith("python -m training")
    assert output.read_bytes() == (folder / "best.safetensors").read_bytes()
    assert run("evaluate", "--variant", "bergen", output, "random", "--deals", "50", "--json") == 0
    assert json.loads(capsys.readouterr().out)["pairs"][0]["points"]


def test_the_folder_is_named_after_the_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("train", write(tmp_path / "small.yaml", values(decisions=128))) == 0
    assert capsys.readouterr().out == f"checkpoint {Path('runs/small/last.safetensors')}\n"  # no evaluation, so no best one
    assert load_checkpoint(tmp_path / "runs" / "small" / "last.safetensors").meta.steps_trained == 128


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--set", "opponents=[nobody]"], "policy 'nobody'"),
        (["--set", "opponents=[random, other.safetensors]"], "made for draw"),
        (["--set", "opponents=[five.safetensors]"], "made for 3 players"),
        (["--set", "opponents=[file]"], "file: damaged"),
        (["--set", "evaluation.anchors=[greedy, nobody]"], "policy 'nobody'"),
        (["--set", "evaluation.anchors=[greedy, other.safetensors]"], "made for draw"),
        (["--set", "device=tpu"], "tpu"),
        (["--set", "device=cpu:x"], "cpu:x"),
        (["--set", "device=meta"], "meta"),
        (["--set", "device=hpu"], "hpu"),
        pytest.param(["--set", "device=cuda"], "cuda", marks=pytest.mark.skipif(torch.cuda.is_available(), reason="there is one")),
        (["--sett", "x"], "--sett"),
        (["--set", "ppo.gama=1"], "ppo.gama"),
        (["--seed", "x"], "valid integer"),
        (["--seed", "-1"], "seed"),
        (["--output", "agent.zip"], ".safetensors"),
        (["--output", "file/a.safetensors"], "file"),
    ],
)
def test_train_refuses_before_anything_is_written(
    arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("x")
    write(tmp_path / "small.yaml", SMALL)
    random_checkpoint(tmp_path / "other.safetensors", "draw")
    random_checkpoint(tmp_path / "five.safetensors", "bergen", 3)
    before = sorted(tmp_path.rglob("*"))
    assert run("train", "small.yaml", "--run", "run", *arguments) == 2
    said = capsys.readouterr()
    assert (said.out, len(said.err.strip().splitlines())) == ("", 1)
    assert words in said.err
    assert sorted(tmp_path.rglob("*")) == before


def test_the_other_commands_refuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("x")
    for arguments, words in [
        (("train", tmp_path / "none.yaml"), "No such file"),
        (("train", tmp_path), "directory"),
        (("evaluate", "--variant", "bergn", "random", "greedy"), "bergn"),
        (("evaluate", "--variant", "bergen", "random", "nobody"), "nobody"),
        (("export", tmp_path / "file", "--output", tmp_path / "a.safetensors"), "file"),
        (("export", tmp_path, "--output", tmp_path / "a.safetensors"), "no such file"),
        (("fly",), "fly"),
    ]:
        assert run(*arguments) == 2
        said = capsys.readouterr()
        assert words in said.err
        assert (said.out, len(said.err.strip().splitlines())) == ("", 1)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_module_runs() -> None:
    command = [sys.executable, "-m", "training", "train", "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, "Example: python -m training train" in done.stdout) == (0, True)
    assert re.search(r"--resume\s", done.stdout)
