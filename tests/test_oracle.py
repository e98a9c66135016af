"""The oracle: counting, ties, lowest hands, openings and leaders (RULES.md sections 3 to 6)."""

from __future__ import annotations

import itertools

import pytest

from domino_env.variants import VARIANTS
from tests.oracle import Layout, OracleGame
from tests.oracle.round_end import forced_lead, hand_pips, leader_after, lowest_teams, make_teams, round_to_nearest
from tests.oracle.scoring import play_points
from tests.positions import begin, blocked, play, table, tiles

# RULES.md section 6


def test_lone_double_counts_both_halves_once() -> None:
    assert table("5-5").sum_of_ends() == 10
    assert table("5-5 0-5@left").sum_of_ends() == 10
    assert table("5-5 0-5@left 0-0@left").sum_of_ends() == 10
    assert table("3-3:lengthwise").sum_of_ends() == 6
    assert table("3-3:lengthwise 3-4@left").sum_of_ends() == 7
    assert table("1-4").sum_of_ends() == 5


def test_spinner_counts_until_both_long_sides_are_covered() -> None:
    game = begin("all_fives", ["6-6 5-6 1-1", "3-6 2-6 0-4"])
    assert play(game, "6-6") == [0]
    assert game.legal_moves() == {"3-6@left", "3-6@right", "2-6@left", "2-6@right"}
    assert play(game, "3-6@left") == [15]
    assert play(game, "5-6@right") == [0]
    assert game.layout.sum_of_ends() == 8
    assert game.legal_moves() == {"2-6@up", "2-6@down"}
    assert play(game, "2-6@down") == [10]
    assert game.layout.open_pips() == {"left": 3, "right": 5, "up": 6, "down": 2}


def test_a_later_double_is_the_spinner_and_lies_crosswise() -> None:
    game = begin("all_fives", ["1-4 4-6 1-1", "4-4 0-5 2-2"])
    assert play(game, "1-4") == [5]
    assert game.legal_moves() == {"4-4@right"}
    play(game, "4-4@right")
    assert game.layout.sum_of_ends() == 1 + 8
    assert game.legal_moves() == {"1-1@left", "1-1@left:lengthwise", "4-6@right"}
    play(game, "4-6@right")
    assert game.layout.open_pips() == {"left": 1, "right": 6, "up": 4, "down": 4}


def test_most_that_one_play_can_make() -> None:
    layout = table("0-0 0-6@left 6-6@left 0-5@right 5-5@right 0-4@up 4-4@up 0-3@down 3-5@down", with_spinner=True)
    assert layout.sum_of_ends() == 35
    assert play_points(VARIANTS["all_fives"], layout, (3, 5)) == 35


def test_one_line() -> None:
    game = begin("fives_and_threes", ["1-3 3-4 0-0", "1-6 0-1"])
    assert play(game, "1-3 1-6@left 3-4@right") == [0, 3, 2]


@pytest.mark.parametrize(("total", "points"), [(0, 0), (3, 1), (4, 0), (5, 1), (6, 2), (9, 3), (10, 2), (12, 4), (15, 8), (18, 6), (20, 4)])
def test_table_of_fives_and_threes(total: int, points: int) -> None:
    ends = next(pair for pair in itertools.product(range(11), repeat=2) if sum(pair) == total)
    layout = Layout(with_spinner=False)
    layout.put((min(ends), max(ends)), None, lengthwise=False)
    assert play_points(VARIANTS["fives_and_threes"], layout, (min(ends), max(ends))) == points


def test_bergen_position() -> None:
    game = begin("bergen", ["6-6 2-4 1-3", "2-6 3-5 0-1", "4-6 0-5 4-5"], boneyard="2-2 0-0 1-1")
    assert play(game, "6-6 2-6@left 4-6@right 2-4@right") == [2, 0, 0, 2]
    assert play(game, "draw 2-2@right") == [0, 3]


@pytest.mark.parametrize(("value", "step", "rounded"), [(3, 5, 5), (2, 5, 0), (12, 5, 10), (13, 5, 15), (7, 1, 7), (0, 5, 0), (5, 10, 10)])
def test_rounding(value: int, step: int, rounded: int) -> None:
    assert round_to_nearest(value, step) == rounded


def test_a_block_won_for_nothing_still_gives_the_lead() -> None:
    game = begin("all_fives", ["0-0 2-3", "1-3"], episode="match")
    game.play("0-0")
    assert (game.end, game.bonus, game.next_leader) == ("blocked", [0, 0], 1)


# Ties and lowest hands (RULES.md sections 3 and 4)

OF_FIVE, OF_NINE = ["1-4", "2-3"], ["3-6", "4-5"]


def hands_of(pips: tuple[int, ...]) -> list[str]:
    """One tile each, with so many pips and no blank; a third hand of five is 1-1 and 1-2."""
    pools = {5: [*OF_FIVE, "1-1 1-2"], 9: list(OF_NINE)}
    return [pools[number].pop(0) for number in pips]


@pytest.mark.parametrize("pips", [(5, 5, 9), (9, 5, 5), (5, 9, 5)])
@pytest.mark.parametrize("variant", [name for name in VARIANTS if name != "fives_and_threes"])
def test_a_tie_for_lowest_in_every_seat_order(variant: str, pips: tuple[int, int, int]) -> None:
    game = blocked(variant, hands_of(pips))
    assert game.end == "blocked"
    assert game.bonus == ([0 if number == 5 else 9 for number in pips] if variant == "draw" else [0, 0, 0])


