"""Every variant as a PettingZoo AEC environment."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from domino_env.encoding import Encoding
from domino_env.encoding.kernels import observe_with_mask
from domino_env.engine._jit import direct
from domino_env.engine.batch import MOST_SKIPPED, NO_DECISION
from domino_env.engine.packed import pack_rules
from domino_env.engine.state import GAME_OVER, ROUND_OVER, new_games
from domino_env.envs.agents import KeepsAgents, open_agents
from domino_env.envs.game_view import GameView
from domino_env.envs.options import as_action, check_flag, check_seed, deal_options, entropy_seed, is_one_round, resolve_rules
from domino_env.envs.pictures import RENDER_FPS, RENDER_MODES, ShowsPictures, check_render_mode
from domino_env.envs.rewards import Reward, take_reward
from domino_env.envs.snapshots import copy_of, restore, state_of
from domino_env.errors import IllegalMoveError, OptionsError, RulesError
from domino_env.notation.game import PlayedGame
from domino_env.rules import Rules
from domino_env.worlds import resample

__all__ = ["DominoAECEnv", "env", "raw_env"]


def raw_env(variant: str, **kwargs: Any) -> DominoAECEnv:
    """The environment of a variant without PettingZoo's wrappers: an illegal action raises ``IllegalMoveError``."""
    return DominoAECEnv(variant, **kwargs)


def env(variant: str, **kwargs: Any) -> AECEnv[str, Any, Any]:
    """The environment of a variant under PettingZoo's usual wrappers: an illegal action ends the game, with reward -1."""
    wrapped: Any = raw_env(variant, **kwargs)
    wrapped = wrappers.TerminateIllegalWrapper(wrapped, illegal_reward=-1)
    wrapped = wrappers.AssertOutOfBoundsWrapper(wrapped)
    return wrappers.OrderEnforcingWrapper(wrapped)


@functools.cache
def _fast_observe() -> Callable[..., None]:
    packed = pack_rules(Rules(), 2, True)
    return direct(observe_with_mask, new_games(1), 0, packed, 0, np.empty(1, np.float32), np.empty(1, np.int8))


