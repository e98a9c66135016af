"""The search policies: honest, repeatable, legal everywhere, and better than greedy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from domino_env import Games, load_policy
from domino_env.arena import compare
from domino_env.encoding import Encoding
from domino_env.errors import PolicyError
from domino_env.notation.game import PlayedGame
from domino_env.policies import Batch, decide
from domino_env.policies.ismcts import ISMCTSPolicy
from domino_env.policies.pimc import PIMCPolicy
from domino_env.variants import VARIANTS
from domino_env.worlds import resample
from tests.test_search_worlds import decisions

SPECS = ("search:pimc?worlds=8", "search:pimc?worlds=4&depth=2&endgame=4", "search:ismcts?simulations=40")
SEATS = [(variant, seats) for variant, rules in VARIANTS.items() for seats in (2, max(rules.players))]


def batch_of(games: Games, rows: Any) -> Batch:
    return Batch.of_games(games.rows, np.array(rows), games.packed, games.rules, games.num_players, games.encoding)


def move_of(spec: str, game: PlayedGame) -> int:
    return int(decide(load_policy(spec), Batch.of_game(game, Encoding(game.rules, game.num_players)))[0])


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize(("variant", "seats"), SEATS)
def test_whole_games_of_every_variant(variant: str, seats: int, spec: str) -> None:
    """``decide`` refuses what is not legal; matches go on over their rounds."""
    policy = load_policy(spec, VARIANTS[variant], seats)
    games = Games(variant, 3, num_players=seats, seed=4, episode="match")
    for _ in range(15):
        games.step(decide(policy, batch_of(games, [0, 1, 2])))


@pytest.mark.parametrize("spec", SPECS)
def test_a_move_depends_on_nothing_but_the_game(spec: str) -> None:
    """Not on the slot, the batch, other games, or what the policy did before."""
    games = Games("threes", 6, num_players=3, seed=1, skip_forced=True)
    rng = np.random.default_rng(0)
    old = load_policy(spec)
    for _ in range(12):
        together = decide(old, batch_of(games, range(6)))
        backwards = decide(load_policy(spec), batch_of(games, range(5, -1, -1)))[::-1]
        alone = [int(decide(old, batch_of(games, [row]))[0]) for row in range(6)]
        assert together.tolist() == backwards.tolist() == alone
        games.step(np.array([rng.choice(np.flatnonzero(mask)) for mask in games.action_mask]))


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_true_hidden_tiles_never_change_a_move(variant: str, spec: str) -> None:
    seats = 3
    differ = 0
    for seed in range(3):
        for number, game in enumerate(decisions(VARIANTS[variant], seats, seed)):
            if number % 5 != 1:
                continue
            other = resample(game, game.seat, seed + 1, False)
            other.games["key"] = game.games["key"]  # the bits of the decision
            differ += bool((other.games["hands"] != game.games["hands"]).any())
            assert move_of(spec, game) == move_of(spec, other)
    assert differ > 2


def test_other_bits_may_choose_otherwise() -> None:
    """A search of few worlds hangs on which they are."""
    found = set()
    game = next(game for game in decisions(VARIANTS["all_fives"], 2, 3) if game.num_legal > 4)
    for key in range(40):
        game.games["key"] = key
        found.add(move_of("search:pimc?worlds=1", game))
    assert len(found) > 1


PIMC, ISMCTS = "search:pimc?worlds=32", "search:ismcts?simulations=200"
FAST = [(PIMC, name) for name in VARIANTS if name != "lucky_threes"] + [(ISMCTS, name) for name in ("bergen", "draw", "block")]
SLOW = [(ISMCTS, name) for name in ("fives_and_threes", "bergen_classic", "fives", "threes", "all_fives")]


@pytest.mark.parametrize(("spec", "variant"), [*FAST, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW)])
def test_a_search_beats_greedy(spec: str, variant: str) -> None:
    """Its whole 95 % interval lies above 0; docs/strength.md has the figures."""
    assert compare({"search": spec, "greedy": "greedy"}, variant, deals=250, seed=3, rating=False).pairs[0].points.low > 0


@pytest.mark.parametrize("spec", ["search:pimc?worlds=16", pytest.param("search:ismcts?simulations=100", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("variant", "seats"), [("bergen", 4), ("fives_and_threes", 5), ("all_fives", 4)])
def test_a_search_beats_greedy_with_more_seats(variant: str, seats: int, spec: str) -> None:
    found = compare({"search": spec, "greedy": "greedy"}, variant, num_players=seats, deals=120, seed=3, rating=False)
    assert found.pairs[0].points.low > 0


def last_choice(hands: list[list[str]], boneyard: list[str]) -> PlayedGame:
    from domino_env.envs.aec import DominoAECEnv

    env = DominoAECEnv("block", episode="round", rules={"hand": {2: len(hands[0])}, "players": [2], "max_pip": 3})
    env.reset(seed=0, options={"hands": hands, "boneyard": boneyard, "leader": 0})
    return env.game


@pytest.mark.parametrize("spec", ["search:pimc?worlds=1&depth=8", "search:pimc?worlds=5&endgame=10", "search:ismcts?simulations=2000"])
def test_a_won_endgame_is_won(spec: str) -> None:
    """With every tile known, the lead that leaves the other stuck wins; greedy leads its heaviest tile and loses pips."""
    # all ten tiles are dealt: seat 0 can deduce the whole of the other hand
    game = last_choice([["0-0", "0-1", "0-2", "0-3", "3-3"], ["1-1", "1-2", "1-3", "2-2", "2-3"]], [])
    best = {}
    for action in game.legal_actions():
        other = game.copy()
        other.make_move(action)
        best[action] = solve(other, 0)
    values = sorted(set(best.values()))
    assert len(values) > 1, "a position where every move is as good as another shows nothing"
    assert best[move_of(spec, game)] == values[-1]


def solve(game: PlayedGame, seat: int) -> float:
    """The margin of ``seat`` under best play of both, by trying everything."""
    if game.over:
        return float(game.scores()[seat] - game.scores()[1 - seat])
    found = []
    for action in game.legal_actions():
        other = game.copy()
        other.make_move(action)
        found.append(solve(other, seat))
    return max(found) if game.seat == seat else min(found)


def test_an_endgame_with_draws_at_will_comes_to_an_end() -> None:
    """Alpha-beta to the end of these rounds would look at more positions than anybody can wait for; the work for a decision is bounded."""
    rules = {"hand": 2, "reserve": 0, "draw_limit": 0, "players": [2]}
    for seed in range(3):
        games = Games("threes", 1, seed=seed, rules=rules, skip_forced=True)
        games.step(decide(load_policy("search:pimc?worlds=1&endgame=12"), batch_of(games, [0])))


def test_numbers_of_numpy_are_numbers() -> None:
    assert PIMCPolicy(np.int64(8), np.int8(2), np.uint8(3)).name == "search:pimc?worlds=8&depth=2&endgame=3"
    assert ISMCTSPolicy(np.int32(9), np.float32(0.5)).name == "search:ismcts?simulations=9&exploration=0.5"
    assert ISMCTSPolicy(9, np.int64(1)).name == "search:ismcts?simulations=9&exploration=1"


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("search", "the searches are"),
        ("search:", "the searches are"),
        ("search:minimax", "the searches are"),
        ("search:pimc?worlds=0", "worlds=0"),
        ("search:pimc?worlds=65537", "worlds=65537"),
        ("search:pimc?worlds=x", "worlds=x, but it is a whole number"),
        ("search:pimc?worlds=8.5", "worlds=8.5, but it is a whole number"),
        (f"search:pimc?worlds={'9' * 5000}", r"worlds=9{40}\.\.\., but"),
        ("search:ismcts?exploration=much", "exploration=much, but it is a number"),
        ("search:pimc?worlds=8&worlds=9", "each once"),
        ("search:pimc?depth=-1", "depth=-1"),
        ("search:pimc?simulations=8", "worlds, depth, endgame"),
        ("search:pimc?endgame=13", "endgame=13"),
        ("search:ismcts?simulations=0", "simulations=0"),
        ("search:ismcts?exploration=-1", "exploration=-1"),
        ("search:ismcts?exploration=nan", "exploration=nan"),
        ("search:ismcts?simulations", "name=value"),
    ],
)
def test_wrong_specs(spec: str, words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        load_policy(spec)


def test_names_and_defaults() -> None:
    assert load_policy("search:pimc").name == "search:pimc?worlds=64"  # type: ignore[attr-defined]
    assert load_policy("search:ismcts").name == "search:ismcts?simulations=1000"  # type: ignore[attr-defined]
    for spec in SPECS:
        assert load_policy(spec).name == spec  # type: ignore[attr-defined]
    with pytest.raises(PolicyError, match="worlds=True"):
        PIMCPolicy(True)
