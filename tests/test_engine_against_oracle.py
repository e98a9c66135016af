"""The engine beside the naive oracle, move by move, on random rules, deals and play.

The engine is reached only through the environment; the oracle (``tests/oracle``) is written from RULES.md and shares nothing with it.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domino_env.envs.aec import raw_env
from domino_env.errors import DominoError
from domino_env.rules import Rules
from tests.beside import EPISODES, TEMPERS, make, tiles_of
from tests.oracle import OracleGame
from tests.strategies import (
    blocked_at_once,
    preset_cases,
    preset_rules,
    random_options,
    random_rules,
    rules_and_seats,
)

PRESET_CASES = preset_cases()
SLOW_ROUNDS = 300
SLOW_RULES = 800
SEEDS = st.integers(0, 2**32 - 1)
TEMPER_NAMES = st.sampled_from(list(TEMPERS))


@pytest.mark.engine
@pytest.mark.parametrize("episode", EPISODES)
@pytest.mark.parametrize(("variant", "num_players", "sides"), PRESET_CASES)
def test_presets(variant: str, num_players: int, sides: bool, episode: str) -> None:
    beside = make(preset_rules(variant, sides), num_players, episode)
    tempers = list(TEMPERS)
    first = PRESET_CASES.index((variant, num_players, sides)) + EPISODES.index(episode)
    for seed in range(first, first + 3):
        beside.play(seed, tempers[seed % len(tempers)], most_rounds=3)


@pytest.mark.engine
@settings(derandomize=True, deadline=None, max_examples=100)
@given(case=rules_and_seats(), episode=st.sampled_from(EPISODES), temper=TEMPER_NAMES, seed=SEEDS)
def test_random_rules(case: tuple[Rules, int], episode: str, temper: str, seed: int) -> None:
    rules, num_players = case
    make(rules, num_players, episode).play(seed, temper, most_rounds=3)


@pytest.mark.engine
@settings(derandomize=True, deadline=None, max_examples=60)
@given(case=rules_and_seats(), episode=st.sampled_from(EPISODES), temper=TEMPER_NAMES, seed=SEEDS)
def test_given_deals(case: tuple[Rules, int], episode: str, temper: str, seed: int) -> None:
    rules, num_players = case
    options = random_options(rules, num_players, random.Random(seed))
    beside = make(rules, num_players, episode)
    beside.play(seed, temper, most_rounds=2, options=options)
    dealt = beside.env.record()["rounds"][0]
    assert (dealt["hands"], dealt["boneyard"]) == (options["hands"], options["boneyard"])
    assert dealt["leader"] == options.get("leader", dealt["leader"])


@pytest.mark.engine
@settings(derandomize=True, deadline=None, max_examples=150)
@given(case=rules_and_seats(), episode=st.sampled_from(EPISODES), seed=SEEDS)
def test_blocked_by_the_lead(case: tuple[Rules, int], episode: str, seed: int) -> None:
    blocked = blocked_at_once(*case, random.Random(seed))
    if blocked is not None:
        rules, options = blocked
        make(rules, case[1], episode).play(seed, "blanks", most_rounds=1, options=options)


@pytest.mark.engine
@pytest.mark.parametrize("variant", ["bergen", "fives", "draw"])
def test_a_leader_without_the_forced_tile_is_refused(variant: str) -> None:
    rules = preset_rules(variant, sides=False)
    for seed in range(20):
        beside = make(rules, 3, "round")
        options = random_options(rules, 3, random.Random(seed))
        hands = [tiles_of(hand) for hand in options["hands"]]
        for leader in range(3):
            options["leader"] = leader
            oracle = OracleGame(rules, 3, "round")
            try:
                oracle.start(hands, tiles_of(options["boneyard"]), leader=leader)
            except ValueError:
                with pytest.raises(DominoError):
                    beside.env.reset(seed=seed, options=options)
            else:
                beside.play(seed, "any", most_rounds=1, options=options)


@pytest.mark.engine
@pytest.mark.parametrize("variant", ["fives_and_threes", "all_fives", "block"])
def test_the_lot_falls_on_every_seat(variant: str) -> None:
    env = raw_env(variant, num_players=4, episode="round")
    leaders = []
    for seed in range(100):
        env.reset(seed=seed)
        leaders.append(env.leader)
    assert {seat: 10 <= leaders.count(seat) <= 45 for seat in range(4)} == dict.fromkeys(range(4), True)


def test_the_slow_run_is_big_enough() -> None:
    assert len(PRESET_CASES) * len(EPISODES) * SLOW_ROUNDS >= 20_000


@pytest.mark.slow
@pytest.mark.parametrize("episode", EPISODES)
@pytest.mark.parametrize(("variant", "num_players", "sides"), PRESET_CASES)
def test_many_rounds_of_the_presets(variant: str, num_players: int, sides: bool, episode: str) -> None:
    beside = make(preset_rules(variant, sides), num_players, episode)
    tempers = list(TEMPERS)
    rounds, seed = 0, 1000
    while rounds < SLOW_ROUNDS:
        rounds += beside.play(seed, tempers[seed % len(tempers)], most_rounds=100)
        seed += 1


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
def test_many_random_rules(chunk: int) -> None:
    for number in range(SLOW_RULES // 10):
        rng = random.Random(chunk * 10_000 + number)
        rules, num_players = random_rules(rng.choice)
        for episode in EPISODES:
            beside = make(rules, num_players, episode)
            for temper in rng.sample(list(TEMPERS), 3):
                options = random_options(rules, num_players, rng) if rng.random() < 0.5 else None
                beside.play(rng.randrange(2**32), temper, most_rounds=4, options=options)


@pytest.mark.slow
def test_many_rounds_blocked_by_the_lead() -> None:
    for number in range(6000):
        rng = random.Random(number)
        rules, num_players = random_rules(rng.choice)
        blocked = blocked_at_once(rules, num_players, rng)
        if blocked is not None:
            make(blocked[0], num_players, rng.choice(EPISODES)).play(number, "blanks", most_rounds=1, options=blocked[1])


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=1000)
@given(case=rules_and_seats(), episode=st.sampled_from(EPISODES), temper=TEMPER_NAMES, seed=SEEDS)
def test_many_rules_of_hypothesis(case: tuple[Rules, int], episode: str, temper: str, seed: int) -> None:
    rules, num_players = case
    make(rules, num_players, episode).play(seed, temper, most_rounds=6)
