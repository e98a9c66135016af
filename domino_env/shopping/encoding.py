"""What a seat of the memory game observes: what is heard now, and never the list."""

from __future__ import annotations

from typing import Any

import numpy as np

from domino_env.encoding.sections import Sections
from domino_env.engine._jit import jit
from domino_env.shopping.game import NOBODY, is_in
from domino_env.shopping.rules import ShoppingRules
from domino_env.shopping.words import LETTERS

__all__ = ["SHOPPING_ENCODING_VERSION", "ShoppingEncoding", "write_observation"]

SHOPPING_ENCODING_VERSION = 1
"""Raised whenever the meaning or the order of a number changes; a checkpoint carries it."""


class ShoppingEncoding(Sections):
    """Layout of the observation: (size,) float32, each number 0 or 1, the same for any number of letters and either way of new words.

    It is seen from one seat: ``self`` is that seat, ``left1`` the next to its left, and so on.
    """

    def __init__(self, rules: ShoppingRules) -> None:
        self.rules = rules

    def _plan(self) -> list[tuple[str, str, list[str], float]]:
        rules = self.rules
        who = ["self", *(f"left{k}" for k in range(1, rules.num_players))]
        words = [f"word {k}" for k in range(rules.num_words)]
        return [
            ("speaker", "1 for the seat that spoke just now; all 0 before the first word", who, 1),
            ("letter", "1 for the letter it spoke of", list(LETTERS), 1),
            ("word", "1 for the word it said, by its number among those of the letter, or for giving up", [*words, "gave up"], 1),
            ("new", "1 where a new word was due", ["new"], 1),
            ("right", "1 where the speaker stays in the game", ["right"], 1),
            ("on_turn", "1 for the seat on turn", who, 1),
            ("due", "1 for the letter that is due", list(LETTERS), 1),
            ("in_game", "1 for each seat that is not out", who, 1),
            ("theme", "1 for the theme of the game", list(rules.themes), 1),
        ]


@jit
def write_observation(game: Any, rules: Any, seat: Any, out: Any) -> None:
    """Write what ``seat`` observes to ``out`` (size,) float32: the sections in their order."""
    out[:] = np.float32(0.0)
    players = rules.num_players
    letters = len(game.words)
    if game.heard_seat != NOBODY:
        out[(game.heard_seat - seat) % players] = 1.0
        start = players
        out[start + game.heard_letter] = 1.0
        start += letters
        out[start + game.heard_word] = 1.0
        start += rules.num_words + 1
        out[start] = game.heard_new
        out[start + 1] = game.heard_right
    start = players + letters + rules.num_words + 3
    if game.winners == 0:
        out[start + (game.seat - seat) % players] = 1.0
        out[start + players + game.position] = 1.0
    start += players + letters
    for other in range(players):
        if is_in(game, other):
            out[start + (other - seat) % players] = 1.0
    if game.theme >= 0:
        out[start + players + game.theme] = 1.0
