"""The memory game as an AEC environment: PettingZoo's own tests, agents that drop out, and copies."""

from __future__ import annotations

import copy
import importlib
import pickle
import random
import warnings
from collections import Counter
from typing import Any

import gymnasium
import pettingzoo
import pytest
from pettingzoo.test import api_test, seed_test

import domino_env
from domino_env.envs.aec import raw_env as domino_raw_env
from domino_env.errors import IllegalMoveError, OptionsError
from domino_env.notation.state_bytes import open_bytes
from domino_env.shopping import ShoppingRules
from domino_env.shopping.aec import ShoppingAECEnv, env, raw_env
from domino_env.shopping.rules import GIVE_UP
from domino_env.shopping.words import themes

DICT_WARNINGS = {
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
    "Observation is not a NumPy array",
}
"""The two that api_test gives on every Dict observation."""

WAYS = [(theme, new_words) for theme in (None, themes()[1], "drawn") for new_words in ("chosen", "drawn")]


def right_action(game: ShoppingAECEnv, rng: random.Random) -> int:
    """The word of the list, or any new one that keeps the speaker in."""
    rules, due = game.rules, game.party.due
    if due < len(game.words):
        return game.move_index(game.words[due])
    first = 0 if game.theme is None else rules.themes.index(game.theme) * rules.words_per_letter
    return first + rng.randrange(rules.words_per_letter)


def talk(environment: Any, rng: random.Random, steps: int = 100_000, right: float = 0.97) -> None:
    """Steps until nobody is left, of players that say what is right so often; those who are out leave."""
    game = environment.unwrapped
    for _ in range(steps):
        if not game.agents:
            return
        if game.terminations[game.agent_selection]:
            environment.step(None)
        else:
            environment.step(right_action(game, rng) if rng.random() < right else rng.randrange(game.rules.num_actions))


def started(seed: int = 0, options: dict[str, Any] | None = None, **kwargs: Any) -> ShoppingAECEnv:
    game = raw_env(**kwargs)
    game.reset(seed=seed, options=options)
    return game


def channels(game: ShoppingAECEnv) -> dict[str, Any]:
    """Everything that a user can read of a game."""
    seen = {agent: game.observe(agent) for agent in game.possible_agents}
    names = ("agents", "agent_selection", "rewards", "_cumulative_rewards", "terminations", "truncations", "infos")
    return {
        **{name: copy.deepcopy(getattr(game, name)) for name in names},
        "observations": {agent: (value["observation"].tobytes(), value["action_mask"].tobytes()) for agent, value in seen.items()},
        "table": (game.words, game.theme, game.winners, game.legal_moves()),
        "render": game.render(),
        "record": game.record(),
        "state": game.get_state(),
    }


@pytest.mark.parametrize(("theme", "new_words"), WAYS)
@pytest.mark.parametrize("seats", [2, 3, 8])
def test_pettingzoo(seats: int, theme: str | None, new_words: str) -> None:
    kwargs: dict[str, Any] = {"num_players": seats, "theme": theme, "new_words": new_words}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(env(**kwargs), num_cycles=200)
        api_test(raw_env(**kwargs), num_cycles=50)
    assert {str(w.message) for w in caught} == DICT_WARNINGS
    seed_test(lambda: env(**kwargs), num_cycles=60)


def test_module_and_ids() -> None:
    import domino_env.shopping_v0 as imported

    module = importlib.import_module("domino_env.shopping_v0")
    assert module is imported is domino_env.shopping_v0
    assert module.raw_env().metadata["name"] == "shopping_v0"
    assert "domino/shopping-v0" in gymnasium.registry
    made = pettingzoo.make("aec", "domino/shopping-v0", num_players=5, num_letters=7, theme="drawn")
    made.reset(seed=0)
    assert (made.num_agents, made.unwrapped.rules.num_letters, str(made)) == (5, 7, "shopping_v0")
    assert module.env().unwrapped.rules == ShoppingRules(3, 26, 4, None, "chosen", 0.0)


@pytest.mark.parametrize("word_reward", [0.0, 0.25])
@pytest.mark.parametrize(("theme", "new_words"), WAYS)
@pytest.mark.parametrize("seats", [2, 3, 8])
def test_whole_games(seats: int, theme: str | None, new_words: str, word_reward: float) -> None:
    """What ``last`` tells each agent adds up to what the rules say of the words in the record; masks and deaths on the way."""
    game = raw_env(num_players=seats, num_letters=6, theme=theme, new_words=new_words, word_reward=word_reward)
    ends = Counter()
    for seed in range(12):
        game.reset(seed=seed)
        rng, got, dead = random.Random(seed), dict.fromkeys(game.possible_agents, 0.0), Counter()
        for agent in game.agent_iter():
            observation, reward, terminated, truncated, info = game.last()
            assert game.observation_space(agent).contains(observation)
            assert (truncated, info, observation["action_mask"].all()) == (False, {}, not terminated)
            for other in game.possible_agents:
                assert other == agent or terminated or not game.observe(other)["action_mask"].any()
            got[agent] += reward
            dead[agent] += terminated
            talk(game, rng, 1, right=0.9)
        record = game.record()
        due = [0.0] * seats
        for event in record["events"]:
            due[event["seat"]] += (word_reward if not event["new"] else 0.0) if event["right"] else -1.0
        for seat in record["winners"]:
            due[seat] += 1 / len(record["winners"])
        assert list(got.values()) == pytest.approx(due)
        assert dead == dict.fromkeys(game.possible_agents, 1)
        ends[record["end"]] += 1
    assert set(ends) == {"last", "alphabet"} or seats == 8