class DominoAECEnv(GameView, KeepsAgents, ShowsPictures, AECEnv[str, Any, Any]):
    """Dominoes for 2 to 5 seats, one move a step.

    Observation: ``{"observation": (D,) float32 in [-1, 1], "action_mask": (A,) int8}``; the mask of a seat that is not on
    turn is all zero. Action: ``Discrete(A)``, ids independent of the state (``move_text`` names them). Rewards sum to zero.

    Args: ``variant``, a name of ``VARIANTS``; ``num_players``; ``episode`` ``"match"`` (to the target) or ``"round"``;
    ``reward`` ``"points"`` or ``"win"``; ``render_mode`` None, ``"ansi"``, ``"rgb_array"`` or ``"human"``; ``rules`` whole rules
    or a dict of overrides; ``skip_forced``, to play every position with just one legal action by itself.

    Raises ``RulesError`` or ``OptionsError`` for arguments that cannot be used.
    """

    metadata = {"render_modes": list(RENDER_MODES), "is_parallelizable": False, "render_fps": RENDER_FPS}

    def __init__(
        self,
        variant: str,
        num_players: int = 2,
        episode: str = "match",
        reward: str = "points",
        render_mode: str | None = None,
        rules: Rules | Mapping[str, Any] | None = None,
        skip_forced: bool = False,
    ) -> None:
        super().__init__()
        self.metadata = {**self.metadata, "name": f"{variant}_v0"}
        self.render_mode = check_render_mode(render_mode)
        self.rules = resolve_rules(variant, rules)
        self.skip_forced = check_flag("skip_forced", skip_forced)
        num_players = self.rules.check_players(num_players)
        self._by_win = Reward.parse(reward) == Reward.WIN
        self.game = PlayedGame(self.rules, num_players, is_one_round(episode))
        self.encoding = Encoding(self.rules, num_players)
        self.possible_agents = [f"player_{seat}" for seat in range(num_players)]
        self.agents: list[str] = []
        self.agent_selection = self.possible_agents[0]
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._num_actions = self.game.num_actions
        self._size = self.encoding.size
        self.observation_spaces = {agent: self._make_observation_space() for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(self._num_actions) for agent in self.possible_agents}
        self.state_space = spaces.Box(-1.0, 1.0, (num_players * self._size,), np.float32)
        self._reward_buffer = np.zeros(num_players)
        self._rewarded = True  # whether `rewards` may hold anything but zeros

    def _make_observation_space(self) -> spaces.Dict:
        box = spaces.Box(-1.0, 1.0, (self._size,), np.float32)
        return spaces.Dict({"observation": box, "action_mask": spaces.Box(0, 1, (self._num_actions,), np.int8)})

    def observation_space(self, agent: str) -> spaces.Dict:
        """Space of what an agent sees: the same object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Space of what an agent may do: the same object at every call."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new game. Without ``seed`` the generator goes on where it stands.

        ``options``: ``hands`` (a list of tile texts by seat), ``boneyard`` (next drawn first), ``leader`` (a seat) and ``scores``
        (by seat) set up a given deal; what is left out is dealt from the seed. Raises ``OptionsError`` and changes nothing
        where they cannot be used.
        """
        self.open_game(seed, options)
        for _ in range(MOST_SKIPPED):
            if not self.game.over:
                break
            self.open_game(None, None)  # nobody had a decision: the next deal
        else:
            raise RulesError(NO_DECISION)
        self.show_start()

    def open_game(self, seed: int | None, options: dict[str, Any] | None) -> None:
        """As ``reset``; but with ``skip_forced`` a game may be over before anybody decides, and is then left so."""
        game = self.game.copy()
        if seed is not None or not game.started:
            game.start(check_seed(entropy_seed() if seed is None else seed))
        else:
            game.start_again()
        deal_options(game, options)
        if self.skip_forced:
            game.skip_forced()
        self.game = game
        open_agents(self, self.possible_agents, self.possible_agents[game.seat])
        game.scored = True
        self._settle_rewards()

    def step(self, action: Any) -> None:
        """Make the move of the agent on turn.

        ``OptionsError`` for what is no integer, ``IllegalMoveError`` for an illegal move: both leave the game as it was.
        """
        if not self.agents:
            raise IllegalMoveError(f"action {action!r}, but the game is over: call reset")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        game = self.game
        game.make_move(action if type(action) is int else as_action(action))
        self._cumulative_rewards[agent] = 0.0
        if self.skip_forced:
            game.skip_forced()
        elif game.phase == ROUND_OVER:
            game.deal_if_due()
        self._settle_rewards()
        if game.phase == GAME_OVER:
            self.terminations = dict.fromkeys(self.agents, True)
            self.agent_selection = self.possible_agents[(game.seat + 1) % len(self.possible_agents)]
        else:
            self.agent_selection = self.possible_agents[game.seat]
        self.show_move()

    def _settle_rewards(self) -> None:
        if not self.game.scored:
            if self._rewarded:
                self.rewards = dict.fromkeys(self.agents, 0.0)
                self._rewarded = False
            return
        self._rewarded = True
        self.game.scored = False
        buffer = self._reward_buffer
        take_reward(self.game.games, 0, self.game.packed, self._by_win, buffer)
        for agent, reward in zip(self.possible_agents, buffer.tolist(), strict=True):
            self.rewards[agent] = reward
            self._cumulative_rewards[agent] += reward

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """What ``agent`` may know now, as fresh arrays. ``OptionsError`` for an unknown agent or before the first ``reset``."""
        if not isinstance(agent, str) or agent not in self._seat_of or not self.game.started:
            raise OptionsError(
                f"observe({agent!r}), but "
                + ("the agents are " + ", ".join(self.possible_agents) if self.game.started else "no game yet: call reset")
            )
        observation = np.empty(self._size, np.float32)
        mask = np.empty(self._num_actions, np.int8)
        game = self.game
        _fast_observe()(game.games, 0, game.packed, self._seat_of[agent], observation, mask)
        return {"observation": observation, "action_mask": mask}

    def state(self) -> np.ndarray:
        """(num_players * D,) float32: what all seats know together, for a centralised critic."""
        return np.concatenate([self.observe(agent)["observation"] for agent in self.possible_agents])

    def describe(self, observation: Any) -> dict[str, float]:
        """Name -> value in natural units of every number of an observation (the array, or the dict that holds it)."""
        return self.encoding.describe(observation["observation"] if isinstance(observation, Mapping) else observation)

    def clone(self) -> DominoAECEnv:
        """The same game, generator included, that can be played on by itself, without the window of this one."""
        other = copy_of(self)
        other._window = None
        return other

    def __copy__(self) -> DominoAECEnv:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> DominoAECEnv:
        return self.clone()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_window": None}

    def get_state(self) -> bytes:
        """The whole game, generator and log included, as bytes that hold no code. ``OptionsError`` before the first ``reset``."""
        return state_of(self)

    def set_state(self, state: bytes) -> None:
        """Become the game of ``get_state``. ``OptionsError``, and nothing changes, for other bytes or those of other rules."""
        restore(self, state)

    def resample(self, seat: int, seed: int) -> DominoAECEnv:
        """A clone whose hidden tiles are dealt anew, uniformly among all deals that agree with what ``seat`` has seen."""
        other = self.clone()
        other.game = resample(self.game, seat, seed, self.skip_forced)
        return other
