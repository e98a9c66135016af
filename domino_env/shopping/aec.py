"""The memory game as a PettingZoo AEC environment: one step is one word said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from domino_env.envs.agents import KeepsAgents, agents_state, check_agents_state, copy_agents, open_agents, set_agents
from domino_env.envs.options import as_action, check_seed, entropy_seed
from domino_env.errors import IllegalMoveError, OptionsError, RenderModeError
from domino_env.notation.state_bytes import open_bytes, seal
from domino_env.shopping.options import read_start
from domino_env.shopping.party import Party
from domino_env.shopping.party_view import PartyView
from domino_env.shopping.rules import ShoppingRules
from domino_env.shopping.telling import scene_text
from domino_env.shopping.words import LETTERS

__all__ = ["RENDER_MODES", "ShoppingAECEnv", "env", "raw_env"]

RENDER_MODES = ("ansi", "human")


def raw_env(**kwargs: Any) -> ShoppingAECEnv:
    """The environment without PettingZoo's wrappers: an action outside the action space raises ``IllegalMoveError``."""
    return ShoppingAECEnv(**kwargs)


def env(**kwargs: Any) -> AECEnv[str, Any, Any]:
    """The environment under PettingZoo's usual wrappers."""
    wrapped: Any = raw_env(**kwargs)
    wrapped = wrappers.TerminateIllegalWrapper(wrapped, illegal_reward=-1)
    wrapped = wrappers.AssertOutOfBoundsWrapper(wrapped)
    return wrappers.OrderEnforcingWrapper(wrapped)


