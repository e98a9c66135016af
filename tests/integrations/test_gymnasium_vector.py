"""Gymnasium's vector environments and its own checker; needs no further library."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import domino_env  # noqa: F401 - registers the ids
from domino_env.envs.vector import DominoVectorEnv
from tests.integrations.conftest import Witness
from tests.integrations.libraries import SEATS, example

gymnasium_vector = example("gymnasium_vector")


@SEATS
def test_the_example_counts_every_reward(num_players: int, monkeypatch: pytest.MonkeyPatch) -> None:
    paid: list[np.ndarray] = []
    ends: list[np.ndarray] = []
    step = DominoVectorEnv.step

    def spied(env: DominoVectorEnv, actions: np.ndarray) -> tuple:
        assert env.action_masks()[np.arange(env.num_envs), actions].all()
        result = step(env, actions)
        paid.append(result[1].copy())
        ends.append(result[2].copy())
        return result

    monkeypatch.setattr(DominoVectorEnv, "step", spied)
    returns = gymnasium_vector.main(num_players, steps=40)
    running, expected = np.zeros(256), []
    for rewards, done in zip(paid, ends, strict=True):
        running += rewards
        expected += running[done].tolist()
        running[done] = 0
    assert len(returns) > 256
    assert np.allclose(returns, expected, atol=1e-5)


@SEATS
@pytest.mark.parametrize("skip_forced", [False, True])
def test_one_learner_in_sync_environments_gets_its_seat_s_return(num_players: int, skip_forced: bool, witness: Witness) -> None:
    envs = gymnasium.make_vec(
        "domino/bergen-v0", num_envs=3, vectorization_mode="sync", num_players=num_players, opponents="greedy", skip_forced=skip_forced,
        learner_seat=1, vector_kwargs={"autoreset_mode": gymnasium.vector.AutoresetMode.SAME_STEP},
    )  # fmt: skip
    random = np.random.default_rng(1)
    _, info = envs.reset(seed=4)
    running, ended = np.zeros(3), []
    for _ in range(60):
        mask = info["action_mask"]
        _, rewards, terminated, _, info = envs.step(np.argmax(random.random(mask.shape) * mask, axis=1))
        running += rewards
        ended += running[terminated].tolist()
        running[terminated] = 0
    # a game that ends before the learner decided anything is told in info, not in rewards
    seen = [game.returns["player_1"] for game in witness.finished]
    if not skip_forced:
        assert np.allclose(ended, seen, atol=1e-6)
    assert len(ended) > 5
    assert all(np.isclose(value, seen, atol=1e-6).any() for value in ended)
    assert witness.refused == 0


@SEATS
@pytest.mark.parametrize("variant", ["bergen", "block", "shopping"])
def test_gymnasium_s_checker_is_content(variant: str, num_players: int) -> None:
    env = gymnasium.make(f"domino/{variant}-v0", num_players=num_players, illegal="lose")
    check_env(env.unwrapped, skip_render_check=True)
