"""The observation as ordered, named sections: what each number means, and how to read it back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from domino_env.engine.packed import numbers, pack_rules
from domino_env.errors import OptionsError
from domino_env.notation import ARM_NAMES, tile_text
from domino_env.rule_terms import Doubles, DrawWhen, Scoring
from domino_env.rules import Rules
from domino_env.tiles import num_tiles

__all__ = ["ENCODING_VERSION", "Encoding", "Section", "Sections"]

ENCODING_VERSION = 1
"""Raised whenever the meaning or the order of a number changes; a checkpoint carries it."""


@dataclass(frozen=True)
class Section:
    """Numbers ``start`` to ``start + len(labels) - 1`` of an observation."""

    name: str
    meaning: str
    labels: tuple[str, ...]
    scale: float
    """What an observation of 1.0 stands for, in the unit of ``meaning``."""
    start: int

    @property
    def size(self) -> int:
        """How many numbers the section has."""
        return len(self.labels)

    @property
    def slice(self) -> slice:
        """Where they stand."""
        return slice(self.start, self.start + self.size)


class Sections(ABC):
    """The ordered, named sections of an observation (size,) float32."""

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """All sections in order."""
        out: list[Section] = []
        start = 0
        for name, meaning, labels, scale in self._plan():
            if labels:
                out.append(Section(name, meaning, tuple(labels), float(scale), start))
                start += len(labels)
        return tuple(out)

    @cached_property
    def size(self) -> int:
        """Number of numbers, D."""
        return sum(section.size for section in self.sections)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """(D,) name of each number, such as ``table[left1 1-4]``."""
        return tuple(f"{section.name}[{label}]" for section in self.sections for label in section.labels)

    def section(self, name: str) -> Section:
        """The section of that name; ``OptionsError`` where these rules have none."""
        for section in self.sections:
            if section.name == name:
                return section
        raise OptionsError(f"section={name!r}, but the sections are {', '.join(s.name for s in self.sections)}")

    def describe(self, observation: npt.ArrayLike) -> dict[str, float]:
        """Label -> value in natural units (pips, points, tiles; 1 and 0 for yes and no) of an observation (D,)."""
        values = np.asarray(observation, dtype=np.float64)
        if values.shape != (self.size,):
            raise OptionsError(f"observation of shape {values.shape}, but it is ({self.size},)")
        scales = np.repeat([s.scale for s in self.sections], [s.size for s in self.sections])
        return {label: round(float(value), 4) for label, value in zip(self.labels, values * scales, strict=True)}

    @abstractmethod
    def _plan(self) -> list[tuple[str, str, list[str], float]]:
        """Name, meaning, labels and scale of each section; one without labels is left out."""


class Encoding(Sections):
    """Layout of the observation of one rule set and seat count.

    The observation is (size,) float32 in [-1, 1], seen from one seat: ``self`` is that seat, ``left1`` the next to its
    left, and so on. Only scores are clipped; every other number times its section's ``scale`` is exact.
    """

    def __init__(self, rules: Rules, num_players: int) -> None:
        self.rules = rules
        self.num_players = rules.check_players(num_players)
        self._packed = numbers(pack_rules(rules, self.num_players, True))

    def _plan(self) -> list[tuple[str, str, list[str], float]]:
        rules, seats = self.rules, self.num_players
        who = ["self", *(f"left{k}" for k in range(1, seats))]
        tiles = [tile_text(tile) for tile in range(num_tiles(rules.max_pip))]
        pips = [str(pip) for pip in range(rules.max_pip + 1)]
        arms = ARM_NAMES[: rules.arms]
        draws = rules.draw_when != DrawWhen.NEVER
        many = len(tiles)
        return [
            ("hand", "own hand: 1 where the tile is held", tiles, 1),
            ("table", "1 where that seat has played the tile", [f"{seat} {tile}" for seat in who for tile in tiles], 1),
            *(self._arm_plan(arm, pips) for arm in arms),
            ("ends_sum", "sum of the ends, in pips", ["sum"], 2 * rules.max_pip * rules.arms),
            ("play_points", "points that each legal play would make now", self._place_labels(tiles, pips), self._packed.most_points),
            ("hand_sizes", "tiles in each hand", who, many),
            ("drawable", "tiles that may still be drawn", ["tiles"] if draws else [], many),
            ("voids", "1 where the seat is proven not to hold the pip", [f"{seat} {pip}" for seat in who[1:] for pip in pips], 1),
            ("scores", "score, clipped to plus or minus the target", who, rules.target[seats]),
            ("draws", "tiles drawn in this turn", ["tiles"] if draws else [], self._packed.draw_limit),
            ("must_place", "1 for the tile just drawn that must be placed", tiles if rules.lucky_draws else [], 1),
            ("leader", "1 for the seat that led the round", who, 1),
            ("on_turn", "1 for the seat on turn", who, 1),
            ("passes", "passes in a row", ["passes"], seats),
        ]

    def _arm_plan(self, arm: str, pips: list[str]) -> tuple[str, str, list[str], float]:
        labels = [f"open {pip}" for pip in pips] + ["crosswise double", "counts"]
        if self.rules.arms == 4:
            labels.append("free short side")
        meaning = "open pip; whether a crosswise double ends the arm; what the end counts, as a share of the highest double"
        return f"arm_{arm}", meaning, labels, 1

    def _place_labels(self, tiles: list[str], pips: list[str]) -> list[str]:
        if self.rules.scoring == Scoring.NONE:
            return []
        arms = ARM_NAMES[: self.rules.arms]
        labels = [f"{tile}@{arm}" for arm in arms for tile in tiles]
        if self.rules.doubles == Doubles.CHOICE:
            labels += [f"{pip}-{pip}@{arm}:lengthwise" for arm in arms for pip in pips]
        return labels
