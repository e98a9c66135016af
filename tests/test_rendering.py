"""The table as text: every tile drawn where it lies, and nothing shown that the onlooker may not know."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import pairwise

import pytest

from domino_env.engine.packed import DRAW, numbers
from domino_env.engine.state import PLAYING
from domino_env.errors import DominoError, OptionsError
from domino_env.notation.game import PlayedGame
from domino_env.notation.moves import parse_tile, tile_text
from domino_env.rendering.ansi import render_game
from domino_env.rendering.drawing import WIDTH, draw_layout
from domino_env.rendering.table import LaidTile, TableLayout, lay_out
from domino_env.rules import Rules
from domino_env.tiles import tile_id, tiles_in
from domino_env.variants import VARIANTS
from tests.strategies import preset_cases, preset_rules, random_rules


def play_on(game: PlayedGame, rng: random.Random, moves: int) -> Iterator[PlayedGame]:
    """The game at its start and after each of some random moves, the deals between rounds included."""
    yield game
    for _ in range(moves):
        if game.over:
            return
        if game.phase != PLAYING:
            game.deal_if_due()
        else:
            game.make_move(rng.choice(game.legal_actions()))
        yield game


def games(rounds: int, moves: int = 400) -> Iterator[tuple[PlayedGame, random.Random]]:
    """Games of every variant and seat count, with sides too, then of random rules with sets from double-two to double-nine."""
    rng = random.Random(11)
    rules = [(preset_rules(name, sides), seats) for name, seats, sides in preset_cases() for _ in range(rounds)]
    rules += [random_rules(rng.choice) for _ in range(40 * rounds)]
    for number, (one, seats) in enumerate(rules):
        game = PlayedGame(one, seats, one_round=rng.random() < 0.8)
        game.start(number)
        yield game, rng


def played(variant: str, hands: list[str], moves: str = "", boneyard: str = "", leader: int = -1, rules: Rules | None = None) -> PlayedGame:
    """One round with these hands and moves; the tiles that are not named follow in the boneyard."""
    rules = rules or VARIANTS[variant]
    order = [parse_tile(text) for text in " ".join([*hands, boneyard]).split()]
    game = PlayedGame(rules, len(hands), one_round=True)
    game.set_up(order + [tile for tile in range(rules.num_tiles) if tile not in order], leader, [0] * len(hands))
    for move in moves.split():
        game.make_move(game.move_index(move))
    return game


# ------------------------------------------------------------------------------------------------------------- layout


def test_layout_agrees_with_the_engine_at_every_move() -> None:
    seen = 0
    for start, rng in games(rounds=2):
        for game in play_on(start, rng, 60):
            layout = lay_out(game.rounds[-1], game.packed)
            row = game.row
            assert sum(1 << laid.tile for laid in layout.tiles) == row.table
            assert len(layout.tiles) == int(row.table).bit_count()
            if layout.lead is None:
                continue
            seen += 1
            check_arms(layout, row, int(numbers(game.packed).arms))
            check_neighbours(layout.row)
            for seat in range(game.num_players):
                assert sum(1 << laid.tile for laid in layout.tiles if laid.seat == seat) == row.played[seat]
    assert seen > 3000


def check_arms(layout: TableLayout, row: object, arms: int) -> None:
    """Each arm is as long as the engine says, and ends in the pip and the lie that it says."""
    lead = layout.lead
    assert lead is not None
    assert len(layout.arms) == arms
    assert (layout.spinner.far if layout.spinner else -1) == row.spinner
    for arm, tiles in enumerate(layout.arms):
        assert len(tiles) == row.arm_tiles[arm]
        check_neighbours(tiles)
        if tiles:
            assert (tiles[-1].far, tiles[-1].crosswise) == (row.arm_pip[arm], bool(row.arm_cross[arm]))
        elif arm < 2:
            assert (lead.far if arm else lead.near, lead.crosswise) == (row.arm_pip[arm], bool(row.arm_cross[arm]))
    for tiles in layout.arms[2:]:
        if tiles:
            assert layout.spinner is not None
            assert tiles[0].near == layout.spinner.far


def check_neighbours(tiles: tuple[LaidTile, ...]) -> None:
    """Tiles that touch show the same pip, and each is turned as its id allows."""
    for laid in tiles:
        assert laid.tile == tile_id(laid.near, laid.far)
        assert laid.near == laid.far or not laid.crosswise
    for first, second in pairwise(tiles):
        assert first.far == second.near


def test_chains_of_a_spinner_that_is_not_the_lead() -> None:
    game = (
        played(
            "all_fives",
            ["1-2 2-2 0-1 3-4 3-5 3-6 4-5", "2-3 1-3 0-2 0-0 1-1 4-4 5-5"],
            "1-2 2-3@right 0-1@left 1-3@right 2-2@right",
            leader=0,
        )
        if False
        else played(
            "all_fives",
            ["1-2 2-2 0-1 3-4 3-5 3-6 4-5", "1-3 2-4 0-2 0-0 1-1 4-4 5-5"],
            "1-2 1-3@left 2-2@right 2-4@right 3-4@left 0-2@up",
            leader=0,
        )
    )
    layout = lay_out(game.rounds[-1], game.packed)
    assert layout.spinner is not None
    assert layout.spinner.tile == tile_id(2, 2)
    assert layout.spinner in layout.arms[1]
    left, right, up, down = ([(laid.near, laid.far) for laid in chain] for chain in layout.chains)
    assert left == [(2, 1), (1, 3), (3, 4)]
    assert right == [(2, 4)]
    assert up == [(2, 0)]
    assert down == []


# ------------------------------------------------------------------------------------------------------------ drawing


def drawn_tiles(lines: list[str]) -> list[int]:
    """Ids of the tiles in a picture: those that lie, and those that stand on two lines."""
    found = [tile_id(int(a), int(b)) for line in lines for a, b in re.findall(r"\[(\d)[-|](\d)\]", line)]
    for upper, lower in pairwise(lines):
        for match in re.finditer(r"/(\d)\\", upper):
            below = re.fullmatch(r"\\(\d)/", lower[match.start() : match.end()])
            assert below, f"{upper!r} over {lower!r}"
            found.append(tile_id(int(match[1]), int(below[1])))
    return sorted(found)


def check_touching(lines: list[str]) -> None:
    """In a picture tiles side by side and tiles one above the other show the same pip."""
    for line in lines:
        for a, b in re.findall(r"(?=(\d)\]\[(\d))", line):
            assert a == b, line
    for upper, lower in pairwise(lines):
        for match in re.finditer(r"\\(\d)/", upper):
            below = lower[match.start() : match.end()]
            if re.fullmatch(r"/\d\\", below):
                assert below[1] == match[1]
            elif re.fullmatch(r"\d[-|]\d", below):
                assert below[0] == below[2] == match[1]


def test_the_picture_shows_exactly_the_tiles_on_the_table() -> None:
    seen, turned = 0, 0
    for start, rng in games(rounds=3):
        for game in play_on(start, rng, 70):
            layout = lay_out(game.rounds[-1], game.packed)
            lines = draw_layout(layout).lines()
            assert drawn_tiles(lines) == tiles_in(int(game.row.table))
            assert max(map(len, lines), default=0) <= WIDTH
            check_touching(lines)
            seen += 1
            turned += any(".-" in line or "-." in line for line in lines)
    assert seen > 5000
    assert turned > 100


@pytest.mark.parametrize(
    "lengths", [(20, 0, 0, 0), (0, 20, 0, 0), (0, 0, 20, 0), (0, 0, 0, 20), (9, 9, 9, 9), (3, 9, 2, 2), (15, 1, 12, 0), (1, 15, 0, 12)]
)
def test_long_arms_of_a_cross_turn_aside_and_never_meet(lengths: tuple[int, ...]) -> None:
    spinner = LaidTile(tile_id(9, 9), 9, 9, True, 0, 0)
    ids = iter(range(54))
    event = 0
    arms = []
    for length in lengths:
        arm = []
        for _ in range(length):
            event += 1
            arm.append(LaidTile(next(ids), 0, 0, event % 3 == 0, 0, event))
        arms.append(tuple(arm))
    layout = TableLayout(spinner, tuple(arms), spinner)
    lines = draw_layout(layout).lines()  # the canvas refuses to write one thing over another
    assert max(map(len, lines)) <= WIDTH
    assert len(drawn_tiles(lines)) == sum(lengths) + 1


def test_a_long_line_snakes() -> None:
    tiles = [LaidTile(0, number % 10, (number + 1) % 10, False, 0, number) for number in range(30)]
    lines = draw_layout(TableLayout(tiles[0], ((), tuple(tiles[1:])), None)).lines()
    assert len(lines) == 3
    assert lines[0].startswith("    [0-1][1-2]")
    assert lines[0].endswith("[3-4]-.")
    assert lines[1].startswith("  .-[8-7][7-6]")
    assert lines[1].endswith("[5-4]-'")
    assert lines[2] == "  '-[8-9][9-0]"


# ------------------------------------------------------------------------------------------------------- what is seen


def onlookers(game: PlayedGame) -> list[int | None]:
    return [None, *range(game.num_players)]


def redealt(game: PlayedGame, seat: int | None, rng: random.Random) -> PlayedGame | None:
    """The same round with tiles that ``seat`` has not seen changed about, or None where no try agreed with the moves.

    A tile is unseen that is neither on the table nor was ever in the onlooker's hand.
    """
    log = game.rounds[-1]
    size = game.rules.hand[game.num_players]
    seen = set(tiles_in(int(game.row.table))) | {event.tile for event in log.events if event.seat == seat and event.tile >= 0}
    if seat is not None:
        seen |= set(log.order[seat * size : (seat + 1) * size])
    slots = [slot for slot, tile in enumerate(log.order) if tile not in seen]
    for _ in range(8):
        order = list(log.order)
        some = rng.sample(slots, min(len(slots), rng.choice([2, 3, len(slots)])))
        for slot, tile in zip(some, rng.sample([order[slot] for slot in some], len(some)), strict=True):
            order[slot] = tile
        other = replayed(game, order)
        if other is not None and order != log.order:
            return other
    return None


def replayed(game: PlayedGame, order: list[int]) -> PlayedGame | None:
    """The moves of a round made on another deal; None where a move is not legal there or anything public differs."""
    log = game.rounds[-1]
    other = game.copy()
    try:
        other.set_up(order, log.leader, log.start_scores)
        for event in log.events:
            if other.phase != PLAYING or other.seat != event.seat:
                return None
            other.make_move(event.action)
    except DominoError:
        return None
    if (game.phase, game.seat, int(game.row.end)) != (other.phase, other.seat, int(other.row.end)):
        return None
    same_points = [event.points for event in other.rounds[-1].events] == [event.points for event in log.events]
    return other if same_points and other.scores() == game.scores() else None


def test_hidden_tiles_change_nothing_that_a_seat_is_shown() -> None:
    checked, drawn = 0, 0
    for start, rng in games(rounds=1):
        if not start.one_round:
            continue
        for number, game in enumerate(play_on(start, rng, 40)):
            if number % 4:
                continue
            for seat in onlookers(game):
                other = redealt(game, seat, rng)
                if other is None:
                    continue
                assert render_game(game, seat) == render_game(other, seat)
                checked += 1
                drawn += [event.tile for event in game.rounds[-1].events] != [event.tile for event in other.rounds[-1].events]
    assert checked > 1000
    assert drawn > 60, "hardly any redeal changed a drawn tile"


def hand_tiles(text: str) -> list[int]:
    """The tiles that stand in the lines of the hands."""
    body = text[text.index("boneyard") :]
    body = re.split(r"^moves|^round", body, flags=re.M)[0]
    return sorted(parse_tile(word) for word in re.findall(r"(?<!must place )\b\d-\d\b", body))


def test_hands_and_counts_are_those_of_the_game() -> None:
    for start, rng in games(rounds=1):
        for number, game in enumerate(play_on(start, rng, 50)):
            if number % 7:
                continue
            hands = [tiles_in(int(game.row.hands[seat])) for seat in range(game.num_players)]
            assert hand_tiles(render_game(game, None)) == []
            assert hand_tiles(render_game(game, None, reveal=True)) == sorted(tile for hand in hands for tile in hand)
            for seat, hand in enumerate(hands):
                text = render_game(game, seat)
                assert hand_tiles(text) == hand
                for other in range(game.num_players):
                    if other != seat and hands[other]:
                        assert re.search(rf"^. seat {other} .* {len(hands[other])} tiles? #{{{len(hands[other])}}}", text, re.M)
                assert text.count("(you") == 1
            assert max(len(line) for line in text.splitlines()) <= WIDTH


def test_a_drawn_tile_is_shown_to_the_seat_that_drew_it() -> None:
    game = played("bergen", ["1-1 1-2 4-4 5-5 0-5 1-6", "2-2 3-4 3-6 4-5 4-6 6-6"], "1-1 draw", "0-0 1-5")
    assert "seat 1  draw 0-0" in render_game(game, 1)
    assert "seat 1  draw 0-0" in render_game(game, None, reveal=True)
    for seat in (0, None):
        assert "0-0" not in render_game(game, seat)
        assert "seat 1  draw\n" in render_game(game, seat) + "\n"
    assert numbers(game.packed).action_arm[game.rounds[0].events[1].action] == DRAW


def test_a_tile_that_must_be_placed_is_shown_to_its_holder_only() -> None:
    game = played("lucky_threes", ["1-1 1-2 4-4 5-5 0-5 1-6", "2-2 3-4 3-6 4-5 4-6 6-6"], "1-1 draw", "1-4")
    assert "must place 1-4" in render_game(game, 1)
    assert "1-4" not in render_game(game, 0)
    assert "1-4" not in render_game(game, None)


def test_when_the_game_is_over_hidden_hands_stay_hidden() -> None:
    game = played("block", ["0-0 5-5 5-6 4-5 3-5 2-5 1-5", "1-1 2-2 3-3 4-4 6-6 1-2 1-3"], "0-0", leader=0)
    assert game.over
    assert hand_tiles(render_game(game, None)) == []
    assert "1-3" in render_game(game, None, reveal=True)


# ---------------------------------------------------------------------------------------------------------- the words


CROSS = r"""all_fives, 2 players, one round, highest score wins: round 0

                                     /1\
                                     \5/
                               [2-5][5|5][5-0]

