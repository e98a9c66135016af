"""How RLlib collects games here: whole ones, against a pool of policies that may change while a run goes on."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from ray.rllib.callbacks.callbacks import RLlibCallback
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner
from ray.rllib.env.multi_agent_episode import MultiAgentEpisode

from domino_env.envs.kernels import VIEW
from domino_env.policies import Policy

__all__ = ["CountsGames", "DominoEnvRunner", "WholeGame"]


class WholeGame(MultiAgentEpisode):
    """A game that is never cut: it is learnt from once it is over.

    RLlib would cut games where a portion of sampling ends, and slice them to give several learners equal shares. In games of turns
    both lose moves of agents who wait, and can raise ``IndexError`` (seen in Ray 2.60 where an agent waits for a whole portion).
    """

    def cut(self, len_lookback_buffer: int = 0) -> WholeGame:  # noqa: ARG002 -- RLlib gives it by name
        """The game, to be gone on with; of this object nothing is left."""
        whole = copy.copy(self)
        self.env_t = self.env_t_started = 0
        self.agent_episodes: dict[Any, Any] = {}
        return whole

    def __getitem__(self, item: slice) -> WholeGame:
        return self.slice(item)

    def slice(self, slice_: slice, *, len_lookback_buffer: int | None = None) -> WholeGame:  # noqa: ARG002 -- RLlib gives it by name
        """The whole game for what begins at its start, else nothing of it: so learners share out games, not pieces of them."""
        return self if slice_.start is None else WholeGame()


class DominoEnvRunner(MultiAgentEnvRunner):
    """Env runner for ``DominoMultiAgentEnv``: pass it to ``config.env_runners(env_runner_cls=DominoEnvRunner)``."""

    def make_env(self) -> None:
        """As RLlib, but observations are not copied once more: they are fresh arrays."""
        super().make_env()
        self.env.unwrapped.copy = False
        self.finished: list[tuple[int, list[int], list[int]]] = []

    def _new_episode(self, env_index: int, episodes: Any = None) -> None:
        games = self._ongoing_episodes if episodes is None else episodes
        env = self.env.envs[env_index].unwrapped
        games[env_index] = WholeGame(
            observation_space=env.observation_spaces,
            action_space=env.action_spaces,
            agent_to_module_mapping_fn=self.config.policy_mapping_fn,
        )
        self._make_on_episode_callback("on_episode_created", env_index, games)

    def seat(self, opponents: Sequence[Policy], weights: Sequence[float] | None = None) -> None:
        """Seat other policies in games that start from now on; see ``DominoMultiAgentEnv.set_opponents``."""
        for env in self.env.envs if self.env is not None else ():
            env.unwrapped.set_opponents(list(opponents), None if weights is None else list(weights))

    def take_results(self) -> npt.NDArray[Any]:
        """(K,) VIEW rows of the games that ended since the last call: ``done``, ``seat``, ``opponents`` and ``winners`` are set."""
        rows = np.zeros(len(self.finished), VIEW)
        for row, (seat, opponents, winners) in zip(rows, self.finished, strict=True):
            row["done"], row["seat"] = 1, seat
            row["opponents"][: len(opponents)] = [max(place, 0) for place in opponents]
            row["winners"] = sum(1 << winner for winner in winners)
        self.finished = []
        return rows


class CountsGames(RLlibCallback):
    """Notes how the games of a learner against opponents ended, for ``DominoEnvRunner.take_results``."""

    def on_episode_end(self, *, episode: Any, env_runner: Any, **_more: Any) -> None:
        """RLlib's hook."""
        for agent, game in episode.agent_episodes.items():
            result = game.get_infos(-1)
            if max(result["opponents"]) >= 0:
                env_runner.finished.append((int(agent.removeprefix("player_")), result["opponents"], result["winners"]))
