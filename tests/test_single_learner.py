"""The single-learner views: Gymnasium env, Gymnasium VectorEnv, SB3 VecEnv. They play the same games."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as sb3_check_env
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

from domino_env import DominoGymEnv, DominoVecEnv, DominoVectorEnv, Games
from domino_env.envs.aec import raw_env
from domino_env.envs.registry import env_id
from domino_env.errors import IllegalMoveError, OptionsError, PolicyError, RulesError
from domino_env.policies import Batch
from domino_env.variants import VARIANTS

CASES = [(variant, seats) for variant, rules in VARIANTS.items() for seats in rules.players]


class FirstLegal:
    """A policy that is not compiled into the loop; it counts how often it was told of new games."""

    def __init__(self) -> None:
        self.started = 0

    def act(self, batch: Batch) -> np.ndarray:
        return batch.action_mask.argmax(axis=1)

    def reset(self, rows: np.ndarray) -> None:
        self.started += len(rows)


def pick(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (masks * rng.random(masks.shape)).argmax(axis=-1)


@pytest.mark.parametrize(("variant", "seats"), CASES)
def test_checkers(variant: str, seats: int) -> None:
    """Gymnasium's and SB3's checkers play without masks, so an illegal move loses."""
    env = gymnasium.make(env_id(variant), num_players=seats, opponents="greedy", illegal="lose")
    with warnings.catch_warnings():
        # both were asked for as they are: the constructor's own arguments, and render modes without a default one
        warnings.filterwarnings("ignore", message=".*render.*")
        check_env(env.unwrapped, skip_render_check=True)
        sb3_check_env(env.unwrapped)


@pytest.mark.parametrize(("variant", "seats"), CASES)
@pytest.mark.parametrize(("episode", "skip"), [("round", True), ("match", False)])
def test_vector_and_sb3_equal_gymnasium(variant: str, seats: int, episode: str, skip: bool) -> None:
    kwargs: dict[str, Any] = {
        "num_players": seats,
        "opponents": ["random", "greedy", FirstLegal()],
        "episode": episode,
        "skip_forced": skip,
    }
    count = 4
    singles = [DominoGymEnv(variant, **kwargs) for _ in range(count)]
    vector = DominoVectorEnv(variant, num_envs=count, **kwargs)
    batch = DominoVecEnv(variant, num_envs=count, seed=7, **kwargs)
    starts = [env.reset(seed=7 + g) for g, env in enumerate(singles)]
    seen, info = vector.reset(seed=7)
    assert batch.reset().tobytes() == seen.tobytes() == np.stack([start[0] for start in starts]).tobytes()
    rng = np.random.default_rng(1)
    for _ in range(60):
        assert info["action_mask"].tobytes() == batch.action_masks().astype(np.int8).tobytes()
        actions = pick(info["action_mask"], rng)
        seen, rewards, done, truncated, info = vector.step(actions)
        theirs, their_rewards, their_done, infos = batch.step(actions)
        assert theirs.tobytes() == seen.tobytes()
        np.testing.assert_allclose(their_rewards, rewards, atol=1e-6)
        assert (their_done == done).all()
        assert not truncated.any()
        for g, env in enumerate(singles):
            observation, reward, terminated, _, told = env.step(actions[g])
            assert (reward, terminated) == (pytest.approx(rewards[g]), done[g])
            if terminated:
                assert observation.tobytes() == info["final_obs"][g].tobytes() == infos[g]["terminal_observation"].tobytes()
                for name in ("scores", "winners", "seat", "opponents"):
                    assert told[name] == infos[g][name]
                observation, told = env.reset()
            assert observation.tobytes() == seen[g].tobytes()
            assert told["action_mask"].tobytes() == info["action_mask"][g].tobytes()


@pytest.mark.parametrize(("variant", "seats"), CASES)
@pytest.mark.parametrize("skip", [False, True])
def test_a_view_is_the_learners_aec_return(variant: str, seats: int, skip: bool) -> None:
    """PAINS 1: the sum of a view's rewards over an episode is that seat's AEC return, whoever moved last."""
    others_ended = 0
    for seat in range(seats):
        env = DominoGymEnv(variant, num_players=seats, opponents="random", learner_seat=seat, skip_forced=skip)
        rng = np.random.default_rng(seat)
        for seed in range(8):
            _, info = env.reset(seed=seed)
            assert env.learner_seat == seat
            total, over = 0.0, False
            while not over:
                _, reward, over, _, info = env.step(pick(info["action_mask"], rng))
                total += reward
            scores = np.array(env.scores, float)
            margin = scores[seat] - (scores.sum() - scores[seat]) / (seats - 1)
            sign = -1 if env.rules.match_winner == "lowest" else 1
            assert total == pytest.approx(sign * margin / env.rules.target[seats])
            others_ended += env.record()["rounds"][-1]["events"][-1]["seat"] != seat
    assert others_ended > 0


def test_win_reward_of_a_learner_that_always_loses() -> None:
    class Heaviest:
        def act(self, batch: Batch) -> np.ndarray:
            return batch.action_mask.argmax(axis=1)

    env = DominoGymEnv("block", opponents=Heaviest(), reward="win", rules={"target": {2: 100}})
    rng = np.random.default_rng(0)
    returns, wins = [], []
    for seed in range(60):
        _, info = env.reset(seed=seed)
        total, over = 0.0, False
        while not over:
            _, reward, over, _, info = env.step(pick(info["action_mask"], rng))
            total += reward
        returns.append(total)
        won = env.learner_seat in info["winners"]
        wins.append(0.0 if len(info["winners"]) == 2 else 1.0 if won else -1.0)
    assert returns == wins
    assert {-1.0, 1.0} <= set(returns)


@pytest.mark.parametrize("start_method", ["spawn", "fork"])
def test_subprocesses_play_the_same(start_method: str) -> None:
    """PAINS 18: Dummy, Subproc (spawn and fork) and the native VecEnv, masks included."""
    kwargs: dict[str, Any] = {"num_players": 3, "opponents": ["random", "greedy"], "skip_forced": True}
    makers = [lambda: DominoGymEnv("bergen", **kwargs) for _ in range(2)]
    native = DominoVecEnv("bergen", num_envs=2, seed=3, **kwargs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python's own, on fork beside threads
        others = [DummyVecEnv(makers), SubprocVecEnv(makers, start_method=start_method)]
    for other in others:
        other.seed(3)
    seen = native.reset()
    assert all(other.reset().tobytes() == seen.tobytes() for other in others)
    rng = np.random.default_rng(0)
    for _ in range(40):
        masks = native.action_masks()
        for other in others:
            assert np.stack(other.env_method("action_masks")).astype(bool).tobytes() == masks.tobytes()
        actions = pick(masks, rng)
        seen, rewards, done, _ = native.step(actions)
        for other in others:
            theirs, their_rewards, their_done, _ = other.step(actions)
            assert theirs.tobytes() == seen.tobytes()
            np.testing.assert_allclose(their_rewards, rewards, atol=1e-6)
            assert (their_done == done).all()
    for other in others:
        other.close()


@pytest.mark.parametrize("with_mask", [False, True])
def test_rollouts_keep_their_observations(with_mask: bool) -> None:
    """SB3 keeps the observation it was given across a step: it must not change until the step after."""
    env = DominoVecEnv("bergen", num_envs=16, opponents="greedy", seed=0, mask_in_observation=with_mask)
    kept, copies = [env.reset()], []
    rng = np.random.default_rng(0)
    for _ in range(30):
        copies.append(kept[-1].copy())
        kept.append(env.step(pick(env.action_masks(), rng))[0])
        assert kept[-2].tobytes() == copies[-1].tobytes()
        assert kept[-1].shape == (16, *env.observation_space.shape)
        if with_mask:
            assert (kept[-1][:, -env.action_space.n :] == env.action_masks()).all()
        assert env.observation_space.contains(kept[-1][0])


@pytest.mark.parametrize("with_mask", [False, True])
def test_a_refused_step_leaves_the_kept_observation_alone(with_mask: bool) -> None:
    env = DominoVecEnv("bergen", num_envs=2, opponents="greedy", seed=0, mask_in_observation=with_mask)
    kept = env.reset()
    copied = kept.copy()
    with pytest.raises(IllegalMoveError):
        env.step(np.array([57, 57]))
    env.step(env.action_masks().argmax(axis=1))
    assert kept.tobytes() == copied.tobytes()


def test_a_step_that_an_opponent_breaks_off() -> None:
    class Breaks(FirstLegal):
        def act(self, batch: Batch) -> np.ndarray:
            if self.started > 2:
                raise KeyboardInterrupt
            return super().act(batch)

    policy = Breaks()
    env = DominoVecEnv("block", num_envs=2, opponents=policy, seed=0)
    env.reset()
    policy.started = 3
    with pytest.raises(KeyboardInterrupt):
        env.step(env.action_masks().argmax(axis=1))
    with pytest.raises(OptionsError, match="call reset"):
        env.step(np.zeros(2, int))
    policy.started = 0
    env.reset()
    policy.started = 0
    env.step(env.action_masks().argmax(axis=1))
    single = DominoGymEnv("block", opponents=policy)
    policy.started = 0
    single.reset(seed=0)
    policy.started = 3
    with pytest.raises(KeyboardInterrupt):
        single.step(int(single.action_masks().argmax()))
    with pytest.raises(OptionsError, match="call reset"):
        single.step(0)


def test_episode_infos() -> None:
    env = DominoVecEnv("draw", num_envs=8, opponents="random", seed=0)
    env.reset()
    rng = np.random.default_rng(0)
    totals, lengths, ended = np.zeros(8), np.zeros(8, int), 0
    for _ in range(60):
        _, rewards, done, infos = env.step(pick(env.action_masks(), rng))
        totals += rewards
        lengths += 1
        for g in np.flatnonzero(done):
            assert infos[g]["episode"]["r"] == pytest.approx(totals[g], abs=1e-5)
            assert infos[g]["episode"]["l"] == lengths[g]
            assert infos[g]["opponents"][infos[g]["seat"]] == -1
            totals[g], lengths[g] = 0, 0
            ended += 1
        assert all(not infos[g] for g in np.flatnonzero(~done))
    assert ended > 20


def test_learners_seat_and_opponents_are_drawn() -> None:
    env = DominoVecEnv("bergen", num_envs=600, num_players=3, opponents=["random", "greedy"], seed=0)
    env.reset()
    views = env.games.views
    seats = np.bincount(views["learner"], minlength=3)
    assert seats.min() > 150
    assert 0.42 < views["seated"][:, :3].mean() < 0.58
    fixed = DominoVecEnv("bergen", num_envs=20, opponents="random", learner_seat=1, seed=0)
    fixed.reset()
    assert (fixed.games.views["learner"] == 1).all()


@pytest.mark.parametrize(
    ("weights", "shares"),
    [
        (None, [1 / 3, 1 / 3, 1 / 3]),
        ([1, 1, 2], [0.25, 0.25, 0.5]),
        ([0.7, 0.0, 0.3], [0.7, 0, 0.3]),
        (np.array([0, 5, 0]), [0, 1, 0]),
        ((1e-9, 1.0, 1.0), [0.0005, 0.49975, 0.49975]),  # at least once in a thousand, or it would never be met
    ],
)
@pytest.mark.parametrize("seats", [2, 4])
def test_opponents_are_drawn_by_their_weights(weights: Any, shares: list[float], seats: int) -> None:
    """In every seat, at the start and in games that start later."""
    env = DominoVecEnv("bergen", num_envs=4000, num_players=seats, skip_forced=True, seed=3)
    env.set_opponents(["random", "greedy", FirstLegal()], weights)
    env.reset()
    rng = np.random.default_rng(0)
    for _ in range(2):
        for seat in range(seats):
            drawn = np.bincount(env.games.views["seated"][:, seat], minlength=3) / 4000
            np.testing.assert_allclose(drawn, shares, atol=4.5 * np.sqrt(0.25 / 4000))
            assert (drawn[np.array(shares) == 0] == 0).all()
        for _ in range(12):
            env.step(pick(env.action_masks(), rng))


@pytest.mark.parametrize(
    "weights",
    [[1], [1, 2, 3], [], [0, 0], [1, -1], [1, float("nan")], [1, float("inf")], ["a", "b"], "ab", [[1, 2], [3]], [[1, 2]], 3, [1, None]],
)
def test_wrong_weights_are_refused(weights: Any) -> None:
    env = DominoVecEnv("bergen", num_envs=4, opponents="greedy", seed=0)
    env.reset()
    pool = env.games.pool
    with pytest.raises(OptionsError, match="weights="):
        env.set_opponents(["random", "greedy"], weights)
    assert env.games.pool is pool
    env.step(env.action_masks().argmax(axis=1))


def test_seats_whose_opponent_is_gone_go_on_with_the_first() -> None:
    env = DominoVecEnv("bergen", num_envs=50, num_players=3, opponents=["random", "greedy", FirstLegal()], seed=0)
    env.reset()
    env.set_opponents(FirstLegal())
    rng = np.random.default_rng(0)
    for _ in range(30):
        env.step(pick(env.action_masks(), rng))
    assert (env.games.views["seated"] == 0).all()


# --------------------------------------------------------------------------------------------------------- snapshots


@pytest.mark.parametrize(("variant", "seats"), CASES)
@pytest.mark.parametrize("skip", [False, True])
def test_games_go_on_from_a_state(variant: str, seats: int, skip: bool) -> None:
    episode = "match" if skip else "round"
    kwargs: dict[str, Any] = {"num_players": seats, "episode": episode, "skip_forced": skip, "reward": "win" if skip else "points"}
    games, other = Games(variant, 7, seed=5, **kwargs), Games(variant, 7, seed=99, **kwargs)
    rng = np.random.default_rng(0)
    names = [name for name, value in vars(games).items() if isinstance(value, np.ndarray) and name != "_rows"]
    assert {"rows", "reward", "winners", "final_observation", "observation"} <= set(names)
    for step in range(223):
        if step == 23:
            state = games.get_state()
            copies = {name: array.copy() for name, array in state.items()}
            other.set_state(state)
        if step >= 23:
            for name in names:
                assert (getattr(games, name) == getattr(other, name)).all(), (name, step)
        actions = pick(games.action_mask, rng)
        games.step(actions)
        other.step(actions if step >= 23 else pick(other.action_mask, rng))
    assert all((state[name] == copies[name]).all() for name in state)  # a copy, which no game writes into


@pytest.mark.parametrize("with_mask", [False, True])
@pytest.mark.parametrize("seats", [2, 3])
def test_a_vec_env_goes_on_from_a_state(seats: int, with_mask: bool) -> None:
    """Observations, masks, rewards, ends and infos, with the returns and lengths of games that were under way."""
    opponents = ["random", "greedy", FirstLegal()]
    kwargs: dict[str, Any] = {"num_envs": 9, "num_players": seats, "skip_forced": True, "mask_in_observation": with_mask}
    env, other = (DominoVecEnv("threes", opponents=opponents, seed=seed, **kwargs) for seed in (1, 2))
    rng = np.random.default_rng(0)
    for one in (env, other):
        one.set_opponents(opponents, [1, 2, 3])
        one.reset()
        for _ in range(17):
            one.step(pick(one.action_masks(), rng))
    state = env.get_state()
    kept = other.step(pick(other.action_masks(), rng))[0]
    held = kept.copy()
    again = other.set_state(state)
    assert kept.tobytes() == held.tobytes()  # SB3 may still hold it
    assert again.tobytes() == seen_of(env, with_mask).tobytes()
    ended = 0
    for _ in range(200):
        assert env.action_masks().tobytes() == other.action_masks().tobytes()
        actions = pick(env.action_masks(), rng)
        (seen, rewards, done, infos), (again, their_rewards, their_done, their_infos) = env.step(actions), other.step(actions)
        assert seen.tobytes() == again.tobytes()
        assert (rewards.tobytes(), done.tobytes()) == (their_rewards.tobytes(), their_done.tobytes())
        for info, theirs in zip(infos, their_infos, strict=True):
            assert list(info) == list(theirs)
            for name, value in info.items():
                if name == "episode":
                    assert {**value, "t": 0} == {**theirs[name], "t": 0}
                else:
                    assert np.array_equal(value, theirs[name]), name
        assert (env.games.views == other.games.views).all()
        ended += int(done.sum())
    assert ended > 100


def seen_of(env: DominoVecEnv, with_mask: bool) -> np.ndarray:
    games = env.games
    return np.concatenate([games.observation, games.action_mask], axis=1) if with_mask else games.observation


def test_a_state_of_other_games_is_refused() -> None:
    """And leaves the games as they were, with the observation that SB3 may hold."""
    env = DominoVecEnv("bergen", num_envs=4, opponents="greedy", seed=0)
    kept = env.reset()
    good, copied = env.get_state(), kept.copy()
    wrong: list[dict[str, Any]] = [
        DominoVecEnv("bergen", num_envs=5, seed=0).get_state(),
        DominoVecEnv("bergen", num_envs=4, num_players=3, seed=0).get_state(),
        DominoVecEnv("all_fives", num_envs=4, seed=0).get_state(),
        {**good, "observation": good["observation"].astype(np.float64)},
        {**good, "returns": good["returns"][:1]},
        {**good, "lengths": good["lengths"][:3]},
        {name: array for name, array in good.items() if name != "lengths"},
        {name: array for name, array in good.items() if name != "views"},
        {},
    ]
    for state in wrong:
        with pytest.raises(OptionsError, match="state: "):
            env.set_state(state)
    fresh = DominoVecEnv("bergen", num_envs=4, opponents="greedy", seed=0)
    fresh.reset()
    for _ in range(3):
        actions = env.action_masks().argmax(axis=1)
        assert env.step(actions)[0].tobytes() == fresh.step(actions)[0].tobytes()
        assert kept.tobytes() == copied.tobytes()
        kept, copied = env.games.observation, env.games.observation.copy()
    games = Games("bergen", 4)
    before = games.rows.copy()
    for other in (Games("bergen", 5), Games("bergen", 4, 3), Games("draw", 4)):
        with pytest.raises(OptionsError, match="state: "):
            games.set_state(other.get_state())
    assert (games.rows == before).all()


def test_policies_with_a_memory_are_told_of_new_games() -> None:
    policy = FirstLegal()
    env = DominoVecEnv("block", num_envs=10, opponents=policy, seed=0)
    env.reset()
    assert policy.started == 10
    rng = np.random.default_rng(0)
    ended = 0
    for _ in range(30):
        ended += int(env.step(pick(env.action_masks(), rng))[2].sum())
    assert ended > 10
    assert policy.started == 10 + ended


def test_skipped_games_are_counted() -> None:
    """With hands of one tile many games end before the learner decides anything."""
    rules = {"players": [2], "hand": 1, "max_pip": 3, "reserve": 0}
    env = DominoGymEnv("threes", opponents="random", skip_forced=True, rules=rules)
    counted, returned = 0, 0.0
    for seed in range(40):
        _, info = env.reset(seed=seed)
        assert info["action_mask"].sum() > 1
        counted += info.get("skipped_games", 0)
        returned += abs(info.get("skipped_return", 0.0))
    assert counted > 20
    assert returned > 0
    batch = DominoVecEnv("threes", num_envs=40, opponents="random", skip_forced=True, rules=rules, seed=0)
    batch.reset()
    assert sum(info.get("skipped_games", 0) for info in batch.reset_infos) == counted


def test_rules_that_leave_nobody_a_decision() -> None:
    """With hands of one tile every move is forced: a named error, not an endless search."""
    rules = {"hand": 1, "draw_when": "never"}
    kwargs: dict[str, Any] = {"rules": rules, "skip_forced": True}
    for start in (
        lambda: Games("block", 2, **kwargs),
        lambda: raw_env("block", **kwargs).reset(seed=0),
        lambda: DominoGymEnv("block", **kwargs).reset(seed=0),
        lambda: DominoVectorEnv("block", num_envs=2, **kwargs).reset(seed=0),
        lambda: DominoVecEnv("block", num_envs=2, **kwargs).reset(),
    ):
        with pytest.raises(RulesError, match="nobody a decision"):
            start()


def test_a_match_in_which_the_learner_gets_no_turn() -> None:
    """Each round the leader goes out at once for 0 points, and leads again: a named error, not an endless wait."""
    rules = {"max_pip": 2, "hand": {5: 1}, "target": {5: 100}, "players": [5], "next_leader": "winner", "out_count": "flat"}
    kwargs: dict[str, Any] = {"num_players": 5, "rules": rules, "episode": "match", "learner_seat": 0}
    for start in (
        lambda: DominoGymEnv("block", **kwargs).reset(seed=1),
        lambda: DominoVectorEnv("block", num_envs=8, **kwargs).reset(seed=1),
    ):
        with pytest.raises(RulesError, match="no turn"):
            start()


def test_the_ways_of_sb3() -> None:
    """SB3 asks for pictures first and takes a TypeError as a no; it knows options and seat counts of numpy."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*render_mode='rgb_array' that is not in the possible.*")  # Gymnasium's own
        env = make_vec_env("domino/bergen-v0", n_envs=2, env_kwargs={"num_players": np.int8(3), "opponents": "greedy"})
    assert env.reset().shape == (2, *env.observation_space.shape)
    batch = DominoVecEnv("bergen", num_envs=2)
    batch.set_options({"leader": 0})
    with pytest.raises(OptionsError, match="leader"):
        batch.reset()


