"""Who sits in the other seats: fixed opponents and, in self-play, snapshots of the learner itself."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from domino_env.policies import Checkpoint, CheckpointMeta, LearnedPolicy, Policy, load_policy
from training.config import ConfigError, TrainingConfig

__all__ = ["League", "SeatsOpponents"]

Weights = Mapping[str, npt.NDArray[np.float32]]

_MEMORY = 5_000
"""How many games a win share remembers; beyond them, older ones fade."""


class SeatsOpponents(Protocol):
    """Games whose other seats are drawn from a pool."""

    def set_opponents(self, opponents: Sequence[Policy], weights: Sequence[float] | None = None) -> None:
        """Seat other policies, each as likely as its weight says."""


@dataclass(frozen=True)
class _Snapshot:
    """The learner as it was after so many decisions."""

    policy: Policy
    weights: Weights
    decisions: int


class League:
    """The opponents of a run, how often each is drawn, and how the learner fares against them.

    Members keep their places: fixed ones first, then snapshots; a new snapshot takes the place of the oldest once there are
    ``self_play.keep``. Snapshots of PPO draw their moves as the learner does in training; those of DQN play their best one.
    """

    def __init__(self, config: TrainingConfig, meta: CheckpointMeta) -> None:
        self._self_play = config.self_play
        self._sample = config.algorithm == "ppo"
        self._meta = meta
        self._num_players = config.num_players
        rules = config.read_rules()
        self._sides = rules.sides
        self._fixed = [load_policy(spec, rules, config.num_players) for spec in config.opponents]
        self._specs = config.opponents
        self._snapshots: list[_Snapshot] = []
        size = len(self._fixed) + config.self_play.keep
        self.games = np.zeros(size)
        self.wins = np.zeros(size)
        self.all_games = np.zeros(2)
        """Number of games with anybody, and how many of them the learner won."""
        self.refresh()

    @property
    def names(self) -> list[str]:
        """Of the members, by place."""
        return [*self._specs, *(f"snapshot_{snapshot.decisions}" for snapshot in self._snapshots)]

    def __len__(self) -> int:
        return len(self._fixed) + len(self._snapshots)

    def add_snapshot(self, weights: Weights, decisions: int) -> None:
        """Let the learner of ``decisions`` (their number so far) join, in the place of the oldest where there are enough."""
        checkpoint = Checkpoint(self._meta, weights)
        snapshot = _Snapshot(LearnedPolicy(checkpoint, sample=self._sample), weights, decisions)
        if len(self._snapshots) < self._self_play.keep:
            self._snapshots.append(snapshot)
            place = len(self._snapshots) - 1
        else:
            place = min(range(len(self._snapshots)), key=self._age)
            self._snapshots[place] = snapshot
        self.games[len(self._fixed) + place] = self.wins[len(self._fixed) + place] = 0.0
        self.refresh()

    def _age(self, place: int) -> int:
        return self._snapshots[place].decisions

    def seat(self, env: SeatsOpponents) -> None:
        """Seat the members in games of ``env`` that start from now on."""
        env.set_opponents([*self._fixed, *(snapshot.policy for snapshot in self._snapshots)], self.chances)

    def refresh(self) -> None:
        """Work out anew how often each member is drawn for a seat: ``chances``, which sum to 1."""
        count = len(self._fixed)
        fixed = self._spread(0, count, latest=False)
        if self._snapshots:
            share = self._self_play.share
            snapshots = self._spread(count, len(self), latest=self._self_play.rule == "latest")
            self.chances = [*((1 - share) * fixed), *(share * snapshots)]
        else:
            self.chances = list(fixed)

    def _spread(self, start: int, end: int, latest: bool) -> npt.NDArray[np.float64]:
        if latest:
            out = np.zeros(end - start)
            out[max(range(len(out)), key=self._age)] = 1.0
            return out
        weights = np.ones(end - start)
        if self._self_play.rule == "weighted":
            # squared, so that one that never wins is nearly left alone
            weights = (1 - self.win_shares()[start:end]) ** 2 + 0.01
        spread: npt.NDArray[np.float64] = weights / weights.sum()
        return spread

    def win_shares(self) -> npt.NDArray[np.float64]:
        """(len,) share of the learner's wins in games with each member; a fair one where there was none."""
        games, wins = self.games[: len(self)], self.wins[: len(self)]
        fair = 0.5 if self._sides else 1 / self._num_players
        return (wins + 2 * fair) / (games + 2)

    @property
    def win_share(self) -> float:
        """Share of the learner's wins in the last games; those who tie share a win."""
        games, wins = self.all_games
        return float(wins / games) if games else 0.0

    def count(self, views: npt.NDArray[Any]) -> None:
        """Note the games that ended: rows of ``LearnerGames.views``."""
        ended = views[views["done"] != 0]
        if not len(ended):
            return
        # with sides two seats win together
        winners = np.bitwise_count(ended["winners"]) / (2 if self._sides else 1)
        won = (ended["winners"] >> ended["seat"] & 1) / np.maximum(winners, 1)
        self.all_games += len(won), won.sum()
        self.all_games *= min(1.0, _MEMORY / self.all_games[0])
        for seat in range(self._num_players):
            apart = ended["seat"] - seat
            others = apart % 2 != 0 if self._sides else apart != 0
            places = ended["opponents"][others, seat]
            np.add.at(self.games, places, 1.0)
            np.add.at(self.wins, places, won[others])
        fade = np.minimum(1.0, _MEMORY / np.maximum(self.games, 1.0))
        self.games *= fade
        self.wins *= fade

    def report(self) -> list[tuple[str, float, float]]:
        """Name, share of the learner's wins against it and chance to be drawn: of each fixed member, and of the snapshots together."""
        shares, count = self.win_shares(), len(self._fixed)
        out = [(self._specs[k], float(shares[k]), float(self.chances[k])) for k in range(count)]
        if self._snapshots:
            out.append(("snapshots", float(shares[count:].mean()), float(sum(self.chances[count:]))))
        return out

    def get_state(self) -> dict[str, Any]:
        """Snapshots and counts, as numbers and arrays."""
        return {
            "snapshots": [{"decisions": snapshot.decisions, "weights": dict(snapshot.weights)} for snapshot in self._snapshots],
            "games": self.games.copy(),
            "wins": self.wins.copy(),
            "all_games": self.all_games.copy(),
            "opponents": [_digest(policy) for policy in self._fixed],
            "chances": list(self.chances),
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a state of the same run. ``ConfigError`` where the file of an opponent is another one now."""
        for spec, policy, digest in zip(self._specs, self._fixed, state["opponents"], strict=True):
            if _digest(policy) != digest:
                raise ConfigError(f"opponent {spec!r} is another one than when the run began: put its file back")
        for snapshot in state["snapshots"]:
            self.add_snapshot(snapshot["weights"], snapshot["decisions"])
        self.games[:] = state["games"]
        self.wins[:] = state["wins"]
        self.all_games[:] = state["all_games"]
        self.chances = list(state["chances"])


def _digest(policy: Policy) -> str:
    """What tells one network from another; empty for other policies."""
    if not isinstance(policy, LearnedPolicy):
        return ""
    weights = policy.checkpoint.weights
    return hashlib.sha256(b"".join(weights[name].tobytes() for name in sorted(weights))).hexdigest()
