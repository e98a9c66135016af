"""The memory game as an AEC environment: seeds, options of ``reset``, wrong arguments and wrong calls."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest

from domino_env.errors import DominoError, IllegalMoveError, NotationError, OptionsError, RenderModeError, RulesError
from domino_env.shopping import replay
from domino_env.shopping.aec import ShoppingAECEnv, env, raw_env
from domino_env.shopping.rules import GIVE_UP
from domino_env.shopping.words import themes
from tests.test_shopping_aec import WAYS, channels, started, talk

# --------------------------------------------------------------------------------------------------------------- seeds


@pytest.mark.parametrize(("theme", "new_words"), WAYS)
@pytest.mark.parametrize("seats", [2, 5])
def test_same_seed_same_game_to_the_end(seats: int, theme: str | None, new_words: str) -> None:
    """Beside another env, with the global generators disturbed; another seed is another game."""
    kwargs: dict[str, Any] = {"num_players": seats, "theme": theme, "new_words": new_words}
    ends = []
    for seed, disturb in ((11, False), (11, True), (12, False)):
        game, other = started(seed, **kwargs), started(99, **kwargs)
        rng, beside = random.Random(5), random.Random(6)
        seen = []
        while game.agents:
            if disturb:
                np.random.seed(3)  # noqa: NPY002 -- that it changes nothing is the point
                random.seed(4)
                talk(other, beside, 1)
            talk(game, rng, 1, right=0.99)
            seen.append(game.observe("player_1")["observation"].tobytes())
        ends.append((game.record()["events"], seen, game.get_state()))
    assert ends[0] == ends[1]
    assert (ends[0][0] != ends[2][0]) == (new_words == "drawn" or theme == "drawn")


@pytest.mark.parametrize("theme", [None, "drawn"])
def test_reset_without_a_seed_goes_on(theme: str | None) -> None:
    kwargs: dict[str, Any] = {"theme": theme, "new_words": "drawn"}
    first, second = started(8, **kwargs), started(8, **kwargs)
    lists = []
    talk(second, random.Random(0), 30)
    for game in (first, second):
        game.reset()
        talk(game, random.Random(1), right=1.0)
        lists.append(game.words)
    assert lists[0] == lists[1]
    again = started(8, **kwargs)
    talk(again, random.Random(1), right=1.0)
    assert again.words != lists[0]
    fresh = [raw_env(**kwargs) for _ in range(2)]
    for game in fresh:
        game.reset()
        talk(game, random.Random(1), right=1.0)
    assert fresh[0].words != fresh[1].words


def test_a_record_names_only_a_seed_that_leads_to_its_game() -> None:
    """As with dominoes: a game that goes on where the generator stands, or was drawn anew, has no seed of its own."""
    game = started(8, new_words="drawn")
    assert game.record()["seed"] == 8
    anew = game.resample(0, 5)
    game.reset()
    for other in (anew, game):
        assert other.record()["seed"] is None
        talk(other, random.Random(0), 40)
        assert replay(other.record()).words() == other.words


@pytest.mark.parametrize("value", [[], {}, np.array([1, 2]), 1.5, None])
def test_values_of_any_kind_get_a_named_error(value: Any) -> None:
    game = started(1)
    for call in (game.observe, game.move_index, game.rules.words, lambda one: game.rules.move_text(0, one)):
        with pytest.raises(DominoError):
            call(value)
    if value is not None:
        for name in ("theme", "new_words", "render_mode"):
            with pytest.raises(DominoError):
                raw_env(**{name: value})
        with pytest.raises(DominoError):
            game.reset(options={"words": [value]})


# ------------------------------------------------------------------------------------------------------------- options


@pytest.mark.parametrize(("theme", "new_words"), WAYS)
def test_reset_options(theme: str | None, new_words: str) -> None:
    game = raw_env(num_players=5, theme=theme, new_words=new_words)
    fitting = {"theme": themes()[2]} if theme == "drawn" else {}
    rules = game.rules
    first = 0 if theme is None else rules.themes.index(fitting.get("theme", theme)) * 4
    words = [rules.words(letter)[first + letter % 4] for letter in range(7)]
    options = {"words": words, "speaker": np.int64(3), "out": (1, 4), **fitting}
    game.reset(seed=1, options=options)
    assert (game.words, game.theme) == (words, fitting.get("theme", theme))
    assert (game.agents, game.agent_selection) == (["player_0", "player_2", "player_3"], "player_3")
    assert game.record()["start"] == {"words": words, "speaker": 3, "out": [1, 4]}
    assert set(game.rewards) == set(game.infos) == set(game.agents)
    for word in words:
        game.step(game.move_index(word))
    game.step(first)
    assert (game.words[:7], len(game.words), game.agent_selection) == (words, 8, "player_0")
    talk(game, random.Random(0))
    assert {event["seat"] for event in game.record()["events"]} <= {0, 2, 3}
    again = raw_env(num_players=5, theme=theme, new_words=new_words)
    again.reset(seed=1, options=options)
    for event in game.record()["events"]:
        again.step(again.move_index(GIVE_UP if event["word"] is None else event["word"]))
        while again.agents and again.terminations[again.agent_selection]:
            again.step(None)
    assert again.record() == game.record()
    game.reset(seed=1, options={"options": 1, "words": None, "out": []})
    assert (game.words, game.agents, "start" in game.record()) == ([], game.possible_agents, False)


def other_theme(game: ShoppingAECEnv) -> str:
    return game.rules.words(0)[4 * (game.rules.themes.index(str(game.theme)) == 0)]


WRONG: list[tuple[Any, str]] = [
    ({"word": []}, "unknown 'word'"),
    ({"words": "abc"}, "list of fewer than 6"),
    ({"words": 3}, "list of fewer than 6"),
    ({"words": ["?"] * 6}, "list of fewer than 6"),
    ({"words": ["?"]}, "'\\?' is no word for the letter a"),
    ({"words": [None]}, "None is no word"),
    ({"words": [GIVE_UP]}, "no word for the letter a"),
    ({"words": [0]}, "0 is no word"),
    (lambda game: {"words": [game.rules.words(1)[0]]}, "no word for the letter a"),
    (lambda game: {"words": [other_theme(game)], "theme": game.theme}, "the theme of this game is"),
    ({"speaker": 4}, "seats are 0 to 3"),
    ({"speaker": -1}, "seats are 0 to 3"),
    ({"speaker": True}, "seats are 0 to 3"),
    ({"speaker": 1.0}, "seats are 0 to 3"),
    ({"speaker": 1, "out": [1]}, "speaker=1, but out"),
    ({"out": [0, 1, 2]}, "at least two"),
    ({"out": [1, 1]}, "named once"),
    ({"out": 1}, "list of seats"),
    ({"out": [4]}, "seats are 0 to 3"),
    ({"out": ["1"]}, "seats are 0 to 3"),
    ({"theme": "cars"}, "themes are"),
    ({"theme": 1}, "themes are"),
    ("x", "dict"),
    (5, "dict"),
    ([1], "dict"),
]


@pytest.mark.parametrize(("options", "words"), WRONG, ids=range(len(WRONG)))
def test_wrong_reset_options(options: Any, words: str) -> None:
    game = started(1, num_players=4, num_letters=6, theme="drawn")
    talk(game, random.Random(0), 7)
    before = channels(game)
    with pytest.raises(OptionsError, match=words):
        game.reset(seed=2, options=options(game) if callable(options) else options)
    assert channels(game) == before


@pytest.mark.parametrize("theme", [None, themes()[0]])
def test_only_a_theme_that_is_drawn_can_be_set(theme: str | None) -> None:
    with pytest.raises(OptionsError, match="only one that is drawn"):
        raw_env(theme=theme).reset(seed=0, options={"theme": themes()[0]})


# --------------------------------------------------------------------------------------------------------- wrong calls


@pytest.mark.parametrize(
    ("kwargs", "error"),
    [
        *(({"num_players": value}, RulesError) for value in (1, 9, "3", 2.0, True, None)),
        *(({"num_letters": value}, RulesError) for value in (0, 27, 3.0)),
        *(({"words_per_letter": value}, RulesError) for value in (1, 99, None)),
        *(({"theme": value}, RulesError) for value in ("cars", 1, ["drawn"])),
        *(({"new_words": value}, RulesError) for value in ("random", None, True)),
        *(({"word_reward": value}, RulesError) for value in (-0.1, 1.5, float("nan"), "1", True)),
        *(({"render_mode": value}, RenderModeError) for value in ("rgb_array", 1)),
    ],
)
def test_wrong_arguments(kwargs: dict[str, Any], error: type[Exception]) -> None:
    for make in (raw_env, env):
        with pytest.raises(error, match=f"{next(iter(kwargs))}="):
            make(**kwargs)


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True, 2**64])
def test_wrong_seeds(seed: Any) -> None:
    game = started(1)
    before = channels(game)
    for call in (game.reset, lambda seed: game.resample(0, seed)):
        with pytest.raises(OptionsError, match="seed"):
            call(seed=seed)
    assert channels(game) == before


def test_numbers_of_numpy() -> None:
    """They are numbers in records and state bytes too."""
    game = started(np.uint64(4), num_players=np.int64(3), num_letters=np.int8(5), words_per_letter=np.int64(3), word_reward=np.float32(0.5))
    plain = started(4, num_letters=5, words_per_letter=3, word_reward=0.5)
    assert json.dumps(game.record()) == json.dumps(plain.record())
    plain.set_state(game.get_state())


@pytest.mark.parametrize("theme", [None, "drawn"])
def test_bad_actions(theme: str | None) -> None:
    game = raw_env(theme=theme)
    for call in (lambda: game.observe("player_0"), game.last, game.get_state, lambda: game.choose("random")):
        with pytest.raises(OptionsError, match="reset"):
            call()
    with pytest.raises(IllegalMoveError, match="reset"):
        game.step(0)
    game.reset(seed=4)
    talk(game, random.Random(0), 5, right=1.0)
    before, count = channels(game), game.action_space("player_0").n
    for wrong in (-1, count, 10**9, np.int64(-1)):
        with pytest.raises(IllegalMoveError, match=f"0 to {count - 1}"):
            game.step(wrong)
        with pytest.raises(NotationError):
            game.move_text(wrong)
    for wrong in (1.0, np.float32(1), np.array([0, 1]), np.array([0]), np.array(1.0), "0", None, True, np.bool_(True), [0]):
        with pytest.raises(OptionsError):
            game.step(wrong)
    for text in ("", "0", game.rules.words(25)[0], None, 3):
        with pytest.raises(NotationError, match="is no word for the letter"):
            game.move_index(text)  # type: ignore[arg-type]
    with pytest.raises(OptionsError, match="player_0, player_1"):
        game.observe("nobody")
    assert channels(game) == before
    assert [game.move_index(text) for text in game.legal_moves()] == list(range(count))
    for right in (1, np.int64(1), np.uint8(1), np.array(1), np.array(1, np.int16)):
        other = game.clone()
        other.step(right)
        assert len(other.record()["events"]) == len(game.record()["events"]) + 1
    wrapped = env(theme=theme)
    wrapped.reset(seed=4)
    for wrong in (-1, count, 1.0, None):
        with pytest.raises(AssertionError, match="action space"):
            wrapped.step(wrong)
