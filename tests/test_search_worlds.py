"""Worlds drawn by the engine for the seat on turn: whole, in agreement with all that was seen, and uniform."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from domino_env.engine.invariants import broken_in
from domino_env.engine.state import GAME, LOG, LOG_HIT, LOG_SEAT, new_games
from domino_env.engine.worlds import draw_worlds, list_worlds, scratch
from domino_env.errors import RulesError
from domino_env.notation.game import PlayedGame
from domino_env.policies.concealing import seen_rows
from domino_env.rules import Rules
from domino_env.variants import VARIANTS
from domino_env.worlds.assignments import Assignments
from domino_env.worlds.redeal import _before_deal, _deal, _shows_the_same
from domino_env.worlds.seen import possible_places

SEATS = [(variant, seats) for variant, rules in VARIANTS.items() for seats in rules.players]
SMALL = ((2, 2), (3, 2), (3, 3))
"""Highest pip and hand."""
MOST_WAYS = 3_000
DRAWN = 1_500


def seen_by_mover(game: PlayedGame) -> Any:
    return seen_rows(game.games, np.zeros(1, np.int64), np.array([game.seat]), game.packed)


def worlds_of(game: PlayedGame, count: int, bits: int = 1) -> tuple[Any, int]:
    out = np.zeros(count, GAME)
    return out, draw_worlds(seen_by_mover(game), 0, game.packed, np.uint64(bits), out, *scratch())


def decisions(rules: Rules, seats: int, seed: int) -> Iterator[PlayedGame]:
    """A round of random play, stopped at every decision."""
    rng = np.random.default_rng(seed)
    game = PlayedGame(rules, seats, True)
    game.start(seed)
    while not game.over:
        if game.num_legal > 1:
            yield game
        game.make_move(int(rng.choice(game.legal_actions())))


def hidden_of(row: Any, game: PlayedGame) -> tuple[int, ...]:
    """The hands, and the boneyard as a set."""
    boneyard = sum(1 << int(tile) for tile in row["order"][int(row["next_tile"]) : game.rules.num_tiles])
    return (*(int(hand) for hand in row["hands"][: game.num_players]), boneyard)


def all_ways(game: PlayedGame) -> Counter[tuple[int, ...]] | None:
    """Every deal that agrees with what the mover has seen, played again move by move, counted by what is hidden now."""
    before = _before_deal(game)
    cases = [Assignments(case) for case in possible_places(game, game.seat, _deal(game, before, game.rounds[-1].order))]
    if not 1 < sum(case.total for case in cases) <= MOST_WAYS:
        return None
    found: Counter[tuple[int, ...]] = Counter()
    for case in cases:
        for number in range(case.total):
            other = _deal(game, before, case.way(number))
            if _shows_the_same(game, other, game.seat, False):
                found[hidden_of(other.games[0], game)] += 1
    return found


@pytest.mark.parametrize(("variant", "seats"), SEATS)
def test_worlds_are_drawn_uniformly(variant: str, seats: int) -> None:
    """Chi-square against all deals, on double-two and double-three sets."""
    tested = 0
    for max_pip, hand in SMALL:
        if seats * hand > {2: 5, 3: 9}[max_pip]:
            continue
        try:
            rules = Rules.from_overrides(VARIANTS[variant], {"max_pip": max_pip, "hand": {seats: hand}, "players": [seats], "reserve": 0})
        except RulesError:
            continue
        for seed in range(6):
            for number, game in enumerate(decisions(rules, seats, seed)):
                expected = all_ways(game) if number >= seed % 3 else None
                if expected is None or len(expected) < 2:
                    continue
                worlds, exact = worlds_of(game, DRAWN, seed)
                found = Counter(hidden_of(row, game) for row in worlds)
                assert exact == 1
                assert set(found) <= set(expected), "a world that is not possible"
                total = sum(expected.values())
                chi = sum((found[key] - DRAWN * ways / total) ** 2 / (DRAWN * ways / total) for key, ways in expected.items())
                degrees = len(expected) - 1
                assert chi < degrees + 6 * np.sqrt(2 * degrees) + 6
                tested += 1
                break
    assert tested > 0 or (variant, seats) == ("fives_and_threes", 5)


@pytest.mark.parametrize("variant", VARIANTS)
def test_all_worlds_are_listed_with_their_weights(variant: str) -> None:
    """Where they fit: each as likely as the deals that lead to it; where they do not, draws of equal weight."""
    rules = Rules.from_overrides(VARIANTS[variant], {"max_pip": 2, "hand": 2, "players": [2], "reserve": 0})
    tested = 0
    for seed in range(8):
        for game in decisions(rules, 2, seed):
            expected = all_ways(game)
            if expected is None:
                continue
            for room in (len(expected) * 5 + 3, 400):
                worlds, weights = np.zeros(room, GAME), np.zeros(room)
                count = list_worlds(seen_by_mover(game), 0, game.packed, np.uint64(seed), worlds, weights, *scratch())
                found: Counter[tuple[int, ...]] = Counter()
                for world, weight in zip(worlds[:count], weights[:count], strict=True):
                    found[hidden_of(world, game)] += weight  # type: ignore[assignment]
                assert set(found) == set(expected)
                shares = {key: weight / sum(found.values()) for key, weight in found.items()}
                assert shares == pytest.approx({key: ways / sum(expected.values()) for key, ways in expected.items()})
                tested += 1
            if len(expected) > 2:
                weights = np.zeros(2)
                assert list_worlds(seen_by_mover(game), 0, game.packed, np.uint64(1), new_games(2), weights, *scratch()) == 2
                assert weights.tolist() == [1.0, 1.0]
    assert tested > 4


@pytest.mark.engine
@pytest.mark.parametrize(("variant", "seats"), SEATS)
def test_worlds_are_whole_and_play_on(variant: str, seats: int) -> None:
    """Own tiles, table, sizes and moves are those of the game; a world is played to its end on the engine."""
    rng = np.random.default_rng(5)
    seen = 0
    for seed in range(2):
        for number, game in enumerate(decisions(VARIANTS[variant], seats, seed)):
            if number % 3 != seed:
                continue
            worlds, exact = worlds_of(game, 2, seed)
            assert exact == 1
            row = game.games[0]
            for world in worlds:
                whole = int(row["table"])
                for seat in range(seats):
                    hand = int(world["hands"][seat])
                    assert hand.bit_count() == row["hand_sizes"][seat]
                    assert hand & whole == 0
                    whole |= hand
                boneyard = hidden_of(world, game)[-1]
                assert whole & boneyard == 0
                assert whole | boneyard == (1 << game.rules.num_tiles) - 1
                assert world["hands"][game.seat] == row["hands"][game.seat]
            seen += 1
            other = game.copy()
            other.games[:] = worlds[:1]
            while not other.over:
                other.make_move(int(rng.choice(other.legal_actions())))
    assert seen > 2


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_true_tiles_do_not_matter(variant: str) -> None:
    """Two games that the mover cannot tell apart give the same worlds; other bits give others."""
    from domino_env.worlds import resample

    differ = 0
    for seed in range(4):
        for number, game in enumerate(decisions(VARIANTS[variant], 3, seed)):
            if number % 4 != 2:
                continue
            other = resample(game, game.seat, seed, False)
            one, two = worlds_of(game, 8, 7)[0], worlds_of(other, 8, 7)[0]
            assert one.tobytes() == two.tobytes()
            differ += hidden_of(game.games[0], game) != hidden_of(other.games[0], game)
            assert worlds_of(game, 8, 8)[0].tobytes() != one.tobytes()
    assert differ > 3


@pytest.mark.engine
@pytest.mark.parametrize(("variant", "seats"), SEATS)
def test_the_log_holds_the_moves_of_the_round(variant: str, seats: int) -> None:
    for seed in range(2):
        for game in decisions(VARIANTS[variant], seats, seed):
            row, events = game.games[0], game.rounds[-1].events
            assert row["log_size"] == len(events) <= LOG
            kept = [(int(entry) & (1 << LOG_SEAT) - 1, int(entry) >> LOG_SEAT & 7) for entry in row["log"][: len(events)]]
            assert kept == [(event.action, event.seat) for event in events]
            hits = [bool(int(entry) & LOG_HIT) for entry in row["log"][: len(events)]]
            lucky = game.rules.lucky_draws
            assert hits == [lucky and event.tile >= 0 and event.points == 0 for event in events]
            assert not row["log"][len(events) :].any()
            assert broken_in(game.games, 0, game.packed) == 0


def test_a_round_too_long_for_its_log_is_said_to_be_inexact() -> None:
    game = next(game for game in decisions(VARIANTS["bergen"], 2, 3) if len(game.rounds[-1].events) > 3)
    game.games["log_size"] = LOG + 1
    worlds, exact = worlds_of(game, 16)
    assert exact == 0
    for world in worlds:
        assert int(world["hands"][1 - game.seat]).bit_count() == game.games["hand_sizes"][0][1 - game.seat]
