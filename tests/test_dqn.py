"""DQN with masks: in warm-up, exploration, greedy choice and target; the double-Q target."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import torch

from domino_env.errors import EmptyMaskError, OptionsError
from domino_env.variants import VARIANTS
from tests.dqn_cases import fill, make_env, make_model, observations, values, weights
from training.dqn import MaskedDQN


def play(model: MaskedDQN, env: Any, steps: int, deterministic: bool) -> int:
    """Let the model act for ``steps`` steps; returns how many actions it took, all of them legal."""
    seen = env.reset()
    for _ in range(steps):
        actions, _ = model.predict(seen, deterministic=deterministic)
        assert env.action_masks()[np.arange(env.num_envs), actions].all()
        seen, *_ = env.step(actions)
    return steps * env.num_envs


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_illegal_action_anywhere(variant: str) -> None:
    """The games raise on an illegal action; warm-up and learning run through them too."""
    env = make_env(variant, 6, num_players=max(VARIANTS[variant].players))
    model = make_model(env, learning_starts=10**6)
    assert model.learn(6 * 40).num_timesteps == 240
    model = make_model(env, learning_starts=0, exploration_initial_eps=1.0, exploration_final_eps=1.0)
    assert model.learn(6 * 40)._n_updates == 40
    assert play(model, env, 20, deterministic=False) == 120
    model.exploration_rate = 0.0
    for scale, bias in [(1.0, 0.0), (1e4, -1e9), (1.0, torch.finfo(torch.float32).min), (1.0, -torch.inf), (1e30, 0.0)]:
        # the last values are nan
        with torch.no_grad():
            for part in model.q_net.parameters():
                part.normal_(std=scale)
            model.q_net.q_net[0].bias += bias
        play(model, env, 20, deterministic=False)
        play(model, env, 20, deterministic=True)


def test_draws_are_uniform_over_the_legal_actions() -> None:
    model = make_model()
    generator = np.random.default_rng(1)
    for row in observations(model, 5, generator):
        legal = np.flatnonzero(row[-model.action_space.n :])
        for draw in (model._draw_legal, lambda seen: model.predict(seen)[0]):
            model.exploration_rate = 1.0
            actions = draw(np.tile(row, (20_000, 1)))
            counts = np.array([(actions == action).sum() for action in legal])
            expected = 20_000 / len(legal)
            assert counts.sum() == 20_000
            assert np.abs(counts - expected).max() <= 5 * np.sqrt(expected)


def test_each_game_explores_by_itself() -> None:
    """SB3 draws once for the whole batch: either every game explores or none."""
    model = make_model()
    rows = observations(model, 2, np.random.default_rng(2))
    rows[:, -model.action_space.n :] = 1.0
    greedy, _ = model.predict(rows, deterministic=True)
    model.exploration_rate = 0.5
    same = np.array([model.predict(rows)[0] == greedy for _ in range(2000)])
    # a random one is the greedy one now and then
    share = 0.5 + 0.5 / model.action_space.n
    for first in (False, True):
        for second in (False, True):
            expected = (share if first else 1 - share) * (share if second else 1 - share)
            assert abs((same == (first, second)).all(axis=1).mean() - expected) < 0.05
    model.exploration_rate = 0.0
    assert all((model.predict(rows)[0] == greedy).all() for _ in range(10))


def test_one_observation_is_one_action() -> None:
    model = make_model()
    row = observations(model, 1, np.random.default_rng(3))[0]
    for rate in (0.0, 1.0):
        model.exploration_rate = rate
        for deterministic in (False, True):
            action, _ = model.predict(row, deterministic=deterministic)
            assert np.shape(action) == ()
            assert row[int(action) - model.action_space.n] == 1.0


@pytest.mark.parametrize("rate", [0.0, 1.0])
@pytest.mark.parametrize("deterministic", [False, True])
def test_an_empty_mask_is_refused_when_acting(rate: float, deterministic: bool) -> None:
    model = make_model()
    rows = observations(model, 4, np.random.default_rng(4))
    rows[2, -model.action_space.n :] = 0.0
    model.exploration_rate = rate
    with pytest.raises(EmptyMaskError, match="row 2: no action is legal"):
        model.predict(rows, deterministic=deterministic)
    model._last_obs = rows
    with pytest.raises(EmptyMaskError, match="row 2"):
        model._sample_action(learning_starts=10**6)


@pytest.mark.parametrize("n_steps", [1, 3])
@pytest.mark.parametrize("double_q", [False, True])
def test_a_huge_value_of_an_illegal_next_action_changes_nothing(double_q: bool, n_steps: int) -> None:
    """One step of SB3's own ``train``: weights and loss are those of a network that does not value the action so highly."""

    def trained(bias: float, legal_next: int = -1) -> tuple[dict[str, Any], float]:
        model = make_model(double_q=double_q, n_steps=n_steps)
        with torch.no_grad():
            for network in (model.q_net, model.q_net_target):
                network.q_net[0].bias[7] = bias
        fill(model, seed=5, forbidden=7, legal_next=legal_next)
        np.random.seed(6)  # noqa: NPY002 -- replay draws from it
        model.train(3, batch_size=64)
        after = weights(model)
        for name in ("q_net.q_net.0.bias", "q_net_target.q_net.0.bias"):
            after[name] = np.delete(after[name], 7)
        return after, model.logger.name_to_value["train/loss"]

    usual, usual_loss = trained(0.0)
    huge, huge_loss = trained(1e6)
    assert huge_loss == usual_loss
    assert all(array.tobytes() == huge[name].tobytes() for name, array in usual.items())
    # and where it is legal it does reach the target
    assert trained(1e6, legal_next=7)[1] > 1e4


