"""Duplicate deals against fixed anchors while a run goes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from domino_env.arena import compare
from domino_env.policies import Checkpoint, CheckpointMeta, LearnedPolicy, Policy, load_policy
from training.config import TrainingConfig

__all__ = ["Evaluator", "curve_tag"]

Weights = Mapping[str, npt.NDArray[np.float32]]

FIRST = "first"
# deals that no training game sees: a run of seed s has the deals of seed s, and its seed is smaller
_SEED = 2**31


def curve_tag(spec: str) -> str:
    """A policy in the name of a curve, where a slash would open another group."""
    return spec.replace(".safetensors", "").replace("/", ".")


class Evaluator:
    """Plays the learner, always by its likeliest move, against the anchors; every time on the same deals."""

    def __init__(self, config: TrainingConfig, meta: CheckpointMeta) -> None:
        self._config = config.evaluation
        self._rules = config.read_rules()
        self._num_players = config.num_players
        self._episode = config.episode
        self._meta = meta
        self._anchors: dict[str, Policy] = {
            spec: load_policy(spec, self._rules, self._num_players) for spec in self._config.anchors if spec != FIRST
        }
        self.first: Weights | None = None
        """The learner at the first evaluation."""
        self.results: list[dict[str, Any]] = []

    @property
    def best(self) -> float:
        """Most points a game against ``best_by`` so far."""
        return max((result["against"][self._config.best_by]["points"] for result in self.results), default=-np.inf)

    def run(self, weights: Weights, decisions: int) -> dict[str, Any]:
        """Evaluate the learner after so many ``decisions``; returns what is kept in ``results``."""
        if self.first is None:
            self.first = weights
        learner = self._learned(weights)
        against = {spec: self._meet(learner, spec) for spec in self._config.anchors}
        result = {"decisions": decisions, "deals": self._config.deals, "against": against}
        self.results.append(result)
        return result

    def _meet(self, learner: Policy, spec: str) -> dict[str, float]:
        """Points a game with the ends of their 95 % interval, and the share of games won."""
        anchor = self._learned(self.first or {}) if spec == FIRST else self._anchors[spec]
        pair = compare(
            {"learner": learner, "anchor": anchor},
            self._rules,
            num_players=self._num_players,
            deals=self._config.deals,
            seed=_SEED,
            episode=self._episode,
            rating=False,
        ).pairs[0]
        return {"points": pair.points.mean, "low": pair.points.low, "high": pair.points.high, "won": pair.won.mean}

    def _learned(self, weights: Weights) -> LearnedPolicy:
        return LearnedPolicy(Checkpoint(self._meta, weights))

    def curves(self, result: Mapping[str, Any]) -> dict[str, float]:
        """Name -> value of the curves that an evaluation adds to."""
        return {f"{curve_tag(anchor)}_{name}": found[name] for anchor, found in result["against"].items() for name in ("points", "won")}

    def headline(self, result: Mapping[str, Any]) -> str:
        """An evaluation in a few words."""
        anchor = self._config.best_by
        return f"{result['against'][anchor]['points']:+.3f} against {anchor}"

    def get_state(self) -> dict[str, Any]:
        """Results and the first learner."""
        return {"results": self.results, "first": None if self.first is None else dict(self.first)}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a state of the same run."""
        self.results = list(state["results"])
        self.first = state["first"]
