"""Training: configs, the command line, evaluation while a run goes on, and what a run leaves behind."""

from __future__ import annotations

import csv
import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from domino_env import Games, load_policy
from domino_env.arena import compare
from domino_env.errors import DominoError
from domino_env.policies import Batch, Checkpoint, LearnedPolicy, load_checkpoint
from domino_env.variants import VARIANTS
from tests.policy_cases import random_checkpoint, random_weights
from tests.training_cases import SMALL, SMALL_DQN, Values, configured, content, evaluations, run, started, values, weights, write
from training.callback import RunCallback
from training.config import ConfigError, TrainingConfig
from training.config_file import dump_config, load_config
from training.evaluation import Evaluator
from training.learners import checkpoint_meta, checkpoint_weights, make_env, make_model
from training.run_folder import RunFolder
from training.state_file import load_state, save_state
from training.train import default_folder

ROOT = Path(__file__).resolve().parent.parent
CONFIGS = sorted((ROOT / "configs").glob("*.yaml"))
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


# ------------------------------------------------------------------------------------------------- runs and checkpoints


@pytest.mark.parametrize("variant", VARIANTS)
def test_train_save_load_play(variant: str, tmp_path: Path) -> None:
    """PAINS 15, 27: what a run leaves is played by name, with the trained network, for its own game only, and legally."""
    seats = max(VARIANTS[variant].players)
    config = configured(variant=variant, num_players=seats, decisions=128, residual=True, layers=[12, 12])
    model: Any = make_model(config, make_env(config))
    folder = started(config, tmp_path / "run")
    policy: Any = load_policy(str(folder / "last.safetensors"), rules=VARIANTS[variant], num_players=seats)
    meta = policy.checkpoint.meta
    assert (meta.variant, meta.algorithm, meta.layers, meta.residual, meta.steps_trained, meta.seed) == (
        variant,
        "ppo",
        [12, 12],
        True,
        128,
        0,
    )
    with torch.no_grad():
        for name, array in policy.checkpoint.weights.items():
            head, _, part = name.rpartition(".")
            layer = {"logits": model.policy.action_net, "value": model.policy.value_net}.get(head)
            layer = layer or model.policy.features_extractor.layers[int(head.removeprefix("layers."))]
            getattr(layer, part).copy_(torch.from_numpy(array.copy()))
    games = Games(variant, 64, num_players=seats, seed=3)
    for _ in range(30):
        batch = Batch.of_games(games.rows, np.arange(64), games.packed, games.rules, seats, games.encoding)
        actions = policy.act(batch)
        best, _ = model.predict(batch.observation, action_masks=batch.action_mask, deterministic=True)
        assert (best == actions).mean() > 0.95  # all but ties to the last digit
        games.step(actions)  # which refuses illegal ones
    other = "draw" if variant != "draw" else "block"
    with pytest.raises(DominoError, match="made for"):
        load_policy(str(folder / "last.safetensors"), rules=VARIANTS[other], num_players=max(VARIANTS[other].players))


def test_what_a_run_leaves(tmp_path: Path) -> None:
    changes: Values = {"evaluation": {"every": 256, "deals": 4}, "decisions": 17_408, "num_envs": 64, "ppo": {"batch_size": 512}}
    folder = started(configured(tensorboard=True, **changes), tmp_path / "run")
    names = {"best.safetensors", "config.yaml", "evaluations.json", "last.safetensors", "state.npz"}
    found = content(folder)
    assert {name for name in found if "/" not in name} == names
    assert [name for name in found if name.startswith("logs/from_0/") and "tfevents" in name]
    with (folder / "logs" / "from_0" / "progress.csv").open() as file:
        lines = list(csv.DictReader(file))
    for name in ("time/decisions_per_second", "rollout/return", "rollout/win_share", "opponents/greedy_win_share", "train/learning_rate"):
        assert np.isfinite(float(lines[0][name]))
    for anchor in ("random", "greedy", "first"):
        assert float(lines[-1][f"evaluation/{anchor}_points"]) == pytest.approx(evaluations(folder)[-1]["against"][anchor]["points"])


# ----------------------------------------------------------------------------------------------------------- evaluation


@pytest.mark.parametrize("base", [values(), values(num_players=3, ppo={"every_seat": True}), SMALL_DQN], ids=["ppo", "every_seat", "dqn"])
def test_evaluations_are_comparisons_of_the_checkpoints(base: Values, tmp_path: Path) -> None:
    """The numbers that a run notes are those that anybody finds between the files it leaves."""
    config = configured(base, evaluation={"every": 256, "deals": 20, "anchors": ["greedy", "random", "first"]}, episode="match")
    found = evaluations(started(config, tmp_path / "run"))
    assert [result["decisions"] for result in found] == [256, 512]
    assert [result["deals"] for result in found] == [20, 20]
    assert found[0]["against"]["first"]["points"] == 0.0  # the same network on both sides
    last = str(tmp_path / "run" / "last.safetensors")
    for anchor in ("greedy", "random"):
        pair = compare([last, anchor], "bergen", num_players=config.num_players, deals=20, seed=2**31, episode="match").pairs[0]
        assert found[-1]["against"][anchor] == {
            "points": pair.points.mean, "low": pair.points.low, "high": pair.points.high, "won": pair.won.mean,
        }  # fmt: skip


