"""PufferLib: 64 games in PufferLib's own buffers, all seats played by one masked network."""

from __future__ import annotations

import pufferlib.vector
import torch

from domino_env.integrations.pufferlib import DominoPufferEnv


class Policy(torch.nn.Module):
    def __init__(self, env: DominoPufferEnv) -> None:
        super().__init__()
        self.num_actions = int(env.single_action_space.n)
        self.body = torch.nn.Sequential(torch.nn.Linear(env.single_observation_space.shape[0], 128), torch.nn.ReLU())
        self.logits, self.value = torch.nn.Linear(128, self.num_actions), torch.nn.Linear(128, 1)

    def forward(self, observations: torch.Tensor, state: object = None) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = self.body(observations)
        legal = observations[:, -self.num_actions :] > 0  # the mask is the tail of the observation
        return self.logits(hidden).masked_fill(~legal, -1e9), self.value(hidden)

    forward_eval = forward  # PufferLib's trainer, PuffeRL, plays by this name


def main(num_players: int = 2, steps: int = 200) -> list[dict[str, float]]:
    keywords = {"variant": "bergen", "num_games": 64, "num_players": num_players}
    env = pufferlib.vector.make(DominoPufferEnv, env_kwargs=keywords, backend=pufferlib.vector.PufferEnv)
    policy, ended = Policy(env), []
    observations, _ = env.reset(seed=1)
    for _ in range(steps):
        with torch.no_grad():
            logits, _ = policy(torch.as_tensor(observations))
        actions = torch.distributions.Categorical(logits=logits).sample()
        observations, *_, infos = env.step(actions.numpy())  # between them: rewards, terminals, truncations
        ended += infos
    return ended


if __name__ == "__main__":
    print(main()[-1])
