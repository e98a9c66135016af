"""What policies think: it agrees with what they play, keeps to the legal moves, and tells values in a known unit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from domino_env.errors import PolicyError
from domino_env.policies import Batch, Policy, decide, load_policy, think
from domino_env.policies.pimc import PIMCPolicy
from domino_env.policies.thoughts import POINTS, REWARD, softmax
from tests.policy_cases import Positions, positions, random_checkpoint

SEARCHES = ("search:pimc?worlds=16", "search:pimc?worlds=4&depth=2&endgame=4", "search:ismcts?simulations=60")
VARIANTS = (("all_fives", 2), ("bergen", 3), ("lucky_threes", 2), ("draw", 4), ("block", 2))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("checkpoints")


def repeated(where: Positions, k: int, times: int, seed: int = 5) -> Batch:
    """The same decision so often, each time with other random bits."""
    batch = where.batch(np.full(times, k, np.int64))
    return replace(batch, random=np.random.default_rng(seed).integers(0, 2**64, times, dtype=np.uint64))


def choices(where: Positions) -> npt.NDArray[np.int64]:
    """Rows with more than one legal move."""
    return np.flatnonzero(where.games["num_legal"] > 1)


def specs(folder: Path, variant: str, seats: int) -> list[str]:
    ppo = random_checkpoint(folder / f"{variant}_ppo.safetensors", variant, seats, algorithm="ppo", value_layers=[])
    dqn = random_checkpoint(folder / f"{variant}_dqn.safetensors", variant, seats, algorithm="dqn", seed=1)
    return ["greedy", *SEARCHES, str(ppo), str(dqn)]


@pytest.mark.parametrize(("variant", "seats"), VARIANTS)
def test_the_move_played_is_the_best_by_its_thoughts(folder: Path, variant: str, seats: int) -> None:
    where = positions(variant, seats, 38)
    batch = where.batch()
    legal = batch.action_mask != 0
    for spec in specs(folder, variant, seats):
        policy = load_policy(spec, where.rules, seats)
        thoughts = think(policy, batch)
        assert thoughts.actions.tolist() == decide(policy, batch).tolist(), spec
        assert thoughts.probabilities.argmax(axis=1).tolist() == thoughts.actions.tolist(), spec
        assert np.allclose(thoughts.probabilities.sum(axis=1), 1.0), spec
        assert (thoughts.probabilities[~legal] == 0.0).all(), spec
        assert not thoughts.sampled
        if thoughts.action_values is not None:
            assert np.isnan(thoughts.action_values[~legal]).all(), spec
        assert (thoughts.values is None) == (thoughts.unit is None), spec


@pytest.mark.parametrize("spec", ["random", "ppo?sample=1", "ppo?sample=1&temperature=0.4", "dqn?sample=1"])
def test_moves_are_drawn_with_the_probabilities(folder: Path, spec: str) -> None:
    name, _, query = spec.partition("?")
    if name != "random":
        name = str(random_checkpoint(folder / f"sampled_{name}.safetensors", "all_fives", 2, algorithm=name, seed=2))
    policy = load_policy(f"{name}?{query}" if query else name)
    where = positions("all_fives", 2, 19, seed=3)
    k = int(np.argmax(where.games["num_legal"]))
    times = 20_000
    batch = repeated(where, k, times)
    thoughts = think(policy, batch)
    assert thoughts.sampled
    assert (thoughts.probabilities == thoughts.probabilities[0]).all()
    expected = thoughts.probabilities[0] * times
    counts = np.bincount(decide(policy, batch), minlength=len(expected))
    assert (counts[expected == 0.0] == 0).all()
    used = expected > 0.0
    assert used.sum() > 4
    chi_square = ((counts[used] - expected[used]) ** 2 / expected[used]).sum()
    assert chi_square < (used.sum() - 1) + 5 * np.sqrt(2 * (used.sum() - 1))


def test_random_is_uniform_over_the_legal_moves() -> None:
    batch = positions("all_fives", 3, 19).batch()
    thoughts = think(load_policy("random"), batch)
    legal = batch.action_mask != 0
    assert (thoughts.probabilities == legal / legal.sum(axis=1, keepdims=True)).all()
    assert thoughts.values is None


def test_a_trained_agent_tells_the_probabilities_and_values_of_its_network() -> None:
    policy: Any = load_policy("bergen/ppo")
    batch = positions("bergen", 2, 38).batch()
    thoughts = think(policy, batch)
    logits = policy.logits(batch.observation)
    row = int(np.argmax(batch.action_mask.sum(axis=1)))
    legal = np.flatnonzero(batch.action_mask[row])
    by_hand = np.exp(logits[row, legal].astype(float))
    assert np.allclose(thoughts.probabilities[row, legal], by_hand / by_hand.sum())
    assert np.array_equal(np.float32(thoughts.values), policy.values(batch.observation))
    assert thoughts.unit == REWARD


def test_dqn_tells_the_values_of_its_moves() -> None:
    policy: Any = load_policy("bergen/dqn")
    batch = positions("bergen", 2, 38).batch()
    thoughts = think(policy, batch)
    legal = batch.action_mask != 0
    assert thoughts.action_values is not None
    assert thoughts.values is not None
    assert np.array_equal(np.float32(thoughts.action_values[legal]), policy.logits(batch.observation)[legal])
    assert np.array_equal(thoughts.values, np.nanmax(thoughts.action_values, axis=1))
    assert set(thoughts.probabilities.ravel().tolist()) == {0.0, 1.0}
    assert thoughts.unit == REWARD


@pytest.mark.parametrize(("variant", "seats"), VARIANTS)
def test_pimc_plays_the_move_of_the_highest_value(variant: str, seats: int) -> None:
    where = positions(variant, seats, 38)
    rows = choices(where)
    thoughts = think(load_policy("search:pimc?worlds=16"), where.batch(rows))
    assert thoughts.action_values is not None
    assert thoughts.errors is not None
    best = thoughts.action_values[np.arange(len(rows)), thoughts.actions]
    assert (best == np.nanmax(thoughts.action_values, axis=1)).all()
    assert np.array_equal(best, thoughts.values)
    assert (thoughts.errors[np.arange(len(rows)), thoughts.actions] == 0.0).all()
    legal = where.batch(rows).action_mask != 0
    assert np.isfinite(thoughts.action_values[legal]).all()
    assert (thoughts.errors[legal] >= 0).all()
    assert thoughts.unit == POINTS


def test_the_error_of_a_search_is_what_repeating_it_shows() -> None:
    """The spread of the difference of two moves over many searches, against the error that each of them tells."""
    where = positions("all_fives", 2, 38, seed=8)
    k = int(np.argmax(where.games["num_legal"]))
    batch = repeated(where, k, 300)
    thoughts = think(PIMCPolicy(worlds=64), batch)
    assert thoughts.action_values is not None
    assert thoughts.errors is not None
    usual = int(np.bincount(thoughts.actions).argmax())
    mine = thoughts.actions == usual
    assert mine.sum() > 100
    checked = 0
    for action in np.flatnonzero(batch.action_mask[0]):
        behind = thoughts.action_values[mine, usual] - thoughts.action_values[mine, action]
        told = np.sqrt((thoughts.errors[mine, action] ** 2).mean())
        if action != usual and behind.mean() > 3 * told:  # else that it is the best bends the difference
            assert 0.8 < behind.std() / told < 1.25, action
            checked += 1
    assert checked >= 2


def test_one_world_says_nothing_of_the_error() -> None:
    where = positions("all_fives", 2, 19)
    thoughts = think(PIMCPolicy(worlds=1), where.batch(choices(where)))
    assert thoughts.errors is not None
    others = np.isfinite(thoughts.action_values) & (thoughts.probabilities == 0)  # type: ignore[arg-type]
    assert np.isinf(thoughts.errors[others]).all()


def test_ismcts_shares_are_visits() -> None:
    where = positions("bergen", 2, 38)
    rows = choices(where)
    thoughts = think(load_policy("search:ismcts?simulations=60"), where.batch(rows))
    shares = thoughts.probabilities * 60
    assert np.allclose(shares, shares.round())
    assert thoughts.values is not None
    assert np.isfinite(thoughts.values).all()


def test_searches_do_not_look_into_forced_moves() -> None:
    where = positions("block", 2, 57)
    forced = np.flatnonzero((where.games["num_legal"] == 1) & (where.games["phase"] == 0))
    assert len(forced) > 3
    for spec in SEARCHES:
        thoughts = think(load_policy(spec), where.batch(forced))
        assert thoughts.probabilities.max(axis=1).tolist() == [1.0] * len(forced)
        assert thoughts.values is not None
        assert np.isnan(thoughts.values).all()


@pytest.mark.parametrize("spec", ["random", "greedy", "threes/ppo", "threes/dqn?sample=1", *SEARCHES])
def test_thoughts_depend_on_the_decision_alone(spec: str) -> None:
    where = positions("threes", 2, 19)
    policy = load_policy(spec)
    together = think(policy, where.batch())
    for k in (3, 11):
        alone = think(policy, where.batch(np.array([k])))
        assert np.array_equal(alone.probabilities[0], together.probabilities[k])
        if alone.action_values is not None and together.action_values is not None:
            assert np.array_equal(alone.action_values[0], together.action_values[k], equal_nan=True)


class Stubborn:
    """Thinks what it was told to."""

    def __init__(self, thoughts: Any) -> None:
        self.thoughts = thoughts

    def act(self, batch: Batch) -> npt.NDArray[np.int64]:
        return np.asarray(batch.action_mask.argmax(axis=1))

    def think(self, batch: Batch) -> Any:
        return self.thoughts


class Silent:
    """Only acts."""

    def act(self, batch: Batch) -> npt.NDArray[np.int64]:
        return np.asarray(batch.action_mask.argmax(axis=1))


def test_a_policy_that_only_acts_is_certain() -> None:
    batch = positions("block", 2, 5).batch()
    thoughts = think(Silent(), batch)
    assert (thoughts.probabilities.sum(axis=1) == 1.0).all()
    assert (thoughts.probabilities[np.arange(5), batch.action_mask.argmax(axis=1)] == 1.0).all()


def test_thoughts_that_cannot_be_are_refused() -> None:
    batch = positions("block", 2, 5).batch()
    good = think(load_policy("random"), batch)
    shifted = np.roll(good.probabilities, 1, axis=1)
    wrong: list[tuple[Any, str]] = [
        ("nothing", "an answer of str"),
        (replace(good, probabilities=good.probabilities[:2]), "probabilities of shape"),
        (replace(good, probabilities=good.probabilities * 2), "sum to 2"),
        (replace(good, probabilities=good.probabilities * np.nan), "sum to nan"),
        (replace(good, probabilities=shifted), "not legal"),
        (replace(good, actions=np.full(5, -1)), "action -1"),
        (replace(good, actions=good.actions.astype(float)), "actions of shape"),
        (replace(good, values=np.zeros(5)), "unit=None"),
        (replace(good, values=np.zeros(4), unit=POINTS), "values of shape"),
        (replace(good, unit="pips"), "unit='pips'"),
    ]
    for thoughts, message in wrong:
        with pytest.raises(PolicyError, match=message):
            think(Stubborn(thoughts), batch)
    policy: Policy = Stubborn(good)
    assert think(policy, batch) is good


def test_softmax_stands_huge_logits() -> None:
    found = softmax(np.array([[1e30, -1e30, 5.0]], np.float32), np.array([[1, 1, 0]], np.int8))
    assert found.tolist() == [[1.0, 0.0, 0.0]]
