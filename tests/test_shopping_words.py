"""The vocabulary of the memory game and the rules that number its words."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from domino_env.errors import DominoError, NotationError, OptionsError, RulesError
from domino_env.shopping import ShoppingRules, replay, words
from domino_env.shopping.aec import raw_env
from domino_env.shopping.party import Party
from domino_env.shopping.records import to_record
from domino_env.shopping.rules import GIVE_UP
from domino_env.shopping.words import LETTERS, fewest_words, themes, words_of

Vocabulary = dict[str, dict[str, list[str]]]

RULES = {
    "plain": ShoppingRules(),
    "all words": ShoppingRules(words_per_letter=fewest_words() * len(themes())),
    "two words": ShoppingRules(words_per_letter=2),
    "a theme": ShoppingRules(theme=themes()[1]),
    "drawn theme": ShoppingRules(theme="drawn", words_per_letter=fewest_words()),
}


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    """The file as it is written."""
    return tomllib.loads(Path(words.__file__).with_name("vocabulary.toml").read_text(encoding="utf-8"))


def every_word(vocabulary: Vocabulary) -> Iterator[tuple[str, str, str]]:
    """(theme, letter, word)."""
    return ((theme, letter, word) for theme, table in vocabulary.items() for letter, known in table.items() for word in known)


# ------------------------------------------------------------------------------------------------- the file


def test_every_theme_has_words_for_every_letter(vocabulary: Vocabulary) -> None:
    assert {"groceries", "flowers", "animals", "books"} <= set(vocabulary)
    for theme, table in vocabulary.items():
        assert list(table) == list("abcdefghijklmnopqrstuvwxyz"), theme
        few = {letter: known for letter, known in table.items() if len(known) < 4}
        assert not few, theme


def test_every_word_begins_with_its_letter(vocabulary: Vocabulary) -> None:
    assert [entry for entry in every_word(vocabulary) if entry[2][:1].lower() != entry[1]] == []


def test_no_word_stands_twice(vocabulary: Vocabulary) -> None:
    """Not in another theme either, and not with other capitals, spaces or hyphens: it would be right and wrong at once."""
    counts = Counter(re.sub("[^a-z]", "", word.lower()) for *_, word in every_word(vocabulary))
    assert [word for word, count in counts.items() if count > 1] == []


def test_words_are_plain(vocabulary: Vocabulary) -> None:
    """ASCII letters, with single spaces, hyphens and apostrophes between them; at least two letters, and none is the text of an action."""
    plain = re.compile(r"[A-Za-z]+(?:[ '-][A-Za-z]+)*")
    entries = list(every_word(vocabulary))
    assert [entry for entry in entries if not plain.fullmatch(entry[2]) or len(entry[2]) < 2] == []
    assert [entry for entry in entries if entry[2].lower() in (GIVE_UP, "...")] == []


def test_the_file_is_what_is_read(vocabulary: Vocabulary) -> None:
    assert themes() == tuple(vocabulary)
    assert not {"drawn"} & set(themes())
    for theme, letter, _ in every_word(vocabulary):
        assert words_of(theme, LETTERS.index(letter)) == tuple(vocabulary[theme][letter])
    assert fewest_words() == min(len(known) for table in vocabulary.values() for known in table.values())


# ------------------------------------------------------------------------------------------------- numbers of words


@pytest.mark.parametrize("name", RULES)
def test_order_and_sizes(name: str) -> None:
    rules = RULES[name]
    count = rules.words_per_letter
    for letter in range(26):
        known = rules.words(letter)
        assert len(set(known)) == len(known) == rules.num_words == rules.num_actions - 1
        if rules.theme is None:  # the first words of all themes, then the second ones, ...
            assert known == tuple([words_of(theme, letter)[k] for k in range(fewest_words()) for theme in themes()][:count])
        else:
            assert known == tuple(word for theme in themes() for word in words_of(theme, letter)[:count])
    assert rules.themes == (() if rules.theme is None else themes())


@pytest.mark.parametrize("name", RULES)
def test_ids_and_texts(name: str) -> None:
    rules = RULES[name]
    for letter in range(26):
        texts = [rules.move_text(letter, action) for action in range(rules.num_actions)]
        assert texts == [*rules.words(letter), GIVE_UP]
        assert [rules.move_index(letter, text) for text in texts] == list(range(rules.num_actions))
        other = rules.words((letter + 1) % 26)[0]
        for wrong in (other, texts[0].upper() + "!", "", None, 3, [texts[0]]):
            with pytest.raises(NotationError, match="no word") as caught:
                rules.move_index(letter, wrong)
            assert repr(wrong) in str(caught.value)
        for action in (-1, rules.num_actions):
            with pytest.raises(NotationError, match=f"action {action},"):
                rules.move_text(letter, action)


@pytest.mark.parametrize("letter", [-1, 26])
def test_letters_that_there_are_not(letter: int) -> None:
    rules = ShoppingRules()
    asked: list[Callable[[int], Any]] = [rules.words, lambda at: rules.move_text(at, 0), lambda at: rules.move_index(at, "x")]
    for ask in asked:
        with pytest.raises(DominoError, match=f"letter.*{letter}"):
            ask(letter)


WRONG: list[tuple[str, Any]] = [
    *[("num_players", value) for value in (1, 9, 0, -2, 3.0, "3", None, True)],
    *[("num_letters", value) for value in (0, 27, -1, 2.5, None, False)],
    *[("words_per_letter", value) for value in (1, 0, 31, 10**6, 4.0, None)],
    *[("theme", value) for value in ("stars", "", "Groceries", 0, ["groceries"], True)],
    *[("new_words", value) for value in ("", "Drawn", None, True, ["drawn"])],
    *[("word_reward", value) for value in (-0.1, 1.5, float("nan"), float("inf"), "0", None, True, 10**400)],
]


@pytest.mark.parametrize(("name", "value"), WRONG, ids=[f"{name}={str(value)[:12]}" for name, value in WRONG])
def test_wrong_arguments(name: str, value: Any) -> None:
    arguments: dict[str, Any] = {name: value}
    for make in (ShoppingRules, raw_env):
        with pytest.raises(RulesError) as caught:
            make(**arguments)
        assert f"{name}={value!r}, but" in str(caught.value)


def test_with_a_theme_there_are_fewer_words() -> None:
    most = fewest_words()
    ShoppingRules(words_per_letter=most, theme=themes()[0])
    with pytest.raises(RulesError, match=f"words_per_letter={most + 1}, but"):
        ShoppingRules(words_per_letter=most + 1, theme=themes()[0])
    ShoppingRules(words_per_letter=most * len(themes()))


def test_numbers_of_numpy_are_numbers() -> None:
    """A game of such rules can be kept, recorded and replayed as any other."""
    plain = ShoppingRules(3, 2, 4, word_reward=0.5)
    rules = ShoppingRules(np.int64(3), np.int8(2), np.uint16(4), word_reward=np.float32(0.5))  # type: ignore[arg-type]
    assert rules == plain
    party = Party(rules)
    party.start(5)
    party.say(1)
    other = Party(plain)
    other.from_bytes(party.to_bytes())
    assert other.said == party.said
    assert replay(to_record(party)).said == party.said


# ------------------------------------------------------------------------------------------------- themes at the table


@pytest.mark.parametrize("new_words", ["chosen", "drawn"])
@pytest.mark.parametrize("theme", [*themes(), "drawn"])
def test_words_of_other_themes_put_the_speaker_out(theme: str, new_words: str) -> None:
    env: Any = raw_env(num_players=3, num_letters=3, theme=theme, new_words=new_words)
    seen = set()
    for seed in range(12):
        env.reset(seed=seed)
        seen.add(env.theme)
        assert len(env.legal_moves()) == 4 * len(themes()) + 1
        for text in env.legal_moves()[:-1]:
            env.reset(seed=seed)
            env.step(env.move_index(text))
            fits = text in words_of(env.theme, 0)
            assert env.terminations["player_0"] is not fits
            assert env.rewards["player_0"] == (0.0 if fits else -1.0)
            assert (
                (env.words == [text] if new_words == "chosen" else env.words[0] in words_of(env.theme, 0)[:4]) if fits else env.words == []
            )
        if theme != "drawn":
            break
    assert seen == {theme} if theme != "drawn" else len(seen) > 3


def test_without_a_theme_every_word_is_right() -> None:
    env: Any = raw_env(num_players=2, num_letters=3, words_per_letter=fewest_words() * len(themes()))
    env.reset(seed=0)
    assert env.theme is None
    for text in env.legal_moves()[:-1]:
        env.reset(seed=0)
        env.step(env.move_index(text))
        assert env.words == [text]
        assert not any(env.terminations.values())


def test_themes_are_drawn_uniformly() -> None:
    party = Party(ShoppingRules(theme="drawn"))
    counts: Counter[str | None] = Counter()
    for seed in range(900):
        party.start(seed)
        counts[party.theme] += 1
        party.start_again()
        counts[party.theme] += 1
    expected = 1800 / len(themes())
    assert set(counts) == set(themes())
    assert sum((count - expected) ** 2 / expected for count in counts.values()) < 5 * len(themes())


def test_a_word_of_another_theme_cannot_be_set_up() -> None:
    env: Any = raw_env(theme=themes()[0])
    with pytest.raises(OptionsError, match="the theme of this game is"):
        env.reset(seed=0, options={"words": [words_of(themes()[1], 0)[0]]})