def test_the_first_learner_stays_an_anchor(tmp_path: Path) -> None:
    """That of the first evaluation, also after the run was taken up again."""
    config = configured(evaluation={"every": 1, "deals": 40, "anchors": ["first"], "best_by": "first"})
    meta = checkpoint_meta(config, 0, "")
    one, other, third = (random_weights(meta, seed) for seed in range(3))

    def expected(learner: Any) -> float:
        policies = {"learner": LearnedPolicy(Checkpoint(meta, learner)), "anchor": LearnedPolicy(Checkpoint(meta, one))}
        return compare(policies, "bergen", deals=40, seed=2**31).pairs[0].points.mean

    evaluator = Evaluator(config, meta)
    found = [evaluator.run(learner, number)["against"]["first"]["points"] for number, learner in enumerate((one, other))]
    assert found == [0.0, expected(other)]
    save_state(tmp_path / "state.npz", evaluator.get_state())
    again = Evaluator(config, meta)
    again.set_state(load_state(tmp_path / "state.npz"))
    assert (again.results, again.best) == (evaluator.results, evaluator.best)
    assert again.run(third, 2)["against"]["first"]["points"] == expected(third)
    assert len({*found, expected(third)}) == 3


def test_evaluations_make_no_illegal_move_and_play_the_same_deals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PAINS 14."""
    decisions: list[int] = []
    starts: list[bytes] = []

    class Watched(LearnedPolicy):
        def act(self, batch: Batch) -> np.ndarray:
            actions = super().act(batch)
            assert (batch.action_mask[np.arange(len(batch)), actions] == 1).all()
            if not self.seen:
                starts.append(np.sort(batch.observation.astype(np.float64) @ np.arange(1, batch.observation.shape[1] + 1)).tobytes())
            self.seen = True
            decisions.append(len(batch))
            return actions

        seen = False

    monkeypatch.setattr("training.evaluation.LearnedPolicy", Watched)
    config = configured(evaluation={"every": 128, "deals": 10, "anchors": ["random"], "best_by": "random"})
    started(config, tmp_path / "run")
    assert sum(decisions) > 4 * 20 * 2
    assert len(starts) == 4
    assert len(set(starts)) == 1


def test_the_best_checkpoint_is_that_of_the_best_evaluation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points, taken = iter([0.1, 0.5, 0.3, 0.5]), []
    evaluate = Evaluator.run

    def told(self: Evaluator, arrays: Any, decisions: int) -> Any:
        taken.append({name: array.tobytes() for name, array in arrays.items()})
        return evaluate(self, arrays, decisions)

    def meet(self: Evaluator, learner: Any, spec: str) -> dict[str, float]:
        # against the other anchor it only gets worse
        return {"points": next(points) if spec == "greedy" else -len(taken), "low": 0.0, "high": 0.0, "won": 0.5}

    monkeypatch.setattr(Evaluator, "run", told)
    monkeypatch.setattr(Evaluator, "_meet", meet)
    folder = started(configured(evaluation={"every": 128, "anchors": ["random", "greedy"], "best_by": "greedy"}), tmp_path / "run")
    assert len(taken) == 4
    assert weights(folder / "best.safetensors") == taken[1]
    assert weights(folder / "last.safetensors") == taken[3]
    assert load_checkpoint(folder / "best.safetensors").meta.steps_trained == 256


def test_looking_at_a_run_does_not_change_it(tmp_path: Path) -> None:
    """Evaluating and saving draw no number that the training would have drawn."""
    plain = weights(started(configured(), tmp_path / "plain") / "last.safetensors")
    often = configured(evaluation={"every": 1, "deals": 3}, save_minutes=0)
    assert weights(started(often, tmp_path / "often") / "last.safetensors") == plain


def test_global_generators_are_left_alone(tmp_path: Path) -> None:
    config = configured(evaluation={"every": 1, "deals": 3})
    env = make_env(config)
    model = make_model(config, env)
    model._setup_learn(512)

    def states() -> list[Any]:
        name, keys, *rest = np.random.get_state()  # noqa: NPY002 -- SB3 draws from this one
        return [name, keys.tobytes(), rest, torch.get_rng_state().numpy().tobytes(), random.getstate()]

    before = states()
    Evaluator(config, checkpoint_meta(config, 0, "")).run(checkpoint_weights(model), 0)
    assert states() == before
    callback: Any = RunCallback(config, env, RunFolder(tmp_path), Seconds(), "")  # type: ignore[arg-type]
    callback.init_callback(model)
    callback.save()
    callback._seat_opponents()
    assert states() == before
    assert (tmp_path / "state.npz").exists()


class Seconds:
    """All that a save asks the progress for."""

    seconds = 0.0


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
