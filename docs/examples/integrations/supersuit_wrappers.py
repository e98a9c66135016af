"""SuperSuit and PettingZoo: wrappers around a table, and the table as a parallel environment of many games."""

from __future__ import annotations

import numpy as np
import supersuit
from gymnasium.vector import VectorEnv
from pettingzoo import AECEnv
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from domino_env import bergen_v0


def in_turn(num_players: int = 2) -> AECEnv:
    """Rewards in points, where they are shares of the target of a match; an illegal action still raises."""
    table = bergen_v0.raw_env(num_players=num_players, episode="round")
    target = table.rules.target[num_players]
    return supersuit.reward_lambda_v0(table, lambda reward: reward * target)


def all_at_once(num_players: int = 2, num_games: int = 4) -> VectorEnv:
    """Every seat of every game is a row; what a seat answers while its mask is all zero is not looked at."""
    table = turn_based_aec_to_parallel(bergen_v0.raw_env(num_players=num_players, episode="round"))
    return supersuit.concat_vec_envs_v1(supersuit.pettingzoo_env_to_vec_env_v1(table), num_games, base_class="gymnasium")


def main(num_players: int = 2, seed: int = 0) -> dict[str, float]:
    env, random = in_turn(num_players), np.random.default_rng(seed)
    env.reset(seed=seed)
    points = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        points[agent] += reward
        env.step(None if terminated or truncated else int(random.choice(np.flatnonzero(observation["action_mask"]))))
    return points


if __name__ == "__main__":
    print(main())
