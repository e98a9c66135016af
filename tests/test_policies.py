"""Scripted policies against naive ones, batches and what they hide, moves that do not depend on the batch."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from domino_env.encoding.kernels import observe_rows
from domino_env.engine import batch as engine
from domino_env.errors import CheckpointError, EmptyMaskError, PolicyError
from domino_env.notation.game import PlayedGame
from domino_env.policies import Batch, GreedyPolicy, Policy, RandomPolicy, decide, load_policy
from domino_env.rules import Rules
from domino_env.variants import VARIANTS
from tests.policy_cases import Positions, positions, random_checkpoint
from tests.strategies import preset_cases, preset_rules, whole_set

# ------------------------------------------------------------------------------------------------------- greedy, random


def naive_greedy(where: Positions, k: int) -> int:
    """The greedy move of game k, by trying every legal one."""
    rules, game = where.rules, where.games[k]
    tiles = whole_set(rules.max_pip)
    hand = [tile for i, tile in enumerate(tiles) if int(game["hands"][game["seat"]]) >> i & 1]
    mask = np.zeros(int(where.packed["num_actions"][0]), np.int8)
    engine.mask_of(where.games, k, where.packed, mask)
    draw, passing = len(mask) - 2, len(mask) - 1
    best = None
    for action in np.flatnonzero(mask).tolist():
        if action >= draw:
            continue
        places = rules.arms * len(tiles)
        pip = (action - places) % (rules.max_pip + 1)
        tile = tiles[action % len(tiles)] if action < places else (pip, pip)
        fellows = sum(1 for other in hand if other != tile and set(other) & set(tile))
        rank = (points_of(where, k, action), sum(tile), fellows, -action)
        if best is None or rank > best:
            best = rank
    if best is not None:
        return -best[3]
    return passing if mask[passing] else draw


def points_of(where: Positions, k: int, action: int) -> int:
    """What the play makes, going out aside."""
    trial = where.games[k : k + 1].copy()
    seat = int(trial["seat"][0])
    _, _, _, points, _ = engine.make_move(trial, 0, where.packed, action)
    went_out = where.games["first_out"][k] < 0 and trial["first_out"][0] == seat and where.rules.play_on
    return points - (where.rules.out_points if went_out else 0)


@pytest.mark.engine
@pytest.mark.parametrize(("variant", "num_players", "sides"), preset_cases())
def test_greedy_plays_like_a_naive_reading_of_its_rule(variant: str, num_players: int, sides: bool) -> None:
    where = positions(preset_rules(variant, sides), num_players, 57)
    expected = [naive_greedy(where, k) for k in range(57)]
    assert decide(GreedyPolicy(), where.batch()).tolist() == expected


def test_greedy_in_other_sets_of_tiles() -> None:
    for max_pip in (3, 9):
        where = positions(VARIANTS["all_fives"].replace(max_pip=max_pip, players=2, hand=4), 2, 57)
        expected = [naive_greedy(where, k) for k in range(57)]
        assert decide(GreedyPolicy(), where.batch()).tolist() == expected


def test_greedy_where_nothing_fits_draws_only_if_it_must() -> None:
    for variant, choice in (("draw", "draw"), ("lucky_threes", "pass"), ("block", "pass")):
        where = positions(variant, 2, 600)
        batch = where.batch()
        actions = decide(GreedyPolicy(), batch)
        stuck = ~batch.action_mask[:, :-2].any(axis=1)
        drawable = batch.action_mask[:, -2] == 1
        chosen = actions[stuck & (drawable if variant != "block" else stuck)]
        assert len(chosen) > 5
        assert set(chosen.tolist()) == {batch.action_mask.shape[1] - (2 if choice == "draw" else 1)}, variant
        assert not np.isin(actions[~stuck], batch.action_mask.shape[1] - np.array([1, 2])).any()


@pytest.mark.engine
def test_random_takes_the_move_that_random_play_in_the_engine_takes() -> None:
    where = positions("fives", 3, 57)
    actions = decide(RandomPolicy(), where.batch())
    expected = where.games.copy()
    engine.play_random(expected, where.packed, 1, np.zeros((57, int(where.packed["num_actions"][0])), np.int8), False)
    for k, action in enumerate(actions.tolist()):
        engine.make_move(where.games, k, where.packed, action)
    same_round = expected["deals"] == where.games["deals"]  # random play deals again by itself
    assert same_round.sum() > 40
    assert (expected["table"] == where.games["table"])[same_round].all()
    assert (expected["hands"] == where.games["hands"])[same_round].all()


def test_random_is_uniform() -> None:
    where = positions("block", 2, 1)  # the lead: seven tiles
    batch = where.batch(np.zeros(70_000, np.int64))
    bits = np.random.default_rng(5).integers(0, 2**64, 70_000, dtype=np.uint64)
    spread = Batch(batch.observation, batch.action_mask, batch.rows, bits, batch.seats, batch.packed, batch.rules, 2, where.games)
    counts = Counter(decide(RandomPolicy(), spread).tolist())
    assert sorted(counts) == np.flatnonzero(batch.action_mask[0]).tolist()
    chi_square = sum((count - 10_000) ** 2 / 10_000 for count in counts.values())
    assert chi_square < 22.5  # 6 degrees of freedom: passed by all but 1 in 1,000


# ------------------------------------------------------------------------------- moves depend on the position alone


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> list[Policy]:
    folder = tmp_path_factory.mktemp("checkpoints")
    relu = random_checkpoint(folder / "relu.safetensors")
    tanh = random_checkpoint(folder / "tanh.safetensors", activation="tanh", seed=1)
    return [load_policy(relu), load_policy(f"{relu}?sample=1"), load_policy(f"{tanh}?sample=1&temperature=0.3")]


def test_moves_do_not_depend_on_slot_or_batch_size(learned: list[Policy]) -> None:
    where = positions("bergen", 2, 1000)
    order = np.random.default_rng(1).permutation(1000)
    for policy in [RandomPolicy(), GreedyPolicy(), *learned]:
        whole = decide(policy, where.batch())
        for size in (1, 7, 64):
            for start in range(0, 1000 if size > 1 else 60, size):
                rows = order[start : start + size]
                assert decide(policy, where.batch(rows)).tolist() == whole[rows].tolist(), (policy, size)
        moved = Positions(where.rules, 2, where.games[order], where.packed)
        assert decide(policy, moved.batch()).tolist() == whole[order].tolist()


def test_logits_are_equal_to_the_last_bit_in_any_batch(learned: list[Any]) -> None:
    observation = positions("bergen", 2, 200).batch().observation
    for policy in learned:
        whole = policy.logits(observation)
        parts = [policy.logits(observation[k : k + 1]) for k in range(200)]
        assert np.concatenate(parts).tobytes() == whole.tobytes()


def test_sampling_follows_the_softmax_of_the_legal_logits(learned: list[Any], tmp_path: Path) -> None:
    where = positions("bergen", 2, 40)
    k = int(where.batch().action_mask.sum(axis=1).argmax())
    one = where.batch(np.full(40_000, k))
    bits = np.random.default_rng(6).integers(0, 2**64, 40_000, dtype=np.uint64)
    spread = Batch(one.observation, one.action_mask, one.rows, bits, one.seats, one.packed, one.rules, 2, where.games)
    legal = np.flatnonzero(one.action_mask[0])
    assert len(legal) >= 4
    for policy, temperature in ((learned[1], 1.0), (learned[2], 0.3)):
        logits = policy.logits(one.observation[:1])[0, legal] / temperature
        expected = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
        share = np.bincount(decide(policy, spread), minlength=one.action_mask.shape[1])[legal] / 40_000
        assert np.abs(share - expected).max() < 4 * (0.25 / 40_000) ** 0.5
        assert expected.max() - expected.min() > 0.05  # a uniform choice would fail


# ------------------------------------------------------------------------------------------------- what a seat sees


def redeal(where: Positions, seats: np.ndarray, generator: np.random.Generator) -> Positions:
    """Everything that ``seats[k]`` cannot know of game k changed at random: hidden tiles, chance, the others' moves to come."""
    games = where.games.copy()
    count = where.rules.num_tiles
    for k, seat in enumerate(seats.tolist()):
        game = games[k]
        known = int(game["hands"][seat]) | int(game["table"])
        hidden = generator.permutation([tile for tile in range(count) if not known >> tile & 1]).tolist()
        for other in range(where.num_players):
            if other != seat:
                game["hands"][other] = sum(1 << hidden.pop() for _ in range(game["hand_sizes"][other]))
        rest = [*hidden, *generator.permutation(count).tolist()]
        own = int(game["hands"][seat]) | int(game["played"][seat])
        first = where.num_players * where.rules.hand[where.num_players]
        for i in range(count):
            if not (first <= i < game["next_tile"] and own >> int(game["order"][i]) & 1):
                free = [tile for tile in rest if not (first <= i < game["next_tile"] and own >> tile & 1)]
                game["order"][i] = free[0]
        game["key"], game["deals"], game["moves"] = generator.integers(1, 2**31, 3)
        game["gain"][:] = generator.integers(-9, 9, 5)
        if seat != game["seat"]:
            for name in ("plays", "flats"):
                game[name][:] = generator.integers(0, 2**28, 4)
            for name in ("drawn_tile", "last_tile", "may_draw", "may_pass", "num_legal"):
                game[name] = generator.integers(0, 28)
        if seat != game["leader"] and game["table"] == 0:
            game["lead_tile"] = generator.integers(-1, 28)
    return Positions(where.rules, where.num_players, games, where.packed)


