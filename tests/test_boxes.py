"""The tiles in the plane: nothing overlaps, neighbours touch with equal pips, and all stays within bounds."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest

from domino_env.engine.packed import numbers
from domino_env.notation.game import PlayedGame
from domino_env.rendering import boxes
from domino_env.rendering.boxes import Board, Rect, TileBox, place
from domino_env.rendering.table import LaidTile, TableLayout, lay_out
from domino_env.variants import VARIANTS
from tests.test_rendering import games, play_on, played

BOUNDS = {6: Rect(-27, -36, 54, 72), 9: Rect(-27, -76, 54, 152)}
"""What no set of this size ever leaves: a whole set on one arm of four."""


def halves(box: TileBox) -> list[tuple[Rect, int]]:
    """Both halves of a tile, with their pips."""
    x, y, width, height = box.rect
    if box.lying:
        return [(Rect(x, y, width / 2, height), box.first), (Rect(x + width / 2, y, width / 2, height), box.second)]
    return [(Rect(x, y, width, height / 2), box.first), (Rect(x, y + height / 2, width, height / 2), box.second)]


def touch(a: Rect, b: Rect) -> bool:
    """Whether two rectangles share a piece of an edge, and no more."""
    across = min(a.right, b.right) - max(a.x, b.x)
    down = min(a.bottom, b.bottom) - max(a.y, b.y)
    return (across == 0 and down > 0) or (down == 0 and across > 0)


def joined(a: TileBox, b: TileBox) -> bool:
    """Whether two tiles touch with equal pips on both sides of the edge."""
    return any(touch(mine, theirs) and pips == others for mine, pips in halves(a) for theirs, others in halves(b))


def neighbours(layout: TableLayout) -> Iterator[tuple[int, int]]:
    """Numbers of the moves whose tiles lie one beside the other in a line."""
    centre = layout.spinner or layout.lead
    if centre is not None:
        for chain in layout.chains:
            yield from itertools.pairwise(laid.event for laid in (centre, *chain))


def check(layout: TableLayout, bounds: Rect, reach: int = boxes.HALF) -> Board:
    """Everything that must hold of a table."""
    board = place(layout, reach)
    assert [(box.laid.event, box.laid.tile) for box in board.tiles] == [(laid.event, laid.tile) for laid in layout.tiles]
    for box in board.tiles:
        across = box.laid.crosswise
        assert sorted(box.rect[2:]) == [2, 4]
        assert sorted((box.first, box.second)) == sorted((box.laid.near, box.laid.far))
        assert not across or box.first == box.second
    pairs = {frozenset(pair) for pair in neighbours(layout)}
    for a, b in itertools.combinations(board.tiles, 2):
        if frozenset((a.laid.event, b.laid.event)) in pairs:
            assert not a.rect.overlaps(b.rect)
            assert joined(a, b), (a, b)
        else:
            assert not a.rect.grown(0.4).overlaps(b.rect.grown(0.4)), (a, b)
    for number, end in enumerate(board.ends):
        others = [box.rect for box in board.tiles] + [other.rect for other in board.ends[:number]]
        assert not any(end.rect.overlaps(other) for other in others), end
    assert all(bounds.contains(rect) and board.view().contains(rect) for rect in board.rects())
    return board


def test_games_of_every_variant() -> None:
    seen = tiles = 0
    for start, rng in games(rounds=3):
        bounds = BOUNDS[6 if start.rules.max_pip <= 6 else 9]
        for game in play_on(start, rng, 400):
            log = game.rounds[-1]
            if log.end or rng.random() < 0.03:
                check_game(game, check(lay_out(log, game.packed), bounds))
                seen += 1
                tiles = max(tiles, len(place(lay_out(log, game.packed)).tiles))
    assert seen > 300
    assert tiles > 25


def check_game(game: PlayedGame, board: Board) -> None:
    """The places are those of the arms that the engine holds open."""
    arms = int(numbers(game.packed).arms)
    open_pips = game.row.arm_pip[:arms].tolist()
    if board.tiles:
        found = {end.arm: end.pip for end in board.ends}
        if lay_out(game.rounds[-1], game.packed).spinner is None:
            assert [found[0], found[1]] == open_pips[:2]
        assert sorted(found.values()) == sorted(pip for pip in open_pips if pip >= 0)
    else:
        assert [(end.arm, end.pip) for end in board.ends] == [(0, -1)]


def test_a_tile_comes_to_lie_in_its_place_and_stays_there() -> None:
    moved = foreseen = 0
    for start, rng in games(rounds=3):
        before: tuple[TableLayout, Board] | None = None
        for game in play_on(start, rng, 60):
            layout = lay_out(game.rounds[-1], game.packed)
            board = place(layout)
            if before and len(layout.tiles) == len(before[0].tiles) + 1 and before[0].lead:
                old, new = before[1].tiles, board.tiles[-1]
                if layout.spinner == before[0].spinner:
                    assert board.tiles[:-1] == old
                    if not new.laid.crosswise:
                        assert [end.rect for end in before[1].ends if end.arm == new.arm] == [new.rect]
                        foreseen += 1
                else:
                    moved += 1
            before = layout, board
    assert foreseen > 500
    assert moved > 10


def line(rng: random.Random, count: int, crosswise: float, number: Iterator[int], pip: int) -> tuple[LaidTile, ...]:
    """Any tiles that join each other; two doubles never do."""
    out: list[LaidTile] = []
    double = True
    for _ in range(count):
        double = not double and rng.random() < crosswise
        far = pip if double else rng.choice([other for other in range(10) if other != pip])
        event = next(number)
        out.append(LaidTile(event, pip, far, double, event % 2, event))
        pip = far
    return tuple(out)


@pytest.mark.parametrize("crosswise", [0.0, 0.3, 0.7, 1.0])
@pytest.mark.parametrize("arms", [2, 4])
def test_lines_that_no_game_makes(arms: int, crosswise: float) -> None:
    """One arm of 54 tiles, four long ones, doubles crosswise at every second place or never."""
    rng = random.Random(f"{arms} {crosswise}")
    shapes = [[54 if arm == long else most for arm in range(arms)] for long in range(arms) for most in (0, 1)]
    shapes += [[13] * arms, [27, 27, 0, 0]] + [[rng.randrange(14) for _ in range(arms)] for _ in range(60)]
    for lengths in shapes:
        number = itertools.count(1)
        pip = rng.randrange(10)
        lead = LaidTile(0, pip, pip, arms == 4 or rng.random() < crosswise, 0, 0)
        if arms == 4 and not (lengths[0] and lengths[1]):
            lengths = [max(1, lengths[0]), max(1, lengths[1]), *lengths[2:]]
        chains = tuple(line(rng, count, crosswise, number, pip) for count in lengths[:arms])
        layout = TableLayout(lead, chains, lead if arms == 4 else None)
        board = check(layout, BOUNDS[9])
        assert len(board.tiles) == 1 + sum(lengths[:arms])
        check(layout, BOUNDS[9]._replace(x=-43, width=86), boxes.WIDE)


@pytest.mark.parametrize("name", ["PITCH", "INNER"])
def test_an_overlap_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boxes, name, -9 if name == "INNER" else 1)
    with pytest.raises(AssertionError):
        test_lines_that_no_game_makes(4, 0.3)


def test_known_places() -> None:
    empty = place(TableLayout(None, ((), ()), None))
    assert (empty.tiles, empty.ends) == ((), (boxes.End(Rect(-2, -1, 4, 2), 0, -1),))
    game = played("bergen", ["1-1 1-2 4-4 5-5 0-5 1-6", "2-2 3-4 3-6 4-5 4-6 1-3"], "1-1 1-3@left 1-2@right")
    board = place(lay_out(game.rounds[-1], game.packed))
    assert [(box.rect, box.first, box.second, box.arm) for box in board.tiles] == [
        (Rect(-1, -2, 2, 4), 1, 1, -1),
        (Rect(-5, -1, 4, 2), 3, 1, 0),
        (Rect(1, -1, 4, 2), 1, 2, 1),
    ]
    assert [tuple(end) for end in board.ends] == [(Rect(-9, -1, 4, 2), 0, 3), (Rect(5, -1, 4, 2), 1, 2)]
    assert board.view() == boxes.LEAST_VIEW


def test_the_view_is_steady() -> None:
    """Games of the double-six set with two arms hardly ever need more than the least view."""
    larger = total = 0
    for number in range(60):
        variant = list(VARIANTS)[number % len(VARIANTS)]
        game = PlayedGame(VARIANTS[variant], 2, one_round=True)
        game.start(number)
        for _ in play_on(game, random.Random(number), 400):
            pass
        total += 1
        larger += place(lay_out(game.rounds[-1], game.packed)).view() != boxes.LEAST_VIEW
    assert larger < total / 4