ends      left 2, right 0, up 1, down 5 (counts 0); sum 3
boneyard  14 to draw
> seat 0   10  1-1 1-3 3-3 0-6 6-6  (you; led; on turn)
  seat 1    0  5 tiles #####
moves      0. seat 0  leads 5-5  +10
           1. seat 1  2-5@left
           2. seat 0  0-5@right
           3. seat 1  1-5@up"""

LUCKY = """lucky_threes, 2 players, one round, highest score wins: round 0

    [1|1]

ends      left 1, right 1; sum 2
boneyard  12 to draw, 2 in reserve
  seat 0    8 (won 8, penalties 0)  5 tiles #####  (led)
> seat 1  -10 (won 0, penalties 10)  0-0 2-2 3-4 1-5 4-5 3-6 4-6 6-6  (you; on
                                     turn, drew 2)
moves      0. seat 0  leads 1-1  +8
           1. seat 1  draw 0-0  -5
           2. seat 1  draw 1-5  -5"""

OVER = """block, 2 players, one round, highest score wins: round 0

    [0|0]

ends      left 0, right 0; sum 0
boneyard  14 set aside
  seat 0    0  6 tiles ######  (led)
  seat 1   12  1-1 1-2 2-2 1-3 3-3 4-4 6-6  (you)