class ShoppingAECEnv(PartyView, KeepsAgents, AECEnv[str, Any, Any]):
    """ "I went to the shop" (RULES.md 3.10) for 2 to 8 agents, which drop out one by one.

    On turn an agent says the list from its first word, a word a step, then adds a word for the next letter. A wrong word, or giving
    up, puts it out: terminated at once, with reward -1. The last one left, or all who are left when the alphabet runs out, share +1.

    Observation: ``{"observation": (D,) float32 of 0 and 1, "action_mask": (A,) int8}``; what was said last, never the list: whoever wants
    to remember it listens, by ``observe`` after every step. The mask of the agent on turn is all 1, that of the others all 0. Action:
    ``Discrete(A)``, A - 1 words of the letter that is due (``move_text`` names them), and giving up.

    Arguments: those of ``ShoppingRules``, and ``render_mode`` None, ``"ansi"`` or ``"human"``. Raises ``RulesError``, ``RenderModeError``.
    """

    metadata = {"render_modes": list(RENDER_MODES), "is_parallelizable": False, "render_fps": 2, "name": "shopping_v0"}

    def __init__(
        self,
        num_players: int = 3,
        num_letters: int = 26,
        words_per_letter: int = 4,
        theme: str | None = None,
        new_words: str = "chosen",
        word_reward: float = 0.0,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        if render_mode is not None and not (isinstance(render_mode, str) and render_mode in RENDER_MODES):
            raise RenderModeError(f"render_mode={render_mode!r}, but it is None, 'ansi' or 'human'")
        self.render_mode = render_mode
        self.rules = ShoppingRules(num_players, num_letters, words_per_letter, theme, new_words, word_reward)
        self.party = Party(self.rules)
        self.encoding = self.party.encoding
        self.possible_agents = [f"player_{seat}" for seat in range(num_players)]
        self.agents: list[str] = []
        self.agent_selection = self.possible_agents[0]
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        box = spaces.Box(0.0, 1.0, (self.encoding.size,), np.float32)
        mask = spaces.Box(0, 1, (self.rules.num_actions,), np.int8)
        self.observation_spaces = {agent: spaces.Dict({"observation": box, "action_mask": mask}) for agent in self.possible_agents}
        self.state_space = spaces.Box(0.0, 1.0, (self.encoding.size + len(LETTERS) * self.rules.num_words,), np.float32)
        self.action_spaces = {agent: spaces.Discrete(self.rules.num_actions) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> spaces.Dict:
        """Space of what an agent observes: the same object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Space of what an agent may do: the same object at every call."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new game; ``player_0`` speaks first. Without ``seed`` the generator goes on where it stands.

        ``options``: ``words`` (the list so far), ``speaker`` (a seat), ``out`` (seats that are out) and, where themes are drawn,
        ``theme``. Raises ``OptionsError`` and changes nothing where they cannot be used.
        """
        party = self.party.copy()
        if seed is not None or not party.started:
            party.start(check_seed(entropy_seed() if seed is None else seed))
        else:
            party.start_again()
        first = read_start(party, options)
        if first is not None:
            party.set_up(first)
        self.party = party
        agents = [agent for agent in self.possible_agents if self._seat_of[agent] not in party.first.out]
        open_agents(self, agents, self.possible_agents[party.seat])
        self._show()

    def become(self, other: ShoppingAECEnv) -> None:
        """Take over the game of an environment of the same rules."""
        self.__dict__.update({**other.clone().__dict__, "render_mode": self.render_mode})
        self._show()

    def step(self, action: Any) -> None:
        """The agent on turn says a word or gives up; an agent that is out is stepped once with None.

        ``OptionsError`` for what is no integer, ``IllegalMoveError`` outside the action space: both leave the game as it was.
        """
        if not self.agents:
            raise IllegalMoveError(f"action {action!r}, but the game is over: call reset")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        party = self.party
        said = party.say(as_action(action))
        self._cumulative_rewards[agent] = 0.0
        for other in self.agents:
            self.rewards[other] = float(party.reward[self._seat_of[other]])
        self._accumulate_rewards()
        if not said.right:
            self.terminations[agent] = True
        if party.over:
            self.terminations = dict.fromkeys(self.agents, True)
        self.agent_selection = self.possible_agents[party.seat]
        self._deads_step_first()
        self._show()

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """What ``agent`` hears now, as fresh arrays; also off turn, and when it is out. ``OptionsError`` for an unknown agent or before
        the first ``reset``.
        """
        if not isinstance(agent, str) or agent not in self._seat_of or not self.party.started:
            why = "the agents are " + ", ".join(self.possible_agents) if self.party.started else "no game yet: call reset"
            raise OptionsError(f"observe({agent!r}), but {why}")
        seat = self._seat_of[agent]
        on_turn = not self.party.over and seat == self.party.seat
        return {"observation": self.party.observe(seat), "action_mask": np.full(self.rules.num_actions, on_turn, np.int8)}

    def legal_moves(self) -> list[str]:
        """As ``PartyView``; empty too while an agent that is out is to be stepped with None."""
        return [] if self.terminations.get(self.agent_selection, False) else super().legal_moves()

    def state(self) -> np.ndarray:
        """(D + 26 W,) float32 for a centralised critic: what ``player_0`` hears, then for each letter the word of the list as 1 of W."""
        words = np.zeros((len(LETTERS), self.rules.num_words), np.float32)
        for letter, word in enumerate(self.party.games["words"][0].tolist()):
            if word >= 0:
                words[letter, word] = 1.0
        return np.concatenate([self.observe(self.possible_agents[0])["observation"], words.ravel()])

    def describe(self, observation: Any) -> dict[str, float]:
        """Name -> value of every number of an observation (the array, or the dict that holds it)."""
        return self.encoding.describe(observation["observation"] if isinstance(observation, Mapping) else observation)

    # ------------------------------------------------------------------------------------------------- copies

    def clone(self) -> ShoppingAECEnv:
        """The same game, generator included, that can be played on by itself."""
        other: ShoppingAECEnv = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.party = self.party.copy()
        copy_agents(self, other)
        return other

    def __copy__(self) -> ShoppingAECEnv:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> ShoppingAECEnv:
        return self.clone()

    def get_state(self) -> bytes:
        """The whole game, generator and log included, as bytes that hold no code. ``OptionsError`` before the first ``reset``."""
        if not self.party.started:
            raise OptionsError("get_state: no game yet, call reset")
        return seal(agents_state(self), self.party.to_bytes())

    def set_state(self, state: bytes) -> None:
        """Become the game of ``get_state``. ``OptionsError``, and nothing changes, for other bytes or those of other rules."""
        kept, body = open_bytes(state)
        check_agents_state(kept)
        party = self.party.copy()
        party.from_bytes(body)
        self.party = party
        set_agents(self, kept)

    def resample(self, seat: int, seed: int) -> ShoppingAECEnv:
        """A clone in which only what nobody can know, the words yet to be drawn, is drawn anew: all else was said aloud.

        ``seat`` (any: all have heard the same) and ``seed`` as in the domino environments; ``OptionsError`` for what they cannot be.
        """
        if isinstance(seat, bool) or not isinstance(seat, (int, np.integer)) or not 0 <= seat < self.rules.num_players:
            raise OptionsError(f"seat={seat!r}, but seats are 0 to {self.rules.num_players - 1}")
        other = self.clone()
        other.party.reseed(check_seed(seed))
        return other

    def close(self) -> None:
        """Nothing to release."""

    # ------------------------------------------------------------------------------------------------- rendering

    def _show(self) -> None:
        if self.render_mode == "human":
            print(scene_text(self.party))

    def render(self) -> str | None:
        """``"ansi"``: the turn so far as text, as everybody hears it. ``"human"`` prints it after every word by itself."""
        if self.render_mode is None:
            return None
        if not self.party.started:
            raise OptionsError("render: no game yet, call reset")
        return scene_text(self.party) if self.render_mode == "ansi" else None
