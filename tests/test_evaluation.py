"""What a run leaves behind, and evaluation while it goes on."""

from __future__ import annotations

import csv
import random
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
from tests.policy_cases import random_weights
from tests.training_cases import SMALL_DQN, Values, configured, content, evaluations, started, values, weights
from training.algorithms import checkpoint_meta, checkpoint_weights, make_env, make_model
from training.callback import RunCallback
from training.evaluation import Evaluator
from training.run_folder import RunFolder
from training.state_file import load_state, save_state

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
