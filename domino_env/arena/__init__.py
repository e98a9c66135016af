"""Matches between policies on duplicate deals: points and shares with intervals, ratings, and a heat map."""

from __future__ import annotations

from domino_env.arena.comparison import Comparison, Estimate, PairResult, PolicyRating, PolicyTime
from domino_env.arena.heatmap import save_heatmap
from domino_env.arena.run import compare, deal_seed

__all__ = ["Comparison", "Estimate", "PairResult", "PolicyRating", "PolicyTime", "compare", "deal_seed", "save_heatmap"]
