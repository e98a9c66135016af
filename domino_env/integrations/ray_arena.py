"""A comparison spread over a Ray cluster: the same figures as in one process, for a deal does not depend on where it is played.

Each task plays some deals of one pair. A task whose node or process dies is given to another; what was played by others is not lost.
"""

from __future__ import annotations

import itertools
import uuid
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from domino_env import __version__
from domino_env.arena.portions import GAMES_AT_ONCE, DealTable, Player, Portion
from domino_env.arena.run import Progress
from domino_env.encoding import ENCODING_VERSION
from domino_env.errors import DominoError, OptionsError

__all__ = ["spread_on_ray"]

RETRIES = 8
"""How often a task is played anew whose node or process died."""
_PORTIONS_PER_CPU = 8
"""So many, or more: few enough to cost little, many enough that no CPU waits long for the last one."""
_UNDER_WAY_PER_CPU = 4
"""Tasks handed to the cluster at a time: what a CPU still has to do while the first one is waited for."""
_VERSIONS = {"domino_env": __version__, "observation": ENCODING_VERSION}

Times = tuple[tuple[int, float], ...]
"""Decisions and seconds of both players."""


def spread_on_ray(
    table: DealTable, players: Sequence[Player], pairs: Sequence[tuple[int, int]], progress: Progress
) -> Iterator[Sequence[Portion]]:
    """Play all pairs on the cluster that this process is connected to; for ``compare(..., spread=spread_on_ray)``.

    Where it is stopped early, tasks that are under way are played to their end, and not used.
    Raises what a policy raises, and ``OptionsError`` where the cluster lacks this package, has another version of it, or is lost.
    """
    portions = _portions(table, len(pairs))
    shared = ray.put((table, [(player.name, player.policy) for player in players]))
    tournament = uuid.uuid4().hex
    play = ray.remote(num_cpus=1, max_retries=RETRIES)(_play)
    # the owner of what is shared is this process, so it outlives any node
    refs = _under_way(play.remote(tournament, [shared], _VERSIONS, pair, deals) for pair in pairs for deals in portions)
    played, total = itertools.count(1), len(pairs) * len(portions)
    for pair in pairs:
        done = []
        for ref in itertools.islice(refs, len(portions)):
            portion, times = _get(ref)
            for place, (decisions, seconds) in zip(pair, times, strict=True):
                players[place].decisions += decisions
                players[place].seconds += seconds
            done.append(portion)
            progress(next(played), total)
        yield done


def _under_way(tasks: Iterator[Any]) -> Iterator[Any]:
    """The tasks in their order, each begun some time before it is asked for.

    Were all begun at once, the rest would have to be cancelled when a policy fails; a task cancelled as it ends takes this process with it
    (a check that fails in Ray 2.60).
    """
    waiting: deque[Any] = deque()
    while True:
        waiting.extend(itertools.islice(tasks, max(0, _UNDER_WAY_PER_CPU * _cpus() - len(waiting))))
        if not waiting:
            return
        yield waiting.popleft()


def _cpus() -> int:
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _portions(table: DealTable, pairs: int) -> list[range]:
    games = table.deals * len(table.seating.owners)
    return list(table.portions(min(GAMES_AT_ONCE, -(-games * pairs // (_PORTIONS_PER_CPU * _cpus())))))


def _get(ref: Any) -> tuple[Portion, Times]:
    try:
        found: tuple[Portion, Times] = ray.get(ref)
    except RayTaskError as error:
        cause = error.cause
        if isinstance(cause, DominoError):
            raise cause from None
        if isinstance(cause, ImportError):
            raise OptionsError(f"a node of the cluster cannot import what is played ({cause}): install domino-env on every node") from None
        raise
    except RayError as error:
        why = " ".join(str(error).split())
        raise OptionsError(f"the cluster could not play it, {RETRIES} tries over: {why}") from None
    return found


_players: dict[str, tuple[DealTable, list[Player]]] = {}
"""Tournament -> what this process has been told of it; only of the newest one."""


def _play(tournament: str, shared: list[Any], versions: dict[str, Any], pair: tuple[int, int], deals: range) -> tuple[Portion, Times]:
    """One task: some deals of a pair, and what its players took for them."""
    if versions != _VERSIONS:
        raise OptionsError(f"a node of the cluster has {_VERSIONS}, but the tournament was begun with {versions}")
    if tournament not in _players:
        _players.clear()
        table, policies = ray.get(shared[0])
        _players[tournament] = table, [Player(name, policy) for name, policy in policies]
    table, players = _players[tournament]
    both = [players[place] for place in pair]
    for player in both:
        player.decisions, player.seconds = 0, 0.0
    portion = table.play(deals, *both)
    return portion, tuple((player.decisions, player.seconds) for player in both)
