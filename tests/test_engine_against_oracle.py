"""The engine beside the naive oracle, move by move, on random rules, deals and play.

The engine is reached only through the environment; the oracle (``tests/oracle``) is written from RULES.md and shares nothing with it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domino_env.envs.aec import raw_env
from domino_env.errors import DominoError
from domino_env.rule_terms import NextLeader, Opening
from domino_env.rules import Rules
from tests.oracle import OracleGame, tile_text
from tests.strategies import deal, preset_cases, preset_rules, random_rules, rules_and_seats, whole_set

EPISODES = ("round", "match")
PRESET_CASES = preset_cases()
SLOW_ROUNDS = 300
SLOW_RULES = 800
MOST_MOVES = 500
SEEDS = st.integers(0, 2**32 - 1)

Tile = tuple[int, int]
Tempers = dict[str, Callable[[str], bool]]
TEMPERS: Tempers = {
    "any": lambda move: True,
    "draws": lambda move: move == "draw",
    "plays": lambda move: move not in ("draw", "pass"),
    "passes": lambda move: move == "pass",
    "doubles": lambda move: move[0] == move[2:3],
    "short sides": lambda move: "@up" in move or "@down" in move,
}
"""What a player likes best; it moves at random among those moves, or among all where there is none."""


def choose(moves: list[str], temper: str, rng: random.Random) -> str:
    """A legal move, nine times in ten of the kind that the temper likes."""
    liked = [move for move in moves if TEMPERS[temper](move)]
    return rng.choice(liked if liked and rng.random() < 0.9 else moves)


def tiles_of(texts: list[str]) -> list[Tile]:
    """Tiles of a record."""
    return [(int(text[0]), int(text[2])) for text in texts]


def opening_decides(rules: Rules, first_round: bool) -> bool:
    """The hands say who leads this round."""
    return rules.opening == Opening.LOWEST_DOUBLE and (first_round or rules.next_leader == NextLeader.OPENING)


class Beside:
    """One environment and one oracle at the same game."""

    def __init__(self, env: Any, rules: Rules, num_players: int, episode: str) -> None:
        self.env, self.rules, self.num_players, self.episode = env, rules, num_players, episode

    def play(self, seed: int, temper: str, most_rounds: int, options: dict[str, Any] | None = None) -> int:
        """Reset with the seed, play until it is over or so many rounds are done; returns the finished rounds."""
        rng = random.Random(seed)
        self.trail: list[str] = [f"{self.rules.variant} {self.num_players} {self.episode} seed={seed} options={options}"]
        self.env.reset(seed=seed, options=options)
        self.oracle = OracleGame(self.rules, self.num_players, self.episode)
        self.start_round(0, None if options is None else options.get("scores"))
        finished = 0
        while True:
            self.play_round(temper, rng)
            finished += 1
            self.check_finished_round(finished - 1)
            if self.oracle.match_over:
                self.agree("legal moves when all is over", list(self.env.legal_moves()), [])
                self.agree("winners", sorted(self.env.winners), self.oracle.winners)
                return finished
            self.agree("winners", list(self.env.winners), [])
            due = self.oracle.next_leader
            self.start_round(finished, None)
            if due is not None:
                self.agree("leader of the next round", self.env.leader, due)
            if finished >= most_rounds:
                return finished

    def agree(self, what: str, engine: object, oracle: object) -> None:
        """Fail with the whole story where the two differ."""
        if engine != oracle:
            changed = self.rules.to_json()
            pytest.fail(f"{what}: engine {engine!r}, oracle {oracle!r}\n{changed}\n" + "\n".join(self.trail))

    def start_round(self, number: int, scores: list[int] | None) -> None:
        """Give the oracle the deal that the environment made, and look at the deal itself."""
        record = self.env.record()["rounds"]
        self.agree("rounds in the record", len(record), number + 1)
        hands, boneyard = [tiles_of(hand) for hand in record[number]["hands"]], tiles_of(record[number]["boneyard"])
        self.trail.append(f"round {number}: hands={record[number]['hands']} boneyard={record[number]['boneyard']}")
        self.agree("tiles dealt", sorted(sum(hands, boneyard)), sorted(whole_set(self.rules.max_pip)))
        self.agree("hand sizes", [len(hand) for hand in hands], [self.rules.hand[self.num_players]] * self.num_players)
        self.agree("an open round has no end", "end" in record[number], False)
        leader = None if opening_decides(self.rules, number == 0) else self.env.leader
        self.oracle.start(hands, boneyard, leader=leader, scores=scores, first_round=number == 0)
        self.agree("leader", self.env.leader, self.oracle.leader)
        self.agree("leader in the record", record[number]["leader"], self.oracle.leader)
        self.agree("scores", list(self.env.scores), self.oracle.scores)
        self.agree("round", self.env.round_index, number)

    def play_round(self, temper: str, rng: random.Random) -> None:
        """Random moves to the end of the round."""
        for _ in range(MOST_MOVES):
            moves = sorted(self.oracle.legal_moves())
            self.agree("seat on turn", self.env.agent_selection, f"player_{self.oracle.turn}")
            self.agree("legal moves", sorted(self.env.legal_moves()), moves)
            move = choose(moves, temper, rng)
            self.trail.append(f"  seat {self.oracle.turn} {move}")
            self.env.step(self.env.move_index(move))
            self.oracle.play(move)
            self.agree("scores", list(self.env.scores), self.oracle.scores)
            if self.oracle.end is not None:
                return
        pytest.fail(f"no end after {MOST_MOVES} moves\n" + "\n".join(self.trail))

    def check_finished_round(self, number: int) -> None:
        """The record of the round: every event, the end, the bonus, the scores."""
        record = self.env.record()["rounds"][number]
        self.agree("end", record.get("end"), self.oracle.end)
        self.agree("bonus", list(record["bonus"]), self.oracle.bonus)
        self.agree("scores in the record", list(record["scores"]), self.oracle.scores)
        self.agree("events", record["events"], self.oracle.events)


def make(rules: Rules, num_players: int, episode: str) -> Beside:
    """The environment of these rules beside a fresh oracle."""
    return Beside(raw_env(rules.variant, num_players=num_players, episode=episode, rules=rules), rules, num_players, episode)


def random_options(rules: Rules, num_players: int, rng: random.Random) -> dict[str, Any]:
    """A deal, a leader who may lead and scores below the target."""
    hands, boneyard = deal(rng, rules, num_players)
    options: dict[str, Any] = {
        "hands": [[tile_text(tile) for tile in hand] for hand in hands],
        "boneyard": [tile_text(tile) for tile in boneyard],
    }
    if not opening_decides(rules, first_round=True):
        options["leader"] = rng.randrange(num_players)
    scores = [rng.randrange(rules.target[num_players]) for _ in range(num_players)]
    options["scores"] = scores[:2] * 2 if rules.sides else scores
    return options


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
@given(case=rules_and_seats(), episode=st.sampled_from(EPISODES), temper=st.sampled_from(list(TEMPERS)), seed=SEEDS)
def test_random_rules(case: tuple[Rules, int], episode: str, temper: str, seed: int) -> None:
    rules, num_players = case
    make(rules, num_players, episode).play(seed, temper, most_rounds=3)


@pytest.mark.engine
@settings(derandomize=True, deadline=None, max_examples=60)
@given(case=rules_and_seats(), episode=st.sampled_from(EPISODES), temper=st.sampled_from(list(TEMPERS)), seed=SEEDS)
def test_given_deals(case: tuple[Rules, int], episode: str, temper: str, seed: int) -> None:
    rules, num_players = case
    options = random_options(rules, num_players, random.Random(seed))
    beside = make(rules, num_players, episode)
    beside.play(seed, temper, most_rounds=2, options=options)
    dealt = beside.env.record()["rounds"][0]
    assert (dealt["hands"], dealt["boneyard"]) == (options["hands"], options["boneyard"])
    assert dealt["leader"] == options.get("leader", dealt["leader"])


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
        rounds += beside.play(seed, tempers[seed % len(tempers)], most_rounds=SLOW_ROUNDS)
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
                options = random_options(rules, num_players, rng) if rng.random() < 0.3 else None
                beside.play(rng.randrange(2**32), temper, most_rounds=4, options=options)


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=1000)
@given(case=rules_and_seats(), episode=st.sampled_from(EPISODES), temper=st.sampled_from(list(TEMPERS)), seed=SEEDS)
def test_many_rules_of_hypothesis(case: tuple[Rules, int], episode: str, temper: str, seed: int) -> None:
    rules, num_players = case
    make(rules, num_players, episode).play(seed, temper, most_rounds=6)