@pytest.mark.parametrize("variant", ["fives", "all_fives", "draw", "block"])
def test_all_tie_for_lowest(variant: str) -> None:
    game = blocked(variant, hands_of((5, 5, 5)))
    assert (game.end, game.bonus) == ("blocked", [0, 0, 0])


@pytest.mark.parametrize("seat", [0, 1, 2])
@pytest.mark.parametrize(
    ("variant", "gain"),
    [("bergen", 1), ("bergen_classic", 2), ("fives", 1), ("threes", 1), ("lucky_threes", 1), ("all_fives", 15), ("block", 13)],
)
def test_lowest_hand_wins(variant: str, gain: int, seat: int) -> None:
    pips = tuple(5 if number == seat else 9 for number in range(3))
    game = blocked(variant, hands_of(pips))
    assert game.bonus == [gain if number == seat else 0 for number in range(3)]


def test_fives_and_threes_brings_no_bonus_when_blocked() -> None:
    game = blocked("fives_and_threes", ["1-4", "3-6"])
    assert (game.end, game.bonus, game.scores) == ("blocked", [0, 0], [0, 0])


@pytest.mark.parametrize(
    ("hands", "fewest", "lowest"),
    [
        (["1-1", "2-6", "3-6"], [1], [1]),
        (["1-1", "2-6", "3-5"], [], []),
        (["1-1 2-2", "3-3", "4-4 5-6"], [1], [0]),
        (["5-5 1-1", "2-2 3-3", "4-4 6-6"], [0], [0]),
        (["2-2 4-6", "1-1 5-6", "3-3 1-2"], [1], [1]),
    ],
)
def test_lowest_hand_with_doubles(hands: list[str], fewest: list[int], lowest: list[int]) -> None:
    held = [tiles(hand) for hand in hands]
    assert lowest_teams(VARIANTS["bergen"], held, [[0], [1], [2]]) == fewest
    assert lowest_teams(VARIANTS["bergen_classic"], held, [[0], [1], [2]]) == lowest


def test_lone_blank_in_draw() -> None:
    assert hand_pips(VARIANTS["draw"], [(0, 0)]) == 25
    assert hand_pips(VARIANTS["draw"], tiles("0-0 1-2")) == 3
    assert hand_pips(VARIANTS["block"], [(0, 0)]) == 0
    stuck = begin(VARIANTS["draw"].replace(opening="any"), ["1-1 2-3 4-4", "0-0", "5-5 6-6"])
    stuck.play("1-1")
    assert (stuck.end, stuck.bonus, stuck.winners) == ("blocked", [0, 25, 22], [0])


def test_going_out_against_a_lone_blank() -> None:
    drawn = begin(VARIANTS["draw"].replace(opening="any"), ["1-2", "0-0", "5-6"])
    drawn.play("1-2")
    assert (drawn.end, drawn.bonus, drawn.winners) == ("out", [0, 25, 11], [0])
    block = begin("block", ["1-2", "0-0"], episode="match")
    block.play("1-2")
    assert (block.end, block.bonus, block.next_leader) == ("out", [0, 0], 0)
    alone = begin("block", ["1-2", "0-0"])
    alone.play("1-2")
    assert (alone.scores, alone.winners) == ([0, 0], [0])


def test_out_comes_before_blocked() -> None:
    game = begin("block", ["0-0", "1-2", "3-4"], episode="match")
    game.play("0-0")
    assert (game.end, game.bonus, game.next_leader) == ("out", [10, 0, 0], 0)


# Openings and leaders (RULES.md 3.2, 3.7, 3.9, section 4)


def test_lowest_double_is_forced() -> None:
    game = begin("fives", ["0-1 4-4", "3-3 1-2", "5-5 0-2"])
    assert game.turn == 1
    assert game.legal_moves() == {"3-3", "3-3:lengthwise"}
    assert forced_lead([tiles("1-3 2-6"), tiles("0-4 5-6")]) == (0, (1, 3))
    assert forced_lead([tiles("0-4 2-6"), tiles("1-3 5-6")]) == (1, (1, 3))
    with pytest.raises(ValueError, match="seat 1 holds 3-3"):
        begin("fives", ["0-1 4-4", "3-3 1-2"], leader=0)


def test_forced_again_only_where_the_opening_decides() -> None:
    rules = VARIANTS["draw"].replace(next_leader="winner")
    game = OracleGame(rules, 2, "match")
    game.start([tiles("1-1 2-3"), tiles("0-0 4-5")], [], leader=0, first_round=False)
    assert game.legal_moves() == {"1-1", "2-3"}
    again = OracleGame(VARIANTS["draw"], 2, "match")
    again.start([tiles("1-1 2-3"), tiles("0-0 4-5")], [], first_round=False)
    assert (again.leader, again.legal_moves()) == (1, {"0-0"})


def test_next_leader() -> None:
    rules, teams = VARIANTS["block"], [[0], [1], [2]]
    assert leader_after(rules, 3, teams, 1, 0, []) == 0
    assert leader_after(rules, 3, teams, 1, None, [1]) == 1
    assert leader_after(rules, 3, teams, 1, None, []) == 2
    assert leader_after(VARIANTS["fives_and_threes"], 3, teams, 2, 1, []) == 0
    assert leader_after(VARIANTS["bergen"], 3, teams, 2, 1, []) is None
    sides = make_teams(rules.replace(sides=True), 4)
    assert leader_after(rules, 4, sides, 0, None, [0]) == 2
    assert leader_after(rules, 4, sides, 3, None, [0]) == 0
    assert leader_after(rules, 4, sides, 3, None, [1]) == 1