def test_illegal_actions() -> None:
    env = DominoGymEnv("bergen", opponents="greedy")
    with pytest.raises(IllegalMoveError, match="reset"):
        env.step(0)
    env.reset(seed=0)
    record = env.record()
    masked = int(np.flatnonzero(env.action_masks() == 0)[0])
    for wrong in (masked, -1, 58):
        with pytest.raises(IllegalMoveError):
            env.step(wrong)
    for wrong in (0.5, np.array([1, 2]), None):
        with pytest.raises(OptionsError):
            env.step(wrong)
    assert env.record() == record
    loser = DominoGymEnv("bergen", opponents="greedy", illegal="lose")
    loser.reset(seed=0)
    _, reward, terminated, truncated, info = loser.step(masked)
    assert (reward, terminated, truncated, info["illegal_move"]) == (-1.0, True, False, masked)
    with pytest.raises(IllegalMoveError, match="reset"):
        loser.step(0)
    loser.reset(seed=0)
    assert loser.record() == record
    batch = DominoVecEnv("bergen", num_envs=3, opponents="random", seed=0)
    batch.reset()
    before = batch.games.rows.copy()
    actions = batch.action_masks().argmax(axis=1)
    actions[1] = np.flatnonzero(~batch.action_masks()[1])[0]
    with pytest.raises(IllegalMoveError, match="game 1"):
        batch.step(actions)
    assert batch.games.rows.tobytes() == before.tobytes()


