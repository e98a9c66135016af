"""Perft counts: the engine again, and by plain recursion."""

from __future__ import annotations

import json
from typing import Any

import numba
import pytest

from domino_env.variants import VARIANTS
from tests.golden import FOLDER
from tests.perft import COLUMNS, DEPTH, PERFT_CASES, naive_perft, perft, perft_game

pytestmark = pytest.mark.engine

FILES = {"sequences": "perft", "rounds_over": "perft_rounds_over", "points": "perft_points"}
FAST_DEPTH = 7 if numba.config.DISABLE_JIT else DEPTH
NAIVE_DEPTH = 4 if numba.config.DISABLE_JIT else 6


@pytest.fixture(scope="module")
def golden() -> dict[str, Any]:
    """Column -> variant -> seats -> numbers by depth."""
    return {column: json.loads((FOLDER / f"{file}.json").read_text(encoding="utf-8")) for column, file in FILES.items()}


def expected(golden: dict[str, Any], variant: str, num_players: int, depth: int) -> dict[str, list[int]]:
    return {column: golden[column][variant][str(num_players)][:depth] for column in COLUMNS}


@pytest.mark.parametrize(("variant", "num_players"), PERFT_CASES)
def test_engine_counts(golden: dict[str, Any], variant: str, num_players: int) -> None:
    assert perft(perft_game(variant, num_players), FAST_DEPTH) == expected(golden, variant, num_players, FAST_DEPTH)


@pytest.mark.parametrize(("variant", "num_players"), PERFT_CASES)
def test_plain_recursion_counts(golden: dict[str, Any], variant: str, num_players: int) -> None:
    assert naive_perft(perft_game(variant, num_players), NAIVE_DEPTH) == expected(golden, variant, num_players, NAIVE_DEPTH)


def test_files_hold_all_variants_and_depths(golden: dict[str, Any]) -> None:
    for column in COLUMNS:
        counts = {(variant, int(seats)): len(row) for variant, table in golden[column].items() for seats, row in table.items()}
        assert counts == dict.fromkeys(PERFT_CASES, DEPTH)


def test_counting_leaves_the_game_as_it_was() -> None:
    game = perft_game("threes", 3)
    before = game.games.tobytes()
    perft(game, 5)
    assert game.games.tobytes() == before


def test_counts_tell_scorings_apart(golden: dict[str, Any]) -> None:
    """The two Bergens allow the same moves and count them differently: the column of points has to show it."""
    assert golden["sequences"]["bergen"] == golden["sequences"]["bergen_classic"]
    assert golden["points"]["bergen"] != golden["points"]["bergen_classic"]
    assert set(golden["points"]) == set(VARIANTS)
