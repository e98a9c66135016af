"""No leaks: the list, the generator and the words to come change, and everything that an agent is shown stays the same to the byte."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from domino_env.errors import OptionsError
from domino_env.shopping.aec import ShoppingAECEnv, raw_env
from domino_env.shopping.words import themes
from tests.test_shopping_aec import WAYS, right_action, started, talk

Shown = dict[str, Any]


def shown_to(game: ShoppingAECEnv, agent: str) -> Shown:
    """Every channel by which an agent learns anything."""
    seen = game.observe(agent)
    alive = agent in game.agents
    return {
        "observation": seen["observation"].tobytes(),
        "action_mask": seen["action_mask"].tobytes(),
        "info": dict(game.infos[agent]) if alive else None,
        "reward": (game.rewards[agent], game._cumulative_rewards[agent], game.terminations[agent]) if alive else None,
        "public": (list(game.agents), game.agent_selection, game.theme, game.winners),
        "legal moves": game.legal_moves(),
        "render": game.render(),
    }


def leaks(game: ShoppingAECEnv, other: ShoppingAECEnv, look: Callable[..., Shown] = shown_to) -> set[str]:
    """Channels that tell ``other`` from ``game``."""
    pairs = [(look(game, agent), look(other, agent)) for agent in game.possible_agents]
    return {name for mine, theirs in pairs for name in mine if mine[name] != theirs[name]}


def random_list(game: ShoppingAECEnv, length: int, rng: random.Random) -> list[str]:
    """Words that could be the list of this game."""
    count = game.rules.words_per_letter
    first = 0 if game.theme is None else game.rules.themes.index(game.theme) * count
    return [game.rules.words(letter)[first + rng.randrange(count)] for letter in range(length)]


def two_tables(theme: str | None, new_words: str, rng: random.Random, **kwargs: Any) -> tuple[ShoppingAECEnv, ShoppingAECEnv, Shown]:
    """The same seats and theme, and the options that set them up."""
    seats, seed = rng.randint(2, 8), rng.getrandbits(60)
    out = rng.sample(range(seats), rng.randint(0, seats - 2))
    options = {"out": out, "speaker": rng.choice([seat for seat in range(seats) if seat not in out])}
    kwargs = {"num_players": seats, "theme": theme, "new_words": new_words, "render_mode": "ansi", "word_reward": 0.25, **kwargs}
    return started(seed, options, **kwargs), started(seed, options, **kwargs), options


def leave(*games: ShoppingAECEnv) -> None:
    """Whoever is out leaves."""
    for game in games:
        while game.agents and game.terminations[game.agent_selection]:
            game.step(None)


@pytest.mark.parametrize(("theme", "new_words"), WAYS)
def test_words_not_yet_said_do_not_show(theme: str | None, new_words: str) -> None:
    """Two lists of any lengths begin alike; of that beginning some is said, right or wrong, and the next player begins."""
    rng = random.Random(f"{theme} {new_words}")
    differ = 0
    for _ in range(25):
        game, other, options = two_tables(theme, new_words, rng)
        alike = random_list(game, rng.choice([0, 1, 2, 6, 19]), rng)
        lists = [alike + random_list(game, rng.randrange(len(alike) + 1, 26), rng)[len(alike) :] for _ in range(2)]
        seed = rng.getrandbits(60) if theme != "drawn" else None
        for one, words in zip((game, other), lists, strict=True):
            one.reset(
                seed=seed, options={**options, "words": words} if theme != "drawn" else {**options, "words": words, "theme": one.theme}
            )
        differ += game.words != other.words
        assert not leaks(game, other)
        for _turn in range(3):
            for word in alike[: rng.randrange(len(alike) + 1)]:
                game.step(game.move_index(word))
                other.step(other.move_index(word))
                assert not leaks(game, other)
            wrong = [k for k in range(game.rules.num_words) if game.move_text(k) not in {one.words[one.party.due] for one in (game, other)}]
            action = rng.choice([*wrong, game.rules.num_words])
            game.step(action)
            other.step(action)
            assert not leaks(game, other)
            leave(game, other)
            assert not leaks(game, other)
            if not game.agents:
                break
    assert differ > 18


@pytest.mark.parametrize(("theme", "new_words"), WAYS)
def test_words_said_before_do_not_show(theme: str | None, new_words: str) -> None:
    """Two lists without a word in common are said; at a word they share, such as the new one, nothing is left of them."""
    rng = random.Random(f"{theme} {new_words}")
    for _ in range(20):
        game, other, options = two_tables(theme, new_words, rng)
        words = random_list(game, rng.randrange(1, 25), rng)
        shared = rng.randrange(len(words))
        second = random_list(game, len(words), rng)
        second[shared] = words[shared]
        for one, known in ((game, words), (other, second)):
            one.reset(options={**options, "words": known} if theme != "drawn" else {**options, "words": known, "theme": one.theme})
        assert not leaks(game, other)
        for letter in range(len(words)):
            game.step(game.move_index(words[letter]))
            other.step(other.move_index(second[letter]))
            same = words[letter] == second[letter]
            assert letter != shared or same
            # the turn so far is shown to all, and is not a part of what is heard now
            assert leaks(game, other) <= {"render"} if same else "observation" in leaks(game, other)
        assert words == second or game.words != other.words
        new = right_action(game, rng)
        game.step(new)
        other.step(new)
        assert game.words[-1] == other.words[-1]
        assert not leaks(game, other)
        changed = {name for name in game.party.games.dtype.names if not np.array_equal(game.party.games[name], other.party.games[name])}
        assert changed <= {"words", "key"}


@pytest.mark.parametrize(("theme", "new_words"), WAYS)
def test_worlds_drawn_anew(theme: str | None, new_words: str) -> None:
    """``resample``: the past is the same in every channel, whatever the generator; only words yet to be drawn are others."""
    rng = random.Random(f"{theme} {new_words}")
    differ = 0
    for number in range(12):
        game = started(number, num_players=4, theme=theme, new_words=new_words, render_mode="ansi")
        talk(game, rng, rng.randrange(60), right=0.98)
        other = game.resample(rng.randrange(4), 1000 + number)
        again = game.resample(rng.randrange(4), 1000 + number)
        assert not leaks(game, other)
        assert (game.words, game.record()["events"]) == (other.words, other.record()["events"])
        assert other.get_state() == again.get_state()
        back = raw_env(**{**game.rules.to_json(), "render_mode": "ansi"})
        back.set_state(other.get_state())
        kept = game.get_state()
        for one in (other, again, back):
            talk(one, random.Random(1), right=1.0)
        assert game.get_state() == kept
        assert other.get_state() == again.get_state() == back.get_state()
        talk(game, random.Random(1), right=1.0)
        differ += game.words != other.words
    assert (differ > 8) if new_words == "drawn" else differ == 0
    for wrong in (-1, 4, True, 1.0, None, "0"):
        with pytest.raises(OptionsError, match="seats are 0 to 3"):
            game.resample(wrong, 0)  # type: ignore[arg-type]


def leak_in_observation(game: ShoppingAECEnv, agent: str) -> Shown:
    """A fault: one number of the observation follows the word that is due."""
    shown = shown_to(game, agent)
    return {**shown, "observation": shown["observation"] + bytes(game.party.games["words"][0, 0].tobytes())}


def leak_in_mask(game: ShoppingAECEnv, agent: str) -> Shown:
    """A fault: only the right word is legal."""
    return {**shown_to(game, agent), "action_mask": game.party.games["words"][0, game.party.due]}


def leak_in_render(game: ShoppingAECEnv, agent: str) -> Shown:
    """A fault: the rendering shows the list."""
    return {**shown_to(game, agent), "render": " ".join(game.words)}


@pytest.mark.parametrize(
    ("fault", "channel"), [(leak_in_observation, "observation"), (leak_in_mask, "action_mask"), (leak_in_render, "render")]
)
def test_a_leak_is_caught(fault: Callable[..., Shown], channel: str) -> None:
    words = raw_env().rules.words(0)
    games = [started(0, {"words": [word]}, render_mode="ansi") for word in words[:2]]
    assert leaks(*games) == set()
    assert leaks(*games, fault) == {channel}


@pytest.mark.parametrize(("theme", "new_words"), WAYS)
def test_renderings(theme: str | None, new_words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A text holds no word of the list but those of this turn and the one said last; ``human`` prints it after every word."""
    kwargs: dict[str, Any] = {"num_players": 3, "theme": theme, "new_words": new_words}
    game, human = started(2, **kwargs, render_mode="ansi"), raw_env(**kwargs, render_mode="human")
    assert capsys.readouterr().out == ""
    human.reset(seed=2)
    rng, hidden = random.Random(f"{theme} {new_words}"), 0
    while True:
        text = game.render()
        assert isinstance(text, str)
        assert capsys.readouterr().out == text + "\n"
        said = game.party.said
        due = 0 if game.party.over else game.party.due
        heard = {game.rules.move_text(one.letter, one.word) for one in said[len(said) - max(due, 1) :]}
        rest = text
        for word in sorted(heard, key=len, reverse=True):
            assert word in text or word == "give up"
            rest = rest.replace(word, "")
        secret = [word for word in game.words if word not in heard]
        assert not [word for word in secret if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", rest)]
        hidden += len(secret)
        if not game.agents:
            break
        if not game.terminations[game.agent_selection]:
            action = right_action(game, rng) if rng.random() < 0.99 else 1
            game.step(action)
            human.step(action)
        leave(game, human)
    assert hidden > 30
    assert human.render() is None
    assert raw_env().render() is None


@pytest.mark.parametrize("theme", [None, themes()[3], "drawn"])
def test_drawn_words(theme: str | None) -> None:
    """Uniform for each letter and independent of those before, of the word that is named and of who names it."""
    games, letters = 1200, 3
    counts, pairs, drawn_themes = np.zeros((letters, 4), int), np.zeros((4, 4), int), Counter()
    for seed in range(games):
        game = started(seed, num_letters=4, theme=theme, new_words="drawn")
        other = game.clone()
        drawn_themes[game.theme] += 1
        base = 0 if theme is None else game.rules.themes.index(game.theme) * 4
        while len(game.words) < letters:
            known = len(game.words) > game.party.due
            action = game.move_index(game.words[game.party.due]) if known else base + seed % 4
            game.step(action)
            other.step(action if known else base + (action + seed + 1) % 4)
        assert game.words == other.words
        places = [game.rules.words(letter).index(word) for letter, word in enumerate(game.words)]
        assert theme is None or {game.rules.themes[place // 4] for place in places} == {game.theme}
        for letter, place in enumerate(places):
            counts[letter, place % 4] += 1
        pairs[places[0] % 4, places[1] % 4] += 1
    # chi-square; the values are exceeded one time in 10,000 with 3 and with 15 degrees of freedom
    assert (((counts - games / 4) ** 2).sum(axis=1) / (games / 4)).max() < 21.1
    assert ((pairs - games / 16) ** 2).sum() / (games / 16) < 44.3
    assert len(drawn_themes) == (len(themes()) if theme == "drawn" else 1)
