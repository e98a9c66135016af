"""What a policy thinks of its moves: how likely it makes each, and what it expects of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from domino_env.errors import PolicyError
from domino_env.policies.protocol import Batch, Policy, decide, policy_name

__all__ = ["POINTS", "REWARD", "Thoughts", "one_hot", "softmax", "think"]

Floats = npt.NDArray[np.float64]

POINTS = "points"
REWARD = "reward"
UNITS = (POINTS, REWARD)
_CLOSE = 1e-6


@dataclass(frozen=True, eq=False)
class Thoughts:
    """What a policy thinks of N decisions among A actions."""

    probabilities: Floats
    """(N, A) float64: exactly 0 for what is not legal, each row sums to 1. Of a network that plays its likeliest move they are those of
    the network; of a tree search the shares of the visits; of a policy that is sure of its move 1 for that one."""
    actions: npt.NDArray[np.int64]
    """(N,) int64: the move that ``act`` makes of the same batch."""
    sampled: bool = False
    """Whether the move is drawn with these probabilities; else it is the likeliest (of equals the lowest id)."""
    values: Floats | None = None
    """(N,) float64: what the seat expects from here on, in ``unit``; NaN for a decision that was not looked into."""
    action_values: Floats | None = None
    """(N, A) float64: what it expects of each move, in ``unit``; NaN for what is not legal or was not looked into."""
    errors: Floats | None = None
    """(N, A) float64: standard error of how far each move lies behind the best of ``action_values``, the two compared world by world;
    NaN where that is NaN, infinite where a single world was looked at."""
    unit: str | None = None
    """``"points"``: what the rest of the round brings, own points less the mean of the others' (with sides: less the other side's).
    ``"reward"``: the sum of the rewards that a checkpoint was trained on; trained for points, they are such points divided by the target,
    up to the end of the games it was trained in. None where there are no values."""


def think(policy: Policy, batch: Batch) -> Thoughts:
    """What ``policy.think`` says; where there is no such method, certainty of the move that ``policy.act`` makes.

    Raises ``PolicyError`` for thoughts of another shape, for probabilities that are none or lie on illegal moves, and for illegal moves.
    """
    method = getattr(policy, "think", None)
    if method is None:
        actions = decide(policy, batch)
        return Thoughts(one_hot(actions, batch.action_mask.shape[1]), actions)
    thoughts: Thoughts = method(batch)
    fault = _fault(thoughts, batch)
    if fault:
        raise PolicyError(f"{policy_name(policy)}: think: {fault}")
    return thoughts


def one_hot(actions: npt.NDArray[np.int64], num_actions: int) -> Floats:
    """(N, A) float64: 1 for each of ``actions`` (N,) int64, else 0."""
    out = np.zeros((len(actions), num_actions))
    out[np.arange(len(actions)), actions] = 1.0
    return out


def softmax(logits: npt.ArrayLike, mask: npt.NDArray[np.int8], temperature: float = 1.0) -> Floats:
    """(N, A) float64: softmax(logits / temperature) over the actions whose ``mask`` (N, A) is 1; 0, exactly, for the others."""
    heights = np.where(mask != 0, np.asarray(logits, np.float64) / temperature, -np.inf)
    weights = np.exp(heights - heights.max(axis=1, keepdims=True))
    out: Floats = weights / weights.sum(axis=1, keepdims=True)
    return out


def _fault(thoughts: object, batch: Batch) -> str:
    """What is wrong, in words; empty where nothing is."""
    if not isinstance(thoughts, Thoughts):
        return f"an answer of {type(thoughts).__name__}, but it is Thoughts"
    rows, shape = (len(batch),), batch.action_mask.shape
    for name, wanted in (("probabilities", shape), ("actions", rows), ("values", rows), ("action_values", shape), ("errors", shape)):
        given = getattr(thoughts, name)
        if given is None and name in ("values", "action_values", "errors"):
            continue
        kinds = "iu" if name == "actions" else "f"
        if not isinstance(given, np.ndarray) or given.shape != wanted or given.dtype.kind not in kinds:
            got = f"shape {given.shape} and dtype {given.dtype}" if isinstance(given, np.ndarray) else type(given).__name__
            return f"{name} of {got}, but they are {'whole ' if name == 'actions' else ''}numbers of shape {wanted}"
    if thoughts.unit not in UNITS and (thoughts.unit is not None or thoughts.values is not None or thoughts.action_values is not None):
        return f"unit={thoughts.unit!r}, but it is one of {', '.join(UNITS)}"
    return _unlikely(thoughts, batch)


def _unlikely(thoughts: Thoughts, batch: Batch) -> str:
    illegal = batch.action_mask == 0
    given = thoughts.probabilities
    for k in range(len(batch)):
        if not (given[k] >= 0).all() or abs(given[k].sum() - 1.0) > _CLOSE:
            got = f"probabilities from {given[k].min():g} on that sum to {given[k].sum():g}"
            return f"row {k}: {got}, but none is below 0 and the sum is 1"
        if given[k][illegal[k]].any():
            return f"row {k}: a probability above 0 for what is not legal"
        action = thoughts.actions[k]
        if not 0 <= action < len(given[k]) or illegal[k, action]:
            return f"row {k}: action {action}, which is not legal"
    return ""
