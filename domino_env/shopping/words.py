"""The vocabulary of the memory game: real words by theme and letter, read from ``vocabulary.toml``."""

from __future__ import annotations

import functools
import string
import tomllib
from pathlib import Path

__all__ = ["LETTERS", "fewest_words", "themes", "words_of"]

LETTERS = string.ascii_lowercase

_FILE = Path(__file__).with_name("vocabulary.toml")


@functools.cache
def _vocabulary() -> dict[str, dict[str, tuple[str, ...]]]:
    read = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {theme: {letter: tuple(words) for letter, words in table.items()} for theme, table in read.items()}


def themes() -> tuple[str, ...]:
    """Names of the themes, in the order of the file."""
    return tuple(_vocabulary())


def words_of(theme: str, letter: int) -> tuple[str, ...]:
    """Words of a theme that begin with a letter (0 to 25), the best known first."""
    return _vocabulary()[theme][LETTERS[letter]]


@functools.cache
def fewest_words() -> int:
    """How many words every theme has for every letter."""
    return min(len(words) for table in _vocabulary().values() for words in table.values())
