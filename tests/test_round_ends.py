"""How rounds end where others went wrong: PAINS rows 8, 9, 22, 24 and 25, in every variant."""

from __future__ import annotations

import random
from itertools import permutations
from typing import Any

import pytest

from domino_env.engine.invariants import broken_in
from domino_env.notation.game import END_NAMES, PlayedGame, RoundLog
from domino_env.notation.moves import parse_tile
from domino_env.rule_terms import DrawWhen
from domino_env.rules import Rules
from domino_env.tiles import WEIGHT, tiles_in
from domino_env.variants import VARIANTS

pytestmark = pytest.mark.engine

FAR = 1000
DRAWERS = [variant for variant, rules in VARIANTS.items() if rules.draw_when != DrawWhen.NEVER]


def begin(variant: str, hands: list[str], boneyard: str = "", reserve: int = 55, leader: int = 0, **changes: Any) -> PlayedGame:
    """A match to a far target with these hands; tiles not named follow in the boneyard."""
    named = [parse_tile(text) for text in " ".join([*hands, boneyard]).split()]
    if variant in DRAWERS:
        changes["reserve"] = reserve
    rules = VARIANTS[variant].replace(players=len(hands), hand=len(hands[0].split()), target=FAR, **changes)
    game = PlayedGame(rules, len(hands), one_round=False)
    game.set_up(named + [tile for tile in range(rules.num_tiles) if tile not in named], leader, [0] * len(hands))
    return game


def play(game: PlayedGame, moves: str) -> RoundLog:
    """Play the moves; nothing is broken after any of them."""
    for move in moves.split():
        game.make_move(game.move_index(move))
        assert broken_in(game.games, 0, game.packed) == 0
    return game.rounds[-1]


def ended(game: PlayedGame, moves: str) -> tuple[str, list[int], int]:
    """How the round ended with the last of the moves, its bonus, and the seat that won it (-1: none)."""
    log = play(game, moves)
    assert log.end, f"the round goes on: {game.legal_moves()}"
    return END_NAMES[log.end], log.bonus, int(game.row.round_winner)


# Row 22: nothing to draw and nobody can play


@pytest.mark.parametrize("variant", VARIANTS)
def test_blocked_by_the_lead_with_only_the_reserve_left(variant: str) -> None:
    game = begin(variant, ["0-0 1-1", "1-2 2-2"], "0-1 0-2", reserve=2, max_pip=2)
    assert ended(game, "0-0")[0] == "blocked"


@pytest.mark.parametrize("variant", VARIANTS)
def test_blocked_with_an_empty_boneyard(variant: str) -> None:
    game = begin(variant, ["0-0 1-2 1-1", "0-1 0-2 2-2"], reserve=0, max_pip=2)
    assert ended(game, "0-0 0-1@right 1-2@right 0-2@right")[0] == "blocked"


@pytest.mark.parametrize("variant", DRAWERS)
def test_blocked_by_the_last_draw(variant: str) -> None:
    """The draw that empties the drawable tiles ends the round, with no closing pass."""
    game = begin(variant, ["0-0 1-1 2-2", "1-2 1-3 3-3"], "2-3 0-1 0-2 0-3", reserve=3, max_pip=3)
    assert ended(game, "0-0 draw")[0] == "blocked"
    assert game.legal_moves() == []


# Row 24: the last tile goes out and blocks


@pytest.mark.parametrize(
    ("variant", "end", "bonus"),
    [
        ("fives_and_threes", "blocked", [0, 0]),  # its point for the first out was written with the play
        ("bergen", "out", [2, 0]),
        ("bergen_classic", "out", [2, 0]),
        ("fives", "out", [2, 0]),
        ("threes", "out", [2, 0]),
        ("lucky_threes", "out", [2, 0]),
        ("all_fives", "out", [10, 0]),
        ("draw", "out", [0, 5]),
        ("block", "out", [5, 0]),
    ],
)
def test_out_wins_over_blocked(variant: str, end: str, bonus: list[int]) -> None:
    game = begin(variant, ["6-6 0-1 4-6", "0-6 1-4 2-3"])
    assert ended(game, "6-6 0-6@right 0-1@right 1-4@right 4-6@right") == (end, bonus, 0)
    assert int(game.row.arm_pip[0]) == int(game.row.arm_pip[1]) == 6
    if variant == "fives_and_threes":
        assert game.rounds[-1].events[-1].points == 6 + 1  # 12 + 6 = 18, and out


# Row 9: going out against just 0-0


@pytest.mark.parametrize(("variant", "bonus"), [("block", [0, 0]), ("all_fives", [10, 0])])
def test_going_out_against_a_lone_blank(variant: str, bonus: list[int]) -> None:
    """It wins the round, for however little, and the winner leads the next."""
    game = begin(variant, ["1-1 2-3", "1-2 0-0"])
    assert ended(game, "1-1 1-2@right 2-3@right") == ("out", bonus, 0)
    game.deal_if_due()
    assert int(game.row.leader) == 0


