"""Many games at once in PufferLib's native form: every seat of every game is an agent, all arrays are PufferLib's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pufferlib import PufferEnv

from domino_env.encoding.kernels import observe_rows
from domino_env.envs.games import Games
from domino_env.envs.options import check_count
from domino_env.errors import OptionsError
from domino_env.rules import Rules

__all__ = ["DominoPufferEnv"]


class DominoPufferEnv(PufferEnv):  # type: ignore[misc, unused-ignore]
    """``num_games`` games (N) of P seats as N * P agents: agent ``g * P + k`` is seat k of game g. All seats learn (self-play).

    Observation (N * P, D + A) float32 in [-1, 1]: what the seat sees, then its action mask (1 legal, 0 not). Action
    ``Discrete(A)``. A seat that is not on turn has just ``pass`` in its mask, and what it answers is ignored: a policy that
    heeds the mask gets no gradient from waiting. ``rewards`` (N * P,) float32 go to each seat as they are made; at the end of a
    game the ``terminals`` of all its seats are True and its next deal begins. ``masks`` (N * P,) bool: True for the seat on turn.

    Infos: in a step that ends games, one dict with ``games`` (how many), ``length`` (their mean number of steps) and
    ``return/player_0``, ... (each seat's mean return).

    ``seed``: game g gets ``seed + g``. PufferLib's ``Serial`` and ``Multiprocessing`` count seeds by environment, 0, 1, 2 ...; each is
    therefore multiplied by ``num_games``, so that no two games of a run are the same. Other arguments as ``Games``.

    Raises ``RulesError`` or ``OptionsError`` for arguments that cannot be used, ``IllegalMoveError`` where the action of the
    seat on turn is illegal; no game has moved then.
    """

    def __init__(
        self,
        variant: str,
        num_games: int = 1,
        num_players: int = 2,
        episode: str = "round",
        rules: Rules | Mapping[str, Any] | None = None,
        reward: str = "points",
        skip_forced: bool = False,
        buf: Any = None,
        seed: int = 0,
    ) -> None:
        check_count("num_games", num_games)
        self.games = games = Games(variant, num_games, num_players, self._first_seed(seed, num_games), episode, rules, reward, skip_forced)
        self.num_agents = games.num_games * games.num_players
        self.single_observation_space = spaces.Box(-1.0, 1.0, (games.encoding.size + games.num_actions,), np.float32)
        self.single_action_space = spaces.Discrete(games.num_actions)
        self._each_game = np.arange(games.num_games)
        self._game_of = np.repeat(self._each_game, games.num_players)
        self._seat_of = np.tile(np.arange(games.num_players), games.num_games)
        self._seen = np.zeros((self.num_agents, games.encoding.size), np.float32)
        self._returns = np.zeros((games.num_games, games.num_players))
        self._lengths = np.zeros(games.num_games, np.int64)
        super().__init__(buf)

    @staticmethod
    def _first_seed(seed: Any, num_games: int) -> int:
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
            raise OptionsError(f"seed={seed!r}, but it is a whole number from 0 on")
        return int(seed) * num_games

    def reset(self, seed: int | None = None) -> tuple[npt.NDArray[np.float32], list[dict[str, Any]]]:
        """Start all games anew, from ``seed`` (None: 0). Returns the observations and no infos."""
        self.games.reset(self._first_seed(0 if seed is None else seed, self.games.num_games))
        self.rewards[:] = 0
        self.terminals[:] = False
        self.truncations[:] = False
        self._returns[:] = 0
        self._lengths[:] = 0
        self._observe()
        return self.observations, []

    def step(self, actions: npt.ArrayLike) -> tuple[Any, Any, Any, Any, list[dict[str, Any]]]:
        """One move in every game: ``actions`` (N * P,) of integers, of which those of the seats on turn are played.

        Returns observations, rewards, terminals and truncations, PufferLib's buffers written in place, and the infos.
        """
        games = self.games
        given = np.asarray(actions)
        if given.shape != (self.num_agents,):
            raise OptionsError(f"actions of shape {given.shape}, but there are {self.num_agents} agents: shape ({self.num_agents},)")
        games.step(given.reshape(games.num_games, games.num_players)[self._each_game, games.seat])
        self.rewards[:] = games.reward.ravel()
        self.terminals[:] = np.repeat(games.done, games.num_players)
        self._returns += games.reward
        self._lengths += 1
        infos = self._finished() if games.done.any() else []
        self._observe()
        return self.observations, self.rewards, self.terminals, self.truncations, infos

    def _finished(self) -> list[dict[str, Any]]:
        done = self.games.done
        returns = self._returns[done].mean(axis=0).tolist()
        info: dict[str, Any] = {"games": int(done.sum()), "length": float(self._lengths[done].mean())}
        info.update({f"return/player_{seat}": value for seat, value in enumerate(returns)})
        self._returns[done] = 0
        self._lengths[done] = 0
        return [info]

    def _observe(self) -> None:
        games = self.games
        observe_rows(games.rows, self._game_of, games.packed, self._seat_of, self._seen)
        self.observations[:, : games.encoding.size] = self._seen
        legal = self.observations[:, games.encoding.size :]
        legal[:] = 0
        legal[:, -1] = 1  # pass: all that a seat can do while it waits
        on_turn = self._each_game * games.num_players + games.seat
        legal[on_turn] = games.action_mask
        self.masks[:] = False
        self.masks[on_turn] = True

    def close(self) -> None:
        """Nothing to let go of."""
