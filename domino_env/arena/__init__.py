"""Matches between policies on duplicate deals, with intervals."""

from __future__ import annotations

from domino_env.arena.comparison import Comparison, Estimate, PairResult, PolicyTime
from domino_env.arena.run import compare, deal_seed

__all__ = ["Comparison", "Estimate", "PairResult", "PolicyTime", "compare", "deal_seed"]
