"""AgileRL: a population trained by its own loop, with masks, on what the games paid."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from domino_env.envs.vector import DominoVectorEnv
from tests.integrations.conftest import Witness
from tests.integrations.libraries import SEATS, THEIR_WARNINGS, example, library

library("agilerl")
agilerl_dqn = example("agilerl_dqn")
pytestmark = THEIR_WARNINGS


@SEATS
def test_the_buffer_holds_what_the_games_paid(num_players: int, monkeypatch: pytest.MonkeyPatch) -> None:
    buffers: list[Any] = []
    paid: list[tuple[np.ndarray, np.ndarray]] = []
    buffer_class, step = agilerl_dqn.ReplayBuffer, DominoVectorEnv.step

    def kept(*arguments: Any) -> Any:
        buffers.append(buffer_class(*arguments))
        return buffers[-1]

    def spied(env: DominoVectorEnv, actions: np.ndarray) -> tuple:
        result = step(env, actions)  # an illegal action raises
        paid.append((result[1].copy(), result[2].copy()))
        return result

    monkeypatch.setattr(agilerl_dqn, "ReplayBuffer", kept)
    monkeypatch.setattr(DominoVectorEnv, "step", spied)
    population = agilerl_dqn.main(num_players, max_steps=320)
    stored = buffers[0].storage[: len(buffers[0])]
    count = len(stored) // 8
    rewards = stored["reward"].reshape(count, 8).numpy()
    done = stored["done"].reshape(count, 8).numpy().astype(bool)
    # beside the steps that it keeps, AgileRL plays others to measure its agents
    trained = [step_paid for step_paid in paid if any(np.allclose(step_paid[0], row, atol=1e-6) for row in rewards)]
    assert count >= 40
    assert len(trained) >= count
    assert np.allclose(rewards[0], paid[0][0], atol=1e-6)
    assert (rewards[done] != 0).any()
    assert all(np.isfinite(parameter.detach().numpy()).all() for agent in population for parameter in agent.actor.parameters())


@SEATS
def test_one_agent_plays_legally_and_gets_its_seat_s_return(num_players: int, witness: Witness) -> None:
    env = gymnasium.make("domino/bergen-v0", num_players=num_players, opponents="greedy", learner_seat=0)
    agent = agilerl_dqn.DQN(env.observation_space, env.action_space)
    for seed in range(6):
        seen, info = env.reset(seed=seed)
        total, over = 0.0, False
        while not over:
            action = agent.get_action(seen[None], epsilon=0.5, action_mask=info["action_mask"][None])
            seen, reward, over, _, info = env.step(int(action[0]))
            total += float(reward)
        assert total == pytest.approx(witness.finished[-1].returns["player_0"])
    assert witness.refused == 0
