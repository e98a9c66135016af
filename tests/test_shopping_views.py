"""The memory game as a Gymnasium environment: one learner that hears every word, policies in the other seats."""

from __future__ import annotations

import copy
import random
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as sb3_check_env

from domino_env.errors import IllegalMoveError, OptionsError, PolicyError, RenderModeError, RulesError
from domino_env.shopping.gym_env import ShoppingGymEnv
from domino_env.shopping.policies import Listening
from domino_env.shopping.rules import GIVE_UP
from domino_env.shopping.sb3 import ShoppingVecEnv
from domino_env.shopping.vector import ShoppingVectorEnv
from domino_env.shopping.words import themes
from tests.test_shopping_aec import WAYS, right_action, started


class SaysFirst:
    """A speaker that has no memory and no name: always the first word of the letter."""

    def act(self, batch: Listening) -> np.ndarray:
        return np.zeros(len(batch), np.int64)


POOL = ["random", "perfect", "forgetful?p=0.1", SaysFirst()]


def answer(env: ShoppingGymEnv, rng: random.Random, right: float = 0.97) -> int:
    """On turn mostly what is right, off turn anything."""
    heard = env.party.seat == env.learner_seat and not env.party.over
    return right_action(env.table, rng) if heard and rng.random() < right else rng.randrange(env.rules.num_actions)


def play(env: ShoppingGymEnv, rng: random.Random, right: float = 0.97) -> tuple[float, dict[str, Any]]:
    """To the end of the episode: the return, and the last info."""
    total, over, info = 0.0, False, {}
    while not over:
        _, reward, over, truncated, info = env.step(answer(env, rng, right))
        assert not truncated
        total += reward
    return total, info


@pytest.mark.parametrize("theme", [None, themes()[0], "drawn"])
@pytest.mark.parametrize("seats", [2, 3, 8])
def test_checkers(seats: int, theme: str | None) -> None:
    env = gymnasium.make("domino/shopping-v0", num_players=seats, theme=theme, opponents=["perfect", "random"])
    assert env.observation_space.contains(env.reset(seed=0)[0])
    assert env.unwrapped.metadata["name"] == "shopping_v0"
    with warnings.catch_warnings():
        # both were asked for as they are: the constructor's own arguments, and render modes without a default one
        warnings.filterwarnings("ignore", message=".*render.*")
        check_env(env.unwrapped, skip_render_check=True)
        sb3_check_env(env.unwrapped)


@pytest.mark.parametrize(("theme", "new_words"), WAYS)
def test_off_turn_nothing_is_heard(theme: str | None, new_words: str) -> None:
    seen = []
    for noise in range(3):
        env = ShoppingGymEnv(4, ["perfect", "forgetful?p=0.02"], num_letters=12, theme=theme, new_words=new_words)
        _, info = env.reset(seed=3)
        rng, off, steps = random.Random(1), random.Random(noise), []
        while "winners" not in info:
            assert info["on_turn"] == (env.party.seat == env.learner_seat)
            assert info["action_mask"].all()
            before = len(env.record()["events"])
            action = right_action(env.table, rng) if info["on_turn"] else off.randrange(env.rules.num_actions)
            observation, reward, over, _, info = env.step(action)
            assert len(env.record()["events"]) == before + 1  # one step, one word
            steps.append((observation.tobytes(), reward, over, info["on_turn"]))
        seen.append((steps, env.record()))
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.parametrize("word_reward", [0.0, 0.125])
@pytest.mark.parametrize("seats", [2, 3, 8])
def test_the_return_is_that_of_the_seat(seats: int, word_reward: float) -> None:
    """In AEC, with the same words said; the episode ends when the learner is out, also where others play on."""
    env = ShoppingGymEnv(seats, POOL, num_letters=5, word_reward=word_reward)
    ends, played_on, last_words = set(), 0, set()
    for seed in range(40):
        env.reset(seed=seed)
        seat = env.learner_seat
        total, info = play(env, random.Random(seed), right=0.97 - 0.2 * (seed % 2))
        game = started(seed, num_players=seats, num_letters=5, word_reward=word_reward)
        due = 0.0
        for event in env.record()["events"]:
            while game.terminations[game.agent_selection]:
                game.step(None)
            game.step(game.move_index(GIVE_UP if event["word"] is None else event["word"]))
            due += game.rewards.get(f"player_{seat}", 0.0)
        assert total == pytest.approx(due)
        out = seat not in env.party.seats_in()
        assert out or env.party.over
        assert (info["winners"], info["seat"], info["list_length"]) == (game.winners, seat, len(game.words))
        assert not info["action_mask"].any()
        ends.add("out" if out else "won")
        played_on += out and not env.party.over
        last_words.add(env.party.said[-1].seat == seat)
        with pytest.raises(IllegalMoveError, match="reset"):
            env.step(0)
    assert ends == {"out", "won"}
    assert (played_on > 0) == (seats > 2)
    assert last_words == {False, True}


def test_who_sits_where() -> None:
    env = ShoppingGymEnv(3, ["random", "perfect"])
    seats, opponents = np.zeros(3, int), np.zeros(2, int)
    for seed in range(300):
        env.reset(seed=seed)
        seats[env.learner_seat] += 1
        info = play(env, random.Random(seed), right=0.0)[1]
        assert info["opponents"][info["seat"]] == -1
        opponents += np.bincount([place for place in info["opponents"] if place >= 0], minlength=2)
    assert seats.min() > 70
    assert 0.43 < opponents[0] / opponents.sum() < 0.57
    for seat in range(3):
        fixed = ShoppingGymEnv(3, learner_seat=seat)
        for seed in range(5):
            fixed.reset(seed=seed)
            assert fixed.learner_seat == seat


