"""The memory word game "I went to the shop" (RULES.md 3.10): no dominoes, a clean test of memory.

``rules`` and ``game`` say what is played; ``encoding`` what a seat hears; ``aec``, ``gym_env``, ``vector`` and ``sb3`` are its front ends;
``policies`` and ``learned`` what can sit in a seat; ``survival`` measures how far a policy recites. Words stand in ``vocabulary.toml``.
"""

from __future__ import annotations

from domino_env.shopping.encoding import ShoppingEncoding
from domino_env.shopping.loading import load_speaker
from domino_env.shopping.records import replay
from domino_env.shopping.rules import ShoppingRules
from domino_env.shopping.table import Table

__all__ = ["ShoppingEncoding", "ShoppingRules", "Table", "load_speaker", "replay"]
