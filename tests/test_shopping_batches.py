"""Many games of the memory game at once, as a Gymnasium ``VectorEnv`` and an SB3 ``VecEnv``: they play the games of the Gymnasium env."""

from __future__ import annotations

import random
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv

from domino_env.errors import IllegalMoveError, OptionsError
from domino_env.shopping.gym_env import ShoppingGymEnv
from domino_env.shopping.policies import Listening
from domino_env.shopping.sb3 import ShoppingVecEnv
from domino_env.shopping.vector import ShoppingVectorEnv
from tests.test_shopping_aec import WAYS
from tests.test_shopping_views import POOL, SaysFirst, answer

ID = "domino/shopping-v0"
MEMORIES = ["perfect", "forgetful?p=0.02", "forgetful?p=0.1", "random"]


def recite(env: Any, rng: np.random.Generator, right: float = 0.98) -> np.ndarray:
    """(N,) mostly what is right, else any word or giving up."""
    rows, any_words = env.games.rows, rng.integers(0, env.games.rules.num_actions, env.num_envs)
    words = rows["words"][np.arange(env.num_envs), rows["position"]]
    return np.where((words >= 0) & (rng.random(env.num_envs) < right), words, any_words)


def row_of(info: dict[str, Any], row: int) -> dict[str, Any]:
    """What the ``final_info`` of a vector env tells of one game."""
    return {name: value[row] for name, value in info.items() if not name.startswith("_") and info[f"_{name}"][row]}


@pytest.mark.parametrize(("theme", "new_words"), WAYS)
@pytest.mark.parametrize("seats", [2, 3, 8])
def test_batches_play_the_games_of_single_envs(seats: int, theme: str | None, new_words: str) -> None:
    kwargs: dict[str, Any] = {"num_players": seats, "num_letters": 5, "theme": theme, "new_words": new_words}
    kwargs, count, ended = {**kwargs, "opponents": POOL, "word_reward": 0.25}, 4, 0
    singles = [ShoppingGymEnv(**kwargs) for _ in range(count)]
    vector, batch = ShoppingVectorEnv(count, **kwargs), ShoppingVecEnv(count, seed=7, **kwargs)
    starts = [env.reset(seed=7 + g) for g, env in enumerate(singles)]
    seen, info = vector.reset(seed=7)
    assert batch.reset().tobytes() == seen.tobytes() == np.stack([start[0] for start in starts]).tobytes()
    rngs = [random.Random(g) for g in range(count)]
    told = [start[1] for start in starts]
    for _ in range(90):
        assert info["on_turn"].tolist() == [one["on_turn"] for one in told]
        assert info["action_mask"].tobytes() == np.stack([one["action_mask"] for one in told]).tobytes()
        actions = np.array([answer(env, rng, 0.95) for env, rng in zip(singles, rngs, strict=True)])
        seen, rewards, done, truncated, info = vector.step(actions)
        theirs, their_rewards, their_done, infos = batch.step(actions)
        assert theirs.tobytes() == seen.tobytes()
        assert their_rewards.tobytes() == rewards.astype(np.float32).tobytes()
        assert (their_done == done).all()
        assert not truncated.any()
        assert ("final_obs" in info) == bool(done.any())
        for g, env in enumerate(singles):
            observation, reward, terminated, _, told[g] = env.step(actions[g])
            assert (reward, terminated) == (rewards[g], done[g])
            assert terminated or not infos[g]
            if terminated:
                assert observation.tobytes() == info["final_obs"][g].tobytes() == infos[g]["terminal_observation"].tobytes()
                final = row_of(info["final_info"], g)
                for name in ("winners", "seat", "opponents", "list_length"):
                    assert told[g][name] == infos[g][name] == final[name], name
                assert final["recited"] == infos[g]["recited"]
                observation, told[g] = env.reset()
                ended += 1
            assert observation.tobytes() == seen[g].tobytes()
    assert ended > 4


@pytest.mark.parametrize("seats", [2, 4])
def test_a_game_depends_on_its_seed_alone(seats: int) -> None:
    """Not on the slot, nor on how many games there are."""
    kwargs: dict[str, Any] = {"num_players": seats, "opponents": MEMORIES, "new_words": "drawn", "num_letters": 8}
    seeds = [2**64 - 1, 0, 17, 5, 99, 1]
    many, few = ShoppingVectorEnv(6, **kwargs), ShoppingVectorEnv(2, **kwargs)
    slots = [4, 2]
    seen, theirs = many.reset(seed=list(seeds))[0], few.reset(seed=[seeds[slot] for slot in slots])[0]
    rng, ended = np.random.default_rng(0), 0
    for _ in range(150):
        assert seen[slots].tobytes() == theirs.tobytes()
        actions = recite(many, rng)
        seen, rewards, done = many.step(actions)[:3]
        theirs, their_rewards, their_done = few.step(actions[slots])[:3]
        assert (rewards[slots].tolist(), done[slots].tolist()) == (their_rewards.tolist(), their_done.tolist())
        ended += int(their_done.sum())
    assert ended > 2


