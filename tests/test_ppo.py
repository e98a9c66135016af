"""PPO: the policy under its masks, the same numbers at collection and at update, and a learner that sees all its losses."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.distributions import MaskableCategoricalDistribution
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger

from domino_env.errors import EmptyMaskError
from domino_env.policies import Checkpoint, LearnedPolicy
from domino_env.variants import VARIANTS
from tests.training_cases import Values, configured, evaluations, started, values, weights
from training.config import TrainingConfig
from training.learners import checkpoint_meta, checkpoint_weights, make_env, make_model
from training.network import Trunk
from training.ppo import MaskedPolicy

EVERY_SEAT: Values = values(num_players=3, ppo={"every_seat": True})


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


@contextmanager
def checked_distributions() -> Iterator[None]:
    """torch's distributions check every probability, as they do outside a training."""
    torch.distributions.Distribution.set_default_validate_args(True)
    try:
        yield
    finally:
        torch.distributions.Distribution.set_default_validate_args(False)


def tiny(actions: int = 7, size: int = 5) -> MaskedPolicy:
    """A policy of a few units."""
    torch.manual_seed(0)
    return MaskedPolicy(
        spaces.Box(-1.0, 1.0, (size,), np.float32),
        spaces.Discrete(actions),
        lambda _: 1e-3,
        net_arch=[],
        features_extractor_class=Trunk,
        features_extractor_kwargs={"layers": [6], "activation": "tanh"},
    )


def random_masks(count: int, actions: int, seed: int = 0) -> np.ndarray:
    """Each row with at least one legal action, every third with just one."""
    generator = np.random.default_rng(seed)
    masks = generator.random((count, actions)) < 0.4
    masks[::3] = False
    masks[np.arange(count), generator.integers(0, actions, count)] = True
    return masks


# --------------------------------------------------------------------------------------------------------- the policy


