"""How far a policy recites: the measure beside exact means, and the ceiling beside every policy without a memory that there is."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from domino_env.errors import OptionsError, PolicyError
from domino_env.shopping import ShoppingRules
from domino_env.shopping.party import Party
from domino_env.shopping.policies import Listening
from domino_env.shopping.survival import Survival, expected_recited, measure_survival, memoryless_ceiling
from domino_env.shopping.words import themes

# ------------------------------------------------------------------------------------------------- the measure

MEASURED = [
    ShoppingRules(2, 3, 2, None, "drawn"),
    ShoppingRules(3, 8, 4, None, "drawn"),
    ShoppingRules(4, 10, 2, themes()[0], "drawn"),
    ShoppingRules(8, 26, 3, "drawn", "drawn"),
]


def close(found: Survival, exact: Fraction) -> None:
    """Within four standard errors of the mean, as it was measured."""
    error = (found.high - found.low) / 2 / 1.959964
    assert abs(found.recited - float(exact)) <= 4 * error, (found, float(exact))


@pytest.mark.parametrize("rules", MEASURED, ids=str)
def test_random_recites_what_it_must(rules: ShoppingRules) -> None:
    chance = Fraction(1, rules.num_actions)
    found = measure_survival("random", rules, games=2000, seed=1)
    close(found, expected_recited(rules, chance, rules.num_words * chance))


@pytest.mark.parametrize("forget", ["0.02", "0.1", "1"])
@pytest.mark.parametrize("rules", MEASURED, ids=str)
def test_the_forgetful_recites_what_it_must(rules: ShoppingRules, forget: str) -> None:
    chance = 1 - Fraction(forget) + Fraction(forget) / rules.words_per_letter
    close(measure_survival(f"forgetful?p={forget}", rules, games=1000, seed=2), expected_recited(rules, chance))


@pytest.mark.parametrize("rules", MEASURED, ids=str)
def test_the_perfect_recites_all(rules: ShoppingRules) -> None:
    found = measure_survival("perfect", rules, games=300, seed=3)
    assert found.survived == 1.0
    assert found.longest == rules.num_letters - 1
    close(found, expected_recited(rules, Fraction(1)))
    lengths = [max(range(seat, rules.num_letters, rules.num_players), default=0) for seat in range(rules.num_players)]
    assert expected_recited(rules, Fraction(1)) == Fraction(sum(lengths), rules.num_players)


def test_expected_by_hand() -> None:
    """Two players, three letters: seat 0 says nothing, then 2 words; seat 1 says 1 word, which is all."""
    rules = ShoppingRules(2, 3, 2, None, "drawn")
    right, new = Fraction(1, 3), Fraction(3, 4)
    assert expected_recited(rules, right, new) == (new * right**2 * 2 + right) / 2
    assert memoryless_ceiling(rules) == (Fraction(1, 2) * 2 + 1) / 2


def test_the_seed_decides() -> None:
    rules = ShoppingRules(3, 8, 4, None, "drawn")
    first, again, other = (measure_survival("forgetful?p=0.1", rules, games=50, seed=seed) for seed in (4, 4, 5))
    assert first == again != other
    assert first.low < first.recited < first.high
    assert first.to_json() == dataclasses.asdict(first)


def test_what_cannot_be_measured() -> None:
    drawn = ShoppingRules(new_words="drawn")
    with pytest.raises(OptionsError, match="new_words='chosen'"):
        measure_survival("perfect", ShoppingRules())
    for games in (0, -1, 2.5, True):
        with pytest.raises(OptionsError, match=f"games={games}"):
            measure_survival("perfect", drawn, games=games)  # type: ignore[arg-type]
    for seed in (-1, 2**64, 1.5):
        with pytest.raises(OptionsError, match="seed"):
            measure_survival("perfect", drawn, games=1, seed=seed)  # type: ignore[arg-type]
    with pytest.raises(PolicyError, match="greedy"):
        measure_survival("greedy", drawn, games=1)


# ------------------------------------------------------------------------------------------------- the ceiling

TINY = [ShoppingRules(players, letters, 2, None, "drawn") for players, letters in ((2, 2), (2, 3), (2, 4), (3, 3), (3, 4))]

Walk = list[tuple[Hashable, tuple[bool, ...], int]]
"""Decisions of a seat that never errs: what it hears, which actions leave it in, the list that it has then said whole."""


def walk(rules: ShoppingRules, seat: int, drawn: Sequence[int], count_turns: bool) -> Walk:
    """A game with these words in which nobody errs. With ``count_turns`` the seat also knows how long the list is."""
    party = Party(rules)
    party.start(0)
    steps: Walk = []
    whole = 0
    while not party.over:
        length = len(party.words())
        if party.seat == seat:
            stays = [party.copy().say(action, drawn[length]).right for action in range(rules.num_actions)]
            heard = party.observe(seat).tobytes()
            whole = party.due + 1 if party.due + 1 == length else whole
            steps.append(((length, heard) if count_turns else heard, tuple(stays), whole))
        party.say(drawn[party.due], drawn[length])
    return steps


def best_of_all(rules: ShoppingRules, seats: Sequence[int], count_turns: bool) -> Fraction:
    """The highest mean over these seats and all lists that any map from what is heard to an action reaches: every map is tried."""
    lists = itertools.product(range(rules.words_per_letter), repeat=rules.num_letters)
    walks = Counter(tuple(walk(rules, seat, drawn, count_turns)) for drawn in lists for seat in seats)
    places = {heard: k for k, heard in enumerate(dict.fromkeys(heard for one in walks for heard, _, _ in one))}
    number = np.arange(rules.num_actions ** len(places), dtype=np.int32)  # of a map: its actions are the digits
    actions = [(number // rules.num_actions**k % rules.num_actions).astype(np.int8) for k in range(len(places))]
    total = np.zeros(len(number), np.int32)
    for one, times in walks.items():
        alive = np.ones(len(number), np.bool_)
        recited = np.zeros(len(number), np.int32)
        for heard, stays, whole in one:
            alive &= np.array(stays)[actions[places[heard]]]
            np.copyto(recited, whole, where=alive)
        total += times * recited
    return Fraction(int(total.max()), walks.total())


@pytest.mark.parametrize("rules", TINY, ids=str)
def test_no_map_from_what_is_heard_beats_the_ceiling(rules: ShoppingRules) -> None:
    """And the best of them all reaches it."""
    assert best_of_all(rules, range(rules.num_players), count_turns=False) == memoryless_ceiling(rules)


@pytest.mark.parametrize("rules", [*TINY, ShoppingRules(2, 3, 3, None, "drawn")], ids=str)
def test_chance_in_the_answers_does_not_help(rules: ShoppingRules) -> None:
    # A policy may hear the same on two turns and draw another answer, so it is no mixture of the maps above. But all its coins can be
    # tossed before the game, one for each length of the list and thing heard (in one turn nothing is heard twice: another letter is due).
    # It is then a mixture of maps that also count the turns, and a mean of them is not above the best. Seats never meet the same length.
    best = [best_of_all(rules, [seat], count_turns=True) for seat in range(rules.num_players)]
    assert sum(best) / rules.num_players == memoryless_ceiling(rules)


class Echo:
    """Says the number of the word just heard; before the first word, and after giving up, that of the first."""

    name = "echo"

    def act(self, batch: Listening) -> Any:
        start = batch.rules.num_players + 26
        return batch.observation[:, start : start + batch.rules.num_words].argmax(axis=1)


@pytest.mark.parametrize("rules", MEASURED, ids=str)
def test_the_ceiling_is_reached(rules: ShoppingRules) -> None:
    close(measure_survival(Echo(), rules, games=1500, seed=6), memoryless_ceiling(rules))


@pytest.mark.parametrize("rules", MEASURED, ids=str)
def test_a_memory_goes_further(rules: ShoppingRules) -> None:
    guesses = expected_recited(rules, Fraction(1, rules.words_per_letter))
    assert guesses < memoryless_ceiling(rules) < expected_recited(rules, Fraction(1))
