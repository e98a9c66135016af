"""The rules of "I went to the shop" (RULES.md 3.10) as data, and the words that its actions stand for."""

from __future__ import annotations

import functools
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from domino_env.errors import NotationError, RulesError
from domino_env.shopping.words import LETTERS, fewest_words, themes, words_of

__all__ = ["DRAWN", "GIVE_UP", "NO_THEME", "PACKED", "ShoppingRules"]

GIVE_UP = "give up"
"""Text of the action that says no word."""

NO_THEME, DRAWN = -1, -2
"""``theme`` of the packed rules, where it is not the number of one."""

MOST_PLAYERS = 8

PACKED = np.dtype(
    [
        ("num_players", np.int64),
        ("num_letters", np.int64),
        ("words_per_letter", np.int64),
        ("num_words", np.int64),  # words that may be said for a letter; the action of that number gives up
        ("num_themes", np.int64),  # 0: words have no theme
        ("theme", np.int64),  # number of the theme, or NO_THEME, or DRAWN
        ("new_words_drawn", np.int64),
        ("word_reward", np.float64),
    ]
)
"""The rules as the kernels read them."""


@dataclass(frozen=True)
class ShoppingRules:
    """Raises ``RulesError`` for values that cannot be played."""

    num_players: int = 3
    """2 to 8."""
    num_letters: int = 26
    """The list ends with this letter of the alphabet; 1 to 26."""
    words_per_letter: int = 4
    """Words to choose among for a letter; with a theme, so many of each theme."""
    theme: str | None = None
    """None: any word will do; the name of a theme; or ``"drawn"``: one of the themes, drawn for each game. With a theme the words
    of the others may be said too, but they put the speaker out."""
    new_words: str = "chosen"
    """``"chosen"``: the speaker says which word is added; ``"drawn"``: it is drawn uniformly, whichever word of the theme is named."""
    word_reward: float = 0.0
    """Reward for each word of the list said right."""

    def __post_init__(self) -> None:
        _check_count("num_players", self.num_players, 2, MOST_PLAYERS)
        _check_count("num_letters", self.num_letters, 1, len(LETTERS))
        if self.theme is not None and not (isinstance(self.theme, str) and self.theme in (*themes(), "drawn")):
            raise RulesError(f"theme={self.theme!r}, but it is None, 'drawn', or one of {', '.join(themes())}")
        most = fewest_words() * (1 if self.theme is not None else len(themes()))
        _check_count("words_per_letter", self.words_per_letter, 2, most)
        if not isinstance(self.new_words, str) or self.new_words not in ("chosen", "drawn"):
            raise RulesError(f"new_words={self.new_words!r}, but it is 'chosen' or 'drawn'")
        reward = self.word_reward
        number = isinstance(reward, (int, float, np.integer, np.floating)) and not isinstance(reward, bool)
        if not number or not 0 <= reward <= 1:
            raise RulesError(f"word_reward={reward!r}, but it is a number from 0 to 1")
        # numpy's numbers are no JSON
        for name in ("num_players", "num_letters", "words_per_letter"):
            object.__setattr__(self, name, int(getattr(self, name)))
        object.__setattr__(self, "word_reward", float(reward))

    @property
    def num_words(self) -> int:
        """Words that may be said for a letter, W."""
        return self.words_per_letter * (1 if self.theme is None else len(themes()))

    @property
    def num_actions(self) -> int:
        """W words, and giving up."""
        return self.num_words + 1

    @property
    def themes(self) -> tuple[str, ...]:
        """The themes whose words differ in this game; none without a theme."""
        return () if self.theme is None else themes()

    def words(self, letter: int) -> tuple[str, ...]:
        """(W,) the words of a letter (0 to 25), in the order of the action ids.

        With a theme, ``words_per_letter`` of the first theme, then those of the next; without one, a word of each theme in turn.
        ``NotationError`` for a letter that there is not.
        """
        if isinstance(letter, bool) or not isinstance(letter, (int, np.integer)) or not 0 <= letter < len(LETTERS):
            raise NotationError(f"letter {letter!r}, but letters are 0 to {len(LETTERS) - 1}")
        return _words(self.theme is not None, self.words_per_letter, int(letter))

    def move_text(self, letter: int, action: int) -> str:
        """The word of an action, or ``"give up"``. ``NotationError`` outside the action space."""
        if isinstance(action, bool) or not isinstance(action, (int, np.integer)) or not 0 <= action < self.num_actions:
            raise NotationError(f"action {action!r}, but action ids are 0 to {self.num_actions - 1}")
        return GIVE_UP if action == self.num_words else self.words(letter)[action]

    def move_index(self, letter: int, text: object) -> int:
        """The action of a word of that letter, or of ``"give up"``. ``NotationError`` for another text."""
        if isinstance(text, str) and text == GIVE_UP:
            return self.num_words
        words = self.words(letter)
        if not isinstance(text, str) or text not in words:
            raise NotationError(f"{text!r} is no word for the letter {LETTERS[letter]}: {', '.join(words)}, or {GIVE_UP}")
        return words.index(text)

    def overrides(self) -> dict[str, Any]:
        """The fields that differ from their defaults, ``num_players`` left out."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "num_players" and getattr(self, f.name) != f.default}

    def to_json(self) -> dict[str, Any]:
        """All fields."""
        return asdict(self)

    @functools.cached_property
    def packed(self) -> npt.NDArray[Any]:
        """(1,) PACKED."""
        out = np.zeros(1, PACKED)
        theme = {None: NO_THEME, "drawn": DRAWN}.get(self.theme)
        out[0] = (
            self.num_players,
            self.num_letters,
            self.words_per_letter,
            self.num_words,
            len(self.themes),
            themes().index(str(self.theme)) if theme is None else theme,
            self.new_words == "drawn",
            self.word_reward,
        )
        out.flags.writeable = False
        return out


@functools.cache
def _words(by_theme: bool, count: int, letter: int) -> tuple[str, ...]:
    if by_theme:
        return tuple(word for theme in themes() for word in words_of(theme, letter)[:count])
    names = themes()
    return tuple(words_of(names[k % len(names)], letter)[k // len(names)] for k in range(count))


def _check_count(name: str, value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise RulesError(f"{name}={value!r}, but it is a whole number from {low} to {high}")