@pytest.mark.parametrize(
    ("kwargs", "error", "words"),
    [
        ({"opponents": []}, OptionsError, "somebody"),
        ({"opponents": "clever"}, PolicyError, "clever"),
        ({"illegal": "skip"}, OptionsError, "illegal"),
        ({"learner_seat": 2}, OptionsError, "learner_seat"),
    ],
)
def test_wrong_arguments(kwargs: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        DominoGymEnv("bergen", **kwargs)


def test_gymnasium_make_vec() -> None:
    vector = gymnasium.make_vec(env_id("draw"), num_envs=5, vectorization_mode="vector_entry_point", opponents="greedy")
    assert vector.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.SAME_STEP
    seen, info = vector.reset(seed=0)
    assert vector.observation_space.contains(seen)
    assert info["action_mask"].shape == (5, vector.single_action_space.n)
    before = seen.copy()
    seen, info = vector.reset(seed=9, options={"reset_mask": np.array([True, False, False, True, False])})
    changed = (seen != before).any(axis=1)
    assert not changed[[1, 2, 4]].any()
    assert changed[[0, 3]].all()
    with pytest.raises(OptionsError, match="reset_mask"):
        vector.reset(options={"hands": []})
    sync = gymnasium.make_vec(env_id("draw"), num_envs=2, vectorization_mode="sync", opponents="greedy")
    sync.reset(seed=0)
    sync.close()


def test_copies_of_the_gymnasium_env() -> None:
    env = DominoGymEnv("threes", opponents=["random", "greedy"])
    _, info = env.reset(seed=2)
    env.step(pick(info["action_mask"], np.random.default_rng(0)))
    other = copy.deepcopy(env)
    record = env.record()
    for _ in range(3):
        if other.table.game.over:
            break
        other.step(int(other.action_masks().argmax()))
    assert env.record() == record
    assert other.record() != record
