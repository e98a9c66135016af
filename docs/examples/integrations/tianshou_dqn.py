"""Tianshou: one masked DQN a seat, collected and trained on one table."""

from __future__ import annotations

from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, CollectStats, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.utils.net.common import Net
from tianshou.utils.torch_utils import policy_within_training_step

from domino_env import block_v0


def main(num_players: int = 2, updates: int = 4) -> tuple[CollectStats, VectorReplayBuffer, MultiAgentOffPolicyAlgorithm]:
    envs = DummyVectorEnv([lambda: PettingZooEnv(block_v0.raw_env(num_players=num_players, episode="round"))] * 4)
    env, learners = PettingZooEnv(block_v0.raw_env(num_players=num_players)), []
    for _ in range(num_players):
        net = Net(state_shape=env.observation_space["observation"].shape, action_shape=env.action_space.n, hidden_sizes=(64,))
        policy = DiscreteQLearningPolicy(model=net, action_space=env.action_space, eps_training=0.2, eps_inference=0.05)
        # seats move in turn, so a seat's own next move is num_players steps on, and its target takes in the rewards until then
        learners.append(DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), n_step_return_horizon=num_players, target_update_freq=50))
    seats = MultiAgentOffPolicyAlgorithm(algorithms=learners, env=env)
    buffer = VectorReplayBuffer(20_000, buffer_num=4)
    collector = Collector(seats, envs, buffer, exploration_noise=True)
    for _ in range(updates):
        with policy_within_training_step(seats.policy):
            stats = collector.collect(n_episode=8, reset_before_collect=True)
            seats.update(buffer, sample_size=64)
    return stats, buffer, seats


if __name__ == "__main__":
    print(main()[0].returns)
