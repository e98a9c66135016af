"""The memory game as a Gymnasium ``VectorEnv``: many games at once, one learner in each."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from domino_env.envs.options import as_seeds, reset_mask_of
from domino_env.shopping.learner import ShoppingGames

__all__ = ["ShoppingVectorEnv"]


class ShoppingVectorEnv(VectorEnv[Any, Any, Any]):
    """``num_envs`` games (N) with one learner each, which hears every word; autoreset in the same step (``AutoresetMode.SAME_STEP``).

    Observation (N, D) float32, actions (N,) integers, rewards (N,) float64, terminations (N,) bool, no truncations. ``info["on_turn"]``
    (N,) bool: where the next action counts; ``info["action_mask"]`` (N, A) int8, all 1; ``info["final_obs"]``, ``info["final_info"]`` with
    their masks ``_final_obs``, ``_final_info`` tell of the games that ended in the step. Arguments as those of ``ShoppingGames``.
    """

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}

    def __init__(self, num_envs: int = 1, **kwargs: Any) -> None:
        super().__init__()
        self.games = ShoppingGames(num_envs, **kwargs)
        self.num_envs = self.games.num_envs
        self.single_observation_space = spaces.Box(0.0, 1.0, (self.games.encoding.size,), np.float32)
        self.single_action_space = spaces.Discrete(self.games.rules.num_actions)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.float32], dict[str, Any]]:
        """Start all games anew. ``seed``: game g gets ``seed + g``, or a list of seeds. ``options`` has only ``reset_mask`` (N,) bool."""
        mask = reset_mask_of(options, self.num_envs)
        seeds = None if seed is None else as_seeds(seed, self.num_envs)  # type: ignore[arg-type]
        if mask is None or not self.games.started:
            self.games.reset(seeds)
        else:
            self.games.reset_rows(np.flatnonzero(mask), None if seeds is None else seeds[mask])
        return self.games.observation.copy(), self._now()

    def step(self, actions: npt.ArrayLike) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """One word in every game."""
        games = self.games
        games.step(actions)
        info = self._now()
        if games.done.any():
            info["final_obs"] = np.full(self.num_envs, None, object)
            final: dict[str, Any] = {}
            for row in np.flatnonzero(games.done).tolist():
                info["final_obs"][row] = games.final_observation[row].copy()
                final = self._add_info(final, games.result(row), row)
            info["final_info"] = final
            info["_final_obs"] = info["_final_info"] = games.done.copy()
        return games.observation.copy(), games.reward.copy(), games.done.copy(), np.zeros(self.num_envs, bool), info

    def action_masks(self) -> npt.NDArray[np.int8]:
        """(N, A) int8, all 1: any word may be said, and off turn any answer will do."""
        return np.ones((self.num_envs, self.games.rules.num_actions), np.int8)

    def _now(self) -> dict[str, Any]:
        everywhere = np.ones(self.num_envs, bool)
        return {
            "action_mask": self.action_masks(),
            "_action_mask": everywhere,
            "on_turn": self.games.on_turn.copy(),
            "_on_turn": everywhere,
        }
