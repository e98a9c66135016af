"""PufferLib's native form: the same games as the AEC environment, in PufferLib's own buffers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from domino_env import VARIANTS
from domino_env.envs.aec import raw_env
from domino_env.errors import IllegalMoveError, OptionsError
from tests.integrations.libraries import SEATS, THEIR_WARNINGS, example, library

pufferlib = library("pufferlib")
library("pufferlib.vector")
pufferlib_vector = example("pufferlib_vector")
pytestmark = THEIR_WARNINGS


def made(**keywords: Any) -> Any:
    return pufferlib_vector.DominoPufferEnv(**{"variant": "bergen", "num_games": 3, "num_players": 2, **keywords})


def chosen(env: Any, observations: np.ndarray, random: np.random.Generator) -> np.ndarray:
    mask = observations[:, -env.single_action_space.n :]
    return np.argmax(random.random(mask.shape) * mask, axis=1)


@SEATS
@pytest.mark.parametrize("skip_forced", [False, True])
@pytest.mark.parametrize("reward", ["points", "win"])
def test_game_0_is_the_aec_environment(num_players: int, skip_forced: bool, reward: str) -> None:
    keywords = {"num_players": num_players, "reward": reward, "skip_forced": skip_forced, "episode": "round"}
    env, table = made(**keywords), raw_env("bergen", **keywords)
    random, size = np.random.default_rng(0), env.games.encoding.size
    for seed in range(6):
        observations, infos = env.reset(seed=seed)
        table.reset(seed=seed * env.games.num_games)
        assert infos == []
        # with skip_forced, points made before the first decision are in the table's rewards of the reset
        early = np.array([table.rewards[agent] for agent in table.possible_agents])
        returns = early.copy()
        while True:
            for seat, agent in enumerate(table.possible_agents):
                seen = table.observe(agent)
                assert np.array_equal(observations[seat, :size], seen["observation"])
                if agent == table.agent_selection:
                    assert np.array_equal(observations[seat, size:], seen["action_mask"])
                    assert env.masks[seat]
                else:
                    assert np.flatnonzero(observations[seat, size:]).tolist() == [env.single_action_space.n - 1]
                    assert not env.masks[seat]
            actions = chosen(env, observations, random)
            table.step(int(actions[table.possible_agents.index(table.agent_selection)]))
            observations, rewards, terminals, truncations, infos = env.step(actions)
            made_now = np.array([table.rewards[agent] for agent in table.possible_agents])
            assert np.allclose(rewards[:num_players], made_now + early, atol=1e-6)
            early[:] = 0
            returns += made_now
            assert not truncations.any()
            assert terminals[:num_players].all() == terminals[:num_players].any() == table.game.over
            if table.game.over:
                assert [infos[0][f"return/{agent}"] for agent in table.possible_agents] == pytest.approx(returns, abs=1e-5) or (
                    infos[0]["games"] > 1
                )
                break


@SEATS
def test_the_example_tells_of_finished_games(num_players: int) -> None:
    ended = pufferlib_vector.main(num_players, steps=60)
    assert sum(info["games"] for info in ended) > 40
    for info in ended:
        assert sum(info[f"return/player_{seat}"] for seat in range(num_players)) == pytest.approx(0, abs=1e-5)
    assert any(info["return/player_0"] for info in ended)


def test_an_illegal_action_of_the_seat_on_turn_raises_and_nothing_moves() -> None:
    env = made()
    observations, _ = env.reset(seed=3)
    before = observations.copy()
    with pytest.raises(IllegalMoveError, match="game 0"):
        env.step(np.full(6, env.single_action_space.n - 1))
    assert np.array_equal(env.observations, before)


def test_what_a_waiting_seat_answers_is_ignored() -> None:
    one, other = made(), made()
    random = np.random.default_rng(0)
    observations, _ = one.reset(seed=1)
    other.reset(seed=1)
    for _ in range(60):
        actions = chosen(one, observations, random)
        elsewhere = np.where(one.masks, actions, random.integers(0, one.single_action_space.n, len(actions)))
        observations, rewards, *_ = one.step(actions)
        assert np.array_equal(other.step(elsewhere)[1], rewards)
        assert np.array_equal(other.observations, observations)


@pytest.mark.parametrize("actions", [np.zeros(5, int), np.zeros((3, 2), int), np.zeros(6)])
def test_actions_of_another_kind_are_refused(actions: np.ndarray) -> None:
    env = made()
    env.reset()
    with pytest.raises(OptionsError):
        env.step(actions)


@pytest.mark.parametrize("wrong", [{"num_games": 0}, {"seed": -1}, {"seed": 1.5}, {"num_players": 9}, {"variant": "chess"}])
def test_arguments_that_cannot_be_used_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=str(next(iter(wrong.values()))).replace("-", "")):
        made(**wrong)


@pytest.mark.parametrize("backend", ["Serial", "Multiprocessing"])
def test_several_environments_play_different_games(backend: str) -> None:
    workers = {"num_workers": 2} if backend == "Multiprocessing" else {}
    envs = pufferlib.vector.make(
        pufferlib_vector.DominoPufferEnv, env_kwargs={"variant": "bergen", "num_games": 2}, num_envs=2, backend=backend, **workers
    )
    try:
        observations, _ = envs.reset(seed=0)
        assert observations.shape[0] == 8
        assert len({row.tobytes() for row in observations}) == 8
        native = made(num_games=4)
        assert np.array_equal(native.reset(seed=0)[0], observations)
        random = np.random.default_rng(0)
        for _ in range(20):
            actions = chosen(native, native.observations, random)
            observations, rewards, terminals, *_ = envs.step(actions)
            assert np.array_equal(native.step(actions)[0], observations)
            assert np.array_equal(native.rewards, rewards)
            assert np.array_equal(native.terminals, terminals)
    finally:
        envs.close()


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_plays_in_its_spaces(variant: str) -> None:
    seats = min(VARIANTS[variant].players)
    env = made(variant=variant, num_players=seats, num_games=8)
    random = np.random.default_rng(0)
    observations, _ = env.reset(seed=0)
    ended = 0
    for _ in range(150):
        assert env.observation_space.contains(observations)
        observations, rewards, terminals, *_ = env.step(chosen(env, observations, random))
        assert np.allclose(rewards.reshape(8, seats).sum(axis=1), 0, atol=1e-5)
        ended += int(terminals.sum())
    assert ended > 0