def seen_by(where: Positions, seats: np.ndarray) -> Any:
    """``seen`` of all games from these seats; masks are not asked for."""
    count = len(where.games)
    ones = np.ones((count, 1), np.int8)
    empty = np.zeros((count, 0), np.float32)
    rows, bits = np.arange(count), np.zeros(count, np.uint64)
    return Batch(empty, ones, rows, bits, seats, where.packed, where.rules, where.num_players, where.games).seen


@pytest.mark.engine
@pytest.mark.parametrize(("variant", "num_players"), [("draw", 3), ("lucky_threes", 2), ("all_fives", 4), ("bergen", 2), ("block", 2)])
def test_seen_carries_nothing_that_is_hidden(variant: str, num_players: int) -> None:
    where = positions(variant, num_players, 57, one_round=False)
    generator = np.random.default_rng(2)
    for distance in range(num_players):
        seats = (where.games["seat"].astype(np.int64) + distance) % num_players
        seen = seen_by(where, seats)
        other = redeal(where, seats, generator)
        assert other.games.tobytes() != where.games.tobytes()
        assert seen_by(other, seats).tobytes() == seen.tobytes()


@pytest.mark.engine
@pytest.mark.parametrize("variant", ["draw", "lucky_threes", "fives"])
def test_seen_tells_the_seat_on_turn_all_that_it_observes(variant: str) -> None:
    where = positions(variant, 2, 57, one_round=False)
    batch = where.batch()
    again = np.zeros_like(batch.observation)
    observe_rows(batch.seen.copy(), batch.rows, where.packed, batch.seats, again)
    assert again.tobytes() == batch.observation.tobytes()
    assert (batch.seen["plays"] == where.games["plays"]).all()
    with pytest.raises(ValueError, match="read-only"):
        batch.seen["score"][0] = 7


