"""The oracle alone on random deals of every variant and of random rules: what must always hold, does."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domino_env.rules import Rules
from tests.oracle import OracleGame
from tests.strategies import deal, preset_cases, preset_rules, rules_and_seats, whole_set


def play_out(game: OracleGame, rng: random.Random) -> None:
    """One round of random play; what must hold after every move does."""
    before = list(game.scores)
    everything = sorted(game.layout.tiles() + [tile for hand in game.hands for tile in hand] + game.boneyard)
    for _ in range(400):
        if game.end is not None:
            break
        moves = game.legal_moves()
        assert moves, "the seat on turn has a move"
        assert game.hands[game.turn], "a seat that is out is never on turn"
        move = rng.choice(sorted(moves))
        game.play(move)
        table_now = game.layout.tiles() + [tile for hand in game.hands for tile in hand] + game.boneyard
        assert sorted(table_now) == everything
        if game.rules.arms == 2 and game.rules.max_pip == 6:
            assert game.layout.sum_of_ends() <= 22
            assert game.layout.sum_of_ends() not in (19, 21)
    assert game.end is not None, "every round ends"
    assert game.legal_moves() == set()
    for team in game.teams:
        made = sum(event["points"] for event in game.events if event["seat"] in team)
        for seat in team:
            assert game.scores[seat] == before[seat] + made + game.bonus[seat]


def play_match(rules: Rules, num_players: int, episode: str, seed: int, most_rounds: int) -> OracleGame:
    """Rounds of random play until the match is over, or so many."""
    rng = random.Random(seed)
    game = OracleGame(rules, num_players, episode)
    leader: int | None = None
    for number in range(most_rounds):
        if leader is None and (rules.opening == "any"):
            leader = rng.randrange(num_players)
        hands, boneyard = deal(rng, rules, num_players)
        if number == 0 and rules.opening == "lowest_double":
            leader = None
        game.start(hands, boneyard, leader=leader, first_round=number == 0)
        play_out(game, rng)
        if game.match_over:
            assert game.winners
            return game
        leader = game.next_leader
    return game


@pytest.mark.parametrize(("variant", "num_players", "sides"), preset_cases())
def test_presets_alone(variant: str, num_players: int, sides: bool) -> None:
    rules = preset_rules(variant, sides)
    for seed in range(4):
        assert play_match(rules, num_players, "round", seed, 1).match_over
    game = play_match(rules, num_players, "match", 99, 1000)
    assert game.match_over
    assert game.end == "target"
    assert max(game.scores) >= rules.target[num_players]


@settings(derandomize=True, deadline=None, max_examples=150)
@given(case=rules_and_seats(), episode=st.sampled_from(["round", "match"]), seed=st.integers(0, 2**32 - 1))
def test_random_rules_alone(case: tuple[Rules, int], episode: str, seed: int) -> None:
    rules, num_players = case
    play_match(rules, num_players, episode, seed, 4)


def test_whole_set() -> None:
    assert len(whole_set(6)) == 28
    assert sum(low + high for low, high in whole_set(6)) == 168