moves      0. seat 0  leads 0-0
round 0 ended: blocked, seat 1 +12; scores 0, 12
game over: seat 1 wins"""

EMPTY = """fives_and_threes, 3 players, match to 41, highest score wins: round 0

    an empty table: seat 2 leads

boneyard  7 set aside
  seat 0    0  7 tiles #######
  seat 1    0  7 tiles #######
> seat 2    0  7 tiles #######  (led; on turn)"""


def test_texts_of_known_positions() -> None:
    game = played("all_fives", ["5-5 0-5 1-1 1-3 3-3 6-6 0-6", "2-5 1-5 2-2 2-3 4-4 4-6 5-6"], "5-5 2-5@left 0-5@right 1-5@up", leader=0)
    assert render_game(game, 0) == CROSS
    game = played("lucky_threes", ["1-1 1-2 4-4 5-5 0-5 1-6", "2-2 3-4 3-6 4-5 4-6 6-6"], "1-1 draw draw", "0-0 1-5")
    assert render_game(game, 1) == LUCKY
    game = played("block", ["0-0 5-5 5-6 4-5 3-5 2-5 1-5", "1-1 2-2 3-3 4-4 6-6 1-2 1-3"], "0-0", leader=0)
    assert render_game(game, 1) == OVER
    match = PlayedGame(VARIANTS["fives_and_threes"], 3, one_round=False)
    match.set_up(list(range(28)), 2, [0, 0, 0])
    assert render_game(match, None) == EMPTY


