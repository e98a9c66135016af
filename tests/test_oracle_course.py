"""The oracle: drawing, lucky draws, playing on, targets, sides, and the worked examples of the old texts."""

from __future__ import annotations

from domino_env.variants import VARIANTS
from tests.oracle import OracleGame
from tests.oracle.scoring import play_points
from tests.positions import begin, play, table, tiles

# Drawing and passing (RULES.md section 2.5, 3.2 to 3.8)


def test_bergen_draws_one_then_passes() -> None:
    game = begin("bergen", ["1-1 1-2 1-3", "3-4 4-5"], boneyard="4-6 1-5 2-2 5-5")
    game.play("1-1")
    assert game.legal_moves() == {"draw"}
    game.play("draw")
    assert game.legal_moves() == {"pass"}
    game.play("pass")
    assert game.turn == 0
    assert game.legal_moves() == {"1-2@left", "1-2@right", "1-3@left", "1-3@right"}


def test_draw_goes_on_until_a_tile_fits() -> None:
    game = begin("draw", ["1-1 1-2", "3-4 4-5"], boneyard="4-6 5-6 1-5 2-2")
    game.play("1-1")
    for _ in range(3):
        assert game.legal_moves() == {"draw"}
        game.play("draw")
    assert game.legal_moves() == {"1-5@left", "1-5@right"}


def test_blocked_at_once_at_the_reserve() -> None:
    game = begin("bergen", ["0-0 3-3", "1-2"], boneyard="0-5 0-6")
    game.play("0-0")
    assert (game.end, game.bonus) == ("blocked", [0, 1])


def test_a_draw_that_leaves_nobody_able_to_play_blocks() -> None:
    game = begin("bergen", ["0-0 3-3", "1-2 1-4"], boneyard="4-5 0-5 0-6")
    game.play("0-0")
    assert game.legal_moves() == {"draw"}
    game.play("draw")
    assert (game.end, game.bonus, game.legal_moves()) == ("blocked", [0, 1], set())


def test_exhausted_when_the_turn_of_the_last_draw_is_over() -> None:
    hands, boneyard = ["2-2 2-3 3-3", "4-5 1-4"], "2-6 0-5 0-6"
    game = begin("fives", hands, boneyard)
    play(game, "2-2 draw")
    assert game.end is None
    assert game.legal_moves() == {"2-6@left", "2-6@right"}
    game.play("2-6@left")
    assert (game.end, game.bonus) == ("exhausted", [1, 0])
    on = begin(VARIANTS["fives"].replace(stop_when_boneyard_exhausted=False), hands, boneyard)
    play(on, "2-2 draw 2-6@left")
    assert on.end is None
    assert on.turn == 0


def test_exhausted_by_a_pass() -> None:
    game = begin("fives", ["2-2 2-3 3-3", "4-5 1-4"], boneyard="4-6 0-5 0-6")
    play(game, "2-2 draw")
    assert game.legal_moves() == {"pass"}
    game.play("pass")
    assert (game.end, game.bonus) == ("exhausted", [1, 0])


def test_without_a_drawable_tile_fives_runs_on() -> None:
    game = begin("fives", ["2-2 2-3 3-3", "4-5 2-4"], boneyard="0-5 0-6")
    play(game, "2-2 2-4@left")
    assert game.end is None


def test_threes_may_draw_once_before_playing() -> None:
    game = begin("threes", ["0-0 0-1 1-4", "0-2 4-5"], boneyard="2-6 3-3 0-5 0-6 1-1")
    assert game.legal_moves() == {"0-0", "0-0:lengthwise"}
    game.play("0-0")
    assert game.legal_moves() == {"0-2@left", "0-2@right", "draw"}
    game.play("draw")
    assert game.legal_moves() == {"0-2@left", "0-2@right"}


# Lucky threes (RULES.md 3.6)


def test_lucky_hit_must_be_placed_so() -> None:
    game = begin("lucky_threes", ["1-1 5-5", "1-2 2-6 4-4"], boneyard="1-4 1-6 0-0 2-2 3-3 6-6")
    assert play(game, "1-1") == [8]
    assert "draw" in game.legal_moves()
    assert "pass" not in game.legal_moves()
    assert play(game, "draw") == [0]
    assert game.legal_moves() == {"1-4@left", "1-4@right"}  # 4 + 2
    assert play(game, "1-4@left") == [10]
    assert game.turn == 0


def test_lucky_misses_cost_and_end_after_five() -> None:
    game = begin("lucky_threes", ["1-1 5-5", "2-2 2-6"], boneyard="4-4 5-6 3-5 4-5 6-6 2-3 1-5 1-6")
    play(game, "1-1")
    for drawn in range(5):
        assert game.legal_moves() == {"draw", "pass"}
        assert play(game, "draw") == [-5]
        assert game.scores == [8, -5 * (drawn + 1)]
    assert game.legal_moves() == {"pass"}