@pytest.mark.parametrize("scale", [1.0, 50.0])
def test_the_policy_is_the_masked_softmax(scale: float) -> None:
    """Probabilities, entropies and values as sb3-contrib's own distribution has them, in the same network."""
    policy = tiny()
    with torch.no_grad():
        policy.action_net.weight.mul_(0)
        policy.action_net.bias.copy_(scale * torch.linspace(-1, 1, 7)[torch.randperm(7)])
    observations, masks = torch.rand(60, 5), random_masks(60, 7)
    reference = MaskableCategoricalDistribution(7).proba_distribution(policy.action_net(policy.extract_features(observations)))
    reference.apply_masking(masks)
    for action in range(7):
        actions = torch.full((60,), action)
        legal = torch.from_numpy(masks[:, action])
        got, log_probs, entropies = policy.evaluate_actions(observations, actions, masks)
        torch.testing.assert_close(log_probs[legal], reference.log_prob(actions)[legal], atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(entropies, reference.entropy(), atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(got, policy.predict_values(observations))
        torch.testing.assert_close(policy.evaluate_actions(observations, actions[:, None].float(), masks)[1], log_probs)
    actions, got, log_probs = policy(observations, action_masks=masks)
    assert masks[np.arange(60), actions].all()
    torch.testing.assert_close(log_probs, policy.evaluate_actions(observations, actions, masks)[1])
    best, _, _ = policy(observations, deterministic=True, action_masks=masks)
    assert (best == reference.distribution.probs.argmax(dim=1)).all()
    assert not (masks.argmax(axis=1) == best.numpy()).all()


def test_draws_come_as_often_as_the_policy_says() -> None:
    policy = tiny()
    masks = random_masks(3, 7, seed=2)
    count = 30_000
    with torch.no_grad():
        policy.action_net.bias.copy_(torch.tensor([0.0, 1.0, -1.0, 2.0, 0.5, -2.0, 0.0]))
        observation = torch.rand(1, 5).expand(count, 5)
        for mask in [*masks, np.ones(7, bool)]:
            many = mask[None].repeat(count, 0)
            actions, _, _ = policy(observation, action_masks=many)
            shares = np.bincount(actions, minlength=7) / count
            expected = np.zeros(7)
            for action in np.flatnonzero(mask):
                expected[action] = policy.evaluate_actions(observation[:1], torch.tensor([action]), many[:1])[1].exp()
            assert (shares[~mask] == 0).all()
            assert expected.sum() == pytest.approx(1, abs=1e-5)
            np.testing.assert_allclose(shares, expected, atol=4.5 * np.sqrt(0.25 / count))


def test_what_is_illegal_is_never_drawn_and_learns_nothing() -> None:
    """Its logit is the highest by far, and it gets no gradient: not a small probability, but none."""
    policy = tiny(actions=6)
    with torch.no_grad():
        policy.action_net.bias.copy_(torch.tensor([500.0, 0.0, 0.0, -90.0, 500.0, 0.0]))
    masks = np.array([False, True, True, True, False, True])[None].repeat(4000, 0)
    observations = torch.rand(4000, 5)
    actions, _, _ = policy(observations, action_masks=masks)
    assert set(actions.tolist()) == {1, 2, 5}
    for probabilities in (policy._evaluate(observations, masks)[0], policy.get_distribution(observations, masks).distribution.probs):
        assert (probabilities[:, [0, 4]] == 0).all()  # exactly
    _, log_probs, entropies = policy.evaluate_actions(observations, actions, masks)
    assert log_probs.detach().exp().mean().item() == pytest.approx(1 / 3, abs=0.05)
    (log_probs.sum() + entropies.sum()).backward()
    gradient = policy.action_net.weight.grad
    assert (gradient[[0, 4]] == 0).all()
    assert (gradient[[1, 2, 5]] != 0).all()
    assert torch.isfinite(gradient).all()


@pytest.mark.parametrize("form", ["one learner", "every seat"])
def test_a_thousand_updates_with_one_legal_action_and_huge_logits(form: str) -> None:
    """PAINS 4: no "Simplex" failure, no number that is none, with torch's own checks on."""
    base = values() if form == "one learner" else EVERY_SEAT
    model = learner(configured(base, layers=[8], ppo={"learning_rate": 1e-5, "n_epochs": 1000, "batch_size": 128, "ent_coef": 0.01}))
    policy = model.policy
    with torch.no_grad():
        policy.action_net.weight.mul_(0.1)
        policy.action_net.bias.copy_(torch.tensor([50.0, -50.0]).repeat(29))
    with checked_distributions():
        buffer = collect(model)
        if form == "one learner":
            buffer.action_masks[::2] = 0
            np.put_along_axis(buffer.action_masks[::2], buffer.actions[::2].astype(np.int64), 1, axis=2)
        else:
            buffer.flat_masks[::2] = False
            buffer.flat_masks[np.arange(len(buffer.flat_actions)), buffer.flat_actions] = True
        model.train()
        collect(model)
        masks = model.env.action_masks() if form == "one learner" else model.env.games.action_mask
        for deterministic in (False, True):
            actions, _ = model.predict(np.ones((16, *model.observation_space.shape)), action_masks=masks, deterministic=deterministic)
            assert masks[np.arange(16), actions].all()
    assert model._n_updates == 1000
    assert all(torch.isfinite(parameter).all() for parameter in policy.parameters())
    assert all(np.isfinite(value) for value in model.logger.name_to_value.values())


def test_an_empty_mask_is_an_error() -> None:
    """PAINS 5: sb3-contrib would play any action, legal or not."""
    policy = tiny()
    observations, masks = torch.rand(3, 5), np.ones((3, 7), bool)
    masks[1] = False
    with pytest.raises(EmptyMaskError, match="all False"):
        policy(observations, action_masks=masks)
    with pytest.raises(EmptyMaskError):
        policy(observations, deterministic=True, action_masks=masks)
    with pytest.raises(EmptyMaskError):
        policy.evaluate_actions(observations, torch.zeros(3), masks)
    with pytest.raises(EmptyMaskError):
        policy.predict(observations.numpy(), action_masks=masks)
    with pytest.raises(EmptyMaskError):
        policy.get_distribution(observations, action_masks=masks)


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
