"""Pictures of a game: one scene, drawn as SVG and as pixels; they show what the onlooker may see, and no more."""

from __future__ import annotations

import itertools
import random
import re
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import domino_env
from domino_env.envs.aec import raw_env
from domino_env.errors import OptionsError
from domino_env.notation.game import PlayedGame
from domino_env.rendering.boxes import Rect
from domino_env.rendering.scene import COLOURS, HEIGHT, TABLE, WIDTH, Place, Plate, Text, TileShape, picture
from domino_env.rendering.svg import back_svg, table_svg, tile_svg, tile_symbols, to_svg
from domino_env.tiles import num_tiles, tiles_in
from domino_env.variants import VARIANTS
from tests.picture_cases import faces, frame, some_game
from tests.strategies import preset_cases
from tests.test_leaks import hidden_tiles, play, swapped
from tests.test_rendering import games, play_on, played

SVG = "{http://www.w3.org/2000/svg}"


# -------------------------------------------------------------------------------------------------------------- scene


def test_nothing_overlaps_in_any_picture() -> None:
    seen = 0
    for start, rng in games(rounds=1):
        for game in play_on(start, rng, 200):
            if rng.random() < 0.2 or game.over:
                check_scene(game, rng.choice([None, *range(game.num_players)]), rng.random() < 0.3)
                seen += 1
    assert seen > 300


def check_scene(game: PlayedGame, seat: int | None, reveal: bool) -> None:
    """Every shape within the picture, tiles on the felt or in a panel, no two of them on each other, words beside each other."""
    shapes = picture(game, seat, reveal).shapes
    tiles = [shape for shape in shapes if isinstance(shape, TileShape)]
    places = [shape.rect for shape in shapes if isinstance(shape, Place)]
    panels = [shape.rect for shape in shapes if isinstance(shape, Plate) and shape.fill == "panel"]
    laid = [tile.rect for tile in tiles if tile.event >= 0]
    hands = [tile.rect for tile in tiles if tile.event < 0]
    assert len(laid) == int(game.row.table).bit_count()
    assert len(hands) == sum(int(size) for size in game.row.hand_sizes[: game.num_players])
    assert len(panels) == game.num_players
    assert all(TABLE.grown(0.01).contains(rect) for rect in (*laid, *places))
    assert all(any(panel.contains(rect) for panel in panels) for rect in hands)
    assert all(Rect(0, 0, WIDTH, HEIGHT).contains(rect) for rect in panels)
    for a, b in itertools.combinations([rect.grown(-0.001) for rect in (*laid, *places, *hands)], 2):
        assert not a.overlaps(b)
    words = [words_rect(shape) for shape in shapes if isinstance(shape, Text) and shape.words]
    for a, b in itertools.combinations(words, 2):
        assert not a.overlaps(b), (a, b)
    assert not any(rect.overlaps(hand) for rect in words for hand in hands)


def words_rect(text: Text) -> Rect:
    """About where the words stand: capitals above the base line, tails beneath it."""
    width = 0.5 * text.size * len(text.words)
    x = text.x - {"start": 0.0, "middle": width / 2, "end": width}[text.anchor]
    return Rect(x, text.y - 0.7 * text.size, width, 0.9 * text.size)


def test_what_a_picture_tells() -> None:
    game = played("bergen", ["1-1 1-2 4-4 5-5 0-5 1-6", "2-2 3-4 3-6 4-5 4-6 1-3"], "1-1 1-3@left")
    words = [shape.words for shape in picture(game, 0).shapes if isinstance(shape, Text)]
    for text in (
        "bergen, 2 players, one round, highest score wins: round 0",
        "ends: left 3, right 1 (counts 2); sum 5",
        "move 1:  seat 1  1-3@left",
        "boneyard: 14 to draw, 2 in reserve",
        "you; led; on turn",
        "2",
    ):
        assert text in words
    last = [shape for shape in picture(game).shapes if isinstance(shape, TileShape) and shape.last]
    assert [(shape.first, shape.second, shape.event) for shape in last] == [(3, 1, 1)]
    over = some_game("lucky_threes", 3, 500)
    assert over.over
    words = [shape.words for shape in picture(over).shapes if isinstance(shape, Text)]
    assert any(text.startswith("game over: seat") for text in words)
    assert any("penalties" in text for text in words)
    assert not any(isinstance(shape, Place) for shape in picture(over).shapes)


# ---------------------------------------------------------------------------------------------------------------- svg


