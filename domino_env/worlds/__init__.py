"""Worlds that a seat cannot tell from the true one: hidden tiles dealt anew, in agreement with all it has seen."""

from __future__ import annotations

from domino_env.worlds.redeal import resample

__all__ = ["resample"]
