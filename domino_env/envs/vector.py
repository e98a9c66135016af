"""Every variant as a Gymnasium ``VectorEnv``: many games at once, one learner in each."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from domino_env.envs.learner import LearnerGames
from domino_env.envs.options import as_seeds, reset_mask_of
from domino_env.envs.pictures import RENDER_FPS, check_render_mode
from domino_env.envs.rows import game_of_row
from domino_env.errors import OptionsError

__all__ = ["DominoVectorEnv"]


class DominoVectorEnv(VectorEnv[Any, Any, Any]):
    """``num_envs`` games (N) with one learner each; autoreset in the same step (``AutoresetMode.SAME_STEP``).

    Observation (N, D) float32, actions (N,) integers, rewards (N,) float64, terminations (N,) bool, no truncations.
    ``info["action_mask"]`` is (N, A) int8, as ``action_masks()``; ``info["final_obs"]``, ``info["final_info"]`` with their masks
    ``_final_obs``, ``_final_info`` tell of the games that ended in the step. An illegal action raises ``IllegalMoveError``.
    Arguments as those of ``DominoGymEnv``, without ``illegal``; ``render_mode`` is None or ``"rgb_array"``.
    """

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": ["rgb_array"], "render_fps": RENDER_FPS}

    def __init__(self, variant: str, num_envs: int = 1, render_mode: str | None = None, **kwargs: Any) -> None:
        super().__init__()
        self.render_mode = check_render_mode(render_mode, ("rgb_array",))
        self.games = LearnerGames(variant, num_envs, **kwargs)
        self.num_envs = self.games.num_envs
        self.single_observation_space = spaces.Box(-1.0, 1.0, (self.games.encoding.size,), np.float32)
        self.single_action_space = spaces.Discrete(self.games.num_actions)
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
        return self.games.observation.copy(), self._masks()

    def step(self, actions: npt.ArrayLike) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """The learner's move in every game, and all that follows until it decides again."""
        games = self.games
        games.step(actions)
        views = games.views
        done = views["done"] != 0
        info = self._masks()
        for row in np.flatnonzero(views["skipped"]).tolist():
            info = self._add_info(info, games.skipped(row), row)
        if done.any():
            info["final_obs"] = np.full(self.num_envs, None, object)
            final: dict[str, Any] = {}
            rows = np.flatnonzero(done)
            for row, result in zip(rows.tolist(), games.results(rows), strict=True):
                info["final_obs"][row] = games.final_observation[row].copy()
                final = self._add_info(final, result, row)
            info["final_info"] = final
            info["_final_obs"] = info["_final_info"] = done.copy()
        return games.observation.copy(), views["reward"].copy(), done, np.zeros(self.num_envs, bool), info

    def _masks(self) -> dict[str, Any]:
        return {"action_mask": self.games.action_mask.copy(), "_action_mask": np.ones(self.num_envs, bool)}

    def action_masks(self) -> npt.NDArray[np.int8]:
        """(N, A) int8: 1 where the learner may take the action."""
        return self.games.action_mask.copy()

    def render(self) -> tuple[npt.NDArray[np.uint8], ...] | None:
        """With ``render_mode="rgb_array"``: (620, 960, 3) uint8 of every game, each seen from its learner's seat; else None.

        Raises ``OptionsError`` before the first ``reset``, and for a round of more moves than its row keeps.
        """
        if self.render_mode is None:
            return None
        from domino_env.rendering.raster import rgb_frame

        games = self.games
        if not games.started:
            raise OptionsError("render: no game yet, call reset")
        shown = (game_of_row(games.rules, games.num_players, games.packed, games.rows[[row]]) for row in range(self.num_envs))
        return tuple(rgb_frame(game, int(seat)) for game, seat in zip(shown, games.views["learner"], strict=True))