def test_what_a_result_tells() -> None:
    """``recited`` is the longest list that the learner said whole; the episode sums what the steps brought."""
    env = ShoppingVecEnv(40, seed=0, num_players=3, opponents=MEMORIES, num_letters=7, word_reward=0.5)
    env.reset()
    rng, ended = np.random.default_rng(0), 0
    longest, totals, lengths = np.zeros(40, int), np.zeros(40), np.zeros(40, int)
    for _ in range(150):
        speaks, before = env.games.on_turn.copy(), env.games.rows.copy()
        _, rewards, done, infos = env.step(recite(env, rng))
        totals += rewards
        lengths += 1
        last = before["position"] + 1 == before["length"]
        said = speaks & last & (rewards == 0.5)
        longest[said] = before["length"][said]
        for g in np.flatnonzero(done):
            assert infos[g]["recited"] == longest[g]
            assert infos[g]["opponents"][infos[g]["seat"]] == -1
            assert infos[g]["TimeLimit.truncated"] is False
            assert (infos[g]["episode"]["r"], infos[g]["episode"]["l"]) == (pytest.approx(totals[g], abs=1e-5), lengths[g])
        longest[done], totals[done], lengths[done] = 0, 0, 0
        ended += int(done.sum())
    assert ended > 60


def test_other_opponents() -> None:
    """Games that start later have them; those under way go on with the first where a seat's place in the list is gone."""
    env = ShoppingVecEnv(30, seed=0, opponents=MEMORIES)
    env.reset()
    assert env.games.seated.max() == 3
    env.set_opponents(SaysFirst())
    rng, ended = np.random.default_rng(0), 0
    for _ in range(60):
        heard = env.games.on_turn.copy()
        _, _, done, _ = env.step(recite(env, rng))
        said = env.games.rows["heard_word"]
        assert (said[~heard & ~done] == 0).all()
        ended += int(done.sum())
    assert ended > 30
    assert (env.games.seated == 0).all()


def test_gymnasium_make_vec() -> None:
    vector = gymnasium.make_vec(ID, num_envs=5, vectorization_mode="vector_entry_point", opponents="perfect")
    assert vector.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.SAME_STEP
    seen, info = vector.reset(seed=0)
    assert vector.observation_space.contains(seen)
    assert info["action_mask"].shape == (5, vector.single_action_space.n)
    before = vector.step(np.zeros(5, np.int64))[0].copy()
    mask = np.array([True, False, False, True, False])
    seen, _ = vector.reset(seed=[8, 0, 0, 9, 0], options={"reset_mask": mask})
    assert ((seen != before).any(axis=1) == mask).all()
    single = ShoppingGymEnv()
    assert [seen[0].tolist(), seen[3].tolist()] == [single.reset(seed=seed)[0].tolist() for seed in (8, 9)]
    for wrong in ({"words": []}, {"reset_mask": [True]}, {"reset_mask": np.ones(5)}, 3):
        with pytest.raises(OptionsError):
            vector.reset(options=wrong)
    for seeds in ([1, 2], [1, 2, 3, 4, -1], -1, 1.5):
        with pytest.raises(OptionsError, match="seed"):
            vector.reset(seed=seeds)
    sync = gymnasium.make_vec(ID, num_envs=2, vectorization_mode="sync")
    sync.reset(seed=0)
    sync.close()


@pytest.mark.parametrize("make", [ShoppingVectorEnv, ShoppingVecEnv])
def test_wrong_actions_move_nothing(make: Any) -> None:
    env = make(3, opponents="perfect")
    env.reset()
    before, right = env.games.get_state(), np.zeros(3, np.int64)
    for wrong in (right[:2], right.astype(float), right[:, None], [None] * 3, [[1], [2, 3]]):
        with pytest.raises(OptionsError):
            env.step(wrong)
    for value in (-1, 5, 10**9):
        with pytest.raises(IllegalMoveError, match="game 1"):
            env.step(np.array([0, value, 0]))
    assert all((array == before[name]).all() for name, array in env.games.get_state().items())
    env.step(right)


def test_the_ways_of_sb3() -> None:
    kwargs: dict[str, Any] = {"num_players": 3, "opponents": "forgetful?p=0.1", "theme": "drawn"}
    dummy, native = DummyVecEnv([lambda: ShoppingGymEnv(**kwargs)] * 2), ShoppingVecEnv(2, **kwargs)
    assert dummy.seed(3) == native.seed(3) == [3, 4]
    assert dummy.reset().tobytes() == native.reset().tobytes()
    rng = np.random.default_rng(0)
    kept = []
    for _ in range(60):
        actions = recite(native, rng)
        theirs, mine = dummy.step(actions), native.step(actions)
        assert all(a.tobytes() == b.tobytes() for a, b in zip(theirs[:3], mine[:3], strict=True))
        kept.append((mine[0], mine[0].copy()))
    assert all(a.tobytes() == b.tobytes() for a, b in kept)  # no step writes into what was handed out
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*render_mode='rgb_array' that is not in the possible.*")  # SB3 asks for pictures first
        assert make_vec_env(ID, n_envs=2, env_kwargs=kwargs).reset().shape == (2, *native.observation_space.shape)
    native.set_options({"speaker": 0})
    with pytest.raises(OptionsError, match="speaker"):
        native.reset()


@pytest.mark.parametrize("make", [ShoppingGymEnv, lambda **kwargs: ShoppingVecEnv(1, **kwargs)])
def test_a_step_that_an_opponent_breaks_off(make: Any) -> None:
    """No later step goes on with what a policy answered to an earlier word, and none hears a word twice."""

    class Breaks(SaysFirst):
        broken = False

        def act(self, batch: Listening) -> np.ndarray:
            if self.broken:
                raise KeyboardInterrupt
            return super().act(batch)

    policy = Breaks()
    env, word = make(opponents=policy, learner_seat=0), np.zeros(() if make is ShoppingGymEnv else 1, np.int64)
    env.reset()
    env.step(word)
    policy.broken = True
    with pytest.raises(KeyboardInterrupt):
        env.step(word)
    policy.broken = False
    with pytest.raises(OptionsError, match="call reset"):
        env.step(word)
    env.reset()
    env.step(word)