def test_seen_shows_a_seat_which_draws_were_its_own() -> None:
    game = PlayedGame(VARIANTS["draw"], 2, True)
    for seed in range(60):
        game.start(seed)
        while not game.over:
            where = Positions(game.rules, 2, game.games, game.packed)
            seat = game.seat
            drawn = [event for event in game.rounds[-1].events if event.tile >= 0]
            shown = [event.tile if event.seat == seat else -1 for event in drawn]
            order = where.batch().seen["order"][0].tolist()
            assert order == [-1] * 14 + shown + [-1] * (42 - len(shown))
            if len({event.seat for event in drawn}) == 2 and len(drawn) > 4:
                return
            game.make_move(int(np.flatnonzero(where.batch().action_mask[0])[0]))
    pytest.fail("no game with draws of both seats")


# ------------------------------------------------------------------------------------------------ masks and answers


def test_a_row_without_a_legal_action_is_named() -> None:
    where = positions("block", 2, 5)
    seats = where.games["seat"].astype(np.int64)
    seats[3] = 1 - seats[3]  # not on turn
    with pytest.raises(EmptyMaskError, match=r"row 3 \(game 3, seat [01]\): no action is legal"):
        where.batch(seats=seats)


class Answering:
    """Gives a fixed answer."""

    name = "odd one"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def act(self, batch: Batch) -> Any:
        return self.answer


