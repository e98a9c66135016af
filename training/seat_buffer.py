"""Decisions of all seats, chained by seat, for two-sided self-play.

A seat's own decisions form a chain: from one to the next, the rewards of the seat are summed, whoever moved. What a seat makes
before its first decision joins the reward of that one. A decision whose successor has not come yet when the rollout ends waits for
the next update, so that each is learnt from once, with the value of the seat's own next position.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples

from domino_env import Games

__all__ = ["EverySeatBuffer"]

Floats = npt.NDArray[np.float32]
_NONE, _OVER = -1, -2

_KEPT = ("flat_observations", "flat_masks", "flat_actions", "reward_sums", "old_values", "old_log_probs")
"""The arrays of which a decision that waits needs its entry."""


class EverySeatBuffer(MaskableRolloutBuffer):
    """Decisions of all seats of N games of P seats, chained by seat.

    Place ``t * N + g`` (t < T) holds the decision of game g at step t of this rollout; the places behind hold those that wait from
    the last one. ``follower`` names the place of the seat's next decision, or says that the game was over before (``_OVER``) or
    that it has not come yet (``_NONE``).
    """

    def __init__(self, *args: Any, num_seats: int, **kwargs: Any) -> None:
        self.num_seats = num_seats
        self._is_made = False
        super().__init__(*args, **kwargs)
        games, seats = self.n_envs, num_seats
        places = (self.buffer_size + seats) * games
        self.flat_observations = np.zeros((places, *self.obs_shape), np.float32)
        self.flat_masks = np.zeros((places, self.mask_dims), np.bool_)
        self.flat_actions = np.zeros(places, np.int64)
        self.reward_sums, self.old_values, self.old_log_probs, self.flat_advantages = (np.zeros(places, np.float32) for _ in range(4))
        self.follower = np.full(places, _NONE)
        self.latest = np.full((games, seats), _NONE)
        """(N, P) place of each seat's last decision in the game that is played."""
        self.early = np.zeros((games, seats), np.float32)
        """(N, P) rewards of seats that have not decided in it yet."""
        self.ready = np.zeros(0, np.int64)
        self._is_made = True

    def reset(self) -> None:
        """Begin a rollout: decisions that wait move to the places behind those of the rollout."""
        self.pos = 0
        self.full = False
        if self._is_made:
            self._keep_waiting()
        else:  # the parent's constructor asks for its own arrays, which would lie unused
            self.mask_dims = int(self.action_space.n)  # type: ignore[attr-defined]

    def _keep_waiting(self) -> None:
        kept = self.latest[self.latest >= 0]
        places = self.buffer_size * self.n_envs + np.arange(len(kept))
        for array in self._kept():
            array[places] = array[kept]
        self.latest[self.latest >= 0] = places
        self.follower[:] = _NONE
        self.num_kept = len(kept)

    def _kept(self) -> list[npt.NDArray[Any]]:
        return [getattr(self, name) for name in _KEPT]

    def get_state(self) -> dict[str, npt.NDArray[Any]]:
        """The decisions that wait, before a rollout begins."""
        kept = self.latest[self.latest >= 0]
        waiting = {name: array[kept] for name, array in zip(_KEPT, self._kept(), strict=True)}
        return {"latest": self.latest >= 0, "early": self.early.copy(), **waiting}

    def set_state(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Go on from a state of a buffer like this."""
        waiting = state["latest"]
        count = int(waiting.sum())
        self.latest[:] = _NONE
        self.latest[waiting] = np.arange(count)
        self.early[:] = state["early"]
        for name, array in zip(_KEPT, self._kept(), strict=True):
            array[:count] = state[name]

    def record(self, games: Games, actions: npt.NDArray[np.int64], values: Floats, log_probs: Floats) -> None:
        """The decisions of one step, before they are made."""
        rows = np.arange(self.n_envs)
        places = self.pos * self.n_envs + rows
        self.flat_observations[places[0] : places[0] + self.n_envs] = games.observation
        self.flat_masks[places] = games.action_mask != 0
        for array, value in ((self.flat_actions, actions), (self.old_values, values), (self.old_log_probs, log_probs)):
            array[places] = value
        seats = games.seat
        before = self.latest[rows, seats]
        self.follower[before[before >= 0]] = places[before >= 0]
        self.latest[rows, seats] = places
        self.reward_sums[places] = self.early[rows, seats]
        self.early[rows, seats] = 0.0
        self.pos += 1

    def reward(self, rewards: Floats, done: npt.NDArray[np.bool_]) -> None:
        """What that step brought each seat, (N, P), and which games it ended, (N,)."""
        decided = self.latest >= 0
        self.reward_sums[self.latest[decided]] += rewards[decided]
        self.early[~decided] += rewards[~decided]
        over = self.latest[done]
        self.follower[over[over >= 0]] = _OVER
        self.latest[done] = _NONE
        self.early[done] = 0.0

    def finish(self) -> None:
        """Work out advantages (GAE along each seat's chain) and returns of all decisions that wait no longer."""
        games, steps = self.n_envs, self.buffer_size
        waited = np.arange(steps * games, steps * games + self.num_kept)
        for step in range(steps - 1, -1, -1):
            self._estimate(np.arange(step * games, (step + 1) * games))
        self._estimate(waited)
        places = np.concatenate([np.arange(steps * games), waited])
        self.ready = places[self.follower[places] != _NONE]
        # what MaskablePPO reads for its log
        self.values = self.old_values[self.ready]
        self.returns = self.values + self.flat_advantages[self.ready]
        self.full = True

    def _estimate(self, places: npt.NDArray[np.int64]) -> None:
        after = self.follower[places]
        goes_on = after >= 0
        next_values = np.where(goes_on, self.old_values[after], 0.0)
        # one that waits has no advantage yet: the chain is cut before it, as at the end of any rollout
        next_advantages = np.where(goes_on & (self.follower[after] != _NONE), self.flat_advantages[after], 0.0)
        errors = self.reward_sums[places] + self.gamma * next_values - self.old_values[places]
        self.flat_advantages[places] = errors + self.gamma * self.gae_lambda * next_advantages

    def get(  # type: ignore[override]
        self, batch_size: int | None = None
    ) -> Generator[MaskableRolloutBufferSamples, None, None]:
        """Minibatches of about ``batch_size`` decisions, at least 2, in random order: one alone has no spread to be measured by."""
        order = np.random.permutation(self.ready)  # noqa: NPY002 -- SB3 seeds this one
        parts = round(len(order) / (batch_size or len(order)))
        for places in np.array_split(order, max(1, min(parts, len(order) // 2))):
            yield self._samples(places)

    def _samples(self, places: npt.NDArray[np.int64]) -> MaskableRolloutBufferSamples:
        values, advantages = self.old_values[places], self.flat_advantages[places]
        arrays = (
            self.flat_observations[places], self.flat_actions[places], values, self.old_log_probs[places], advantages,
            values + advantages, self.flat_masks[places],
        )  # fmt: skip
        return MaskableRolloutBufferSamples(*(torch.from_numpy(array).to(self.device) for array in arrays))
