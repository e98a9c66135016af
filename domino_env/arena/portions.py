"""Some deals of one pair, played to their end: the part of a comparison that can be done anywhere and in any order."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from domino_env.arena.kernels import find_turns, move_on, start_games
from domino_env.arena.seating import Seating, seating_for
from domino_env.encoding import Encoding
from domino_env.engine.packed import Packed, numbers, pack_rules
from domino_env.engine.state import Games, new_games
from domino_env.policies import Batch, Policy, decide, reset_policy
from domino_env.rules import Rules

__all__ = ["GAMES_AT_ONCE", "SEED_BITS", "DealTable", "Floats", "Player", "Portion", "deal_seed"]

Floats = npt.NDArray[np.float64]

GAMES_AT_ONCE = 4096
"""Games of a portion at most, so that they fit the processor's cache."""
SEED_BITS = 32


def deal_seed(seed: int, deal: int) -> int:
    """The seed of deal number ``deal``: an environment reset with it deals the same tiles to the same leader."""
    return (seed << SEED_BITS) + deal


class Portion(NamedTuple):
    """What K deals say of a pair, in S sittings each; see ``Seating``. It does not depend on how deals were made into portions."""

    margins: Floats
    """(K, S) float64 points."""
    wins: Floats
    """(K, S) float64 shares of the win."""
    above: Floats
    """(K, 2) float64, for the ratings."""


@dataclass(eq=False)
class Player:
    """A policy, its name in the table, and what its moves took."""

    name: str
    policy: Policy
    decisions: int = 0
    seconds: float = 0.0
    warm: bool = False

    def act(self, batch: Batch) -> npt.NDArray[np.int64]:
        """Its moves, timed; not in the first batch, for that may compile kernels."""
        begin = time.perf_counter()
        actions = decide(self.policy, batch)
        if self.warm:
            self.seconds += time.perf_counter() - begin
            self.decisions += len(batch)
        self.warm = True
        return actions


@dataclass(frozen=True, eq=False)
class DealTable:
    """Everything that is the same for all pairs."""

    rules: Rules
    num_players: int
    one_round: bool
    deals: int
    seed: int
    packed: Packed = field(init=False, repr=False)
    seating: Seating = field(init=False, repr=False)
    encoding: Encoding = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "packed", pack_rules(self.rules, self.num_players, self.one_round))
        object.__setattr__(self, "seating", seating_for(self.num_players, self.rules.sides))
        object.__setattr__(self, "encoding", Encoding(self.rules, self.num_players))

    def __reduce__(self) -> tuple[type[DealTable], tuple[object, ...]]:
        return DealTable, (self.rules, self.num_players, self.one_round, self.deals, self.seed)

    def portions(self, games_at_once: int = GAMES_AT_ONCE) -> Iterator[range]:
        """The deals, in portions of so many games at most (and one deal at least)."""
        size = max(1, games_at_once // len(self.seating.owners))
        return (range(start, min(start + size, self.deals)) for start in range(0, self.deals, size))

    def play(self, deals: range, first: Player, second: Player) -> Portion:
        """Play these deals in all sittings to the end."""
        games = self._play(deals, (first, second))
        margins = self.seating.margins(games, bool(numbers(self.packed).lowest_wins))
        return Portion(margins, self.seating.wins(games), self.seating.above(games))

    def _play(self, deals: range, pair: tuple[Player, Player]) -> Games:
        """Games that are over; row ``deal * S + sitting``."""
        sittings = len(self.seating.owners)
        seeds = np.array([deal_seed(self.seed, deal) for deal in deals], np.uint64)
        games = new_games(len(deals) * sittings)
        owners = np.tile(self.seating.owners, (len(deals), 1))
        start_games(games, self.packed, np.repeat(seeds, sittings))
        rows = np.arange(len(games))
        for player in pair:
            reset_policy(player.policy, rows)
        while sum([self._turn(games, owners, number, player) for number, player in enumerate(pair)]):
            pass
        return games

    def _turn(self, games: Games, owners: npt.NDArray[np.int8], number: int, player: Player) -> int:
        """One move wherever it is the player's turn; returns in how many games."""
        rows = np.empty(len(games), np.int64)
        count: int = find_turns(games, owners, number, rows)
        if count:
            batch = Batch.of_games(games, rows[:count], self.packed, self.rules, self.num_players, self.encoding)
            move_on(games, batch.rows, self.packed, player.act(batch))
        return count
