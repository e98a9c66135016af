"""Comparing policies: each pair plays the same deals with seats swapped."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from domino_env.arena.comparison import Comparison, Estimate, PairResult, PolicyTime, estimate
from domino_env.arena.extra import installed, need
from domino_env.arena.kernels import find_turns, move_on, start_games
from domino_env.arena.rating import check_anchors, rate_policies
from domino_env.arena.seating import Seating, seating_for
from domino_env.encoding import Encoding
from domino_env.engine.packed import Packed, numbers, pack_rules
from domino_env.engine.state import Games, new_games
from domino_env.envs.options import is_one_round, resolve_rules
from domino_env.errors import OptionsError
from domino_env.policies import Batch, Policy, decide, load_policy, policy_name, reset_policy
from domino_env.rules import Rules
from domino_env.variants import VARIANTS

__all__ = ["compare", "deal_seed"]

Floats = npt.NDArray[np.float64]
PolicySpec = str | os.PathLike[str] | Policy

_GAMES_AT_ONCE = 4096
_SEED_BITS = 32


def deal_seed(seed: int, deal: int) -> int:
    """The seed of deal number ``deal``: an environment reset with it deals the same tiles to the same leader."""
    return (seed << _SEED_BITS) + deal


def compare(
    policies: Sequence[PolicySpec] | Mapping[str, PolicySpec],
    variant: str | Rules,
    *,
    rules: Rules | Mapping[str, Any] | None = None,
    num_players: int = 2,
    deals: int = 1000,
    seed: int = 0,
    episode: str = "round",
    progress: Callable[[int, int], None] | None = None,
    rating: bool | None = None,
    anchors: Mapping[str, float] | None = None,
) -> Comparison:
    """Let every pair of ``policies`` play ``deals`` deals, each in all sittings (see ``Seating``), and measure who is better.

    ``policies``: what ``load_policy`` takes, or a dict name -> such. ``episode``: ``"round"`` or ``"match"`` (the deals then are those of
    the whole match). All pairs play the same deals; the same arguments give the same numbers, but for the times.
    ``progress(done, total)`` is called as games are finished. ``rating``: whether to rate the policies; left out, where openskill is
    installed. ``anchors``: name -> rating that stays as it is; left out, ``random`` stays at 25 (``domino_env.arena.rating`` says what
    ratings mean). Raises ``OptionsError``, ``RulesError``, ``PolicyError`` or ``CheckpointError`` for arguments that cannot be used.
    """
    found = variant if isinstance(variant, Rules) else resolve_rules(variant, rules)
    one_round = is_one_round(episode)
    seating = seating_for(found.check_players(num_players), found.sides)
    _check_count("deals", deals, 2)
    _check_count("seed", seed, 0)
    rated = _check_rating(rating, anchors)
    players = _name_all(policies, found, num_players)
    names = [player.name for player in players]
    check_anchors(anchors, names)
    table = _Table(found, num_players, pack_rules(found, num_players, one_round), seating, deals, seed)
    pairs = list(itertools.combinations(players, 2))
    played = itertools.count(1)
    total = len(pairs) * len(table.chunks())

    def tell() -> None:
        if progress is not None:
            progress(next(played), total)

    results, meetings = zip(*(_play_pair(table, first, second, tell) for first, second in pairs), strict=True)
    meeting = dict(zip(itertools.combinations(range(len(names)), 2), meetings, strict=True))
    return Comparison(
        variant=found.variant,
        rules=found.overrides_from(VARIANTS[found.variant]) if found.variant in VARIANTS else found.to_json(),
        rules_fingerprint=found.fingerprint(),
        num_players=num_players,
        sides=found.sides,
        episode=episode,
        deals=deals,
        seed=seed,
        pairs=results,
        times=tuple(PolicyTime(player.name, player.decisions, player.seconds) for player in players),
        ratings=rate_policies(names, meeting, anchors) if rated else (),
    )


@dataclass(eq=False)
class _Player:
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
class _Table:
    """Everything that is the same for all pairs."""

    rules: Rules
    num_players: int
    packed: Packed
    seating: Seating
    deals: int
    seed: int
    encoding: Encoding = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "encoding", Encoding(self.rules, self.num_players))

    def chunks(self) -> list[range]:
        """The deals in portions that fit the processor's cache."""
        size = max(1, _GAMES_AT_ONCE // len(self.seating.owners))
        return [range(start, min(start + size, self.deals)) for start in range(0, self.deals, size)]

    def play(self, deals: range, pair: tuple[_Player, _Player]) -> Games:
        """Play some deals in all sittings to the end; row ``deal * S + sitting``."""
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

    def _turn(self, games: Games, owners: npt.NDArray[np.int8], number: int, player: _Player) -> int:
        """One move wherever it is the player's turn; returns in how many games."""
        rows = np.empty(len(games), np.int64)
        count: int = find_turns(games, owners, number, rows)
        if count:
            batch = Batch.of_games(games, rows[:count], self.packed, self.rules, self.num_players, self.encoding)
            move_on(games, batch.rows, self.packed, player.act(batch))
        return count


def _play_pair(table: _Table, first: _Player, second: _Player, tell: Callable[[], None]) -> tuple[PairResult, Floats]:
    """The result of two policies, and what the ratings count: see ``Seating.above``."""
    seating = table.seating
    lowest_wins = bool(numbers(table.packed).lowest_wins)
    margins, wins, above = [], [], []
    for deals in table.chunks():
        games = table.play(deals, (first, second))
        margins.append(seating.margins(games, lowest_wins))
        wins.append(seating.wins(games))
        above.append(seating.above(games))
        tell()
    points, won = np.concatenate(margins), np.concatenate(wins)
    of_second = seating.of_second
    if of_second.any():
        difference = (points[:, ~of_second].mean(axis=1) - points[:, of_second].mean(axis=1)) / 2
        shares = [estimate(won[:, chosen].mean(axis=1), table.seed) for chosen in (~of_second, of_second)]
    else:
        difference = points.mean(axis=1)
        share = estimate(won.mean(axis=1), table.seed)
        shares = [share, Estimate(1 - share.mean, 1 - share.high, 1 - share.low)]
    return PairResult(first.name, second.name, estimate(difference, table.seed), *shares), np.concatenate(above)


def _name_all(policies: Sequence[PolicySpec] | Mapping[str, PolicySpec], rules: Rules, num_players: int) -> list[_Player]:
    """The policies, each under a name of its own."""
    if isinstance(policies, str) or len(policies) < 2:
        raise OptionsError(f"policies={policies!r}, but a comparison takes at least two")
    if isinstance(policies, Mapping):
        return [_Player(name, load_policy(spec, rules, num_players)) for name, spec in policies.items()]
    players: list[_Player] = []
    for spec in policies:
        policy = load_policy(spec, rules, num_players)
        name, taken = policy_name(policy), {player.name for player in players}
        names = itertools.chain([name], (f"{name} ({number})" for number in itertools.count(2)))
        players.append(_Player(next(free for free in names if free not in taken), policy))
    return players


def _check_rating(rating: bool | None, anchors: Mapping[str, float] | None) -> bool:
    """Whether to rate. Raises ``OptionsError`` where it is asked for and cannot be done."""
    if rating is False:
        if anchors:
            raise OptionsError(f"anchors={dict(anchors)!r}, but no rating is asked for")
        return False
    if rating or anchors:
        need("openskill", "a rating")
    return installed("openskill")


def _check_count(name: str, value: object, lowest: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not lowest <= value < 1 << _SEED_BITS:
        raise OptionsError(f"{name}={value!r}, but it is a whole number from {lowest} to 2**32 - 1")
