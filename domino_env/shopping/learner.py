"""A batch of games with one learner in each: the core of the single-learner views. One step is one word, whoever says it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from domino_env.envs.options import as_actions, check_count, check_seat, check_state, entropy_seed
from domino_env.errors import IllegalMoveError, OptionsError
from domino_env.shopping import kernels
from domino_env.shopping.encoding import ShoppingEncoding
from domino_env.shopping.game import new_games
from domino_env.shopping.loading import Speaker, SpeakerSpec, load_speakers, speaker_name
from domino_env.shopping.policies import Listening
from domino_env.shopping.rules import ShoppingRules
from domino_env.shopping.table import answers_of

__all__ = ["ShoppingGames"]

_STATE = ("rows", "learner", "seated", "recited")


class ShoppingGames:
    """``num_envs`` games (N) of P seats; the learner holds one seat of each, drawn anew for each game or fixed by ``learner_seat``.

    The learner hears every word, so its step is a word of anybody's: on its turn its action is what it says, off turn it is not heard. Its
    game ends when it is out, or somebody has won; a new one begins in the same step. ``opponents``: a spec of ``load_speaker``
    or a list of them, drawn for each seat and game. Other arguments as ``ShoppingRules``.

    Arrays, written in place: ``observation`` (N, D) float32; ``on_turn`` (N,) bool, whether the learner speaks next; of the step just made
    ``reward`` (N,) float64 and ``done`` (N,) bool; ``final_observation`` (N, D) float32, where done what the learner heard last;
    ``recited`` (N,) int64, the longest list that the learner has said whole in the game, and ``final_recited`` that of the finished one.
    """

    def __init__(
        self,
        num_envs: int,
        opponents: SpeakerSpec | Sequence[SpeakerSpec] = "perfect",
        learner_seat: int | None = None,
        **rules: Any,
    ) -> None:
        self.rules = ShoppingRules(**rules)
        self.num_envs = check_count("num_envs", num_envs)
        self._fixed_seat = check_seat(learner_seat, self.rules.num_players)
        self.encoding = ShoppingEncoding(self.rules)
        self.set_opponents(opponents)
        count, seats = self.num_envs, self.rules.num_players
        self._all = np.arange(count)
        self._seats = np.arange(seats)
        self.rows = new_games(count)
        self.learner = np.zeros(count, np.int64)
        self.seated = np.zeros((count, seats), np.int64)
        self.observation = np.zeros((count, self.encoding.size), np.float32)
        self.on_turn = np.zeros(count, np.bool_)
        self.reward = np.zeros(count)
        self.done = np.zeros(count, np.bool_)
        self.final_observation = np.zeros_like(self.observation)
        self.recited = np.zeros(count, np.int64)
        self.final_recited = np.zeros(count, np.int64)
        self._rewards = np.zeros((count, seats))
        self.started = False
        self._broken_off = False  # whether some policies have heard a word that others have not

    def set_opponents(self, opponents: SpeakerSpec | Sequence[SpeakerSpec]) -> None:
        """Seat other policies in games that start from now on. Seats of games under way go on with the policy that is at the same place
        of the list now, or with the first where there is none; what they heard before they were seated they do not know.
        """
        self.speakers: list[Speaker] = load_speakers(opponents, self.rules)
        if hasattr(self, "seated"):
            self.seated[self.seated >= len(self.speakers)] = 0

    def reset(self, seeds: npt.NDArray[np.uint64] | None) -> None:
        """Start all games anew: from ``seeds`` (N,), or where the generators stand (never seeded: from the system's entropy)."""
        if seeds is None and not self.started:
            seeds = np.array([entropy_seed() for _ in range(self.num_envs)], np.uint64)
        self.started = True
        self.reset_rows(self._all, seeds)

    def reset_rows(self, rows: npt.NDArray[np.int64], seeds: npt.NDArray[np.uint64] | None) -> None:
        """Start new games in ``rows`` (K,), from ``seeds`` (K,) or where their generators stand."""
        if seeds is not None:
            kernels.seed_rows(self.rows, rows, seeds)
        self._open(rows)
        self._observe()
        self._broken_off = False

    def _open(self, rows: npt.NDArray[np.int64]) -> None:
        kernels.open_games(self.rows, rows, self.rules.packed)
        tickets = np.arange(len(self.speakers))
        kernels.seat_learners(self.rows, rows, self.rules.packed, tickets, self._fixed_seat, self.learner, self.seated)
        self.recited[rows] = 0

    def _observe(self) -> None:
        random = np.empty(self.num_envs, np.uint64)
        kernels.write_batch(self.rows, self._all, self.rules.packed, self.learner, self.observation, random, self.on_turn)

    def check(self, actions: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """``actions`` as (N,) int64. ``OptionsError`` for another shape or type, ``IllegalMoveError`` outside the action space."""
        if self._broken_off:
            raise OptionsError("a step was broken off while an opponent listened: call reset")
        chosen = as_actions(actions, self.num_envs)
        wrong = np.flatnonzero((chosen < 0) | (chosen >= self.rules.num_actions))
        if len(wrong):
            most = self.rules.num_actions - 1
            raise IllegalMoveError(f"game {wrong[0]}: action {chosen[wrong[0]]}, but action ids are 0 to {most}")
        return chosen

    def step(self, actions: npt.ArrayLike) -> None:
        """One word in every game: of ``actions`` (N,) where the learner is on turn, of the policies elsewhere. Raises as ``check``."""
        chosen = self.check(actions)
        self._broken_off = True
        answers = np.where(self.on_turn, chosen, self._others_answer())
        self._broken_off = False
        kernels.say_words(self.rows, self.rules.packed, answers, self._rewards)
        self.reward[:] = self._rewards[self._all, self.learner]
        self._count_recited()
        out = self.rows["in_game"] >> self.learner & 1 == 0
        self.done[:] = out | (self.rows["winners"] != 0)
        self._observe()
        ended = np.flatnonzero(self.done)
        if not len(ended):
            return
        self.final_observation[ended] = self.observation[ended]
        self.final_recited[ended] = self.recited[ended]
        self._results = {row: self._result(row) for row in ended.tolist()}
        self._open(ended)
        self._observe()

    def _others_answer(self) -> npt.NDArray[np.int64]:
        """(N,) what the seat on turn says, where it is not the learner's. Every policy hears what was said last, for each of its seats."""
        listens = (self.rows["in_game"][:, None] >> self._seats & 1 == 1) & (self._seats != self.learner[:, None])
        answers = np.zeros(self.num_envs, np.int64)
        for number, speaker in enumerate(self.speakers):
            rows, seats = np.nonzero(listens & (self.seated == number))
            if len(rows):
                listening = Listening.of_games(self.rows, rows, seats, self.rules, self.encoding)
                said = answers_of(speaker, listening)
                answers[rows[listening.on_turn]] = said[listening.on_turn]
        return answers

    def _count_recited(self) -> None:
        rows = self.rows
        own = (rows["heard_seat"] == self.learner) & (rows["heard_right"] == 1)
        whole = own & (rows["heard_new"] == 0) & (rows["position"] == rows["length"])
        self.recited[whole] = rows["length"][whole]

    def _result(self, row: int) -> dict[str, Any]:
        learner, seats = int(self.learner[row]), self._seats.tolist()
        return {
            "winners": [seat for seat in seats if int(self.rows["winners"][row]) >> seat & 1],
            "seat": learner,
            "opponents": [-1 if seat == learner else int(self.seated[row, seat]) for seat in seats],
            "list_length": int(self.rows["length"][row]),
            "recited": int(self.recited[row]),
        }

    def result(self, row: int) -> dict[str, Any]:
        """Of the game that ended in ``row`` in the last step: ``winners`` (seats; empty where others play on), the learner's ``seat``, who
        sat in the others (``opponents``, -1: the learner), the length of the list and the longest list that the learner said whole.
        """
        return self._results[row]

    def _names(self) -> npt.NDArray[np.uint8]:
        """Who the opponents are, as an array."""
        return np.frombuffer("\n".join(map(speaker_name, self.speakers)).encode(), np.uint8)

    def get_state(self) -> dict[str, npt.NDArray[Any]]:
        """Copies of all that ``set_state`` needs to go on from here, the memories of the opponents too."""
        state = {name: getattr(self, name).copy() for name in _STATE}
        state["opponents"] = self._names()
        for number, speaker in enumerate(self.speakers):
            if hasattr(speaker, "get_state"):
                state.update({f"speaker{number}.{name}": array for name, array in speaker.get_state().items()})
        return state

    def set_state(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Go on from a state of games like these with the same opponents. ``OptionsError`` for another one."""
        check_state({name: getattr(self, name) for name in _STATE}, state)
        if not np.array_equal(state.get("opponents", np.zeros(0, np.uint8)), self._names()):
            raise OptionsError("state: its opponents are others than those of these games")
        memories: list[dict[str, npt.NDArray[Any]]] = []
        for number, speaker in enumerate(self.speakers):
            prefix = f"speaker{number}."
            kept = {name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)}
            if hasattr(speaker, "get_state") and set(kept) != set(speaker.get_state()):
                raise OptionsError(
                    f"state: of opponent {number} it has {sorted(kept) or 'nothing'}, but there is {sorted(speaker.get_state())}"
                )
            memories.append(kept)
        for name in _STATE:
            getattr(self, name)[...] = state[name]
        for speaker, kept in zip(self.speakers, memories, strict=True):
            if hasattr(speaker, "set_state"):
                speaker.set_state(kept)
        self.started, self._broken_off = True, False
        self._observe()
