"""Texts of tiles and moves: ids to text and back for every variant and set, and bad texts (PAINS row 20)."""

from __future__ import annotations

import random
from typing import Any

import pytest

from domino_env.engine.packed import Packed, numbers, pack_rules
from domino_env.errors import NotationError
from domino_env.notation import ARM_NAMES, move_index, move_text, parse_tile, tile_text
from domino_env.notation.game import PlayedGame
from domino_env.tiles import MAX_PIP, MAX_TILES, MIN_PIP, num_tiles, tile_id
from domino_env.variants import VARIANTS

SETS = range(MIN_PIP, MAX_PIP + 1)
LENGTHWISE = ("fives", "threes", "lucky_threes", "all_fives")


def packed_of(variant: str, max_pip: int) -> Packed:
    """A variant on another set, with hands that it can deal."""
    rules = VARIANTS[variant]
    return pack_rules(rules.replace(players=2, max_pip=max_pip, hand=min(7, num_tiles(max_pip) // 2)), 2, True)


@pytest.mark.parametrize("tile", range(MAX_TILES))
def test_tile_and_back(tile: int) -> None:
    assert parse_tile(tile_text(tile)) == tile


def test_tiles_of_a_smaller_set_are_the_first() -> None:
    for max_pip in SETS:
        texts = [tile_text(tile) for tile in range(num_tiles(max_pip))]
        assert texts == [f"{low}-{high}" for high in range(max_pip + 1) for low in range(high + 1)]
    assert (tile_text(0), tile_text(27), tile_text(54)) == ("0-0", "6-6", "9-9")


@pytest.mark.parametrize("max_pip", SETS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_id_and_back(variant: str, max_pip: int) -> None:
    packed = packed_of(variant, max_pip)
    table = numbers(packed)
    for lead in (False, True):
        texts = [move_text(packed, action, lead) for action in range(table.num_actions)]
        assert len(set(texts)) == table.num_actions
        assert [move_index(packed, text, lead) for text in texts] == list(range(table.num_actions))
    assert texts[-2:] == ["draw", "pass"]


@pytest.mark.parametrize("max_pip", SETS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_ids_are_those_of_the_contract(variant: str, max_pip: int) -> None:
    """``arm*T + tile``, then ``A*T + arm*(max_pip+1) + pip`` lengthwise, draw, pass: the same whatever the position."""
    packed = packed_of(variant, max_pip)
    tiles, arms = num_tiles(max_pip), 4 if variant == "all_fives" else 2
    pairs = [(low, high) for high in range(max_pip + 1) for low in range(high + 1)]
    for arm in range(arms):
        for low, high in pairs:
            action = arm * tiles + tile_id(low, high)
            assert move_text(packed, action, False) == f"{low}-{high}@{ARM_NAMES[arm]}"
            assert move_index(packed, f"{low}-{high}@{ARM_NAMES[arm]}", False) == action
            assert move_index(packed, f"{low}-{high}@{ARM_NAMES[arm]}", True) == action
    flats = 0
    if variant in LENGTHWISE:
        flats = arms * (max_pip + 1)
        for arm in range(arms):
            for pip in range(max_pip + 1):
                assert move_index(packed, f"{pip}-{pip}@{ARM_NAMES[arm]}:lengthwise", False) == arms * tiles + arm * (max_pip + 1) + pip
    assert move_index(packed, "draw", False) == arms * tiles + flats
    assert move_index(packed, "pass", False) == arms * tiles + flats + 1
    assert numbers(packed).num_actions == arms * tiles + flats + 2


@pytest.mark.parametrize(("variant", "count"), [("bergen", 58), ("draw", 58), ("fives", 72), ("lucky_threes", 72), ("all_fives", 142)])
def test_numbers_of_actions(variant: str, count: int) -> None:
    assert numbers(pack_rules(VARIANTS[variant], 3, False)).num_actions == count


@pytest.mark.parametrize(
    ("variant", "text", "lead", "other"),
    [("bergen", "1-4", True, "1-4@left"), ("fives", "4-4:lengthwise", True, "4-4@left:lengthwise"), ("all_fives", "0-0", True, "0-0@left")],
)
def test_a_lead_names_no_arm(variant: str, text: str, lead: bool, other: str) -> None:
    packed = pack_rules(VARIANTS[variant], 2, False)
    action = move_index(packed, text, lead)
    assert action == move_index(packed, other, False)
    assert move_text(packed, action, True) == text
    assert move_text(packed, action, False) == other


@pytest.mark.parametrize("variant", VARIANTS)
def test_an_id_does_what_its_text_says(variant: str) -> None:
    """Whatever the position: that tile leaves the hand for that arm, lying that way."""
    rng = random.Random(variant)
    game = PlayedGame(VARIANTS[variant], 2, one_round=False)
    game.start(5)
    for _ in range(150):
        action = rng.choice(game.legal_actions())
        text, row, seat, leading = game.move_text(action), game.games[0].copy(), game.seat, game.leading
        game.make_move(action)
        if text in ("draw", "pass"):
            assert game.row.table == row["table"]
            assert game.row.hand_sizes[seat] == row["hand_sizes"][seat] + (text == "draw")
        else:
            tile, (_, _, arm) = parse_tile(text[:3]), text.partition(":")[0].partition("@")
            assert game.row.table == row["table"] | 1 << tile
            assert game.row.hands[seat] == row["hands"][seat] & ~(1 << tile)
            assert (arm == "") == leading
            if not leading:
                laid = game.row.arm_tiles - row["arm_tiles"]
                assert [ARM_NAMES[k] for k in range(4) if laid[k]] == [arm]
                low, high = int(text[0]), int(text[2])
                k = ARM_NAMES.index(arm)
                assert {low, high} == {int(row["arm_pip"][k]), int(game.row.arm_pip[k])}
                assert game.row.arm_cross[k] == (low == high and not text.endswith(":lengthwise"))
        game.deal_if_due()
        if game.over:
            game.start_again()


BAD_TILES: list[Any] = [
    "", " ", "1", "14", "1-", "-4", "1--4", "1-4-", "1 - 4", " 1-4", "1-4 ", "1-4\n", "\n1-4", "1:4", "1/4", "1–4", "1−4", "4-1", "9-0",
    "a-b", "1-a", "a-4", "10-4", "1-10", "01-4", "+1-4", "1.0-4", "-1-4", "１-４", "١-٤", "²-4", "1-7", "7-7", "0-9", None, 4, 1.4, True,
    b"1-4", ["1-4"], ("1-4",), {"1-4": 1}, object,
]  # fmt: skip
BAD_MOVES: list[Any] = [
    "", "1", "Draw", "DRAW", "draw ", " draw", "draws", "draw@left", "pass:lengthwise", "passe", "Pass", "pass\n", "skip", "None", "null",
    "1-4", "1-4@", "1-4@Left", "1-4@LEFT", "1-4@l", "1-4@middle", "1-4@left ", "1-4 @left", "1-4@ left", "1-4@left@right", "1-4@0", "@left",
    "1-4@left\n", "4-1@left", "1-7@left", "7-7@right", "1-4:left", "1-4@left:", "1-4@left:crosswise", "1-4@left:lengthwise",
    "4-4:lengthwise", "4-4@left:lengthwise:lengthwise", "4-4@left:Lengthwise", "4-4@left:length", "4-4:lengthwise@left", "4-4@lefт",
    "1-4@left;pass", "1-4@left 2-4@right", "left@1-4", "1-4-4@left", "1-4@left,right",
    None, 0, 5, 1.5, True, b"draw", ["draw"], ("1-4", "left"), {}, object,
]  # fmt: skip


@pytest.mark.parametrize("text", BAD_TILES, ids=repr)
def test_bad_tile(text: Any) -> None:
    with pytest.raises(NotationError, match="tile") as caught:
        parse_tile(text, 6)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("variant", ["bergen", "fives", "all_fives"])
@pytest.mark.parametrize("text", BAD_MOVES, ids=repr)
def test_bad_move(variant: str, text: Any) -> None:
    packed = pack_rules(VARIANTS[variant], 2, False)
    with pytest.raises(NotationError, match=r"move|tile"):
        move_index(packed, text, False)


@pytest.mark.parametrize("text", ["1-4@up", "6-6@down", "4-4@left:lengthwise", "4-4@up:lengthwise"])
def test_moves_that_another_variant_has(text: str) -> None:
    with pytest.raises(NotationError, match=r"the arms are left, right|only where the rules leave the choice"):
        move_index(pack_rules(VARIANTS["bergen"], 2, False), text, False)
    assert move_index(pack_rules(VARIANTS["all_fives"], 2, False), text, False) >= 0


@pytest.mark.parametrize("text", ["1-4@left:lengthwise", "1-4:lengthwise", "0-6@up:lengthwise"])
def test_only_doubles_lie_lengthwise(text: str) -> None:
    with pytest.raises(NotationError, match="only doubles"):
        move_index(pack_rules(VARIANTS["all_fives"], 2, False), text, True)


@pytest.mark.parametrize("action", [-1, 58, 1000, -58])
def test_no_such_action(action: int) -> None:
    with pytest.raises(NotationError, match=f"action {action}, but action ids are 0 to 57"):
        move_text(pack_rules(VARIANTS["bergen"], 2, False), action, False)