def test_what_an_end_counts() -> None:
    game = played("fives_and_threes", ["5-5 0-5 1-1 1-3 3-3 6-6 0-6", "4-5 0-0 2-2 2-3 4-4 4-6 5-6"], "5-5", leader=0)
    assert "ends      left 5, right 5; sum 10" in render_game(game, None)  # alone on the table it counts once
    game.make_move(game.move_index("4-5@left"))
    assert "ends      left 4, right 5 (counts 10); sum 14" in render_game(game, None)


def test_the_end_of_the_last_round_stands_under_the_next() -> None:
    game = PlayedGame(VARIANTS["bergen"], 3, one_round=False)
    game.start(5)
    rng = random.Random(5)
    while len(game.rounds) < 2:
        for _ in play_on(game, rng, 1):
            pass
    log = game.rounds[0]
    last = render_game(game, None).splitlines()[-1]
    assert last.startswith("round 0 ended: ")
    assert last.endswith(f"scores {', '.join(map(str, log.scores))}")
    assert [f"seat {seat} +{points}" in last for seat, points in enumerate(log.bonus)] == [points > 0 for points in log.bonus]


def test_winners_that_share() -> None:
    game = played("block", ["0-0 1-1 2-2 3-3 1-2 1-3 2-3", "4-4 4-5 4-6 5-5 5-6 6-6 1-6"], leader=0)
    assert "game over" not in render_game(game, 0)
    game = played("draw", ["1-2 3-4", "3-5 2-2"], "2-2 1-2@left", rules=VARIANTS["draw"].replace(players=[2], hand=2, reserve=24))
    while not game.over:
        game.make_move(game.legal_actions()[0])
    text = render_game(game, None).splitlines()[-1]
    winners = game.winners()
    assert text == ("game over: seats 0 and 1 win" if len(winners) == 2 else f"game over: seat {winners[0]} wins")