def test_lucky_sum_of_nothing_is_a_miss() -> None:
    rules = VARIANTS["lucky_threes"].replace(opening="any")
    game = begin(rules, ["0-1 5-5", "4-4 2-2"], boneyard="0-0 1-1 4-5 5-6 6-6")
    assert play(game, "0-1") == [0]
    assert play(game, "draw") == [-5]  # 0-0 would leave a sum of 1
    zero = begin(rules, ["0-1 5-5 1-2", "3-3 2-2", "4-4 2-4", "0-2 2-3"], boneyard="0-4 1-5 4-5 5-6 6-6")
    assert play(zero, "0-1 pass pass 0-2@left 1-2@right") == [0, 0, 0, 5, 0]
    nothing = table("0-1 1-2@right 0-2@right 0-0@left")
    assert nothing.sum_of_ends() == 0
    assert play_points(rules, nothing, (0, 0)) == 0
    lone = begin(rules, ["0-0 5-5", "0-1 2-2"], boneyard="0-3 1-1 4-5 5-6 6-6")
    assert play(lone, "0-0") == [8]
    assert play(lone, "draw") == [0]
    assert lone.legal_moves() == {"0-3@left", "0-3@right"}


def test_lucky_placements_are_only_the_scoring_ones() -> None:
    rules = VARIANTS["lucky_threes"].replace(opening="any")
    game = begin(rules, ["1-2 5-6", "5-5 3-6"], boneyard="2-2 0-0 4-4 3-4 6-6")
    assert play(game, "1-2") == [5]
    game.play("draw")
    assert game.legal_moves() == {"2-2@right:lengthwise"}  # 1 + 2 makes three, 1 + 4 does not
    assert play(game, "2-2@right:lengthwise") == [10]


def test_lucky_hand_tiles() -> None:
    rules = VARIANTS["lucky_threes"].replace(opening="any")
    game = begin(rules, ["1-2 4-4 5-5", "2-4 0-5"], boneyard="3-5 0-6 1-4 2-2 6-6")
    assert play(game, "1-2 2-4@right") == [5, 0]
    assert play(game, "4-4@right") == [7]  # 1 + 8
    assert play(game, "draw") == [-5]
    other = begin(rules, ["1-2 4-4 1-5", "2-4 0-5"], boneyard="3-6 0-6 1-4 2-2 6-6")
    assert play(other, "1-2 2-4@right 1-5@left") == [5, 0, 5]  # 5 + 4
    blank = begin(rules, ["0-0 5-5", "0-1 2-2"])
    assert play(blank, "0-0") == [8]
    lengthwise = begin(rules, ["2-2 5-5", "0-1 2-2"])
    assert play(lengthwise, "2-2:lengthwise") == [8]


def test_a_missed_tile_may_be_played_and_scores_nothing() -> None:
    rules = VARIANTS["lucky_threes"].replace(opening="any")
    game = begin(rules, ["1-2 5-6", "3-5 3-6"], boneyard="1-3 0-0 4-4 3-4 6-6")
    assert play(game, "1-2 draw") == [5, -5]
    assert game.legal_moves() == {"1-3@left", "draw"}
    assert play(game, "1-3@left") == [0]  # 3 + 2


def test_idle_passes_block_a_lucky_round() -> None:
    game = begin("lucky_threes", ["0-0 1-2", "3-4 3-5"], boneyard="4-5 5-6 5-5 4-6 6-6")
    play(game, "0-0 pass")
    assert game.end is None
    game.play("pass")
    assert (game.end, game.bonus) == ("blocked", [1, 0])


def test_a_pass_after_a_draw_does_not_count() -> None:
    game = begin("lucky_threes", ["0-0 1-2", "3-4 3-5"], boneyard="4-5 5-6 5-5 4-6 6-6")
    play(game, "0-0 pass draw pass pass")
    assert game.end is None
    game.play("pass")
    assert game.end == "blocked"


# Play on, targets, sides (RULES.md 3.1, section 2.4, 4, 5)


def test_round_goes_on_after_the_first_out() -> None:
    game = begin("fives_and_threes", ["1-2", "2-3 3-3", "3-6 5-5"])
    assert play(game, "1-2") == [2]  # 3 counts one, the going out another
    assert play(game, "2-3@right") == [0]
    assert play(game, "3-6@right") == [0]
    assert game.end == "blocked"
    assert game.scores == [2, 0, 0]
    full = begin("fives_and_threes", ["1-2", "2-2", "2-5"])
    assert play(full, "1-2 2-2@right 2-5@right") == [2, 1, 2]
    assert (full.end, full.bonus, full.scores) == ("out", [0, 0, 0], [2, 1, 2])


