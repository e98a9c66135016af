"""``Games``: a batch plays the same games as the AEC environment, whatever its size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from domino_env import Games
from domino_env.engine.state import GAME
from domino_env.envs.aec import raw_env
from domino_env.errors import IllegalMoveError, OptionsError, RulesError
from domino_env.variants import VARIANTS

CASES = [(variant, seats) for variant, rules in VARIANTS.items() for seats in rules.players]


def pick(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (masks * rng.random(masks.shape)).argmax(axis=1)


@pytest.mark.parametrize(("variant", "seats"), CASES)
@pytest.mark.parametrize("episode", ["round", "match"])
@pytest.mark.parametrize("skip", [False, True])
def test_batch_equals_aec(variant: str, seats: int, episode: str, skip: bool) -> None:
    games = Games(variant, 3, num_players=seats, seed=5, episode=episode, skip_forced=skip)
    tables = [raw_env(variant, num_players=seats, episode=episode, skip_forced=skip) for _ in range(3)]
    owed = []
    for number, table in enumerate(tables):
        table.reset(seed=5 + number)
        owed.append(list(table.rewards.values()))
    rng = np.random.default_rng(0)
    for _ in range(60):
        for g, table in enumerate(tables):
            seen = table.observe(table.agent_selection)
            assert seen["observation"].tobytes() == games.observation[g].tobytes()
            assert seen["action_mask"].tobytes() == games.action_mask[g].tobytes()
            assert games.seat[g] == table.game.seat
            assert games.score[g].tolist() == table.scores
        actions = pick(games.action_mask, rng)
        games.step(actions)
        for g, table in enumerate(tables):
            mover = table.agent_selection
            table.step(actions[g])
            np.testing.assert_allclose(np.add(owed[g], list(table.rewards.values())), games.reward[g], atol=1e-6)
            owed[g] = [0.0] * seats
            assert games.done[g] == table.game.over
            if table.game.over:
                assert np.flatnonzero(games.winners[g]).tolist() == table.winners
                assert games.final_score[g].tolist() == table.scores
                assert games.final_observation[g].tobytes() == table.observe(mover)["observation"].tobytes()
                table.reset()
                owed[g] = list(table.rewards.values())


def test_a_game_is_a_function_of_its_seed() -> None:
    """The same in every slot of every batch size."""
    many, few = Games("draw", 50, seed=100), Games("draw", 3, seed=np.array([149, 100, 120]))
    picks = [np.random.default_rng(slot) for slot in range(50)]
    again = {149: np.random.default_rng(49), 100: np.random.default_rng(0), 120: np.random.default_rng(20)}
    for _ in range(80):
        actions = np.array([pick(many.action_mask[[g]], picks[g])[0] for g in range(50)])
        few_actions = np.array([pick(few.action_mask[[k]], again[seed])[0] for k, seed in enumerate((149, 100, 120))])
        many.step(actions)
        few.step(few_actions)
        for k, g in enumerate((49, 0, 20)):
            assert few.observation[k].tobytes() == many.observation[g].tobytes()
            assert few.reward[k].tolist() == many.reward[g].tolist()


@pytest.mark.parametrize("variant", VARIANTS)
def test_play_random(variant: str) -> None:
    plain, observed = Games(variant, 20, seed=3), Games(variant, 20, seed=3)
    ended = plain.play_random(200)
    assert ended == observed.play_random(200, observe=True) > 20
    assert plain.observation.tobytes() == observed.observation.tobytes()
    assert plain.action_mask.tobytes() == observed.action_mask.tobytes()
    plain.step(plain.action_mask.argmax(axis=1))


def test_random_play_is_uniform() -> None:
    games = Games("block", 4000, seed=0)
    lead = np.zeros(28)
    hands = games.observation[:, :28].astype(bool)
    before = games.action_mask.copy()
    games.play_random(1)
    played = games.rows["table"]
    for tile in range(28):
        lead[tile] = (played == 1 << tile).sum()
    share = lead / hands.sum(axis=0)
    assert before.sum() == 4000 * 7
    # each of seven tiles is led with probability 1/7; the standard error of each share is about 0.011
    assert np.abs(share - 1 / 7).max() < 0.045


@pytest.mark.parametrize(
    ("kwargs", "error"),
    [
        ({"num_games": 0}, OptionsError),
        ({"num_games": 2.0}, OptionsError),
        ({"num_games": 10**30}, OptionsError),
        ({"num_games": 2, "seed": np.array([[1], [2]])}, OptionsError),
        ({"num_games": 2, "num_players": 2.0}, RulesError),
        ({"num_games": 2, "seed": [1, 2, 3]}, OptionsError),
        ({"num_games": 2, "seed": -1}, OptionsError),
        ({"num_games": 2, "num_players": 7}, RulesError),
        ({"num_games": 2, "episode": "x"}, OptionsError),
    ],
)
def test_wrong_arguments(kwargs: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        Games("bergen", **kwargs)


def test_wrong_numbers_of_moves() -> None:
    games = Games("bergen", 2)
    for wrong in (10**30, -1, 2.0, None, "a", True):
        with pytest.raises(OptionsError, match="num_moves"):
            games.play_random(wrong)  # type: ignore[arg-type]


def test_observations_stay_in_their_box_where_no_sum_can_be_hit() -> None:
    games = Games("fives_and_threes", 4, rules={"divisors": [1000]})
    for _ in range(50):
        games.step(games.action_mask.argmax(axis=1))
        assert np.abs(games.observation).max() <= 1


def test_wrong_actions_move_nothing() -> None:
    games = Games("bergen", 4, seed=1)
    before = games.rows.copy()
    right = games.action_mask.argmax(axis=1)
    for wrong in (right[:3], right.astype(float), right[:, None], [None] * 4, [[1], [2, 3]]):
        with pytest.raises(OptionsError):
            games.step(wrong)
    for value in (-1, 58, int(np.flatnonzero(games.action_mask[2] == 0)[0])):
        actions = right.copy()
        actions[2] = value
        with pytest.raises(IllegalMoveError, match="game 2"):
            games.step(actions)
    assert games.rows.tobytes() == before.tobytes()
    games.step(right)


def test_rows_have_no_gaps() -> None:
    """Numpy leaves gaps of a copied row as they were, so a state would not be the same bytes twice."""
    assert sum(GAME[name].itemsize for name in GAME.names or ()) == GAME.itemsize
