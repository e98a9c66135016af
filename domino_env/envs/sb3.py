"""Every variant as a stable-baselines3 ``VecEnv``: many games at once, one learner in each. The one front end that imports torch."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv

from domino_env.envs.learner import LearnerGames
from domino_env.envs.options import as_seeds, check_state, entropy_seed
from domino_env.errors import OptionsError

__all__ = ["BatchVecEnv", "DominoVecEnv"]


class BatchVecEnv(VecEnv):
    """What a ``VecEnv`` answers where its games are rows of one batch, not objects of their own."""

    _next_seed: int | None

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seeds for the next ``reset``: ``seed + g`` for game g."""
        self._next_seed = entropy_seed() if seed is None else seed
        return [int(value) for value in as_seeds(self._next_seed, self.num_envs)]

    def _take_seeds(self) -> npt.NDArray[np.uint64] | None:
        """(N,) seeds for a ``reset``, once; None where the generators go on. ``OptionsError`` where options were set."""
        if any(self._options):
            raise OptionsError(f"set_options({self._options[0]!r}): a batch takes no options for its games")
        seeds = None if self._next_seed is None else as_seeds(self._next_seed, self.num_envs)
        self._next_seed = None
        return seeds

    def close(self) -> None:
        """Nothing to release."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The attribute, once for each game asked for."""
        value = getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Not possible for single games: ``OptionsError``."""
        raise OptionsError(
            f"set_attr({attr_name!r}, {value!r}, {indices!r}): the games of a batch are not objects of their own; see set_opponents"
        )

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """The method, called once, its answer once for each game asked for."""
        value = getattr(self, method_name)(*method_args, **method_kwargs)
        return [value for _ in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """No game is wrapped; but episodes are reported as SB3's Monitor does."""
        return [wrapper_class.__name__ == "Monitor" for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[Any]:
        """No pictures of a batch."""
        return [None for _ in range(self.num_envs)]


class DominoVecEnv(BatchVecEnv):
    """``num_envs`` games (N) with one learner each.

    Observation (N, D) float32; with ``mask_in_observation`` (N, D + A), the mask behind it, for learners that keep it in a
    replay buffer. Masks: ``action_masks()`` (N, A) bool, or row by row from ``env_method("action_masks")``. Rewards (N,)
    float32. ``info`` of a finished game: ``terminal_observation``, ``episode`` (``r`` return, ``l`` decisions, ``t`` seconds),
    ``scores``, ``winners``, ``seat``, ``opponents``. An illegal action raises ``IllegalMoveError``.
    Other arguments as those of ``DominoGymEnv``, without ``render_mode`` and ``illegal``.
    """

    def __init__(self, variant: str, num_envs: int = 1, seed: int | None = None, mask_in_observation: bool = False, **kwargs: Any) -> None:
        self.games = LearnerGames(variant, num_envs, **kwargs)
        self.mask_in_observation = bool(mask_in_observation)
        self.render_mode = None
        self._size = self.games.encoding.size
        width = self._size + (self.games.num_actions if self.mask_in_observation else 0)
        space = spaces.Box(-1.0, 1.0, (width,), np.float32)
        super().__init__(self.games.num_envs, space, spaces.Discrete(self.games.num_actions))
        self._buffers = [np.zeros((self.num_envs, width), np.float32) for _ in range(2)]
        self._actions: npt.NDArray[Any] = np.zeros(self.num_envs, np.int64)
        self._returns = np.zeros(self.num_envs)
        self._lengths = np.zeros(self.num_envs, np.int64)
        self._blank: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        self._start = time.time()
        self._next_seed = seed
        if seed is not None:
            as_seeds(seed, self.num_envs)

    def set_opponents(self, opponents: Any, weights: Sequence[float] | None = None) -> None:
        """Seat other policies in games that start from now on, each as likely as its weight says (None: all alike)."""
        self.games.set_opponents(opponents, weights)

    def get_state(self) -> dict[str, npt.NDArray[Any]]:
        """Copies of all that ``set_state`` needs to go on from here; the opponents are not in it."""
        return {**self.games.get_state(), "returns": self._returns.copy(), "lengths": self._lengths.copy()}

    def set_state(self, state: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[np.float32]:
        """Go on from a state of games like these, under the opponents seated now; returns the observation. ``OptionsError`` for another."""
        check_state({"returns": self._returns, "lengths": self._lengths}, state)
        self._turn_buffer()
        try:
            self.games.set_state(state)
        except OptionsError:
            self._turn_buffer()
            raise
        self._next_seed = None
        self._returns[:] = state["returns"]
        self._lengths[:] = state["lengths"]
        return self._observe()

    def reset(self) -> npt.NDArray[np.float32]:
        """Start all games anew; seeded once by ``seed`` or the constructor, later from where the generators stand."""
        seeds = self._take_seeds()
        self._turn_buffer()
        self.games.reset(seeds)
        self._returns[:] = 0.0
        self._lengths[:] = 0
        self.reset_infos = [self.games.skipped(row) for row in range(self.num_envs)]
        self._reset_seeds()
        self._reset_options()
        return self._observe()

    def _observe(self) -> npt.NDArray[np.float32]:
        if not self.mask_in_observation:
            return self.games.observation
        self._buffers.reverse()
        out = self._buffers[0]
        out[:, : self._size] = self.games.observation
        out[:, self._size :] = self.games.action_mask
        return out

    def _turn_buffer(self) -> None:
        """SB3 keeps the observation it was given across ``step``, so the next one is written into another buffer."""
        if not self.mask_in_observation:
            self._buffers.reverse()
            self.games.observation = self._buffers[0]

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Keep the actions for ``step_wait``."""
        self._actions = actions

    def step_wait(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.bool_], list[dict[str, Any]]]:
        """The learner's move in every game, and all that follows until it decides again."""
        chosen = self.games.check(self._actions)
        self._turn_buffer()
        self.games.play(chosen)
        views = self.games.views
        done = views["done"] != 0
        rewards = views["reward"].astype(np.float32)
        self._returns += views["reward"]
        self._lengths += 1
        infos = self._no_infos()
        if done.any():
            self._tell_finished(infos, np.flatnonzero(done))
        for row in np.flatnonzero(views["skipped"]).tolist():
            infos[row] = {**infos[row], **self.games.skipped(row)}
        return self._observe(), rewards, done, infos

    def _no_infos(self) -> list[dict[str, Any]]:
        """An empty dict for every game. The dicts are made once: a thousand new ones a step keep the garbage collector busy."""
        if any(self._blank):
            self._blank = [{} for _ in range(self.num_envs)]
        return self._blank.copy()

    def _tell_finished(self, infos: list[dict[str, Any]], rows: npt.NDArray[np.int64]) -> None:
        """Put the infos of the games that ended in their places, and count their next ones from 0."""
        finals = self.games.final_observation[rows]
        if self.mask_in_observation:
            finals = np.concatenate([finals, np.zeros((len(rows), self.games.num_actions), np.float32)], axis=1)
        elapsed = round(time.time() - self._start, 6)
        columns = (rows.tolist(), self.games.results(rows), finals, self._returns[rows].round(6).tolist(), self._lengths[rows].tolist())
        for row, info, final, total, length in zip(*columns, strict=True):
            info["terminal_observation"] = final
            info["TimeLimit.truncated"] = False
            info["episode"] = {"r": total, "l": length, "t": elapsed}
            infos[row] = info
        self._returns[rows] = 0.0
        self._lengths[rows] = 0

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """(N, A) bool: where the learner may take the action. Overwritten by the next step: copy what you keep."""
        return self.games.action_mask.view(np.bool_)

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """``"action_masks"`` gives the rows of ``action_masks()``; other methods are called once."""
        if method_name == "action_masks":
            masks = self.action_masks()
            return [masks[row] for row in self._get_indices(indices)]
        return super().env_method(method_name, *method_args, indices=indices, **method_kwargs)
