"""PPO: the same numbers at collection and at update, a learner that sees all its losses, and what it learns."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO

from domino_env.policies import Checkpoint, LearnedPolicy
from domino_env.variants import VARIANTS
from tests.training_cases import Values, Watching, collect, configured, evaluations, learner, started, values, weights
from training.algorithms import checkpoint_meta, checkpoint_weights, make_env, make_model

EVERY_SEAT: Values = values(num_players=3, ppo={"every_seat": True})

# ---------------------------------------------------------------------------------------------- collection and update


@pytest.mark.parametrize("form", ["one learner", "every seat"])
def test_probabilities_at_collection_are_those_at_update(form: str) -> None:
    """PAINS 19: with the mask that the action was drawn under; and an update begins at a ratio of 1."""
    base = values() if form == "one learner" else EVERY_SEAT
    model = learner(configured(base, activation="tanh", ppo={"n_epochs": 1, "batch_size": 128}))
    with torch.no_grad():
        model.policy.action_net.weight.mul_(100)
    buffer = collect(model)
    unmasked = []
    seen = 0
    for batch in buffer.get(50):
        actions = batch.actions.long().flatten()
        assert batch.action_masks[torch.arange(len(actions)), actions].all()
        got, log_probs, _ = model.policy.evaluate_actions(batch.observations, actions, action_masks=batch.action_masks)
        torch.testing.assert_close(log_probs, batch.old_log_prob, atol=1e-5, rtol=0)
        torch.testing.assert_close(got.flatten(), batch.old_values, atol=1e-5, rtol=0)
        unmasked.append(model.policy.evaluate_actions(batch.observations, actions)[1] - log_probs)
        seen += len(actions)
    assert seen == 128 if form == "one learner" else 64 < seen < 128
    assert torch.cat(unmasked).abs().max() > 0.1  # so the mask counts
    model.batch_size = 1 << 20
    model.train()
    assert model.logger.name_to_value["train/approx_kl"] == pytest.approx(0, abs=1e-6)
    assert model.logger.name_to_value["train/clip_fraction"] == 0


def test_decisions_that_waited_keep_the_probabilities_of_their_policy() -> None:
    """Every seat: a decision learnt from one update late was drawn by the policy before that."""
    model = learner(configured(EVERY_SEAT, ppo={"learning_rate": 0.01}))
    collect(model)
    before = copy.deepcopy(model.policy)
    model.train()
    late, fresh = 0, 0
    for batch in collect(model).get(64):
        both = [
            policy.evaluate_actions(batch.observations, batch.actions, batch.action_masks)[1] - batch.old_log_prob
            for policy in (before, model.policy)
        ]
        old, new = (difference.abs() < 1e-5 for difference in both)
        assert (old | new).all()
        late += int((old & ~new).sum())
        fresh += int((new & ~old).sum())
    assert late > 10
    assert fresh > 50


@pytest.mark.parametrize(("variant", "seats", "skip"), [("bergen", 2, True), ("all_fives", 4, False), ("fives_and_threes", 3, True)])
def test_a_rollout_holds_all_that_a_game_brought(variant: str, seats: int, skip: bool) -> None:
    """PAINS 1: rewards of a game in the buffer add up to its score, whoever moved last."""
    model = learner(configured(variant=variant, num_players=seats, skip_forced=skip, opponents=["greedy"], ppo={"n_steps": 80}))
    watching = Watching()
    rewards = collect(model, watching).rewards
    rules, since, losses = VARIANTS[variant], np.zeros(16, int), 0
    sign = -1 if rules.match_winner == "lowest" else 1
    for step, game, info in watching.infos:
        scores, seat = np.array(info["scores"], float), info["seat"]
        margin = sign * (scores[seat] - (scores.sum() - scores[seat]) / (seats - 1)) / rules.target[seats]
        if since[game] > 0 or step >= info["episode"]["l"] - 1:
            total = rewards[since[game] : step + 1, game].sum()
            assert total == pytest.approx(margin, abs=1e-5)
            assert info["episode"]["r"] == pytest.approx(margin, abs=1e-5)
            losses += total < 0
        since[game] = step + 1
    assert len(watching.infos) > 30
    assert losses > 10


def test_a_learner_that_always_loses_sees_exactly_its_losses() -> None:
    """In lucky threes it draws whenever it may, at 5 points a miss, and loses every match."""
    config = configured(variant="lucky_threes", opponents=["greedy"], episode="match", rules={"target": {2: 100}}, ppo={"n_steps": 600})
    model = learner(config)
    with torch.no_grad():
        model.policy.action_net.weight.zero_()
        model.policy.action_net.bias[-2] = 80.0  # "draw"
    watching = Watching()
    rewards = collect(model, watching).rewards
    since, returns = np.zeros(16, int), []
    for step, game, info in watching.infos:
        mine = info["seat"]
        assert info["winners"] == [1 - mine]
        total = rewards[since[game] : step + 1, game].sum()
        returns.append(float(total))
        assert total == pytest.approx((info["scores"][mine] - info["scores"][1 - mine]) / 100, abs=1e-5)
        since[game] = step + 1
    assert len(returns) > 30
    assert max(returns) < -1
    assert sum(returns) == pytest.approx(sum(info["episode"]["r"] for _, _, info in watching.infos), abs=1e-3)


# ------------------------------------------------------------------------------------------------------- what it learns


@pytest.mark.parametrize("every_seat", [False, True])
def test_it_learns(every_seat: bool, tmp_path: Path) -> None:
    """After some seconds a small network beats random, and itself of the first second."""
    fixed: Values = {} if every_seat else {"opponents": ["random"]}
    config = configured(
        variant="block",
        num_envs=64,
        decisions=24_576,
        layers=[64],
        evaluation={"every": 1024, "deals": 300, "anchors": ["random", "first"], "best_by": "random"},
        ppo={"n_steps": 16, "batch_size": 256, "learning_rate": 3e-3, "every_seat": every_seat},
        **fixed,
    )
    last = evaluations(started(config, tmp_path / "run"))[-1]["against"]
    assert last["random"]["low"] > 0.5, last
    assert last["first"]["points"] > 0.5, last


def test_bfloat16_trains_and_keeps_float32_weights(tmp_path: Path) -> None:
    config = configured(ppo={"autocast": "bfloat16"})
    found = weights(started(config, tmp_path / "run") / "last.safetensors")
    assert found != weights(started(configured(), tmp_path / "other") / "last.safetensors")


@pytest.mark.parametrize("residual", [False, True])
def test_the_checkpoint_of_a_model_is_its_network(residual: bool) -> None:
    config = configured(layers=[12, 12, 7, 7], residual=residual, activation="tanh")
    model = make_model(config, make_env(config))
    assert isinstance(model, MaskablePPO)
    policy = LearnedPolicy(Checkpoint(checkpoint_meta(config, 0, ""), checkpoint_weights(model)))
    observations = np.random.default_rng(0).random((50, *model.observation_space.shape), np.float32)
    with torch.no_grad():
        features = model.policy.extract_features(torch.from_numpy(observations))
        logits, found = model.policy.action_net(features), model.policy.value_net(features)[:, 0]
    np.testing.assert_allclose(policy.logits(observations), logits.numpy(), atol=1e-5)
    np.testing.assert_allclose(policy.values(observations), found.numpy(), atol=1e-5)


def test_minibatches_of_one_are_refused() -> None:
    """The spread of one advantage is no number, and so would be all weights."""
    with pytest.raises(ValueError, match="batch_size"):
        configured(num_envs=1, ppo={"n_steps": 5, "batch_size": 4})
    with pytest.raises(ValueError, match="batch_size"):
        configured(ppo={"n_steps": 8, "batch_size": 127})


@pytest.mark.parametrize(("games", "steps", "seats"), [(1, 2, 4), (3, 3, 4), (1, 7, 2), (5, 5, 3)])
def test_small_rollouts_of_every_seat_leave_numbers(games: int, steps: int, seats: int, tmp_path: Path) -> None:
    """However few decisions are ready, not even one or two, no weight is lost."""
    ppo = {"n_steps": steps, "batch_size": 2, "every_seat": True}
    folder = started(configured(num_envs=games, num_players=seats, decisions=40 * games, ppo=ppo), tmp_path / "run")
    assert weights(folder / "last.safetensors")  # which refuses numbers that are not finite