def test_opponents_of_a_game_under_way_play_it_to_its_end() -> None:
    env, other = (ShoppingGymEnv(3, "perfect", learner_seat=1) for _ in range(2))
    for one in (env, other):
        one.reset(seed=5)
    rng, beside = random.Random(0), random.Random(0)
    for _ in range(12):
        env.step(answer(env, rng, 1.0))
        other.step(answer(other, beside, 1.0))
    env.set_opponents("random")
    assert play(env, rng, 1.0)[0] == play(other, beside, 1.0)[0] == pytest.approx(1 / 3)
    assert env.record() == other.record()
    env.reset(seed=5)
    assert play(env, rng, 1.0)[0] == 1.0
    for wrong in ([], "clever", [3]):
        with pytest.raises(PolicyError):
            env.set_opponents(wrong)  # type: ignore[arg-type]


def test_illegal_actions() -> None:
    env, loser = ShoppingGymEnv(learner_seat=1), ShoppingGymEnv(learner_seat=1, illegal="lose")
    for one in (env, loser):
        with pytest.raises(IllegalMoveError, match="reset"):
            one.step(0)
        one.reset(seed=0)
        for wrong in (0.5, np.array([1, 2]), None, True, "1"):
            with pytest.raises(OptionsError):
                one.step(wrong)
    for wrong in (-1, env.rules.num_actions):
        with pytest.raises(IllegalMoveError, match="0 to 4"):
            env.step(wrong)
        _, reward, terminated, truncated, info = loser.step(wrong)
        assert (reward, terminated, truncated, info["illegal_move"]) == (-1.0, True, False, wrong)
        with pytest.raises(IllegalMoveError, match="reset"):
            loser.step(0)
        loser.reset(seed=0)
    assert env.record() == loser.record() == started(0).record()


@pytest.mark.parametrize(
    "options", [{"out": [1]}, {"out": [0, 1, 2]}, {"words": ["?"]}, {"hands": []}, 5, {"speaker": 9}], ids=lambda options: str(options)
)
def test_a_refused_reset_leaves_the_game_as_it_was(options: Any) -> None:
    env, other = (ShoppingGymEnv(4, "forgetful?p=0.02", learner_seat=1) for _ in range(2))
    rng, beside = random.Random(0), random.Random(0)
    for one, numbers in ((env, rng), (other, beside)):
        one.reset(seed=2)
        for _ in range(11):
            one.step(answer(one, numbers, 1.0))
    with pytest.raises(OptionsError):
        env.reset(options=options)
    assert env.record() == other.record()
    assert play(env, rng)[0] == play(other, beside)[0]
    assert env.record() == other.record()


def test_a_game_set_up() -> None:
    env = ShoppingGymEnv(4, "perfect", learner_seat=2)
    words = [env.rules.words(letter)[1] for letter in range(3)]
    _, info = env.reset(seed=0, options={"words": words, "speaker": 2, "out": [0, 1]})
    assert info["on_turn"]
    assert env.words == words
    for word in words:
        env.step(env.move_index(word))
    env.step(0)
    total, info = play(env, random.Random(0), 1.0)  # it hears the learner say what it had not heard before
    assert (total, info["winners"], info["list_length"]) == (0.5, [2, 3], 26)


@pytest.mark.parametrize(
    ("kwargs", "error", "words"),
    [
        ({"opponents": []}, PolicyError, "somebody"),
        ({"opponents": "clever"}, PolicyError, "clever"),
        ({"opponents": ["perfect", 5]}, PolicyError, "5"),
        ({"opponents": "forgetful?p=2"}, PolicyError, "p=2"),
        ({"learner_seat": 3}, OptionsError, "learner_seat"),
        ({"learner_seat": True}, OptionsError, "learner_seat"),
        ({"num_players": 9}, RulesError, "num_players"),
        ({"theme": "cars"}, RulesError, "theme"),
        ({"color": 1}, TypeError, "color"),
    ],
)
def test_wrong_arguments(kwargs: dict[str, Any], error: type[Exception], words: str) -> None:
    for make in (ShoppingGymEnv, lambda **kwargs: ShoppingVectorEnv(2, **kwargs), lambda **kwargs: ShoppingVecEnv(2, **kwargs)):
        with pytest.raises(error, match=words):
            make(**kwargs)
    for one, fault in (({"illegal": "skip"}, OptionsError), ({"render_mode": "rgb_array"}, RenderModeError)):
        with pytest.raises(fault, match=next(iter(one))):
            ShoppingGymEnv(**one)  # type: ignore[arg-type]
    for count in (0, 2.0, True):
        with pytest.raises(OptionsError, match="num_envs"):
            ShoppingVecEnv(count)  # type: ignore[arg-type]


def test_texts_and_copies() -> None:
    env = ShoppingGymEnv(3, ["perfect", "forgetful?p=0.1"], render_mode="ansi", theme="drawn")
    env.reset(seed=2)
    rng = random.Random(0)
    for _ in range(20):
        env.step(answer(env, rng, 1.0))
        assert env.render() == env.table.render() != ""
    other, before = copy.deepcopy(env), env.record()
    play(other, random.Random(1))
    assert env.record() == before != other.record()
    play(env, random.Random(1))
    assert env.record() == other.record()
