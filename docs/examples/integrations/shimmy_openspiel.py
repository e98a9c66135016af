"""Shimmy: the variant's game of OpenSpiel, chance and all, as a PettingZoo environment."""

from __future__ import annotations

import numpy as np
from shimmy import OpenSpielCompatibilityV0

import domino_env.integrations.openspiel  # noqa: F401 - makes the games known to pyspiel


def main(num_players: int = 2, seed: int = 0) -> dict[str, float]:
    env = OpenSpielCompatibilityV0(game_name="domino_bergen", config={"players": num_players})
    env.reset(seed=seed)
    random, points = np.random.default_rng(seed), dict.fromkeys(env.possible_agents, 0.0)
    for _ in env.agent_iter():
        _, _, terminated, truncated, info = env.last()
        if terminated or truncated:
            env.step(None)
            continue
        env.game_length = 0  # Shimmy 2.0.1 counts the tiles dealt as moves, and would break off the longer rounds
        env.step(int(random.choice(np.flatnonzero(info["action_mask"]))))
        for seat, reward in env.rewards.items():  # not from last(): there Shimmy 2.0.1 books the final reward more than once
            points[seat] += reward
    return points


if __name__ == "__main__":
    print(main())