@pytest.mark.parametrize(("variant", "bonus"), [("draw", [0, 25]), ("bergen", [2, 0]), ("bergen_classic", [2, 0])])
def test_going_out_against_a_lone_blank_that_was_drawn(variant: str, bonus: list[int]) -> None:
    """Where 0-0 has to be led by whoever holds it, only a draw leaves it in a hand."""
    game = begin(variant, ["2-3 4-5", "1-1 3-4"], "1-2 0-0", reserve=22, leader=1)
    moves = "1-1 draw 1-2@right draw pass 2-3@right 3-4@right 4-5@right"
    assert ended(game, moves) == ("out", bonus, 0)
    assert tiles_in(int(game.row.hands[1])) == [0]


# Row 8: going out is never scored by pips where it has a price, and always where it has none


def price_of_going_out(rules: Rules, winner: int, hands: list[list[int]]) -> list[int]:
    """What the end of a round brings each seat, from the pages of the rules."""
    pips = [25 if rules.variant == "draw" and hand == [0] else sum(int(WEIGHT[tile]) for tile in hand) for hand in hands]
    if rules.variant == "draw":
        return [pips[seat] if seat != winner else 0 for seat in range(len(hands))]
    price = {"bergen": 2, "bergen_classic": 2, "fives": 2, "threes": 2, "lucky_threes": 2, "all_fives": 10, "block": sum(pips)}
    return [price[rules.variant] if seat == winner else 0 for seat in range(len(hands))]


@pytest.mark.parametrize("variant", [variant for variant in VARIANTS if variant != "fives_and_threes"])
def test_going_out_is_the_winners(variant: str) -> None:
    rules = VARIANTS[variant].replace(target=100_000)
    outs = 0
    for num_players in rules.players:
        game = PlayedGame(rules, num_players, one_round=False)
        game.start(num_players)
        rng = random.Random(variant)
        for _ in range(1500):
            seat = game.seat
            game.make_move(rng.choice(game.legal_actions()))
            log = game.rounds[-1]
            if log.end and END_NAMES[log.end] == "out":
                outs += 1
                hands = [tiles_in(int(game.row.hands[k])) for k in range(num_players)]
                assert hands[seat] == []
                assert log.bonus == price_of_going_out(rules, seat, hands)
                assert int(game.row.round_winner) == seat
            game.deal_if_due()
    assert outs >= 10


# Row 25: ties and lowest hands in every order of the seats

TILES_OF = {5: ["0-5", "1-4", "2-3"], 9: ["4-5"], 7: ["2-5", "3-4"]}
PIPS = [*sorted(set(permutations((5, 5, 9)))), (5, 5, 5), *sorted(set(permutations((5, 7, 7)))), *permutations((5, 7, 9))]
FLAT = {"bergen": 1, "bergen_classic": 2, "fives": 1, "threes": 1, "lucky_threes": 1}


def blocked_bonus(variant: str, pips: tuple[int, ...]) -> list[int]:
    """What a blocked round brings three hands without doubles."""
    low = [seat for seat in range(3) if pips[seat] == min(pips)]
    if variant == "draw":
        return [0 if seat in low else pips[seat] for seat in range(3)]
    gain = sum(pips) - 2 * min(pips)
    points = {**FLAT, "fives_and_threes": 0, "block": gain, "all_fives": {9: 10, 11: 10}.get(gain, 0)}[variant]
    return [points if [seat] == low else 0 for seat in range(3)]


@pytest.mark.parametrize("pips", PIPS, ids=str)
@pytest.mark.parametrize("variant", VARIANTS)
def test_lowest_hand_in_every_seat_order(variant: str, pips: tuple[int, ...]) -> None:
    """Six plays leave both ends at six, all other sixes asleep, and one tile with so many pips in each hand."""
    stock = {count: list(texts) for count, texts in TILES_OF.items()}
    left = [stock[count].pop() for count in pips]
    game = begin(variant, [f"6-6 1-2 {left[0]}", f"0-6 2-4 {left[1]}", f"0-1 4-6 {left[2]}"])
    low = [seat for seat in range(3) if pips[seat] == min(pips)]
    winner = low[0] if len(low) == 1 and variant != "fives_and_threes" else -1
    moves = "6-6 0-6@right 0-1@right 1-2@right 2-4@right 4-6@right"
    assert ended(game, moves) == ("blocked", blocked_bonus(variant, pips), winner)
    game.deal_if_due()
    if variant in ("all_fives", "block", "fives_and_threes"):
        assert int(game.row.leader) == (winner if winner >= 0 else 1)
