"""All ways to lay tiles into places that each take only some of them: counted exactly, and numbered.

Tiles are laid one by one, those with the fewest places first. Places that take the same of the tiles still to come are
alike, so only the number of free ones among them matters: that keeps the count short.
"""

from __future__ import annotations

__all__ = ["Assignments"]

State = tuple[int, ...]
"""Free places of each class of places that are alike."""


class Assignments:
    """Every way to give each of ``len(fits)`` tiles a place of its own.

    ``fits[place]`` is the mask of the tiles that may lie there. ``total`` is the number of ways, and ``way(number)`` each
    of them once for ``number`` from 0 to ``total - 1``: a uniform number is a uniform way.
    """

    def __init__(self, fits: list[int]) -> None:
        count = len(fits)
        places = [sum(1 << place for place in range(count) if fits[place] >> tile & 1) for tile in range(count)]
        self._tiles = sorted(range(count), key=lambda tile: (places[tile].bit_count(), places[tile]))
        self._places = [places[tile] for tile in self._tiles]
        self._classes, self._joined = _classes(self._places)
        self._known: list[dict[State, int]] = [{} for _ in range(count)]
        self._start = tuple(members.bit_count() for members in self._classes[0])
        covered = sum(members.bit_count() for members in self._classes[0]) == count
        self.total = self._ways(0, self._start) if covered else 0

    def way(self, number: int) -> list[int]:
        """Tile by place, of way ``number``."""
        free = (1 << len(self._tiles)) - 1
        order = [-1] * len(self._tiles)
        state = self._start
        for stage, tile in enumerate(self._tiles):
            for index, members in enumerate(self._classes[stage]):
                if not members & self._places[stage]:
                    continue
                after = self._after(stage, state, index)
                ways = 0 if after is None else self._ways(stage + 1, after)
                if number < state[index] * ways:
                    break
                number -= state[index] * ways
            assert after is not None
            place = _nth_bit(members & free, number // ways)
            order[place] = tile
            free &= ~(1 << place)
            number %= ways
            state = after
        return order

    def _ways(self, stage: int, state: State) -> int:
        """Ways to lay the tiles from ``stage`` on."""
        if stage == len(self._tiles):
            return 1
        known = self._known[stage].get(state)
        if known is None:
            known = 0
            for index, members in enumerate(self._classes[stage]):
                if members & self._places[stage]:
                    after = self._after(stage, state, index)
                    if after is not None:
                        known += state[index] * self._ways(stage + 1, after)
            self._known[stage][state] = known
        return known

    def _after(self, stage: int, state: State, index: int) -> State | None:
        """The state once the tile of ``stage`` lies in class ``index``; None where a place would stay empty."""
        if state[index] == 0:
            return None
        free = [0] * len(self._classes[stage + 1])
        for old, new in enumerate(self._joined[stage]):
            left = state[old] - (old == index)
            if new >= 0:
                free[new] += left
            elif left > 0:
                return None
        return tuple(free)


def _classes(places: list[int]) -> tuple[list[list[int]], list[list[int]]]:
    """By stage: the masks of places that are alike from there on, and for each the class that it joins at the next stage.

    A place that takes no tile any more is in no class: -1 stands for that.
    """
    stages: list[list[int]] = [[]]
    joined: list[list[int]] = []
    for takes in reversed(places):
        later = stages[-1]
        seen = 0
        parts: list[tuple[int, int]] = []
        for index, members in enumerate(later):
            seen |= members
            parts += [(part, index) for part in (members & takes, members & ~takes) if part]
        if takes & ~seen:
            parts.append((takes & ~seen, -1))
        stages.append([part for part, _ in parts])
        joined.append([index for _, index in parts])
    return stages[::-1], joined[::-1]


def _nth_bit(mask: int, n: int) -> int:
    """Index of bit number ``n`` (from 0, lowest first) of those set."""
    for _ in range(n):
        mask &= mask - 1
    return (mask & -mask).bit_length() - 1
