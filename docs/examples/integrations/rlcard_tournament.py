"""RLCard: its agents at our table, and its ``tournament``: mean payoffs by seat."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
from rlcard.agents import DQNAgent, RandomAgent

from domino_env import bergen_v0


def tournament(agents: list[Any], num: int, **keywords: Any) -> list[float]:
    env, payoffs = bergen_v0.raw_env(num_players=len(agents), episode="round", **keywords), np.zeros(len(agents))
    for seed in range(num):
        env.reset(seed=seed)
        for name in env.agent_iter():
            observation, reward, terminated, truncated, _ = env.last()
            seat = env.possible_agents.index(name)
            payoffs[seat] += reward
            legal = OrderedDict.fromkeys(np.flatnonzero(observation["action_mask"]).tolist())
            state = {"obs": observation["observation"], "legal_actions": legal, "raw_legal_actions": list(legal)}
            env.step(None if terminated or truncated else int(agents[seat].eval_step(state)[0]))
    return list(payoffs / num)


def main(num_players: int = 2, num: int = 20) -> list[float]:
    table = bergen_v0.raw_env(num_players=num_players)
    actions, size = table.action_space("player_0").n, table.encoding.size
    dqn = DQNAgent(num_actions=actions, state_shape=[size], mlp_layers=[64])
    return tournament([dqn] + [RandomAgent(num_actions=actions)] * (num_players - 1), num)


if __name__ == "__main__":
    print(main())
