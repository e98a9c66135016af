"""Two policies without a memory or a parameter, compiled: ``random`` and ``greedy``.

``random_action`` and ``greedy_action`` are for kernels that play whole games; ``RandomPolicy`` and ``GreedyPolicy`` make the
same moves on batches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from domino_env.engine._jit import count_bits, jit, kernel, lowest_bit
from domino_env.engine.legal import action_of, nth_legal
from domino_env.engine.rng import below
from domino_env.engine.scoring import play_points
from domino_env.policies.thoughts import Thoughts
from domino_env.tiles import HIGH, LOW, SUITS, WEIGHT

if TYPE_CHECKING:
    from domino_env.policies.protocol import Batch
    from domino_env.rules import Rules

__all__ = ["GreedyPolicy", "RandomPolicy", "greedy_action", "random_action"]


@jit
def random_action(game: Any, rules: Any, bits: Any) -> Any:
    """A legal action of the seat on turn, each as likely as another, from 64 random bits (uint64)."""
    return nth_legal(game, rules, below(bits, game.num_legal))


@jit
def greedy_action(game: Any, rules: Any) -> Any:
    """The play that makes most points now; among equals the heaviest tile, then the one whose pips the hand holds most of.

    What is still equal goes to the lowest action id. Points for going out are not counted.
    """
    best = np.int64(-1)
    best_worth = np.int64(0)
    for lie in range(1 + rules.choice):
        for arm in range(rules.arms):
            tiles = game.flats[arm] if lie == 1 else game.plays[arm]
            while tiles != 0:
                tile = lowest_bit(tiles)
                tiles &= tiles - 1
                worth = _worth(game, rules, arm, tile, lie == 1)
                if best < 0 or worth > best_worth:
                    best = np.int64(action_of(rules, arm, tile, lie == 1))
                    best_worth = worth
    return best if best >= 0 else _without_a_play(game, rules)


@jit
def _worth(game: Any, rules: Any, arm: Any, tile: Any, flat: Any) -> Any:
    """One number that orders plays by points, then pips of the tile (at most 18), then fellows in the hand (at most 54)."""
    fellows = count_bits(game.hands[game.seat] & (SUITS[LOW[tile]] | SUITS[HIGH[tile]])) - 1
    return (np.int64(play_points(game, rules, arm, tile, flat)) * 32 + WEIGHT[tile]) * 64 + fellows


@jit
def _without_a_play(game: Any, rules: Any) -> Any:
    """Pass where that is allowed: a draw that is left open may cost points, and in ``lucky_threes`` it loses on average."""
    return np.int64(rules.pass_action if game.may_pass else rules.draw_action)


@kernel
def _nth_of_mask(masks: Any, bits: Any, out: Any) -> None:
    """Per row of ``masks`` (N, A) an id whose entry is not 0, each as likely as another: what ``random_action`` takes."""
    for k in range(len(masks)):
        count = np.int64(0)
        for action in range(masks.shape[1]):
            count += masks[k, action] != 0
        left = below(bits[k], count)
        for action in range(masks.shape[1]):
            if masks[k, action] != 0:
                if left == 0:
                    out[k] = action
                    break
                left -= 1


@kernel
def _greedy_rows(seen: Any, rules: Any, out: Any) -> None:
    """``greedy_action`` for every row."""
    for k in range(len(seen)):
        out[k] = greedy_action(seen[k], rules[0])


class RandomPolicy:
    """Plays every legal action with the same probability."""

    name = "random"

    def act(self, batch: Batch) -> npt.NDArray[np.int64]:
        """(N,) int64 action ids."""
        actions = np.empty(len(batch), np.int64)
        _nth_of_mask(batch.action_mask, batch.random, actions)
        return actions

    def think(self, batch: Batch) -> Thoughts:
        """Every legal move alike."""
        legal = (batch.action_mask != 0).astype(np.float64)
        return Thoughts(legal / legal.sum(axis=1, keepdims=True), self.act(batch), sampled=True)

    def check(self, rules: Rules, num_players: int) -> None:
        """Fits every game."""


class GreedyPolicy:
    """Plays for the most points now (``greedy_action`` has the order of ties)."""

    name = "greedy"

    def act(self, batch: Batch) -> npt.NDArray[np.int64]:
        """(N,) int64 action ids."""
        actions = np.empty(len(batch), np.int64)
        _greedy_rows(batch.seen, batch.packed, actions)
        return actions

    def check(self, rules: Rules, num_players: int) -> None:
        """Fits every game."""
