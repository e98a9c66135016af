"""Every variant as an environment of RLlib's new API stack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from ray.rllib.env.multi_agent_env import MultiAgentEnv
from ray.tune.registry import register_env

from domino_env.envs.aec import DominoAECEnv
from domino_env.envs.gym_env import DominoGymEnv
from domino_env.envs.learner import PolicySpec
from domino_env.envs.registry import env_id
from domino_env.errors import IllegalMoveError, OptionsError
from domino_env.variants import VARIANTS

__all__ = ["DominoMultiAgentEnv", "register_envs"]

_OF_RLLIB = ("worker_index", "num_workers", "vector_index", "remote")
_OWN = ("variant", "num_players", "opponents", "episode", "reward", "render_mode", "rules", "skip_forced")

Agents = dict[str, Any]


class DominoMultiAgentEnv(MultiAgentEnv):
    """Dominoes for 2 to 5 agents ``player_0`` ...; the one on turn is observed, and acts.

    Observation of an agent: ``{"observations": (D,) float32 in [-1, 1], "action_mask": (A,) int8}``; action: ``Discrete(A)``. Once the game
    is over every agent is terminated, with an observation whose mask is all zero.

    An agent's rewards come with its next observation, as PettingZoo's ``last()`` gives them, whoever made the moves that brought
    them; what was made before its first move comes with its second observation. So every reward falls on an action of that
    agent, and its sum over a game is the return of the AEC environment.

    ``config``: keywords of ``DominoAECEnv`` (``variant``, ``num_players``, ``episode``, ``reward``, ``rules``, ``skip_forced``,
    ``render_mode``) and ``opponents``: what ``load_policy`` takes, or a list of such, drawn for each seat and game. With them one
    seat, drawn for each game, is an agent, and they play the others within the environment. Raises ``OptionsError`` for unknown keywords.
    """

    metadata: dict[str, Any] = {"render_modes": DominoAECEnv.metadata["render_modes"]}

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        if not (config is None or isinstance(config, Mapping)):
            raise OptionsError(f"env_config={config!r}, but it is a dict with the keywords {', '.join(_OWN)}")
        given = {name: value for name, value in (config or {}).items() if name not in _OF_RLLIB}
        unknown = sorted(set(given) - set(_OWN))
        if unknown or "variant" not in given:
            raise OptionsError(f"env_config={given!r}, but it has a variant, and its keywords are {', '.join(_OWN)}")
        opponents = given.pop("opponents", None)
        self.view = None if opponents is None else DominoGymEnv(opponents=opponents, **{"episode": "match", **given})
        self.table = DominoAECEnv(**given) if self.view is None else self.view.table
        self.metadata = {**self.metadata, "name": self.table.metadata["name"]}
        self.render_mode = self.table.render_mode
        self.possible_agents = list(self.table.possible_agents)
        self.agents = list(self.possible_agents)
        self.observation_spaces = {agent: self._observation_space() for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(self.table.game.num_actions) for agent in self.possible_agents}
        self._owed: dict[str, float] = {}
        self._acted: set[str] = set()
        self._on_turn = ""

    def _observation_space(self) -> spaces.Dict:
        box = spaces.Box(-1.0, 1.0, (self.table.encoding.size,), np.float32)
        return spaces.Dict({"observations": box, "action_mask": spaces.Box(0, 1, (self.table.game.num_actions,), np.int8)})

    def set_opponents(self, opponents: PolicySpec | list[PolicySpec], weights: list[float] | None = None) -> None:
        """Seat other policies in games that start from now on, each as likely as its weight says (None: all alike).

        Raises ``OptionsError`` where the environment was made without opponents: all its seats are agents.
        """
        if self.view is None:
            raise OptionsError("set_opponents, but all seats are agents: make the environment with opponents")
        self.view.set_opponents(opponents, weights)

    def get_action_space(self, agent_id: str) -> spaces.Discrete:
        """Its actions; ``sample()`` draws a legal one where it is on turn, for RLlib's own checks and its random play sample blindly."""
        return LegalActions(self, agent_id)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Agents, Agents]:
        """Start a new game; arguments as ``DominoAECEnv.reset``. Observation and info of the agent on turn."""
        # the seed is the game's own, so that it deals what every other front end deals
        if self.view is None:
            self.table.reset(seed, options)
            self.agents = list(self.possible_agents)
            self._owed = {agent: float(reward) for agent, reward in self.table.rewards.items()}
            self._on_turn = self.table.agent_selection
        else:
            self.view.reset(seed=seed, options=options)
            self._on_turn = self.possible_agents[self.view.learner_seat]
            self.agents = [self._on_turn]
            self._owed = {self._on_turn: 0.0}
        self._acted = set()
        return {self._on_turn: self._observe(self._on_turn)}, {self._on_turn: {}}

    def step(self, action_dict: Mapping[str, Any]) -> tuple[Agents, Agents, Agents, Agents, Agents]:
        """The move of the agent on turn. ``IllegalMoveError`` for an illegal one, or one of another agent: the game stays as it was.

        The infos of a game that is over have ``scores`` by seat, ``winners`` (seats) and ``opponents`` by seat (places in the list of
        opponents, -1: an agent).
        """
        if not self._on_turn or not isinstance(action_dict, Mapping) or list(action_dict) != [self._on_turn]:
            turn = f"it is the turn of {self._on_turn}" if self._on_turn else "no game is under way: call reset"
            raise IllegalMoveError(f"actions {action_dict!r}, but {turn}")
        result = self._move(action_dict[self._on_turn])
        over = self.table.game.over
        seen = list(self.agents) if over else [self._on_turn]
        # a reward that came with the first observation would belong to no action
        rewards = {agent: self._owed.pop(agent) for agent in seen if over or agent in self._acted}
        self._owed.update(dict.fromkeys(rewards, 0.0))
        if over:
            self.agents, self._on_turn = [], ""
        return (
            {agent: self._observe(agent) for agent in seen},
            rewards,
            {**dict.fromkeys(seen, over), "__all__": over},
            {**dict.fromkeys(seen, False), "__all__": False},
            {agent: dict(result) for agent in seen},
        )

    def _move(self, action: Any) -> Agents:
        """Make it, and note the rewards and who is on turn; returns the result of a game that is over."""
        if self.view is not None:
            _, reward, _, _, info = self.view.step(action)
            self._acted.add(self._on_turn)
            self._owed[self._on_turn] += reward
            return {name: info[name] for name in ("scores", "winners", "opponents") if name in info}
        table = self.table
        table.step(action)
        self._acted.add(self._on_turn)
        for agent in self.agents:
            self._owed[agent] += table.rewards[agent]
        self._on_turn = table.agent_selection
        return {"scores": table.scores, "winners": table.winners, "opponents": [-1] * len(self.agents)} if table.game.over else {}

    def _observe(self, agent: str) -> dict[str, np.ndarray]:
        seen = self.table.observe(agent)
        return {"observations": seen["observation"], "action_mask": seen["action_mask"]}

    def render(self) -> Any:
        """As ``DominoAECEnv.render``."""
        return self.table.render()

    def close(self) -> None:
        """Close the window where there is one."""
        self.table.close()


class LegalActions(spaces.Discrete):
    """``Discrete(A)``, of which ``sample()`` draws only what the agent may do now."""

    def __init__(self, env: DominoMultiAgentEnv, agent: str) -> None:
        super().__init__(env.table.game.num_actions, seed=env.np_random)
        self._env, self._agent = env, agent

    def sample(self, mask: Any = None, probability: Any = None) -> np.int64:
        """A legal action; any where the agent is not on turn."""
        if mask is None and probability is None:
            now = self._env.table.observe(self._agent)["action_mask"]
            mask = now if now.any() else None
        return super().sample(mask, probability)


def register_envs() -> None:
    """Register every variant under its id, such as ``domino/bergen-v0``, for ``config.environment("domino/bergen-v0", env_config={...})``.

    Call it before a config is built; processes of a cluster learn of it from there.
    """
    for variant in VARIANTS:
        register_env(env_id(variant), _maker(variant))


def _maker(variant: str) -> Any:
    return lambda config: DominoMultiAgentEnv({**config, "variant": variant})
