"""Where the time of a learner goes, found by timing its calls."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

from sb3_contrib.ppo_mask import ppo_mask
from stable_baselines3.common.base_class import BaseAlgorithm

__all__ = ["PARTS", "Split"]

PARTS = ("environment", "opponents", "policy", "update", "rest")


class Split:
    """Where the time goes: each moment belongs to the innermost of the calls that are told apart. Two clock readings a call."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PARTS, 0.0)
        self._part, self._since = "rest", 0.0

    def _enter(self, part: str) -> str:
        now, before = time.perf_counter(), self._part
        self.seconds[before] += now - self._since
        self._part, self._since = part, now
        return before

    def _timed(self, call: Callable[..., Any], part: str) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            before = self._enter(part)
            try:
                return call(*args, **kwargs)
            finally:
                self._enter(before)

        return timed

    @contextlib.contextmanager
    def over(self, model: BaseAlgorithm) -> Iterator[None]:
        """Tell the parts of this model's calls apart."""
        env: Any = model.env
        games = getattr(env, "games", None)
        calls = [
            (env, "step", "environment"),
            (games, "step", "environment"),
            (ppo_mask, "get_action_masks", "environment"),
            (games, "_let_opponents_move", "opponents"),
            (model.policy, "forward", "policy"),
            (model.policy, "predict_values", "policy"),
            (model, "predict", "policy"),
            (model, "train", "update"),
        ]
        with contextlib.ExitStack() as stack:
            for owner, name, part in calls:
                if hasattr(owner, name):
                    stack.enter_context(patch.object(owner, name, self._timed(getattr(owner, name), part)))
            self._since = time.perf_counter()
            yield
            self._enter("rest")
