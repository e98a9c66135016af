"""The policy of PPO: a softmax over what is legal, whatever its logits are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.distributions import MaskableCategoricalDistribution

from domino_env.errors import EmptyMaskError
from tests.training_cases import Values, collect, configured, learner, values
from training.network import Trunk
from training.ppo import MaskedPolicy

EVERY_SEAT: Values = values(num_players=3, ppo={"every_seat": True})


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
