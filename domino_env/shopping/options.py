"""The options of ``reset``: a game set up with a list, a first speaker, who is out, and a theme."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from domino_env.envs.options import given_options
from domino_env.errors import OptionsError
from domino_env.shopping.party import Party, Start
from domino_env.shopping.rules import ShoppingRules
from domino_env.shopping.words import LETTERS

__all__ = ["read_start"]

_OPTIONS = ("words", "speaker", "out", "theme")


def read_start(party: Party, options: Mapping[str, Any] | None) -> Start | None:
    """What ``options`` set up in a game just begun; None where they leave all as it is. Raises ``OptionsError`` for what cannot be."""
    given = given_options(options, _OPTIONS)
    if not given:
        return None
    rules = party.rules
    theme = _theme(rules, given.get("theme"))
    out = _out(rules, given.get("out", []))
    speaker = given.get("speaker", min(set(range(rules.num_players)) - set(out)))
    _check_seat(rules, "speaker", speaker)
    if speaker in out:
        raise OptionsError(f"options: speaker={speaker}, but out={out}")
    numbers = _words(rules, given.get("words", []), theme if theme >= 0 else int(party.games["theme"][0]))
    return Start(numbers, int(speaker), out, theme)


def _theme(rules: ShoppingRules, theme: object) -> int:
    if theme is None:
        return -1
    if rules.theme != "drawn":
        raise OptionsError(f"options: theme={theme!r}, but these rules have theme={rules.theme!r}; only one that is drawn can be set")
    if not isinstance(theme, str) or theme not in rules.themes:
        raise OptionsError(f"options: theme={theme!r}, but the themes are {', '.join(rules.themes)}")
    return rules.themes.index(str(theme))


def _out(rules: ShoppingRules, out: object) -> list[int]:
    if not isinstance(out, (list, tuple)):
        raise OptionsError(f"options: out={out!r}, but it is a list of seats")
    for seat in out:
        _check_seat(rules, "out", seat)
    if len(set(out)) != len(out) or len(out) > rules.num_players - 2:
        raise OptionsError(f"options: out={out!r}, but each seat is named once, and at least two stay in the game")
    return [int(seat) for seat in out]


def _check_seat(rules: ShoppingRules, name: str, seat: object) -> None:
    if isinstance(seat, bool) or not isinstance(seat, (int, np.integer)) or not 0 <= seat < rules.num_players:
        raise OptionsError(f"options: {name}={seat!r}, but seats are 0 to {rules.num_players - 1}")


def _words(rules: ShoppingRules, words: object, theme: int) -> list[int]:
    if not isinstance(words, (list, tuple)) or len(words) >= rules.num_letters:
        raise OptionsError(f"options: words={words!r}, but they are a list of fewer than {rules.num_letters} words")
    numbers = []
    for letter, word in enumerate(words):
        known = rules.words(letter)
        if not isinstance(word, str) or word not in known:
            raise OptionsError(f"options: {word!r} is no word for the letter {LETTERS[letter]}: {', '.join(known)}")
        if theme >= 0 and known.index(word) // rules.words_per_letter != theme:
            raise OptionsError(f"options: {word!r}, but the theme of this game is {rules.themes[theme]}")
        numbers.append(known.index(word))
    return numbers
