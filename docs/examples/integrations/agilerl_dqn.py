"""AgileRL: a population of masked DQN learners, trained by AgileRL's own loop."""

from __future__ import annotations

import gymnasium
from agilerl.algorithms import DQN
from agilerl.components.replay_buffer import ReplayBuffer
from agilerl.training.train_off_policy import train_off_policy

import domino_env  # noqa: F401 - registers the ids


def main(num_players: int = 2, max_steps: int = 2_000) -> list[DQN]:
    envs = gymnasium.make_vec("domino/bergen-v0", num_envs=8, num_players=num_players, opponents=["random", "greedy"], skip_forced=True)
    population = [DQN(envs.single_observation_space, envs.single_action_space, index=index, batch_size=64) for index in range(2)]
    return train_off_policy(
        envs, "domino/bergen-v0", "DQN", population, memory=ReplayBuffer(10_000), max_steps=max_steps, evo_steps=max_steps // 2
    )[0]


if __name__ == "__main__":
    main()