@pytest.mark.parametrize(("variant", "seats", "sides"), preset_cases())
def test_svg_shows_hands_to_their_seat_alone(variant: str, seats: int, sides: bool) -> None:
    game = some_game(variant, seats, 8, one_round=False)
    held = [{f"tile-{low}-{high}" for low, high in map(domino_env_pips, tiles_in(int(hand)))} for hand in game.row.hands[:seats]]
    total = sum(map(len, held))
    table = set(faces(table_svg(game)))
    assert len(table) == int(game.row.table).bit_count()
    for seat in (None, *range(seats)):
        drawn = faces(to_svg(game, seat))
        own = held[seat] if seat is not None else set()
        assert set(drawn) - {"tile-back"} == table | own
        assert drawn.count("tile-back") == total - len(own)
    assert set(faces(to_svg(game, None, reveal=True))) == table.union(*held)


def domino_env_pips(tile: int) -> tuple[int, int]:
    return domino_env.tiles.tile_pips(tile)


def test_svg_is_whole() -> None:
    """Valid XML; every symbol that is used is defined, every colour is a property with its fallback, every picture has a title."""
    for start, rng in games(rounds=1):
        *_, game = play_on(start, rng, rng.randrange(40))
        for svg in (to_svg(game, 0), table_svg(game), table_svg(game, symbols=False) + tile_symbols(game.rules.max_pip)):
            root = ET.fromstring(f"<html>{svg}</html>")
            defined = {item.attrib["id"] for item in root.iter() if "id" in item.attrib}
            assert {use.attrib["href"][1:] for use in root.iter(f"{SVG}use")} <= defined
            assert root[0].find(f"{SVG}title").text  # type: ignore[union-attr]
            for role, colour in re.findall(r"var\(--domino-(\w+),(#\w+)\)", svg):
                assert COLOURS[role] == colour
            assert "var(--domino-" in svg
    symbols = ET.fromstring(tile_symbols(9))
    assert len({item.attrib["id"] for item in symbols.iter(f"{SVG}g") if "id" in item.attrib}) == num_tiles(9) + 1
    for svg in (back_svg(), *(tile_svg(tile, lying) for tile in range(num_tiles(9)) for lying in (False, True))):
        assert ET.fromstring(svg).find(f"{SVG}title") is not None


@pytest.mark.parametrize("tile", [0, 5, 20, 27, 54])
def test_tiles_have_their_pips(tile: int) -> None:
    low, high = domino_env_pips(tile)
    dots = [(float(dot.attrib["cx"]), float(dot.attrib["cy"])) for dot in ET.fromstring(tile_svg(tile)).iter(f"{SVG}circle")]
    assert len(set(dots)) == low + high
    assert sum(y < 0 for _, y in dots) == low
    assert "rotate(-90)" in tile_svg(tile, lying=True)


def test_the_table_alone_carries_its_data() -> None:
    game = some_game()
    root = ET.fromstring(table_svg(game))
    groups = list(root.iter(f"{SVG}g"))
    tiles = [group for group in groups if group.attrib.get("class", "").split()[:1] == ["tile"]]
    laid = [number for number, event in enumerate(game.rounds[-1].events) if "@" in game.move_text(event.action) or number == 0]
    assert [int(group.attrib["data-event"]) for group in tiles] == laid
    assert [group.attrib["data-event"] for group in tiles if "last" in group.attrib["class"]] == [str(laid[-1])]
    ends = {group.attrib["data-arm"]: int(group.attrib["data-pip"]) for group in groups if group.attrib.get("class") == "end"}
    names = dict(zip(("left", "right", "up", "down"), game.row.arm_pip.tolist(), strict=True))
    assert sorted(ends.values()) == sorted(pip for pip in names.values() if pip >= 0)
    with pytest.raises(OptionsError, match="no game yet"):
        table_svg(PlayedGame(VARIANTS["block"], 2, one_round=True))
    with pytest.raises(OptionsError, match="seat=2"):
        to_svg(game, 2)


# ------------------------------------------------------------------------------------------------------------- pixels


def near(pixel: npt.NDArray[np.uint8], role: str, within: int = 12) -> bool:
    wanted = [int(COLOURS[role][at : at + 2], 16) for at in (1, 3, 5)]
    return bool(np.abs(pixel.astype(int) - wanted).max() < within)


