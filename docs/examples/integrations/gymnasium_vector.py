"""Gymnasium: 256 games at once, one learner in each, checkpoints and scripted policies in the other seats."""

from __future__ import annotations

import gymnasium
import numpy as np
import numpy.typing as npt

import domino_env  # noqa: F401 - registers the ids


def main(num_players: int = 2, steps: int = 50) -> list[float]:
    envs = gymnasium.make_vec("domino/bergen-v0", num_envs=256, num_players=num_players, opponents=["random", "greedy"])
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
    random, returns = np.random.default_rng(0), []

    def choose(mask: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
        return np.argmax(random.random(mask.shape) * mask, axis=1)  # any legal action, all alike

    _, info = envs.reset(seed=0)
    for _ in range(steps):
        _, _, terminated, _, info = envs.step(choose(info["action_mask"]))
        returns += list(info["episode"]["r"][terminated]) if "episode" in info else []
    return returns


if __name__ == "__main__":
    print(np.mean(main()))
