"""Games small enough to be looked at whole: as a compiled tree of OpenSpiel, with the suite's policies as policies of that tree."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyspiel

from domino_env.engine.state import GAME
from domino_env.errors import OptionsError
from domino_env.integrations.openspiel.games import DominoGame, DominoState
from domino_env.policies import Batch, Policy, think

__all__ = ["MOST_POSITIONS", "SmallGame"]

MOST_POSITIONS = 200_000
"""Positions, chance included, that are looked at unless told otherwise; a walk over so many takes about 20 seconds."""
_CHUNK = 1024


class SmallGame:
    """All positions of ``game``. ``OptionsError`` for more than two seats, or for more than ``most`` positions.

    ``tree`` is the game itself in OpenSpiel's compiled form, on which its solvers run about fifty times as fast; ``states`` holds, by the
    name of an information set in that tree, one state of it; ``num_positions`` counts positions, chance and ends included.
    """

    def __init__(self, game: DominoGame, most: int = MOST_POSITIONS) -> None:
        if game.num_players() != 2:
            raise OptionsError(f"{game}: {game.num_players()} seats, but what can be won against a policy is worked out for 2")
        self.game = game
        lines: list[str] = []
        sets: tuple[dict[str, int], ...] = ({}, {})  # of each seat its information sets, numbered as they come
        found: dict[tuple[int, int], DominoState] = {}  # the first state of each
        decisions: list[tuple[int, int]] = []  # seat and set of each decision, in the order of the walk
        for state in _positions(game):
            if len(lines) == most:
                raise OptionsError(f"{game}: more than {most:,} positions; take a smaller set, such as max_pip=2,hand=2")
            number = len(lines)
            if not (state.is_terminal() or state.is_chance_node()):
                seat = state.current_player()
                number = sets[seat].setdefault(state.information_state_string(), len(sets[seat]))
                decisions.append((seat, number))
                found.setdefault((seat, number), state)
            lines.append(_line(state, number))
        self.num_positions = len(lines)
        self.tree = pyspiel.load_efg_game('EFG 2 R "" { "0" "1" }\n' + "\n".join(lines) + "\n")
        # the tree has names of its own for the sets: both walks come by them in one order
        names = dict(zip(decisions, _names(self.tree), strict=True))
        self.states = {names[place]: state for place, state in found.items()}

    def policy(self, policy: Policy) -> Any:
        """``policy`` as a ``pyspiel.TabularPolicy`` of ``tree``: its probabilities where it draws its moves, else its move.

        A search draws its worlds by bits that hang on the information set alone, as the true hidden tiles may not tell.
        """
        table: dict[str, list[tuple[int, float]]] = {}
        names = list(self.states)
        for first in range(0, len(names), _CHUNK):
            some = names[first : first + _CHUNK]
            batch = self._batch([self.states[name] for name in some])
            thoughts = think(policy, batch)
            for name, mask, chances, action in zip(some, batch.action_mask, thoughts.probabilities, thoughts.actions, strict=True):
                legal = np.flatnonzero(mask)
                chosen = chances[legal] if thoughts.sampled else (legal == action).astype(np.float64)
                table[name] = list(zip(self._actions[name], chosen.tolist(), strict=True))
        return pyspiel.TabularPolicy(table)

    def _batch(self, states: list[DominoState]) -> Batch:
        setting = self.game.setting
        games = np.empty(len(states), GAME)
        for k, state in enumerate(states):
            assert state.round.game is not None
            games[k] = state.round.game.games[0]
            told = state.information_state_string().encode()
            games[k]["key"] = int.from_bytes(hashlib.blake2b(told, digest_size=8).digest(), "little")
        rows = np.arange(len(states))
        return Batch.of_games(games, rows, setting.start.packed, setting.rules, 2, setting.encoding)

    def uniform(self) -> Any:
        """The policy of ``tree`` that makes all legal moves equally often."""
        return pyspiel.TabularPolicy({name: [(action, 1.0 / len(own)) for action in own] for name, own in self._actions.items()})

    @property
    def _actions(self) -> dict[str, list[int]]:
        """Legal actions of each information set by the tree's numbers, in the order of the game's."""
        if not hasattr(self, "_known_actions"):
            self._known_actions: dict[str, list[int]] = {}
            for state in _positions(self.tree):
                if not (state.is_terminal() or state.is_chance_node()):
                    self._known_actions.setdefault(state.information_state_string(), _in_order(state))
        return self._known_actions

    def exploitability(self, policy: Any) -> float:
        """The mean over both seats of what a perfect opponent that knows ``policy``, one of ``tree``, wins: points (or wins) a round."""
        return float(pyspiel.exploitability(self.tree, policy))

    def value_bounds(self, policy: Any) -> tuple[float, float]:
        """Bounds of what seat 0 wins under best play of both: what ``policy`` holds it to, and what it holds the other seat to."""
        root = self.tree.new_initial_state()
        above, below = (pyspiel.TabularBestResponse(self.tree, seat, policy).value_from_state(root) for seat in (0, 1))
        return -float(below), float(above)


def _positions(game: Any) -> Iterator[Any]:
    """Every position, each before those that follow from it, these in the order of the actions."""
    left = [game.new_initial_state()]
    while left:
        state = left.pop()
        yield state
        if not state.is_terminal():
            left.extend(state.child(action) for action in reversed(_in_order(state)))


def _in_order(state: Any) -> list[int]:
    """Legal actions in the order of the suite's: the tree numbers them as they come and keeps ours as their texts."""
    actions: list[int] = state.legal_actions()
    return actions if isinstance(state, DominoState) else sorted(actions, key=lambda action: int(state.action_to_string(action)))


def _names(tree: Any) -> Iterator[str]:
    """The information set of each decision of the tree."""
    for state in _positions(tree):
        if not (state.is_terminal() or state.is_chance_node()):
            yield state.information_state_string()


def _line(state: DominoState, number: int) -> str:
    """A position in the form of Gambit's files; ``number``: of the information set, or of the end or chance node."""
    if state.is_terminal():
        return f't "" {number + 1} "" {{ {" ".join(map(str, state.returns()))} }}'
    if state.is_chance_node():
        chances = " ".join(f'"{outcome}" {chance!r}' for outcome, chance in state.chance_outcomes())
        return f'c "" {number + 1} "" {{ {chances} }} 0'
    moves = " ".join(f'"{action}"' for action in state.legal_actions())
    return f'p "" {state.current_player() + 1} {number + 1} "" {{ {moves} }} 0'
