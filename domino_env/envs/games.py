"""``Games``: a batch of games stepped together, every seat played from outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from domino_env.encoding import Encoding
from domino_env.encoding.kernels import play_random_observed
from domino_env.engine import batch
from domino_env.engine.packed import numbers, pack_rules
from domino_env.engine.state import new_games
from domino_env.envs.kernels import open_games, step_games
from domino_env.envs.options import as_actions, as_seeds, check_count, check_flag, copy_state, is_one_round, resolve_rules
from domino_env.envs.rewards import Reward
from domino_env.errors import IllegalMoveError, OptionsError
from domino_env.notation.moves import move_text
from domino_env.rules import Rules

__all__ = ["Games"]

_STATE = ("rows", "reward", "done", "winners", "final_score", "final_observation")


class Games:
    """``num_games`` games (N) of P seats in one batch; finished ones start anew by themselves.

    Game ``g`` depends on its seed alone: ``seed`` is an int (game g gets ``seed + g``, as in Gymnasium) or an array (N,).

    Arrays, written in place by ``step``: ``observation`` (N, D) float32 and ``action_mask`` (N, A) int8 of the seat on turn;
    ``seat`` (N,) int64 on turn; ``score`` (N, P) int32; of the step just made ``reward`` (N, P) float32 and ``done`` (N,) bool.
    Of the last game that ended in a slot: ``final_score`` (N, P) int32, ``winners`` (N, P) bool and ``final_observation``
    (N, D) float32, as its last mover saw the end. With ``skip_forced``, points made before a game's first decision join its
    first reward.

    Raises ``RulesError`` or ``OptionsError`` for arguments that cannot be used.
    """

    def __init__(
        self,
        variant: str,
        num_games: int,
        num_players: int = 2,
        seed: int | npt.NDArray[Any] = 0,
        episode: str = "round",
        rules: Rules | Mapping[str, Any] | None = None,
        reward: str = "points",
        skip_forced: bool = False,
    ) -> None:
        self.rules = resolve_rules(variant, rules)
        self.num_games = check_count("num_games", num_games)
        self.num_players = num_players = self.rules.check_players(num_players)
        self.encoding = Encoding(self.rules, num_players)
        self.packed = pack_rules(self.rules, num_players, is_one_round(episode))
        self.num_actions = int(numbers(self.packed).num_actions)
        self.skip_forced = check_flag("skip_forced", skip_forced)
        self._by_win = Reward.parse(reward) == Reward.WIN
        self._rows = np.arange(self.num_games)
        self.rows = new_games(self.num_games)
        shape = (self.num_games, self.num_players)
        self.observation = np.zeros((self.num_games, self.encoding.size), np.float32)
        self.action_mask = np.zeros((self.num_games, self.num_actions), np.int8)
        self.seat = np.zeros(self.num_games, np.int64)
        self.score = np.zeros(shape, np.int32)
        self.reward = np.zeros(shape, np.float32)
        self.done = np.zeros(self.num_games, np.bool_)
        self.winners = np.zeros(shape, np.bool_)
        self.final_score = np.zeros(shape, np.int32)
        self.final_observation = np.zeros_like(self.observation)
        self.reset(seed)

    def reset(self, seed: int | npt.NDArray[Any]) -> None:
        """Start all games anew from ``seed``."""
        batch.start(self.rows, self._rows, self.packed, as_seeds(seed, self.num_games))
        self.reward[:] = 0
        self.done[:] = False
        self._refresh()

    def get_state(self) -> dict[str, npt.NDArray[Any]]:
        """Copies of all that ``set_state`` needs to go on from here."""
        return {name: getattr(self, name).copy() for name in _STATE}

    def set_state(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Go on from a state of games like these. Raises ``OptionsError`` for another one."""
        copy_state(self, _STATE, state)
        self._refresh()

    def _refresh(self) -> None:
        open_games(self.rows, self.packed, self.skip_forced, self.seat, self.score, self.observation, self.action_mask)

    def step(self, actions: npt.ArrayLike) -> None:
        """One move in every game: ``actions`` (N,) of integers.

        Raises ``OptionsError`` for another shape or type and ``IllegalMoveError``, naming the game, where one is not legal;
        no game has moved then.
        """
        chosen = as_actions(actions, self.num_games)
        wrong = batch.first_illegal(self.rows, self._rows, self.packed, chosen)
        if wrong >= 0:
            raise IllegalMoveError(self._why_illegal(wrong, int(chosen[wrong])))
        step_games(
            self.rows,
            self.packed,
            chosen,
            self.skip_forced,
            self._by_win,
            self.seat,
            self.score,
            self.observation,
            self.action_mask,
            self.reward,
            self.done,
            self.winners,
            self.final_score,
            self.final_observation,
        )

    def _why_illegal(self, game: int, action: int) -> str:
        if not 0 <= action < self.num_actions:
            return f"game {game}: action {action}, but action ids are 0 to {self.num_actions - 1}"
        lead = bool(self.rows["table"][game] == 0)
        legal = ", ".join(move_text(self.packed, int(a), lead) for a in np.flatnonzero(self.action_mask[game]))
        return f"game {game}: action {action} ({move_text(self.packed, action, lead)}) is not legal; legal: {legal}"

    def play_random(self, num_moves: int, observe: bool = False) -> int:
        """Every game makes ``num_moves`` random legal moves inside the engine, its mask (with ``observe`` its observation too)
        written at each. Returns the number of rounds that ended. ``reward``, ``done`` and the finals are not kept.
        """
        if isinstance(num_moves, bool) or not isinstance(num_moves, (int, np.integer)) or not 0 <= num_moves < 1 << 62:
            raise OptionsError(f"num_moves={num_moves!r}, but it is a whole number from 0 on")
        num_moves = int(num_moves)
        if observe:
            ended = play_random_observed(self.rows, self.packed, num_moves, self.observation, self.action_mask, self.skip_forced)
        else:
            ended = batch.play_random(self.rows, self.packed, num_moves, self.action_mask, self.skip_forced)
        self._refresh()
        return int(ended)