@pytest.mark.parametrize("n_steps", [1, 3])
@pytest.mark.parametrize("double_q", [False, True])
def test_target_by_hand(double_q: bool, n_steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loss that SB3's ``train`` logs is that of a target computed in numpy from weights, masks and what was sampled."""
    model = make_model(double_q=double_q, n_steps=n_steps)
    with torch.no_grad():
        for part in model.q_net_target.parameters():
            part.normal_(std=0.5)
    fill(model, seed=7)
    sampled: list[Any] = []
    sample = model.replay_buffer.sample
    monkeypatch.setattr(model.replay_buffer, "sample", lambda *args, **kwargs: sampled.append(sample(*args, **kwargs)) or sampled[-1])
    online, target = deepcopy(model.q_net), deepcopy(model.q_net_target)
    model.train(1, batch_size=128)
    (data,) = (tuple(part if part is None else part.numpy() for part in batch) for batch in sampled)
    seen, actions, following, dones, rewards, discounts = data
    ahead = values(target, following)
    chosen = (values(online, following) if double_q else ahead).argmax(axis=1)
    best = np.where(dones[:, 0] == 1, 0.0, ahead[np.arange(128), chosen])
    assert 0 < dones.sum() < 128
    assert (values(online, following).argmax(axis=1) != ahead.argmax(axis=1)).mean() > 0.2
    wanted = rewards[:, 0] + (0.9 if discounts is None else discounts[:, 0]) * best
    error = np.abs(values(online, seen)[np.arange(128), actions[:, 0]] - wanted)
    loss = np.where(error < 1, 0.5 * error**2, error - 0.5).mean()
    assert model.logger.name_to_value["train/loss"] == pytest.approx(loss, rel=1e-5)


@pytest.mark.parametrize("double_q", [False, True])
def test_finished_games_give_no_nan(double_q: bool) -> None:
    """A finished game's next observation has no legal action: its target is its reward."""
    model = make_model(double_q=double_q, learning_rate=1e-2)
    fill(model, seed=8, done=1.0)
    size = model.replay_buffer.size()
    assert not model.replay_buffer.next_observations[:size, :, -model.action_space.n :].any()
    model.replay_buffer.rewards[:size] = 2.0
    model.train(300, batch_size=64)
    assert all(np.isfinite(array).all() for array in weights(model).values())
    actions = model.replay_buffer.actions[:size].reshape(-1)
    seen = model.replay_buffer.observations[:size].reshape(len(actions), -1)
    assert np.abs(values(model.q_net, seen)[np.arange(len(actions)), actions] - 2.0).mean() < 0.5


def test_target_network_holds_its_own_weights_only() -> None:
    model = make_model(double_q=True)
    assert model.q_net_target.state_dict().keys() == model.q_net.state_dict().keys()
    assert len(list(model.q_net_target.parameters())) == len(list(model.q_net.parameters()))
    assert len(list(model.policy.parameters())) == 2 * len(list(model.q_net.parameters()))
    copy = deepcopy(model.policy)
    assert copy.q_net_target._online[0] is copy.q_net
    assert copy.q_net is not model.q_net


def test_what_cannot_be_masked_is_refused() -> None:
    with pytest.raises(OptionsError, match="mask_in_observation=False"):
        make_model(make_env(mask_in_observation=False))
    with pytest.raises(OptionsError, match=r"net_arch=\[64\]"):
        MaskedDQN("MlpPolicy", make_env(), policy_kwargs={"net_arch": [64]}, buffer_size=64)
    with pytest.raises(OptionsError, match="size=9"):
        MaskedDQN("MlpPolicy", make_env(), policy_kwargs={"features_extractor_kwargs": {"size": 9}}, buffer_size=64)
