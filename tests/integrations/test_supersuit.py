"""SuperSuit and PettingZoo's own wrappers: those that the page calls good play on, those that it calls bad refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pettingzoo.utils import wrappers

from domino_env import bergen_v0
from tests.integrations.conftest import Witness
from tests.integrations.libraries import SEATS, THEIR_WARNINGS, example, library

supersuit = library("supersuit")
supersuit_wrappers = example("supersuit_wrappers")
pytestmark = THEIR_WARNINGS

GOOD = {
    "reward_lambda_v0": lambda env: supersuit.reward_lambda_v0(env, lambda reward: reward),
    "clip_reward_v0": lambda env: supersuit.clip_reward_v0(env, -100, 100),
    "observation_lambda_v0": lambda env: supersuit.observation_lambda_v0(env, lambda seen, _: seen, lambda space: space),
    "pad_action_space_v0": supersuit.pad_action_space_v0,
    "BaseWrapper": wrappers.BaseWrapper,
    "OrderEnforcingWrapper": wrappers.OrderEnforcingWrapper,
    "AssertOutOfBoundsWrapper": wrappers.AssertOutOfBoundsWrapper,
    "TerminateIllegalWrapper": lambda env: wrappers.TerminateIllegalWrapper(env, -1),
}
BAD = {
    "frame_stack_v2": lambda env: supersuit.frame_stack_v2(env, 4),
    "dtype_v0": lambda env: supersuit.dtype_v0(env, np.float64),
    "flatten_v0": supersuit.flatten_v0,
    "agent_indicator_v0": supersuit.agent_indicator_v0,
    "pad_observations_v0": supersuit.pad_observations_v0,
    "black_death_v3": supersuit.black_death_v3,
}


def played(env: Any, seed: int) -> dict[str, float]:
    random, returns = np.random.default_rng(seed), dict.fromkeys(env.possible_agents, 0.0)
    env.reset(seed=seed)
    for agent in env.agent_iter():
        seen, reward, terminated, truncated, _ = env.last()
        returns[agent] += reward
        env.step(None if terminated or truncated else int(random.choice(np.flatnonzero(seen["action_mask"]))))
    return returns


@SEATS
def test_the_example_counts_points(num_players: int, witness: Witness) -> None:
    for seed in range(5):
        points = supersuit_wrappers.main(num_players, seed)
        target = bergen_v0.raw_env(num_players=num_players).rules.target[num_players]
        assert points == pytest.approx({agent: earned * target for agent, earned in witness.finished[-1].returns.items()})
    assert witness.refused == 0


@SEATS
@pytest.mark.parametrize("name", GOOD)
def test_wrappers_that_work_pay_what_the_table_pays(name: str, num_players: int, witness: Witness) -> None:
    for seed in range(3):
        returns = played(GOOD[name](bergen_v0.raw_env(num_players=num_players, episode="round")), seed)
        assert returns == pytest.approx(witness.finished[-1].returns)
    assert witness.refused == 0


@pytest.mark.parametrize("name", BAD)
def test_wrappers_that_do_not_know_dict_observations_say_so(name: str) -> None:
    with pytest.raises((AssertionError, AttributeError)):
        BAD[name](bergen_v0.raw_env())


@SEATS
def test_all_at_once_pays_what_the_tables_pay(num_players: int, witness: Witness) -> None:
    envs = supersuit_wrappers.all_at_once(num_players, num_games=2)
    assert envs.num_envs == 2 * num_players
    random = np.random.default_rng(0)
    seen, _ = envs.reset(seed=0)
    running, ended = np.zeros(envs.num_envs), []
    for _ in range(150):
        mask = seen["action_mask"]
        on_turn = mask.any(axis=1).reshape(2, num_players)
        assert (on_turn.sum(axis=1) == 1).all()
        actions = np.argmax(random.random(mask.shape) * mask, axis=1)
        seen, rewards, terminated, _, _ = envs.step(actions)
        running += rewards
        for game in np.flatnonzero(terminated.reshape(2, num_players).all(axis=1)):
            rows = slice(game * num_players, (game + 1) * num_players)
            ended.append(running[rows].tolist())
            running[rows] = 0
    table = [list(game.returns.values()) for game in witness.finished]
    assert len(ended) > 3
    assert np.allclose(sorted(ended), sorted(table), atol=1e-6)
    assert witness.refused == 0
