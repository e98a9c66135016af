"""The heat map: every number in the colour of its sign, legible, written whole or not at all."""

from __future__ import annotations

import errno
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from domino_env.arena import Comparison, Estimate, PairResult, PolicyTime, compare, save_heatmap
from domino_env.arena.heatmap import draw_heatmap
from domino_env.errors import OptionsError


def made_up(size: int, largest: float = 1.0, name: str = "policy {}", **more: Any) -> Comparison:
    """A comparison of so many policies that nobody played."""
    generator = np.random.default_rng(size)
    names = [name.format(k) for k in range(size)]
    pairs = []
    for first, second in itertools.combinations(names, 2):
        gain, won = generator.uniform(-largest, largest), generator.uniform()
        shares = Estimate(won, won - 0.02, won + 0.02), Estimate(1 - won, 0.98 - won, 1.02 - won)
        pairs.append(PairResult(first, second, Estimate(gain, gain - largest / 9, gain + largest / 9), *shares))
    about = {"variant": "bergen", "rules": {}, "rules_fingerprint": "", "num_players": 2, "sides": False, "episode": "round"}
    times = tuple(PolicyTime(name, 1, 1.0) for name in names)
    return Comparison(**{**about, **more}, deals=1000, seed=0, pairs=tuple(pairs), times=times)


@pytest.mark.parametrize("measure", ["points", "won"])
def test_heatmap_shows_every_number_in_the_colour_of_its_sign(measure: str) -> None:
    found = made_up(4)
    figure = draw_heatmap(found, measure)
    (axes,) = figure.axes
    texts = {text.get_position(): text.get_text() for text in axes.texts}
    (image,) = axes.images
    colours = np.asarray(image.get_array())
    assert colours.shape == (4, 4, 4)
    assert len(texts) == 24
    for row, column in itertools.product(range(4), repeat=2):
        red, _, blue, _ = colours[row, column].tolist()
        number, half = texts.get((column, row - 0.04)), texts.get((column, row + 0.08))
        if row == column:
            assert (number, half, red) == (None, None, blue)
            continue
        one = getattr(found.pair(found.names[row], found.names[column]), measure)
        assert number == (f"{one.mean:+.3f}" if measure == "points" else f"{100 * one.mean:.1f} %")
        assert half == (f"± {one.half:.3f}" if measure == "points" else "± 2.0")
        assert (blue > red) == (one.mean > (0 if measure == "points" else 0.5))
    assert [label.get_text() for label in axes.get_xticklabels()] == list(found.names)
    assert [label.get_text() for label in axes.get_yticklabels()] == list(found.names)


@pytest.mark.parametrize(
    ("size", "largest", "name", "measure"),
    [
        (2, 1, "{}", "points"),
        (3, 3000, "p{}", "points"),
        (20, 99.5, "runs/long/name/of/a/folder/number_{}.safetensors", "points"),
        (7, 1, "$x_{}$", "won"),
    ],
)
def test_heatmap_is_legible(size: int, largest: float, name: str, measure: str, tmp_path: Path) -> None:
    from matplotlib.image import imread

    found = made_up(size, largest, name)
    figure = draw_heatmap(found, measure)
    figure.set_dpi(150)
    (axes,) = figure.axes
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    boxes = [text.get_window_extent(renderer) for text in axes.texts]
    for text, box in zip(axes.texts, boxes, strict=True):
        column, row = round(text.get_position()[0]), round(text.get_position()[1])
        (left, bottom), (right, top) = axes.transData.transform([(column - 0.5, row + 0.5), (column + 0.5, row - 0.5)])
        assert left < box.x0 < box.x1 < right, text
        assert bottom < box.y0 < box.y1 < top, text
        assert box.height > 10  # pixels
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes[:200], 2))
    rows = [label.get_window_extent(renderer) for label in axes.get_yticklabels()]
    assert not any(one.overlaps(other) for one, other in itertools.pairwise(rows))
    assert all(box.x1 <= axes.bbox.x0 for box in rows)
    path = tmp_path / "map.png"
    save_heatmap(found, path, measure)
    picture = imread(path)
    assert picture.shape[0] > 60 * size
    assert picture.shape[1] > 100 * size
    for edge in (picture[:8], picture[-8:], picture[:, :8], picture[:, -8:]):
        assert np.all(edge == 1)  # nothing is cut off
    assert [file.name for file in tmp_path.iterdir()] == ["map.png"]


def test_heatmap_of_a_comparison(tmp_path: Path) -> None:
    result = compare(["random", "greedy", "greedy"], "all_fives", num_players=3, deals=40, episode="match")
    for measure in ("points", "won"):
        save_heatmap(result, tmp_path / "MAP.PNG", measure)
        assert (tmp_path / "MAP.PNG").read_bytes().startswith(b"\x89PNG")
    (text,) = draw_heatmap(result, "won").texts
    assert text.get_text().splitlines() == [
        "Share of matches that the row wins alone among seats of the column; 33.3 % is fair",
        "all_fives, 3 seats, 40 deals in every seating, 95 % intervals",
    ]


def test_a_heatmap_that_fails_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "map.png"
    path.write_text("old")
    for wrong, measure in ((tmp_path / "map.jpg", "points"), (tmp_path / "map", "points"), (path, "colour")):
        with pytest.raises(OptionsError, match="heat map"):
            save_heatmap(made_up(2), wrong, measure)

    def full(*args: Any, **options: Any) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", full)
    with pytest.raises(OSError, match="no space"):
        save_heatmap(made_up(2), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