def test_target_is_checked_after_points_and_going_out() -> None:
    game = OracleGame(VARIANTS["bergen"].replace(target=4), 2, "match")
    game.start([tiles("1-1"), tiles("2-3")], [])
    game.play("1-1")
    assert (game.end, game.bonus, game.scores, game.winners) == ("target", [2, 0], [4, 0], [0])
    early = OracleGame(VARIANTS["bergen"].replace(target=2), 2, "match")
    early.start([tiles("0-0 1-1 2-5"), tiles("2-3")], [])
    early.play("0-0")
    assert (early.end, early.bonus, early.scores) == ("target", [0, 0], [2, 0])


def test_the_target_never_ends_a_round_episode() -> None:
    game = begin(VARIANTS["bergen"].replace(target=1), ["1-1 1-2", "1-3 3-3"], episode="round")
    game.play("1-1")
    assert game.end is None
    assert game.scores == [2, 0]


def test_draw_ends_at_the_end_of_a_round_and_the_lowest_wins() -> None:
    game = OracleGame(VARIANTS["draw"], 3, "match")
    game.start([tiles("1-1"), tiles("5-6"), tiles("0-3")], [], scores=[40, 95, 40])
    game.play("1-1")
    assert (game.end, game.scores, game.winners) == ("target", [40, 106, 43], [0])
    shared = OracleGame(VARIANTS["draw"], 3, "match")
    shared.start([tiles("1-1"), tiles("5-6"), tiles("0-3")], [], scores=[43, 95, 40])
    shared.play("1-1")
    assert shared.winners == [0, 2]


def test_sides_share_points_and_hands() -> None:
    rules = VARIANTS["block"].replace(sides=True)
    game = begin(rules, ["1-2", "5-6", "4-4", "0-3"], episode="match")
    game.play("1-2")
    assert (game.end, game.bonus, game.scores, game.next_leader) == ("out", [14, 0, 14, 0], [14, 0, 14, 0], 0)
    stuck = begin(rules, ["0-0 6-6", "1-2", "3-4", "5-5"], episode="match")
    stuck.play("0-0")
    assert (stuck.end, stuck.bonus, stuck.next_leader) == ("blocked", [0, 19 - 13, 0, 6], 1)
    loser = begin(VARIANTS["draw"].replace(sides=True, opening="any"), ["1-2", "5-6", "4-4", "0-3"])
    loser.play("1-2")
    assert (loser.bonus, loser.winners) == ([0, 14, 0, 14], [0, 2])


def test_a_side_is_out_with_both_hands() -> None:
    rules = VARIANTS["fives_and_threes"].replace(sides=True)
    game = begin(rules, ["1-3", "3-5 0-0", "5-6", "1-6 2-2"])
    assert play(game, "1-3 3-5@right") == [0, 2]  # one partner out: no point yet; 1 + 5 = 6
    assert play(game, "5-6@right") == [1]  # 7 counts nothing, both hands of the side are empty
    assert play(game, "1-6@left") == [4]  # 6 + 6 = 12
    assert (game.end, game.scores) == ("blocked", [1, 6, 1, 6])


# The worked examples of the old texts

FIVES_AND_THREES = "4-5 1-4@left 2-5@right 2-4@right 4-4@right 1-1@left 3-4@right 1-2@left 2-3@left pass 3-3@right 1-3@right 1-6@right"
BERGEN = "1-1 1-4@right 1-6@left 2-6@left 2-4@left 4-4@left 4-5@left 0-5@left 3-4@right draw 3-6@right 0-6@left 6-6@right"


def test_worked_example_of_fives_and_threes() -> None:
    game = begin("fives_and_threes", ["4-5 2-4 3-4 1-6 0-0 0-2 0-6", "1-4 4-4 1-2 3-3 0-5 5-5 0-3", "2-5 1-1 2-3 1-3 2-2 5-6 0-4"])
    assert game.leader == 0
    points = play(game, FIVES_AND_THREES.rsplit(" ", 1)[0])
    assert points == [3, 2, 1, 1, 3, 2, 1, 1, 2, 0, 3, 0]
    assert game.scores == [5, 9, 5]
    assert play(game, "1-6@right") == [3]


def test_worked_example_of_bergen() -> None:
    hands = ["1-1 2-4 3-4 2-2 5-5", "1-4 4-4 2-5 1-5 5-6", "1-6 4-5 0-6 1-2 3-5", "2-6 0-5 6-6 1-3 3-3"]
    game = begin("bergen", hands, boneyard="3-6 0-0 0-1 0-2 0-3 0-4 2-3 4-6")
    assert play(game, BERGEN) == [2, 0, 0, 0, 2, 3, 0, 0, 0, 0, 0, 2, 3]
