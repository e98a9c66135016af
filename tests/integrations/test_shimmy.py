"""Shimmy: the OpenSpiel games as PettingZoo environments."""

from __future__ import annotations

import numpy as np
import pytest

from tests.integrations.libraries import SEATS, THEIR_WARNINGS, example, library

library("pyspiel")
library("shimmy")
shimmy_openspiel = example("shimmy_openspiel")
pytestmark = THEIR_WARNINGS


@SEATS
def test_the_example_pays_what_the_game_returns(num_players: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    shimmy_class = shimmy_openspiel.OpenSpielCompatibilityV0

    def kept(**keywords: object) -> object:
        made.append(shimmy_class(**keywords))
        return made[-1]

    monkeypatch.setattr(shimmy_openspiel, "OpenSpielCompatibilityV0", kept)
    won = 0
    for seed in range(5):
        points = shimmy_openspiel.main(num_players, seed)
        assert len(points) == num_players
        assert made[-1].game_state.is_terminal()
        assert list(points.values()) == pytest.approx(made[-1].game_state.returns())
        assert sum(points.values()) == pytest.approx(0)
        won += any(points.values())
    assert won > 0


@SEATS
def test_masks_are_the_legal_actions(num_players: int) -> None:
    env = shimmy_openspiel.OpenSpielCompatibilityV0(game_name="domino_block", config={"players": num_players})
    random = np.random.default_rng(0)
    for seed in range(5):
        env.reset(seed=seed)
        for _ in env.agent_iter():
            _, _, terminated, truncated, info = env.last()
            assert not truncated
            legal = np.flatnonzero(info["action_mask"])
            if not terminated:
                assert legal.tolist() == env.game_state.legal_actions()
            env.game_length = 0
            env.step(None if terminated else int(random.choice(legal)))
        assert env.game_state.is_terminal()


def test_its_two_faults_are_still_there() -> None:
    """The page says so of Shimmy 2.0.1: when this fails, the page and the example have to change."""
    env = shimmy_openspiel.OpenSpielCompatibilityV0(game_name="domino_block")
    random, broken_off, twice = np.random.default_rng(0), 0, 0
    for seed in range(20):
        env.reset(seed=seed)
        summed = dict.fromkeys(env.possible_agents, 0.0)
        for agent in env.agent_iter():
            _, reward, terminated, truncated, info = env.last()
            summed[agent] += reward
            over = terminated or truncated
            env.step(None if over else int(random.choice(np.flatnonzero(info["action_mask"]))))
        broken_off += not env.game_state.is_terminal()
        twice += list(summed.values()) != env.game_state.returns()
    assert broken_off > 0
    assert twice > 0
