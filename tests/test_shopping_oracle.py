"""The memory game beside its naive oracle, word by word, on random rules, seeds, set-ups and play.

The oracle (``tests/oracle/shopping.py``) is written from RULES.md and knows words, not their numbers; only words drawn are told to it.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domino_env.errors import IllegalMoveError
from domino_env.shopping import ShoppingRules
from domino_env.shopping.aec import ShoppingAECEnv, raw_env
from domino_env.shopping.party import Party, Start
from domino_env.shopping.rules import GIVE_UP
from domino_env.shopping.words import fewest_words, themes, words_of
from tests.oracle.shopping import OracleParty

pytestmark = pytest.mark.engine

TEMPERS = {"steady": 0.997, "good": 0.95, "poor": 0.6}
"""How often the right word is said; else one time in three a player gives up, else it says any other word."""

SEEDS = st.integers(0, 2**64 - 1)


@st.composite
def random_rules(draw: st.DrawFn) -> ShoppingRules:
    """Any rules; short alphabets as often as long ones."""
    theme = draw(st.sampled_from([None, "drawn", *themes()]))
    most = fewest_words() * (1 if theme else len(themes()))
    return ShoppingRules(
        num_players=draw(st.integers(2, 8)),
        num_letters=draw(st.one_of(st.integers(1, 6), st.integers(1, 26))),
        words_per_letter=draw(st.integers(2, most)),
        theme=theme,
        new_words=draw(st.sampled_from(["chosen", "drawn"])),
        word_reward=draw(st.sampled_from([0.0, 0.125, 1.0])),
    )


def fitting_words(rules: ShoppingRules, theme: str | None) -> list[list[str]]:
    """(num_letters,) the words that may be new in a game of this theme."""
    if theme is None:
        return [list(rules.words(letter)) for letter in range(rules.num_letters)]
    return [list(words_of(theme, letter)[: rules.words_per_letter]) for letter in range(rules.num_letters)]


def oracle_of(party: Party, first: Start | None = None) -> OracleParty:
    """The same game at its start, told in words."""
    rules = party.rules
    first = first or Start()
    bought = [rules.words(letter)[number] for letter, number in enumerate(first.words)]
    drawn = rules.new_words == "drawn"
    fitting = fitting_words(rules, party.theme)
    return OracleParty(rules.num_players, fitting, drawn, rules.word_reward, first.speaker, bought, first.out)


def next_text(oracle: OracleParty, rules: ShoppingRules, temper: str, rng: random.Random) -> str:
    """What the seat on turn says now."""
    new = oracle.due == len(oracle.bought)
    right = oracle.fitting[oracle.due] if new else [oracle.bought[oracle.due]]
    if rng.random() < TEMPERS[temper]:
        return rng.choice(right)
    wrong = [word for word in rules.words(oracle.due) if word not in right]
    return rng.choice(wrong) if wrong and rng.random() < 2 / 3 else GIVE_UP


def compare(party: Party, oracle: OracleParty) -> None:
    """All that both can tell."""
    assert party.over == oracle.over
    assert party.words() == oracle.bought
    assert party.seats_in() == oracle.still_in
    assert party.winners() == oracle.winners
    assert party.reward.tolist() == pytest.approx(oracle.rewards, abs=1e-12)
    if not oracle.over:
        assert (party.seat, party.due) == (oracle.turn, oracle.due)


def say_both(party: Party, oracle: OracleParty, text: str, drawn: int = -1) -> None:
    """One word in both games; what is drawn goes from the engine to the oracle."""
    rules, letter, seat = party.rules, oracle.due, oracle.turn
    said = party.say(rules.move_index(letter, text), drawn)
    heard = rules.move_text(letter, said.word)
    oracle.say(None if text == GIVE_UP else text, drawn=heard)
    assert (said.seat, said.letter) == (seat, letter)
    assert (said.new, said.right) == (oracle.was_new, oracle.right)
    if not (rules.new_words == "drawn" and said.new and text != GIVE_UP):
        assert heard == text
    compare(party, oracle)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(rules=random_rules(), temper=st.sampled_from(list(TEMPERS)), seed=SEEDS)
def test_parties(rules: ShoppingRules, temper: str, seed: int) -> None:
    rng = random.Random(seed)
    party = Party(rules)
    party.start(seed)
    for _ in range(3):  # games of one generator, one after another
        oracle = oracle_of(party)
        compare(party, oracle)
        while not oracle.over:
            text = next_text(oracle, rules, temper, rng)
            letter = rules.words(oracle.due).index(rng.choice(oracle.fitting[oracle.due]))
            say_both(party, oracle, text, drawn=letter if rng.random() < 0.3 else -1)
        with pytest.raises(IllegalMoveError, match="over"):
            party.say(0)
        compare(party, oracle)
        party.start_again()


@settings(derandomize=True, deadline=None, max_examples=60)
@given(rules=random_rules(), temper=st.sampled_from(list(TEMPERS)), seed=SEEDS)
def test_parties_joined_in_the_middle(rules: ShoppingRules, temper: str, seed: int) -> None:
    rng = random.Random(seed)
    env: Any = raw_env(**rules.to_json())
    seats = list(range(rules.num_players))
    out = rng.sample(seats, rng.randint(0, rules.num_players - 2))
    speaker = rng.choice([seat for seat in seats if seat not in out])
    options: dict[str, Any] = {"out": out, "speaker": speaker}
    env.reset(seed=seed)
    theme = env.theme
    env.reset(seed=seed, options=options)
    assert env.theme == theme  # a set-up takes nothing from the seed
    if rules.theme == "drawn":
        options["theme"] = rng.choice(themes())
    words = fitting_words(rules, options.get("theme", env.theme))[: rng.randrange(rules.num_letters)]
    options["words"] = [rng.choice(known) for known in words]
    env.reset(seed=seed, options=options)
    numbers = [rules.words(letter).index(word) for letter, word in enumerate(options["words"])]
    oracle = oracle_of(env.party, Start(numbers, speaker, out))
    compare(env.party, oracle)
    while not oracle.over:
        say_both(env.party, oracle, next_text(oracle, rules, temper, rng))


def play_env(env: ShoppingAECEnv, temper: str, rng: random.Random) -> None:
    """One game through the environment: turns, deaths and rewards as the oracle has them."""
    oracle = oracle_of(env.party)
    due_to = dict.fromkeys(env.possible_agents, 0.0)
    got = dict.fromkeys(env.possible_agents, 0.0)
    funerals: Counter[str] = Counter()
    for agent in env.agent_iter(max_iter=20_000):
        observation, reward, termination, truncation, _ = env.last()
        got[agent] += reward
        seat = int(agent.removeprefix("player_"))
        assert not truncation
        assert termination == (seat not in oracle.still_in or oracle.over)
        if termination:
            assert not observation["action_mask"].any()
            funerals[agent] += 1
            env.step(None)
            continue
        assert seat == oracle.turn
        assert observation["action_mask"].all()
        text = next_text(oracle, env.rules, temper, rng)
        assert text in env.legal_moves()
        env.step(env.move_index(text))
        said = env.party.said[-1]
        oracle.say(None if text == GIVE_UP else text, drawn=env.rules.move_text(said.letter, said.word))
        assert (said.new, said.right) == (oracle.was_new, oracle.right)
        for number, other in enumerate(env.possible_agents):
            due_to[other] += oracle.rewards[number]
            assert env.rewards.get(other, 0.0) == pytest.approx(oracle.rewards[number])
        assert (env.words, env.winners) == (oracle.bought, oracle.winners)
    assert oracle.over
    assert funerals == dict.fromkeys(env.possible_agents, 1)
    assert got == pytest.approx(due_to)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(rules=random_rules(), temper=st.sampled_from(list(TEMPERS)), seed=SEEDS)
def test_environments(rules: ShoppingRules, temper: str, seed: int) -> None:
    rng = random.Random(seed)
    env: Any = raw_env(**rules.to_json())
    env.reset(seed=seed)
    play_env(env, temper, rng)
    env.reset()
    play_env(env, temper, rng)


def test_every_ending_was_met() -> None:
    """The tempers above reach both ends of a game, and winners alone and together."""
    ends: Counter[tuple[bool, bool]] = Counter()
    for seed in range(60):
        rng = random.Random(seed)
        party = Party(ShoppingRules(num_players=4, num_letters=6))
        party.start(seed)
        oracle = oracle_of(party)
        while not oracle.over:
            say_both(party, oracle, next_text(oracle, party.rules, rng.choice(["good", "poor"]), rng))
        ends[len(oracle.bought) == 6, len(oracle.winners) > 1] += 1
    assert {(False, False), (True, True)} <= set(ends)
    assert (False, True) not in ends


@pytest.mark.parametrize("theme", [None, "drawn"])
def test_words_are_drawn_uniformly_whatever_is_said(theme: str | None) -> None:
    rules = ShoppingRules(2, 3, 4, theme, "drawn")
    counts: Counter[tuple[int, int]] = Counter()
    pairs: Counter[tuple[int, int]] = Counter()
    for seed in range(1600):
        party = Party(rules)
        party.start(seed)
        drawn: list[int] = []
        base = 0 if party.theme is None else rules.themes.index(party.theme) * 4
        for named in (seed % 4, 0):
            for known in drawn:
                party.say(known)
            other = party.copy()
            drawn.append(party.say(base + named).word)
            assert other.say(base + (named + 1) % 4).word == drawn[-1]
        places = [word - base for word in drawn]
        assert all(0 <= place < 4 for place in places)
        counts.update(enumerate(places))
        pairs[places[0], places[1]] += 1
    # chi-square beyond the 99.99 % point: 3 and 15 degrees of freedom
    for letter in range(2):
        assert sum((counts[letter, place] - 400) ** 2 / 400 for place in range(4)) < 21.1
    assert sum((pairs[a, b] - 100) ** 2 / 100 for a in range(4) for b in range(4)) < 44.3


@pytest.mark.parametrize("theme", [None, "drawn"])
def test_words_are_drawn_from_the_seed_whoever_errs(theme: str | None) -> None:
    """So that all policies meet the same list."""
    rules = ShoppingRules(5, 8, 4, theme, "drawn")
    lists = []
    for temper in ("steady", "good", "poor"):
        for seed in range(8):
            party = Party(rules)
            party.start(seed)
            oracle, rng = oracle_of(party), random.Random(seed)
            while not oracle.over:
                say_both(party, oracle, next_text(oracle, rules, temper, rng))
            lists.append(party.words())
    for seed, whole in enumerate(lists[:8]):
        assert all(lists[seed + more] == whole[: len(lists[seed + more])] for more in (8, 16))
    assert min(map(len, lists[:8])) == 8
    assert len({len(words) for words in lists}) > 2
    assert len(set(map(tuple, lists[:8]))) == 8
