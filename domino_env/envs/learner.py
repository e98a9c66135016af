"""A batch of games with one learner in each: the core of the vectorised single-learner views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from domino_env.encoding import Encoding
from domino_env.engine import batch
from domino_env.engine.packed import numbers, pack_rules
from domino_env.engine.state import new_games
from domino_env.envs.kernels import GREEDY, LEARNED, RANDOM, VIEW, WAITS, play_learner
from domino_env.envs.options import as_actions, check_count, check_flag, check_seat, copy_state, entropy_seed, is_one_round, resolve_rules
from domino_env.envs.rewards import Reward
from domino_env.errors import IllegalMoveError, OptionsError
from domino_env.policies import Batch, GreedyPolicy, Policy, RandomPolicy, decide, load_policy, reset_policy
from domino_env.rules import Rules

__all__ = ["LearnerGames", "Pool", "load_pool"]

PolicySpec = str | Policy

_TICKETS = 1_000
_STATE = ("rows", "views", "observation", "action_mask", "final_observation")


class Pool:
    """The policies that may sit in the other seats; each seat of each game draws one, as likely as ``weights`` say (None: all alike)."""

    def __init__(self, policies: Sequence[Policy], weights: Sequence[float] | None = None) -> None:
        self.policies = list(policies)
        self.tickets = _tickets(weights, len(self.policies))
        self.remembering = [policy for policy in self.policies if hasattr(policy, "reset")]
        self.kinds = np.array([self._kind(policy) for policy in policies], np.int64)

    @staticmethod
    def _kind(policy: Policy) -> int:
        # exactly these two are compiled into the loop; a subclass may act otherwise
        return {RandomPolicy: RANDOM, GreedyPolicy: GREEDY}.get(type(policy), LEARNED)

    def __len__(self) -> int:
        return len(self.policies)


def _tickets(weights: Sequence[float] | None, count: int) -> npt.NDArray[np.int64]:
    """Places in the pool, each as often as its weight asks for, to 1 in 1,000 and at least once where it is above 0."""
    if weights is None:
        return np.arange(count)
    wrong = OptionsError(f"weights={weights!r}, but they are {count} numbers from 0 on, one for each opponent, not all 0")
    try:
        shares = np.asarray(weights, np.float64)
    except (ValueError, TypeError):
        raise wrong from None
    if shares.shape != (count,) or not np.isfinite(shares).all() or (shares < 0).any() or shares.sum() <= 0:
        raise wrong
    counts = np.maximum(np.rint(shares * (_TICKETS / shares.sum())), shares > 0).astype(np.int64)
    return np.repeat(np.arange(count), counts)


def load_pool(opponents: PolicySpec | Sequence[PolicySpec], rules: Rules, num_players: int, weights: Sequence[float] | None = None) -> Pool:
    """Policies from one spec or a list of them (``load_policy``). ``OptionsError`` where there is none, or for wrong weights."""
    specs: list[Any] = list(opponents) if isinstance(opponents, (list, tuple)) else [opponents]
    if not specs:
        raise OptionsError("opponents=[], but somebody has to sit in the other seats: 'random', 'greedy', a checkpoint, ...")
    return Pool([load_policy(spec, rules=rules, num_players=num_players) for spec in specs], weights)


class LearnerGames:
    """``num_envs`` games (N); in each the learner holds one seat and policies hold the others. Finished games start anew.

    The learner's seat and who sits in the other seats are drawn from the game's seed, for each game anew; ``learner_seat``
    fixes the seat. ``observation`` (N, D) float32 and ``action_mask`` (N, A) int8 are written in place where the learner
    decides; ``views`` (N,) VIEW tells of rewards and finished games; ``final_observation`` (N, D) float32 is the learner's.
    """

    def __init__(
        self,
        variant: str,
        num_envs: int,
        opponents: PolicySpec | Sequence[PolicySpec] = "random",
        num_players: int = 2,
        episode: str = "round",
        reward: str = "points",
        rules: Rules | Mapping[str, Any] | None = None,
        skip_forced: bool = False,
        learner_seat: int | None = None,
    ) -> None:
        self.rules = resolve_rules(variant, rules)
        self.num_envs = check_count("num_envs", num_envs)
        self.num_players = num_players = self.rules.check_players(num_players)
        self.encoding = Encoding(self.rules, num_players)
        self.packed = pack_rules(self.rules, num_players, is_one_round(episode))
        self.num_actions = int(numbers(self.packed).num_actions)
        self.skip_forced = check_flag("skip_forced", skip_forced)
        self._by_win = Reward.parse(reward) == Reward.WIN
        self._fixed_seat = check_seat(learner_seat, num_players)
        self.pool = load_pool(opponents, self.rules, self.num_players)
        self._all = np.arange(self.num_envs)
        self.rows = new_games(self.num_envs)
        self.views = np.zeros(self.num_envs, VIEW)
        self.observation = np.zeros((self.num_envs, self.encoding.size), np.float32)
        self.action_mask = np.zeros((self.num_envs, self.num_actions), np.int8)
        self.final_observation = np.zeros_like(self.observation)
        self._seats_of = [[seat for seat in range(self.num_players) if bits >> seat & 1] for bits in range(1 << self.num_players)]
        self.started = False
        self._broken_off = False  # whether some games stand in the middle of a step

    def set_opponents(self, opponents: PolicySpec | Sequence[PolicySpec], weights: Sequence[float] | None = None) -> None:
        """Seat other policies in games that start from now on, each as likely as its weight says (None: all alike). Seats of games
        under way go on with the policy that is at the same place of the pool now, or with the first where there is none.
        """
        self.pool = load_pool(opponents, self.rules, self.num_players, weights)
        seated = self.views["seated"]
        seated[seated >= len(self.pool)] = 0

    def reset(self, seeds: npt.NDArray[np.uint64] | None) -> None:
        """Start all games anew: from ``seeds`` (N,), or where the generators stand (never seeded: from the system's entropy)."""
        if seeds is None and not self.started:
            seeds = np.array([entropy_seed() for _ in range(self.num_envs)], np.uint64)
        self.started = True
        self.reset_rows(self._all, seeds)

    def reset_rows(self, rows: npt.NDArray[np.int64], seeds: npt.NDArray[np.uint64] | None) -> None:
        """Start new games in ``rows`` (K,), from ``seeds`` (K,) or where their generators stand, whatever was played there."""
        if seeds is not None:
            batch.seed_games(self.rows, rows, seeds)
        self.views["skipped"][rows] = 0
        self.views["skipped_return"][rows] = 0.0
        self.views["done"][rows] = 0
        self._play(rows, np.full(len(rows), -1))

    def step(self, actions: npt.ArrayLike) -> None:
        """The learner's move in every game: ``actions`` (N,) integers. Raises as ``Games.step``; no game has moved then."""
        self.play(self.check(actions))

    def check(self, actions: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """``actions`` as (N,) int64, all legal. Raises as ``step``."""
        if self._broken_off:
            raise OptionsError("a step was broken off while an opponent moved: call reset")
        chosen = as_actions(actions, self.num_envs)
        wrong = batch.first_illegal(self.rows, self._all, self.packed, chosen)
        if wrong >= 0:
            legal = np.flatnonzero(self.action_mask[wrong]).tolist()
            raise IllegalMoveError(f"game {wrong}: action {chosen[wrong]} is not legal; legal ids: {legal}")
        return chosen

    def play(self, chosen: npt.NDArray[np.int64]) -> None:
        """The moves that ``check`` let pass, and all that follows until the learner decides again in every game."""
        for name in ("done", "skipped"):
            self.views[name] = 0
        self.views["skipped_return"] = 0.0
        self._play(self._all, chosen)

    def _play(self, rows: npt.NDArray[np.int64], actions: npt.NDArray[np.int64]) -> None:
        self._broken_off = True
        self._run(rows, actions)
        self._let_opponents_move(rows)
        self._broken_off = False

    def _let_opponents_move(self, rows: npt.NDArray[np.int64]) -> None:
        if (self.pool.kinds != LEARNED).all():
            return
        while len(rows := rows[self.views["waits"][rows] == WAITS]):
            seats = self.rows["seat"][rows]
            seated = self.views["seated"][rows, seats]
            for number in np.unique(seated).tolist():
                mine = rows[seated == number]
                self._run(mine, decide(self.pool.policies[number], self._batch(mine)))

    def _run(self, rows: npt.NDArray[np.int64], actions: npt.NDArray[np.int64]) -> None:
        play_learner(
            self.rows,
            rows,
            actions,
            self.packed,
            self.skip_forced,
            self._by_win,
            self._fixed_seat,
            self.pool.tickets,
            self.pool.kinds,
            self.views,
            self.observation,
            self.action_mask,
            self.final_observation,
        )
        if self.pool.remembering:
            opened = rows[self.views["opened"][rows] != 0]
            self.views["opened"][opened] = 0
            for policy in self.pool.remembering:
                reset_policy(policy, opened)

    def _batch(self, rows: npt.NDArray[np.int64]) -> Batch:
        return Batch.of_games(self.rows, rows, self.packed, self.rules, self.num_players, self.encoding)

    def get_state(self) -> dict[str, npt.NDArray[Any]]:
        """Copies of all that ``set_state`` needs to go on from here; the opponents are not in it."""
        return {name: getattr(self, name).copy() for name in _STATE}

    def set_state(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Go on from a state of games like these, under the opponents that are seated now. ``OptionsError`` for another one."""
        copy_state(self, _STATE, state)
        self.started, self._broken_off = True, False

    def results(self, rows: npt.NDArray[np.int64]) -> list[dict[str, Any]]:
        """What the infos of the finished games ``rows`` say: ``scores`` by seat, ``winners`` (seats), the learner's ``seat``, and
        ``opponents`` by seat (places in the pool, -1: the learner).
        """
        views, seats = self.views[rows], self.num_players
        opponents = views["opponents"][:, :seats]
        opponents[np.arange(len(rows)), views["seat"]] = -1
        columns = (views["score"][:, :seats].tolist(), views["winners"].tolist(), views["seat"].tolist(), opponents.tolist())
        return [
            {"scores": scores, "winners": self._seats_of[bits][:], "seat": seat, "opponents": others}
            for scores, bits, seat, others in zip(*columns, strict=True)
        ]

    def skipped(self, row: int) -> dict[str, Any]:
        """Info on games since the last decision that left the learner none; empty where there were none."""
        count = int(self.views["skipped"][row])
        return {"skipped_games": count, "skipped_return": float(self.views["skipped_return"][row])} if count else {}
