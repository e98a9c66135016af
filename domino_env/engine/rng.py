"""Chance: a counter-based generator, so that a game is a function of its seed and nothing else.

Every number is ``mix64(key, counter)`` with a stream for each purpose; no generator is shared, stored or global.
``mix64`` is the finaliser of SplitMix64 (Steele, Lea and Flood 2014).
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from domino_env.engine._jit import jit

__all__ = ["LOT_STREAM", "POLICY_STREAM", "below", "decision_bits", "mix64", "seat_bits", "seed_key", "shuffle"]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
DEAL_STREAM = np.uint64(0xD1B54A32D192ED03)
LOT_STREAM = np.uint64(0x8CB92BA72F3D8DD7)
POLICY_STREAM = np.uint64(0xABC98388FB8FAC03)
SEAT_STREAM = np.uint64(0xEB44ACCAB455D165)


def _mix64_compiled(key: Any, counter: Any) -> Any:
    x = np.uint64(key) + GOLDEN * (np.uint64(counter) + np.uint64(1))
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _mix64_interpreted(key: Any, counter: Any) -> Any:
    # numpy scalars warn where 64-bit arithmetic wraps, so the interpreted form counts in Python integers
    wrap = (1 << 64) - 1
    x = (int(key) + int(GOLDEN) * (int(counter) + 1)) & wrap
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & wrap
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & wrap
    return np.uint64(x ^ (x >> 31))


mix64 = _mix64_interpreted if numba.config.DISABLE_JIT else jit(_mix64_compiled)
"""uint64 number ``counter`` (0, 1, ...) of the stream ``key`` (uint64)."""


@jit
def below(bits: Any, bound: Any) -> Any:
    """A number 0..bound-1 from 64 random bits; bound < 2**31, bias under bound / 2**32."""
    return (np.int64(bits >> np.uint64(33)) * np.int64(bound)) >> np.int64(31)


@jit
def seed_key(seed: Any) -> Any:
    """Key of the game with that seed."""
    return mix64(np.uint64(seed), 0)


@jit
def shuffle(key: Any, deal: Any, count: Any, order: Any) -> None:
    """Write a random order of tiles 0..count-1 (Fisher-Yates): deal number ``deal`` of the game ``key``."""
    stream = mix64(key ^ DEAL_STREAM, deal)
    for i in range(count):
        if i % 2 == 0:
            bits = mix64(stream, i)
        else:
            bits <<= np.uint64(32)
        j = below(bits, i + 1)
        order[i] = order[j]
        order[j] = i


@jit
def lot(key: Any, deal: Any, bound: Any) -> Any:
    """The seat drawn by lot for deal number ``deal``."""
    return below(mix64(key ^ LOT_STREAM, deal), bound)


@jit
def decision_bits(key: Any, move: Any) -> Any:
    """64 random bits for whoever makes move number ``move`` of the game ``key``."""
    return mix64(key ^ POLICY_STREAM, move)


@jit
def seat_bits(key: Any, deal: Any) -> Any:
    """64 random bits that say which seat a learner takes in the game that starts with deal ``deal``."""
    return mix64(key ^ SEAT_STREAM, deal)
