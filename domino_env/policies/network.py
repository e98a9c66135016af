"""The forward pass of a learned policy and the choice of its moves, compiled.

A row is computed by itself and every sum is taken in one order, so what comes out does not depend on the batch that a row
stands in. With ReLU there are only sums and products of float32: equal to the last bit on every machine. (A matrix
product of a linear algebra library is neither, and not faster here: observations and ReLU units are mostly 0, which is skipped.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from domino_env.engine._jit import jit, kernel
from domino_env.engine.rng import mix64

__all__ = ["LINEAR", "RELU", "TANH", "choose", "dense"]

LINEAR, RELU, TANH = 0, 1, 2

_UNIT = 2.0**-53


@kernel
def dense(inputs: Any, weights: Any, bias: Any, activation: Any, out: Any) -> None:
    """``out`` (N, O) = activation(inputs (N, I) @ weights (I, O) + bias (O,)), all float32."""
    used = np.empty(inputs.shape[1], np.int64)
    for r in range(len(inputs)):
        count = _nonzero(inputs[r], used)
        row = out[r]
        for j in range(len(row)):
            row[j] = bias[j]
        _add_products(inputs[r], used, count, weights, row)
        if activation == RELU:
            for j in range(len(row)):
                row[j] = max(row[j], np.float32(0.0))
        elif activation == TANH:
            for j in range(len(row)):
                row[j] = np.tanh(row[j])


@jit
def _nonzero(values: Any, used: Any) -> Any:
    """Write the places of the numbers that are not 0 to ``used``; returns how many."""
    count = 0
    for i in range(len(values)):
        if values[i] != 0.0:
            used[count] = i
            count += 1
    return count


@jit
def _add_products(values: Any, used: Any, count: Any, weights: Any, row: Any) -> None:
    """Add ``values[i] * weights[i]`` to ``row`` for the used ``i`` in order; four at a time spare loads and stores."""
    k = 0
    while k + 4 <= count:
        a, b, c, d = used[k], used[k + 1], used[k + 2], used[k + 3]
        va, vb, vc, vd = values[a], values[b], values[c], values[d]
        wa, wb, wc, wd = weights[a], weights[b], weights[c], weights[d]
        for j in range(len(row)):
            row[j] = (((row[j] + va * wa[j]) + vb * wb[j]) + vc * wc[j]) + vd * wd[j]
        k += 4
    while k < count:
        a = used[k]
        va, wa = values[a], weights[a]
        for j in range(len(row)):
            row[j] = row[j] + va * wa[j]
        k += 1


@kernel
def choose(logits: Any, masks: Any, bits: Any, temperature: Any, out: Any) -> None:
    """The legal action with the highest logit (ties: the lowest id), into ``out`` (N,) int64.

    With a ``temperature`` above 0 one is drawn from softmax(logits / temperature) over the legal ones: by the highest logit
    with Gumbel noise, which ``bits`` (N,) uint64 decide.
    """
    for k in range(len(masks)):
        best = -1
        best_value = 0.0
        for action in range(masks.shape[1]):
            if masks[k, action] != 0:
                value = np.float64(logits[k, action])
                if temperature > 0.0:
                    value = value / temperature + _gumbel(mix64(bits[k], action))
                if best < 0 or value > best_value:
                    best, best_value = action, value
        out[k] = best


@jit
def _gumbel(bits: Any) -> Any:
    """A number from the standard Gumbel distribution, from 64 random bits."""
    uniform = (np.float64(bits >> np.uint64(11)) + 0.5) * _UNIT
    return -np.log(-np.log(uniform))
