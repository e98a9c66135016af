"""TorchRL: check the specs, then play one round to the end with random legal actions."""

from __future__ import annotations

from tensordict import TensorDictBase
from torchrl.envs import PettingZooWrapper, check_env_specs

from domino_env import bergen_v0


def main(num_players: int = 2, seed: int = 0) -> TensorDictBase:
    env = PettingZooWrapper(bergen_v0.raw_env(num_players=num_players, episode="round"), use_mask=True)
    check_env_specs(env, seed=0)
    env.set_seed(seed)
    rollout = env.rollout(1_000)  # stops where the round ends
    for agent in env.possible_agents:
        print(agent, "return", round(float(rollout["next", agent, "reward"].sum()), 3))
    return rollout


if __name__ == "__main__":
    main()