@pytest.mark.parametrize(("variant", "seats"), [("all_fives", 2), ("bergen", 4), ("fives_and_threes", 5), ("draw", 3)])
def test_pixels_are_those_of_the_scene(variant: str, seats: int) -> None:
    """At every tile its face or back, its pips where they belong, the felt beside it."""
    game = some_game(variant, seats, 14)
    pixels = frame(game, 1)
    assert (pixels.shape, pixels.dtype) == ((HEIGHT, WIDTH, 3), np.uint8)
    assert pixels.flags.c_contiguous
    tiles = [shape for shape in picture(game, 1).shapes if isinstance(shape, TileShape)]
    for tile in tiles:
        # a back in the middle, a face beside the line, where no tile has pips
        across, down = (0, 0) if tile.first < 0 else (0.12, 0.55) if tile.lying else (0.55, 0.12)
        pixel = pixels[round(tile.y + down * tile.unit), round(tile.x + across * tile.unit)]
        assert near(pixel, "back" if tile.first < 0 else "face", within=60) or tile.last, tile
        for half, pips in ((-1, tile.first), (1, tile.second)):
            x, y = (tile.x + half * tile.unit, tile.y) if tile.lying else (tile.x, tile.y + half * tile.unit)
            if pips >= 0 and tile.unit > 8:
                assert near(pixels[int(y), int(x)], "pip" if pips % 2 else "face"), tile
    assert near(pixels[int(TABLE.bottom) - 6, WIDTH // 2], "table")
    assert near(pixels[2, 2], "room")


def test_frames_tell_moves_apart() -> None:
    game = some_game()
    before = frame(game, 0)
    assert np.array_equal(before, frame(game, 0))
    assert not np.array_equal(before, frame(game, 1))
    game.make_move(game.legal_actions()[0])
    assert not np.array_equal(before, frame(game, 0))


# -------------------------------------------------------------------------------------------------------------- leaks


def pictures(game: PlayedGame, seat: int) -> dict[str, Any]:
    """Every picture that a seat may be shown."""
    return {
        "svg": to_svg(game, seat),
        "spectator": to_svg(game, None),
        "table": table_svg(game),
        "pixels": frame(game, seat).tobytes(),
    }


@pytest.mark.parametrize(("variant", "seats", "sides"), preset_cases())
def test_redealt_tiles_do_not_show(variant: str, seats: int, sides: bool) -> None:
    game = raw_env(variant, num_players=seats, rules={"sides": True} if sides else None, render_mode="rgb_array")
    rng = random.Random(f"{variant} {seats} {sides}")
    differ = 0
    for number in range(2):
        game.reset(seed=rng.getrandbits(60))
        play(game, rng.randrange(40), rng)
        for seat in range(seats):
            other = game.resample(seat, number)
            differ += hidden_tiles(game, seat) != hidden_tiles(other, seat)
            assert pictures(game.game, seat) == pictures(other.game, seat)
            if not game.game.over and game.game.seat == seat:
                assert game._repr_svg_() == other._repr_svg_() == to_svg(game.game, seat)
                assert np.array_equal(game.render(), other.render())  # type: ignore[arg-type]
    assert differ > 0


@pytest.mark.parametrize("variant", ["bergen", "all_fives", "block", "threes"])
def test_hands_stay_hidden_when_the_game_is_over(variant: str) -> None:
    exchanged = 0
    rng = random.Random(variant)
    for _ in range(12):
        if exchanged > 3:
            break
        game = raw_env(variant, num_players=2, episode="round")
        game.reset(seed=rng.getrandbits(60))
        play(game, 500, rng)
        assert game.game.over
        for seat in range(2):
            for other in swapped(game, seat, most=2):
                exchanged += hidden_tiles(other, seat)[0] != hidden_tiles(game, seat)[0]
                other.game.rounds = game.game.rounds  # swapped() rewrites the row alone
                assert pictures(game.game, seat) == pictures(other.game, seat)
        assert game._repr_svg_() == to_svg(game.game, None)
    assert exchanged > 0


def test_a_leak_is_caught() -> None:
    game = raw_env("bergen", num_players=3)
    game.reset(seed=1)
    play(game, 6, random.Random(1))
    others = [game.resample(0, seed) for seed in range(8)]
    assert any(to_svg(game.game, 0, reveal=True) != to_svg(other.game, 0, reveal=True) for other in others)
    assert any(not np.array_equal(frame(game.game, 0, True), frame(other.game, 0, True)) for other in others)