@pytest.mark.parametrize("make", [env, raw_env])
@pytest.mark.parametrize("how", ["wrong word", "gives up"])
def test_dying_in_mid_game(make: Any, how: str) -> None:
    game = make(num_players=4)
    game.reset(seed=1)
    raw = game.unwrapped
    talk(game, random.Random(0), 10, right=1.0)  # 1 + 2 + 3 + 4 words: seat 0 begins its second turn
    length = len(raw.words)
    for gone in ("player_0", "player_1", "player_2"):
        assert (game.agent_selection, raw.party.due) == (gone, 0)
        wrong = next(word for word in raw.rules.words(0) if word != raw.words[0])
        game.step(raw.move_index(wrong if how == "wrong word" else GIVE_UP))
        assert game.agent_selection == gone
        observation, reward, terminated, _, _ = game.last()
        assert (reward, terminated, observation["action_mask"].any()) == (-1.0, True, False)
        for move in (0, raw.rules.num_words):
            with pytest.raises(ValueError, match="None"):
                game.step(move)
        living = [agent for agent in game.agents if not game.terminations[agent]]
        game.step(None)
        assert game.agents == (living if len(living) > 1 else ["player_3"])
        assert gone not in game.rewards
        assert len(raw.words) == length  # the list stays
    assert (raw.winners, game.last()[1:3]) == ([3], (1.0, True))
    game.step(None)
    assert game.agents == []
    with pytest.raises(IllegalMoveError, match="reset"):
        raw.step(None)


def test_the_alphabet_runs_out() -> None:
    game = started(num_players=3, num_letters=4, word_reward=0.5)
    talk(game, random.Random(0), 1, right=1.0)
    game.step(game.rules.num_words)  # player_1 gives up
    talk(game, random.Random(0), 1 + 2 + 3 + 3, right=1.0)
    game.step(right_action(game, random.Random(0)))
    assert (len(game.words), game.winners, game.agents) == (4, [0, 2], ["player_0", "player_2"])
    assert game._cumulative_rewards == {"player_0": 0.5, "player_2": 0.5}
    assert set(game.terminations.values()) == {True}
    assert game.legal_moves() == []
    talk(game, random.Random(0))
    assert game.agents == []


@pytest.mark.parametrize(("theme", "new_words"), WAYS)
@pytest.mark.parametrize("steps", [0, 9, 31])
@pytest.mark.parametrize("how", ["deepcopy", "copy", "pickle", "clone", "state", "state into a fresh one"])
def test_copies(how: str, steps: int, theme: str | None, new_words: str) -> None:
    """In mid-game, also with an agent that is out and has not left, equal in every channel and to the end; the original is untouched."""
    kwargs: dict[str, Any] = {"num_players": 5, "theme": theme, "new_words": new_words, "render_mode": "ansi"}
    original = started(9, **kwargs)
    talk(original, random.Random(1), steps)
    if steps == 31:
        while original.terminations[original.agent_selection]:
            original.step(None)
        original.step(original.rules.num_words)
    before = channels(original)
    if how.startswith("state"):
        other = raw_env(**kwargs) if "fresh" in how else started(0, **kwargs)
        other.set_state(original.get_state())
    else:
        ways = {"deepcopy": copy.deepcopy, "copy": copy.copy, "pickle": lambda e: pickle.loads(pickle.dumps(e))}
        other = {**ways, "clone": ShoppingAECEnv.clone}[how](original)
    assert channels(other) == before
    talk(other, random.Random(7), 200)
    assert channels(original) == before
    talk(original, random.Random(7), 200)
    assert channels(original) == channels(other) != before
    for game in (original, other):
        game.reset()
        talk(game, random.Random(3), 50)
    assert channels(original) == channels(other)


def test_wrapped_copies() -> None:
    original = env(theme="drawn", new_words="drawn")
    original.reset(seed=3)
    talk(original, random.Random(0), 9)
    before = channels(original.unwrapped)
    for other in (copy.deepcopy(original), pickle.loads(pickle.dumps(original))):
        assert channels(other.unwrapped) == before
        talk(other, random.Random(1), 5)
        assert channels(other.unwrapped) != before == channels(original.unwrapped)


def test_damaged_and_foreign_states_are_refused() -> None:
    game, domino = started(3, theme="drawn"), domino_raw_env("bergen", num_players=3)
    domino.reset(seed=0)
    talk(game, random.Random(0), 25)
    before, state, kept = channels(game), game.get_state(), domino.get_state()
    other = started(3, num_letters=25, theme="drawn")
    wrong: list[Any] = [b"", b"abc", state[:50], state[:-1], state + b"x", "text", None, pickle.dumps(1), kept]
    wrong += [other.get_state(), open_bytes(state)[1]]
    rng = random.Random(1)
    for _ in range(150):
        damaged = bytearray(state)
        damaged[rng.randrange(len(state))] ^= 1 << rng.randrange(8)
        wrong.append(bytes(damaged))
    for data in wrong:
        with pytest.raises(OptionsError):
            game.set_state(data)
    assert channels(game) == before
    with pytest.raises(OptionsError):
        domino.set_state(state)
    assert domino.get_state() == kept
