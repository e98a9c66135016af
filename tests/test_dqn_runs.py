"""Whole runs of DQN: the same seed, resuming, saving, export, and that it learns."""

from __future__ import annotations

import io
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
import torch
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.evaluation import evaluate_policy

from domino_env import load_policy
from domino_env.arena import compare
from domino_env.policies import CheckpointMeta, save_checkpoint
from domino_env.variants import VARIANTS
from tests.dqn_cases import LAYERS, make_env, make_model, observations, values, weights
from tests.policy_cases import positions
from training.dqn import MaskedDQN, q_heads
from training.network import as_arrays
from training.replay import buffer_arrays, restore_buffer


@pytest.mark.parametrize("n_steps", [1, 3])
@pytest.mark.parametrize("double_q", [False, True])
def test_save_and_load(double_q: bool, n_steps: int, tmp_path: Path) -> None:
    env = make_env()
    model = make_model(env, double_q=double_q, n_steps=n_steps).learn(100)
    model.save(tmp_path / "model.zip")
    loaded = MaskedDQN.load(tmp_path / "model.zip", env=env, device="cpu")
    assert type(loaded.replay_buffer) is type(model.replay_buffer)
    assert loaded.exploration_rate == model.exploration_rate
    assert all(array.tobytes() == weights(loaded)[name].tobytes() for name, array in weights(model).items())
    rows = torch.as_tensor(observations(model, 50, np.random.default_rng(9)))
    with torch.no_grad():
        assert torch.equal(model.q_net_target(rows), loaded.q_net_target(rows))
    assert model.q_net_target(rows).shape == (50, 1 if double_q else model.action_space.n)
    model.policy.save(tmp_path / "policy.pt")
    policy = type(model.policy).load(tmp_path / "policy.pt", device="cpu")
    assert torch.equal(model.q_net_target(rows), policy.q_net_target(rows))


def test_a_loaded_model_plays_a_thousand_games(tmp_path: Path) -> None:
    """Through SB3's own evaluation, which passes no masks: the games raise on an illegal move."""
    env = make_env(num_envs=200)
    make_model(env).save(tmp_path / "model.zip")
    loaded = MaskedDQN.load(tmp_path / "model.zip", device="cpu")
    for deterministic in (True, False):
        returns, lengths = evaluate_policy(loaded, env, n_eval_episodes=1000, deterministic=deterministic, return_episode_rewards=True)
        assert len(returns) == 1000
        assert min(lengths) >= 1


def test_same_seed_same_weights() -> None:
    first, second, other = (weights(make_model(make_env(num_envs=20, seed=seed), seed=seed, n_steps=3).learn(2000)) for seed in (3, 3, 4))
    assert all(array.tobytes() == second[name].tobytes() for name, array in first.items())
    assert any(array.tobytes() != other[name].tobytes() for name, array in first.items())


class StoppedError(Exception):
    pass


class StopAt(BaseCallback):
    """Stops between two updates, as a rollout begins: within a step, SB3 would lose the transition."""

    def __init__(self, decisions: int) -> None:
        super().__init__()
        self.decisions = decisions

    def _on_rollout_start(self) -> None:
        if self.num_timesteps >= self.decisions:
            raise StoppedError

    def _on_step(self) -> bool:
        return True


@pytest.mark.parametrize("n_steps", [1, 3])
def test_stopped_and_resumed(n_steps: int) -> None:
    """2,000 decisions at a stretch, and stopped after 1,000: same schedule, counters, buffer, optimiser and weights."""
    straight = make_model(make_env(num_envs=20), n_steps=n_steps).learn(2000)
    stopped = make_model(make_env(num_envs=20), n_steps=n_steps)
    with pytest.raises(StoppedError):
        stopped.learn(2000, callback=StopAt(1000))
    file = io.BytesIO()
    np.savez(file, **buffer_arrays(stopped.replay_buffer))
    counters = ("num_timesteps", "_n_calls", "_n_updates", "_episode_num", "exploration_rate", "_current_progress_remaining", "_last_obs")
    state = {name: deepcopy(getattr(stopped, name)) for name in counters}
    parameters, games, draws = deepcopy(stopped.get_parameters()), stopped.env.get_state(), np.random.get_state()  # noqa: NPY002
    resumed = make_model(make_env(num_envs=20), n_steps=n_steps, seed=99)
    resumed.env.set_state(games)
    resumed.set_parameters(parameters)
    file.seek(0)
    restore_buffer(resumed.replay_buffer, np.load(file, allow_pickle=False))
    for name, value in state.items():
        setattr(resumed, name, value)
    np.random.set_state(draws)  # noqa: NPY002 -- all draws of DQN are from it
    resumed.learn(2000 - resumed.num_timesteps, reset_num_timesteps=False)
    for name in counters[:-1]:
        assert getattr(resumed, name) == getattr(straight, name), name
    assert all(array.tobytes() == weights(resumed)[name].tobytes() for name, array in weights(straight).items())
    kept = buffer_arrays(resumed.replay_buffer)
    assert all(array.tobytes() == kept[name].tobytes() for name, array in buffer_arrays(straight.replay_buffer).items())


def export(model: MaskedDQN, path: Path) -> str:
    steps = model.num_timesteps
    game = {"algorithm": "dqn", "layers": LAYERS, "value_layers": None, "activation": "relu"}
    meta = CheckpointMeta.of(VARIANTS["bergen"], 2, steps_trained=steps, seed=0, command="test", **game)
    save_checkpoint(path, as_arrays(model.q_net.features_extractor, q_heads(model)), meta)
    return str(path)


def test_exported_network_plays_the_same(tmp_path: Path) -> None:
    model = make_model(make_env(num_envs=20), gamma=1.0).learn(2000)
    policy = load_policy(export(model, tmp_path / "agent.safetensors"), rules=VARIANTS["bergen"], num_players=2)
    found = positions("bergen", 2, 1600, seed=10)
    choices = np.flatnonzero(found.batch().action_mask.sum(axis=1) > 1)[:500]
    assert len(choices) == 500
    batch = found.batch(choices)
    seen = np.concatenate([batch.observation, batch.action_mask], axis=1, dtype=np.float32)
    actions, _ = model.predict(seen, deterministic=True)
    played = policy.act(batch)
    by_hand = values(model.q_net, seen)
    # the sums are taken in another order: two values may be equal but for the last digits
    np.testing.assert_allclose(by_hand[np.arange(500), played], by_hand.max(axis=1), atol=1e-5)
    assert (actions == played).mean() > 0.99


def test_it_learns(tmp_path: Path) -> None:
    """Better than random after a few seconds, with the whole interval."""
    env = make_env(num_envs=128, opponents="random")
    model = make_model(env, gamma=1.0, batch_size=256, learning_rate=3e-3, buffer_size=50_000, exploration_fraction=0.3).learn(60_000)
    (pair,) = compare([export(model, tmp_path / "agent.safetensors"), "random"], "bergen", deals=1000).pairs
    assert pair.points.low > 0.1
