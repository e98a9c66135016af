"""The memory game as a stable-baselines3 ``VecEnv``, for RecurrentPPO and its kin. Imports torch."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from domino_env.envs.options import as_seeds, check_state
from domino_env.envs.sb3 import BatchVecEnv
from domino_env.shopping.learner import ShoppingGames

__all__ = ["ShoppingVecEnv"]


class ShoppingVecEnv(BatchVecEnv):
    """``num_envs`` games (N) with one learner each, which hears every word: a step is a word of anybody's.

    Observation (N, D) float32, rewards (N,) float32. ``info`` of a finished game: ``terminal_observation``, ``episode`` (``r`` return,
    ``l`` words heard, ``t`` seconds), and what ``ShoppingGames.result`` tells. Other arguments as ``ShoppingGames``.
    """

    def __init__(self, num_envs: int = 1, seed: int | None = None, **kwargs: Any) -> None:
        self.games = ShoppingGames(num_envs, **kwargs)
        self.render_mode = None
        space = spaces.Box(0.0, 1.0, (self.games.encoding.size,), np.float32)
        super().__init__(self.games.num_envs, space, spaces.Discrete(self.games.rules.num_actions))
        self._actions: npt.NDArray[Any] = np.zeros(self.num_envs, np.int64)
        self._returns = np.zeros(self.num_envs)
        self._lengths = np.zeros(self.num_envs, np.int64)
        self._start = time.time()
        self._next_seed = seed
        if seed is not None:
            as_seeds(seed, self.num_envs)

    def set_opponents(self, opponents: Any) -> None:
        """As ``ShoppingGames.set_opponents``."""
        self.games.set_opponents(opponents)

    def get_state(self) -> dict[str, npt.NDArray[Any]]:
        """Copies of all that ``set_state`` needs to go on from here."""
        return {**self.games.get_state(), "returns": self._returns.copy(), "lengths": self._lengths.copy()}

    def set_state(self, state: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[np.float32]:
        """Go on from a state of games like these; returns the observation. ``OptionsError`` for another."""
        check_state({"returns": self._returns, "lengths": self._lengths}, state)
        self.games.set_state(state)
        self._next_seed = None
        self._returns[:] = state["returns"]
        self._lengths[:] = state["lengths"]
        return self.games.observation.copy()

    def reset(self) -> npt.NDArray[np.float32]:
        """Start all games anew; seeded once by ``seed`` or the constructor, later from where the generators stand."""
        self.games.reset(self._take_seeds())
        self._returns[:] = 0.0
        self._lengths[:] = 0
        self.reset_infos = [{} for _ in range(self.num_envs)]
        self._reset_seeds()
        self._reset_options()
        return self.games.observation.copy()

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """(N, A) bool, all True: any word may be said, and off turn any answer will do."""
        return np.ones((self.num_envs, self.games.rules.num_actions), np.bool_)

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Keep the actions for ``step_wait``."""
        self._actions = actions

    def step_wait(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.bool_], list[dict[str, Any]]]:
        """One word in every game."""
        games = self.games
        games.step(self._actions)
        self._returns += games.reward
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        elapsed = round(time.time() - self._start, 6)
        for row in np.flatnonzero(games.done).tolist():
            infos[row] = {
                **games.result(row),
                "terminal_observation": games.final_observation[row].copy(),
                "TimeLimit.truncated": False,
                "episode": {"r": round(float(self._returns[row]), 6), "l": int(self._lengths[row]), "t": elapsed},
            }
        self._returns[games.done] = 0.0
        self._lengths[games.done] = 0
        return games.observation.copy(), games.reward.astype(np.float32), games.done.copy(), infos
