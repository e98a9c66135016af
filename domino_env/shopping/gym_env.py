"""The memory game as a Gymnasium environment: one learner that hears every word, policies in the other seats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from domino_env.envs.options import as_action, check_seat
from domino_env.errors import IllegalMoveError, OptionsError
from domino_env.shopping import kernels
from domino_env.shopping.aec import RENDER_MODES, ShoppingAECEnv
from domino_env.shopping.loading import Speaker, SpeakerSpec, load_speakers
from domino_env.shopping.policies import Listening
from domino_env.shopping.table import answers_of

__all__ = ["ShoppingGymEnv"]


class ShoppingGymEnv(gymnasium.Env[npt.NDArray[np.float32], np.int64]):
    """One learner against ``opponents``: a spec of ``load_speaker`` or a list of them, drawn for each seat and game.

    A step is one word, whoever says it, for a learner that is to remember must hear the others too. On its turn its action is what it says;
    off turn any action will do, and is not heard. Observation (D,) float32 of 0 and 1; action ``Discrete(A)``; ``action_masks()`` and
    ``info["action_mask"]`` are (A,) int8, all 1; ``info["on_turn"]``: whether the next action counts. The episode ends when the learner is
    out or somebody has won. ``illegal="raise"`` raises ``IllegalMoveError`` for an action outside the space; ``"lose"`` ends the game with
    reward -1. ``learner_seat`` fixes the seat; None draws it for each game from the seed. Other arguments as ``ShoppingAECEnv``.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 2, "name": "shopping_v0"}

    def __init__(
        self,
        num_players: int = 3,
        opponents: SpeakerSpec | Sequence[SpeakerSpec] = "perfect",
        render_mode: str | None = None,
        learner_seat: int | None = None,
        illegal: str = "raise",
        **rules: Any,
    ) -> None:
        if not isinstance(illegal, str) or illegal not in ("raise", "lose"):
            raise OptionsError(f"illegal={illegal!r}, but it is 'raise' or 'lose'")
        self.table = ShoppingAECEnv(num_players, render_mode=render_mode, **rules)
        self.render_mode = render_mode
        self._illegal = illegal
        self._fixed_seat = check_seat(learner_seat, num_players)
        self.set_opponents(opponents)
        self.observation_space = spaces.Box(0.0, 1.0, (self.table.encoding.size,), np.float32)
        self.action_space = spaces.Discrete(self.table.rules.num_actions)
        self._learner = np.zeros(1, np.int64)
        self._seated = np.zeros((1, num_players), np.int64)
        self._over = True
        self._broken_off = False  # whether some policies have heard a word that others have not
        self._answer = 0
        self._recited = 0

    def set_opponents(self, opponents: SpeakerSpec | Sequence[SpeakerSpec]) -> None:
        """Seat other policies, in games that start from now on; one under way is played on by those it began with."""
        self._coming: list[Speaker] = load_speakers(opponents, self.table.rules)

    @property
    def learner_seat(self) -> int:
        """Seat of the learner in this game."""
        return int(self._learner[0])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[npt.NDArray[np.float32], dict[str, Any]]:
        """Start a new game; ``seed`` and ``options`` as ``ShoppingAECEnv.reset``. Raises ``OptionsError``."""
        super().reset(seed=seed)
        table = self.table.clone()  # a reset that is refused leaves the game as it was, and shows nothing
        table.render_mode = None
        table.reset(seed, options)
        learner, seated = self._learner.copy(), self._seated.copy()
        tickets = np.arange(len(self._coming))
        kernels.seat_learners(table.party.games, np.zeros(1, np.int64), table.rules.packed, tickets, self._fixed_seat, learner, seated)
        if learner[0] in table.party.first.out:
            raise OptionsError(f"options: out={table.party.first.out}, but the learner has seat {learner[0]}: fix it by learner_seat")
        self.table.become(table)
        self._learner, self._seated, self._speakers = learner, seated, self._coming
        self._over, self._recited = False, 0
        self._listen()
        return self._observe(), self._info()

    def step(self, action: Any) -> tuple[npt.NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """One word: the learner's action where it is on turn, else that of the policy on turn."""
        if self._broken_off:
            raise OptionsError("a step was broken off while an opponent listened: call reset")
        if self._over:
            raise IllegalMoveError(f"action {action!r}, but no game is under way: call reset")
        chosen = as_action(action)
        if not 0 <= chosen < self.table.rules.num_actions:
            if self._illegal == "raise":
                raise IllegalMoveError(f"action {chosen}, but action ids are 0 to {self.table.rules.num_actions - 1}")
            self._over = True
            return self._observe(), -1.0, True, False, {**self._info(), "illegal_move": chosen}
        party = self.table.party
        self.table.step(chosen if party.seat == self.learner_seat else self._answer)
        reward = float(party.reward[self.learner_seat])
        said = party.said[-1]
        if said.seat == self.learner_seat and said.right and not said.new and party.due == int(party.games["length"][0]):
            self._recited = party.due
        self._over = party.over or self.learner_seat not in party.seats_in()
        while not self._over and self.table.terminations[self.table.agent_selection]:
            self.table.step(None)  # others that are out leave
        if not self._over:
            self._listen()
        return self._observe(), reward, self._over, False, self._info()

    def _listen(self) -> None:
        """Every policy hears what was said last; the answer of the one on turn is kept for the next step."""
        self._broken_off = True
        party = self.table.party
        seats = [seat for seat in party.seats_in() if seat != self.learner_seat]
        for number, speaker in enumerate(self._speakers):
            mine = np.array([seat for seat in seats if self._seated[0, seat] == number], np.int64)
            if len(mine):
                listening = Listening.of_games(party.games, np.zeros(len(mine), np.int64), mine, party.rules, party.encoding)
                for seat, answer in zip(mine.tolist(), answers_of(speaker, listening).tolist(), strict=True):
                    self._answer = answer if seat == party.seat else self._answer
        self._broken_off = False

    def _observe(self) -> npt.NDArray[np.float32]:
        return self.table.party.observe(self.learner_seat)

    def action_masks(self) -> npt.NDArray[np.int8]:
        """(A,) int8: all 1 while the game is under way, all 0 once it is over."""
        return np.full(self.table.rules.num_actions, not self._over, np.int8)

    def _info(self) -> dict[str, Any]:
        party = self.table.party
        on_turn = not self._over and party.seat == self.learner_seat
        info: dict[str, Any] = {"action_mask": self.action_masks(), "on_turn": on_turn}
        if self._over:
            seats = range(party.rules.num_players)
            info["winners"] = party.winners()
            info["seat"] = self.learner_seat
            info["opponents"] = [-1 if seat == self.learner_seat else int(self._seated[0, seat]) for seat in seats]
            info["list_length"] = len(party.words())
            info["recited"] = self._recited
        return info

    def render(self) -> str | None:
        """As ``ShoppingAECEnv.render``: all hear the same."""
        return self.table.render()

    def __getattr__(self, name: str) -> Any:
        # rules, words, record(), legal_moves(), describe() and the rest are the table's; what would change its game behind the back of
        # the policies that listen is not
        if name.startswith("_") or name in ("table", "become", "clone", "get_state", "set_state", "resample"):
            raise AttributeError(name)
        return getattr(self.table, name)