def test_answers_that_cannot_be_used_are_refused() -> None:
    batch = positions("block", 2, 3).batch()
    good = batch.action_mask.argmax(axis=1)
    masked = int(np.flatnonzero(batch.action_mask[1] == 0)[0])
    for answer, message in (
        (good[:2], r"odd one: answer of shape \(2,\)"),
        (good.astype(float), "dtype float64"),
        (good > 0, "dtype bool"),
        (None, "dtype object"),
        ([good[0], -1, good[2]], "odd one: action -1 in game 1"),
        ([good[0], 999, good[2]], "action 999 in game 1"),
        ([good[0], masked, good[2]], rf"action {masked} in game 1, but the legal ones are \["),
    ):
        with pytest.raises(PolicyError, match=message):
            decide(Answering(answer), batch)
    assert decide(Answering(good.astype(np.int32).tolist()), batch).tolist() == good.tolist()


# ---------------------------------------------------------------------------------------------------------- loading


def test_policies_by_name_and_ready_made() -> None:
    assert isinstance(load_policy("random"), RandomPolicy)
    assert isinstance(load_policy("greedy", VARIANTS["draw"], 3), GreedyPolicy)
    mine = Answering([0])
    assert load_policy(mine) is mine


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gredy", "policy 'gredy', but known are random, greedy"),
        ("search:100", "the searches are search:pimc, search:ismcts"),
        ("random?sample=1", "takes no parameters"),
        (RandomPolicy, "an object with act"),
        (7, "policy 7"),
        (None, "policy None"),
    ],
)
def test_what_is_no_policy_is_refused(spec: Any, message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        load_policy(spec)


@pytest.mark.parametrize(
    "query",
    ["sample=2", "sample", "temperature=0.5", "sample=1&temperature=0", "sample=1&temperature=x", "sample=1&sample=1", "sample=1&temp=2"],
)
def test_parameters_that_cannot_be_used_are_refused(tmp_path: Path, query: str) -> None:
    path = random_checkpoint(tmp_path / "a.safetensors")
    with pytest.raises(PolicyError, match=r"sample|temperature|name=value"):
        load_policy(f"{path}?{query}")


def test_a_checkpoint_is_checked_against_the_game(tmp_path: Path) -> None:
    path = random_checkpoint(tmp_path / "a.safetensors", "bergen", 2)
    same = Rules.from_overrides(VARIANTS["bergen"], {"variant": "house_rules"})
    load_policy(path, same, 2)
    with pytest.raises(CheckpointError, match="made for 2 players, but this game has 3"):
        load_policy(path, VARIANTS["bergen"], 3)
    with pytest.raises(CheckpointError, match=f"{VARIANTS['bergen'].fingerprint()}.*draw.*{VARIANTS['draw'].fingerprint()}"):
        load_policy(path, VARIANTS["draw"], 2)
