"""What must hold after every move of every game, that each of it can fail, and that rounds end (PAINS rows 5, 7, 21 and 23)."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest

from domino_env.engine import batch
from domino_env.engine._jit import kernel
from domino_env.engine.deal import next_round, start_game
from domino_env.engine.invariants import INVARIANTS, broken, broken_in, broken_names, most_moves
from domino_env.engine.legal import nth_legal
from domino_env.engine.packed import pack_rules
from domino_env.engine.rng import below, decision_bits
from domino_env.engine.state import BLOCKED, GAME, GAME_OVER, NONE, ROUND_OVER, new_games
from domino_env.engine.step import step
from domino_env.envs.aec import raw_env
from domino_env.notation.game import PlayedGame
from domino_env.rules import Rules
from domino_env.variants import VARIANTS

pytestmark = pytest.mark.engine

CASES = [(variant, seats, False) for variant, rules in VARIANTS.items() for seats in rules.players]
CASES += [(variant, 4, True) for variant in VARIANTS]
EPISODES = ("round", "match")
INTERPRETED = (1, 80)
OTHER_SETS = [("draw", 2, 2), ("all_fives", 3, 3), ("lucky_threes", 4, 4), ("bergen", 3, 5), ("block", 2, 7), ("threes", 2, 8)]
OTHER_SETS += [("fives", 4, 9), ("fives_and_threes", 5, 9), ("bergen_classic", 2, 9)]


def rules_of(variant: str, sides: bool) -> Rules:
    return VARIANTS[variant].replace(sides=True, players=4) if sides else VARIANTS[variant]


@kernel
def watch(games: Any, rules: Any, num_moves: Any, result: Any) -> None:
    """Random moves in every game. ``result``: flags ever broken, rounds ended, moves of the longest round, games over."""
    table = rules[0]
    for i in range(len(games)):
        game = games[i]
        start_game(game, table)
        in_round = 0
        for _ in range(num_moves):
            step(game, table, nth_legal(game, table, below(decision_bits(game.key, game.moves), game.num_legal)))
            in_round += 1
            result[0] |= broken(game, table)
            result[2] = max(result[2], in_round)
            if game.phase == ROUND_OVER:
                next_round(game, table)
            elif game.phase == GAME_OVER:
                start_game(game, table)
                result[3] += 1
            else:
                continue
            result[0] |= broken(game, table)
            result[1] += 1
            in_round = 0


def watched(rules: Rules, num_players: int, episode: str, num_games: int, num_moves: int) -> tuple[list[str], int, int, int, int]:
    """Broken invariants, rounds, longest round, games over, and the bound of a round."""
    packed = pack_rules(rules, num_players, episode == "round")
    games = new_games(num_games)
    batch.start(games, np.arange(num_games), packed, np.arange(1000, 1000 + num_games, dtype=np.uint64))
    result = np.zeros(4, np.int64)
    watch(games, packed, num_moves, result)
    return broken_names(int(result[0])), int(result[1]), int(result[2]), int(result[3]), most_moves(packed)


@pytest.mark.parametrize("episode", EPISODES)
@pytest.mark.parametrize(("variant", "num_players", "sides"), CASES)
def test_all_holds_after_every_move(variant: str, num_players: int, sides: bool, episode: str, workload: tuple[int, int]) -> None:
    faults, rounds, longest, over, bound = watched(rules_of(variant, sides), num_players, episode, *workload)
    assert faults == []
    assert rounds >= workload[0] * (workload[1] // bound)
    assert longest <= bound
    assert workload == INTERPRETED or 0 < over <= rounds
    if episode == "round":
        assert over == rounds


@pytest.fixture
def workload() -> tuple[int, int]:
    """Games and moves of each: few where kernels are interpreted."""
    return INTERPRETED if numba.config.DISABLE_JIT else (30, 500)


@pytest.mark.parametrize(("variant", "num_players", "max_pip"), OTHER_SETS)
def test_all_holds_with_other_sets(variant: str, num_players: int, max_pip: int, workload: tuple[int, int]) -> None:
    size = min(VARIANTS[variant].hand[num_players], (max_pip + 1) * (max_pip + 2) // 2 // num_players)
    rules = VARIANTS[variant].replace(players=num_players, max_pip=max_pip, hand=size)
    faults, rounds, longest, _, bound = watched(rules, num_players, "match", *workload)
    assert (faults, rounds > 0, longest <= bound) == ([], True, True)


def test_bound_is_as_stated() -> None:
    """(tiles dealt + twice the tiles to draw) times (players + 2)."""
    assert most_moves(pack_rules(VARIANTS["block"], 2, True)) == 14 * 4
    assert most_moves(pack_rules(VARIANTS["bergen"], 4, True)) == (20 + 2 * 6) * 6
    assert most_moves(pack_rules(VARIANTS["lucky_threes"], 2, False)) == (12 + 2 * 14) * 4


# Every invariant can fail


def played(rules: Rules, num_players: int, seed: int, moves: int) -> PlayedGame:
    """A match some moves in, its round still open."""
    game = PlayedGame(rules, num_players, one_round=False)
    game.start(seed)
    for _ in range(moves):
        game.make_move(game.legal_actions()[0])
    return game


def spoil(row: Any, **fields: Any) -> None:
    for name, value in fields.items():
        row[name] = value


def swap_dealt_tiles(row: Any) -> None:
    first, second = (int(row.hands[seat]) & -int(row.hands[seat]) for seat in (0, 1))
    row.hands[0] += second - first
    row.hands[1] += first - second


def nothing_legal(row: Any) -> None:
    row.plays[:], row.flats[:] = 0, 0
    spoil(row, may_draw=0, may_pass=0, num_legal=0)


def add(row: Any, field: str, k: int, value: int) -> None:
    row[field][k] += value


DAMAGES: dict[str, Callable[[Any], None]] = {
    "range": lambda row: spoil(row, seat=3),
    "order": lambda row: add(row, "order", 0, int(row.order[1] - row.order[0])),
    "tiles": lambda row: spoil(row, table=row.table | row.hands[0]),
    "pips": lambda row: add(row, "hands", 0, -int(row.hands[0])),
    "owners": swap_dealt_tiles,
    "hand_sizes": lambda row: add(row, "hand_sizes", 1, 1),
    "table": lambda row: add(row, "played", int(row.leader), 1 << 27 if not row.table >> 27 & 1 else -(1 << 27)),
    "strangers": lambda row: add(row, "score", 4, 1),
    "boneyard": lambda row: spoil(row, next_tile=28),
    "arms": lambda row: add(row, "arm_tiles", 0, 1),
    "joins": lambda row: add(row, "arm_pip", 0, 1 if row.arm_pip[0] < 6 else -1),
    "counts": lambda row: add(row, "arm_count", 1, 1),
    "spinner": lambda row: spoil(row, spinner=NONE if row.spinner >= 0 else 0),
    "draws": lambda row: spoil(row, draws=99),
    "drawn_tile": lambda row: spoil(row, drawn_tile=int(row.order[27])),
    "voids": lambda row: row.voids.__setitem__(slice(0, 3), 127),
    "choice": nothing_legal,
    "legal": lambda row: spoil(row, may_pass=1 - row.may_pass, num_legal=row.num_legal + 1 - 2 * row.may_pass),
    "num_legal": lambda row: spoil(row, num_legal=row.num_legal + 1),
    "course": lambda row: spoil(row, phase=ROUND_OVER, end=BLOCKED),
    "target": lambda row: add(row, "score", 0, 500),
    "winners": lambda row: spoil(row, winners=1),
}
"""A damage for each invariant, done to a game of ``all_fives`` with three seats."""


def test_every_invariant_has_a_damage() -> None:
    assert [*DAMAGES, "sides"] == list(INVARIANTS)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_seen(name: str, seed: int) -> None:
    game = played(VARIANTS["all_fives"], 3, seed, 7)
    assert broken_in(game.games, 0, game.packed) == 0
    DAMAGES[name](game.row)
    assert name in broken_names(broken_in(game.games, 0, game.packed))


@pytest.mark.parametrize("field", ["score", "start_score"])
def test_partners_apart_are_seen(field: str) -> None:
    game = played(rules_of("fives", True), 4, 0, 5)
    assert broken_in(game.games, 0, game.packed) == 0
    add(game.row, field, 2, 1)
    assert broken_names(broken_in(game.games, 0, game.packed)) == ["sides"]


def test_two_double_blanks_are_seen() -> None:
    """PAINS 23."""
    game = played(VARIANTS["draw"], 2, 4, 3)
    game.row.order[26:28] = 0
    assert "order" in broken_names(broken_in(game.games, 0, game.packed))


# Masks, rewards, many rounds


@pytest.mark.parametrize(("variant", "num_players", "sides"), CASES)
def test_mask_is_one_exactly_where_the_move_can_be_made(variant: str, num_players: int, sides: bool) -> None:
    rng = random.Random(variant)
    game = PlayedGame(rules_of(variant, sides), num_players, one_round=False)
    game.start(num_players)
    mask = np.zeros(game.num_actions, np.int8)
    for _ in range(40):
        before = game.games.tobytes()
        batch.mask_of(game.games, 0, game.packed, mask)
        assert set(mask.tolist()) <= {0, 1}
        assert mask.sum() == game.num_legal > 0
        for action in range(-1, game.num_actions + 1):
            twin = np.frombuffer(bytearray(before), GAME)
            phase = batch.make_move(twin, 0, game.packed, action)[0]
            if 0 <= action < game.num_actions and mask[action]:
                assert phase >= 0
                assert broken_in(twin, 0, game.packed) == 0
                assert twin.tobytes() != before
            else:
                assert phase == -1
                assert twin.tobytes() == before
        game.make_move(rng.choice(game.legal_actions()))
        game.deal_if_due()
        if game.over:
            assert game.legal_actions() == []
            game.start_again()


@pytest.mark.parametrize("reward", ["points", "win"])
@pytest.mark.parametrize("episode", EPISODES)
@pytest.mark.parametrize(("variant", "num_players", "sides"), CASES)
def test_rewards_sum_to_zero(variant: str, num_players: int, sides: bool, episode: str, reward: str) -> None:
    rng = random.Random(7)
    env = raw_env(variant, num_players=num_players, episode=episode, reward=reward, rules=rules_of(variant, sides))
    env.reset(seed=num_players)
    some = 0.0
    while not env.game.over:
        assert env.legal_moves()
        env.step(rng.choice(env.game.legal_actions()))
        assert sum(env.rewards.values()) == pytest.approx(0.0, abs=1e-12)
        some += sum(abs(value) for value in env.rewards.values())
    if episode == "match":
        assert some > 0.0


@pytest.mark.parametrize(("variant", "num_players", "sides"), CASES)
def test_a_game_played_again_and_again_is_as_a_fresh_one(variant: str, num_players: int, sides: bool) -> None:
    """PAINS 21: nothing of a game, a pass counter least of all, survives into the next one on the same object."""
    rng = random.Random(1)
    rules = rules_of(variant, sides)
    old = PlayedGame(rules, num_players, one_round=True)
    for seed in range(12):
        fresh = PlayedGame(rules, num_players, one_round=True)
        for game in (old, fresh):
            game.start(seed)
        while not fresh.over:
            action = rng.choice(fresh.legal_actions())
            assert old.legal_actions() == fresh.legal_actions()
            for game in (old, fresh):
                game.make_move(action)
        assert [name for name in GAME.names or () if old.row[name].tolist() != fresh.row[name].tolist()] == []
        assert old.rounds == fresh.rounds
        assert len(fresh.rounds[0].events) <= most_moves(fresh.packed)
