"""Who sits where when two policies play the same deal, and what each sitting says about them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from domino_env.engine.state import Games

__all__ = ["Seating", "seating_for"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Seating:
    """S sittings of policies 0 and 1 at P seats.

    Two seats: both ways. Sides: both ways, partners alike. Otherwise one of policy 0 among others of policy 1 in every seat, and
    one of policy 1 among others of policy 0.
    """

    owners: npt.NDArray[np.int8]
    """(S, P) int8: which policy holds the seat."""
    measured: npt.NDArray[np.bool_]
    """(S, P): the seats whose result is taken, all of one policy."""

    @property
    def of_second(self) -> npt.NDArray[np.bool_]:
        """(S,): the sittings that measure policy 1."""
        return np.logical_and(self.owners == 1, self.measured).any(axis=1)  # type: ignore[no-any-return]

    def margins(self, games: Games, lowest_wins: bool) -> Floats:
        """(deals, S) points of the measured seats less those of the others, means of both; penalties with the sign turned."""
        sittings, seats = self.measured.shape
        score = games["score"][:, :seats].reshape(-1, sittings, seats).astype(np.float64)
        mine = np.where(self.measured, score, 0).sum(axis=2) / self.measured.sum(axis=1)
        theirs = np.where(self.measured, 0, score).sum(axis=2) / (~self.measured).sum(axis=1)
        margins: Floats = theirs - mine if lowest_wins else mine - theirs
        return margins

    def wins(self, games: Games) -> Floats:
        """(deals, S) share of the win that the measured seats have; those who tie share it."""
        sittings, seats = self.measured.shape
        bits = self.measured @ (1 << np.arange(seats))
        winners = games["winners"].reshape(-1, sittings)
        shares: Floats = np.bitwise_count(winners & bits) / np.bitwise_count(winners)
        return shares

    def above(self, games: Games) -> Floats:
        """(deals, 2) how often a seat of policy 0 won where one of policy 1 did not, and the reverse; half each where both won.

        Every seat is set against every seat of the other policy; partners count as one.
        """
        sittings, seats = self.owners.shape
        won = (games["winners"].reshape(-1, sittings, 1) >> np.arange(seats)) & 1
        winners = [(won * (self.owners == policy)).sum(axis=2) for policy in (0, 1)]
        losers = [((1 - won) * (self.owners == policy)).sum(axis=2) for policy in (0, 1)]
        ties = winners[0] * winners[1] / 2
        counts = np.stack([winners[0] * losers[1] + ties, winners[1] * losers[0] + ties], axis=2)
        above: Floats = (counts / self.measured.sum(axis=1)[:, np.newaxis] ** 2).sum(axis=1)
        return above


def seating_for(num_players: int, sides: bool) -> Seating:
    """The sittings for so many seats."""
    seats = np.arange(num_players)
    if num_players == 2 or sides:
        owners = np.stack([seats % 2, 1 - seats % 2])
        return Seating(owners.astype(np.int8), owners == 0)
    alone = np.eye(num_players, dtype=bool)
    owners = np.concatenate([np.where(alone, 0, 1), np.where(alone, 1, 0)])
    return Seating(owners.astype(np.int8), np.concatenate([alone, alone]))