def test_colour_changes_nothing_else() -> None:
    for start, rng in games(rounds=1):
        game = list(play_on(start, rng, 12))[-1]
        coloured = render_game(game, 0, color=True)
        assert "\x1b[" in coloured
        assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == render_game(game, 0)
        assert "\x1b" not in render_game(game, 0)


def test_the_tile_played_last_is_marked() -> None:
    game = played("bergen", ["1-1 1-2 4-4 5-5 0-5 1-6", "2-2 3-4 3-6 4-5 4-6 1-3"], "1-1 1-3@left")
    assert "\x1b[1;33m[3-1]\x1b[0m[1|1]" in render_game(game, None, color=True)


def test_errors() -> None:
    game = PlayedGame(VARIANTS["bergen"], 2, one_round=True)
    with pytest.raises(OptionsError, match="no game yet"):
        render_game(game, 0)
    game.start(0)
    for seat in (2, -1):
        with pytest.raises(OptionsError, match=f"seat={seat}, but seats are 0 to 1"):
            render_game(game, seat)


def test_tile_texts_of_a_hand_are_those_of_moves() -> None:
    game = played("bergen", ["1-1 1-2 4-4 5-5 0-5 1-6", "2-2 3-4 3-6 4-5 4-6 1-3"])
    for tile in tiles_in(int(game.row.hands[0])):
        assert tile_text(tile) in render_game(game, 0)
