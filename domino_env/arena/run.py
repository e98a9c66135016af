"""Comparing policies: each pair plays the same deals with seats swapped."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from domino_env.arena.comparison import Comparison, Estimate, PairResult, PolicyTime, estimate
from domino_env.arena.extra import installed, need
from domino_env.arena.portions import GAMES_AT_ONCE, SEED_BITS, DealTable, Floats, Player, Portion, deal_seed
from domino_env.arena.rating import check_anchors, rate_policies
from domino_env.envs.options import is_one_round, resolve_rules
from domino_env.errors import OptionsError
from domino_env.policies import Policy, load_policy, policy_name
from domino_env.rules import Rules
from domino_env.variants import VARIANTS

__all__ = ["Progress", "Spread", "compare", "deal_seed"]

PolicySpec = str | os.PathLike[str] | Policy
Progress = Callable[[int, int], None]
"""Is told how many portions are played, and of how many."""
Spread = Callable[[DealTable, Sequence[Player], Sequence[tuple[int, int]], Progress], Iterable[Sequence[Portion]]]
"""Plays pairs (places in the list of players): yields, pair after pair, its portions in the order of the deals."""

_GAMES_AT_ONCE = GAMES_AT_ONCE


def compare(
    policies: Sequence[PolicySpec] | Mapping[str, PolicySpec],
    variant: str | Rules,
    *,
    rules: Rules | Mapping[str, Any] | None = None,
    num_players: int = 2,
    deals: int = 1000,
    seed: int = 0,
    episode: str = "round",
    progress: Progress | None = None,
    rating: bool | None = None,
    anchors: Mapping[str, float] | None = None,
    spread: Spread | None = None,
) -> Comparison:
    """Let every pair of ``policies`` play ``deals`` deals, each in all sittings (see ``Seating``), and measure who is better.

    ``policies``: what ``load_policy`` takes, or a dict name -> such. ``episode``: ``"round"`` or ``"match"`` (the deals then are those of
    the whole match). All pairs play the same deals; the same arguments give the same numbers, but for the times.
    ``progress(done, total)`` is called as games are finished. ``rating``: whether to rate the policies; left out, where openskill is
    installed. ``anchors``: name -> rating that stays as it is; left out, ``random`` stays at 25 (``domino_env.arena.rating`` says what
    ratings mean). ``spread``: what plays the deals elsewhere, such as ``domino_env.integrations.ray_arena.spread_on_ray``; left out, this
    process does. Raises ``OptionsError``, ``RulesError``, ``PolicyError`` or ``CheckpointError`` for arguments that cannot be used.
    """
    found = variant if isinstance(variant, Rules) else resolve_rules(variant, rules)
    one_round = is_one_round(episode)
    found.check_players(num_players)
    _check_count("deals", deals, 2)
    _check_count("seed", seed, 0)
    rated = _check_rating(rating, anchors)
    players = _name_all(policies, found, num_players)
    names = [player.name for player in players]
    check_anchors(anchors, names)
    table = DealTable(found, num_players, one_round, deals, seed)
    pairs = list(itertools.combinations(range(len(players)), 2))
    results, meeting = [], {}
    for pair, portions in zip(pairs, (spread or _play_here)(table, players, pairs, progress or _tell_nobody), strict=True):
        results.append(_sum_up(table, names[pair[0]], names[pair[1]], portions))
        meeting[pair] = np.concatenate([portion.above for portion in portions])
    return Comparison(
        variant=found.variant,
        rules=found.overrides_from(VARIANTS[found.variant]) if found.variant in VARIANTS else found.to_json(),
        rules_fingerprint=found.fingerprint(),
        num_players=num_players,
        sides=found.sides,
        episode=episode,
        deals=deals,
        seed=seed,
        pairs=tuple(results),
        times=tuple(PolicyTime(player.name, player.decisions, player.seconds) for player in players),
        ratings=rate_policies(names, meeting, anchors) if rated else (),
    )


def _tell_nobody(done: int, total: int) -> None:
    """Progress that nobody asked for."""


def _play_here(
    table: DealTable, players: Sequence[Player], pairs: Sequence[tuple[int, int]], progress: Progress
) -> Iterator[Sequence[Portion]]:
    """Play all pairs in this process, one after another."""
    played = itertools.count(1)
    total = len(pairs) * len(list(table.portions(_GAMES_AT_ONCE)))
    for first, second in pairs:
        yield _play_pair(table, players[first], players[second], lambda: progress(next(played), total))


def _play_pair(table: DealTable, first: Player, second: Player, tell: Callable[[], None]) -> list[Portion]:
    """All deals of two players."""
    portions = []
    for deals in table.portions(_GAMES_AT_ONCE):
        portions.append(table.play(deals, first, second))
        tell()
    return portions


def _sum_up(table: DealTable, first: str, second: str, portions: Sequence[Portion]) -> PairResult:
    """The result of two policies."""
    points: Floats = np.concatenate([portion.margins for portion in portions])
    won: Floats = np.concatenate([portion.wins for portion in portions])
    of_second = table.seating.of_second
    if of_second.any():
        difference = (points[:, ~of_second].mean(axis=1) - points[:, of_second].mean(axis=1)) / 2
        shares = [estimate(won[:, chosen].mean(axis=1), table.seed) for chosen in (~of_second, of_second)]
    else:
        difference = points.mean(axis=1)
        share = estimate(won.mean(axis=1), table.seed)
        shares = [share, Estimate(1 - share.mean, 1 - share.high, 1 - share.low)]
    return PairResult(first, second, estimate(difference, table.seed), *shares)


def _name_all(policies: Sequence[PolicySpec] | Mapping[str, PolicySpec], rules: Rules, num_players: int) -> list[Player]:
    """The policies, each under a name of its own."""
    if isinstance(policies, str) or len(policies) < 2:
        raise OptionsError(f"policies={policies!r}, but a comparison takes at least two")
    if isinstance(policies, Mapping):
        return [Player(name, load_policy(spec, rules, num_players)) for name, spec in policies.items()]
    players: list[Player] = []
    for spec in policies:
        policy = load_policy(spec, rules, num_players)
        name, taken = policy_name(policy), {player.name for player in players}
        names = itertools.chain([name], (f"{name} ({number})" for number in itertools.count(2)))
        players.append(Player(next(free for free in names if free not in taken), policy))
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
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not lowest <= value < 1 << SEED_BITS:
        raise OptionsError(f"{name}={value!r}, but it is a whole number from {lowest} to 2**32 - 1")
