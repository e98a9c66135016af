"""Matches between policies on duplicate deals: points and shares with intervals, ratings, and pictures of both."""

from __future__ import annotations

from domino_env.arena.comparison import Comparison, Estimate, PairResult, PolicyRating, PolicyTime
from domino_env.arena.heatmap import save_heatmap
from domino_env.arena.ratings_plot import RatingTable, read_ratings, save_ratings
from domino_env.arena.run import compare, deal_seed

__all__ = [
    "Comparison",
    "Estimate",
    "PairResult",
    "PolicyRating",
    "PolicyTime",
    "RatingTable",
    "compare",
    "deal_seed",
    "read_ratings",
    "save_heatmap",
    "save_ratings",
]
