"""Ratings as a picture: the figures of the table, from the play and from saved tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from domino_env.arena import Comparison, Estimate, PolicyRating, PolicyTime, compare, read_ratings, save_ratings
from domino_env.arena.ratings_plot import RatingTable, draw_ratings
from domino_env.cli import app
from domino_env.commands.common import run_app
from domino_env.errors import OptionsError


def rated(**ratings: tuple[float, float, bool]) -> Comparison:
    """A comparison that nobody played: name -> mean, half its interval, whether it is an anchor."""
    told = tuple(PolicyRating(name, Estimate(mean, mean - half, mean + half), anchor) for name, (mean, half, anchor) in ratings.items())
    times = tuple(PolicyTime(name, 1, 1.0) for name in ratings)
    return Comparison("fives", {}, "", 3, False, "round", 1000, 0, (), times, told)


def test_ratings_are_drawn_with_their_intervals_the_strongest_on_top() -> None:
    found = rated(weak=(21.5, 0.5, False), random=(25.0, 0.0, True), strong=(31.25, 1.25, False))
    (axes,) = draw_ratings(found).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["weak", "random", "strong"]
    assert axes.get_title() == "fives, 3 seats, 1,000 deals in every seating, 95 % intervals"
    dots = {float(line.get_ydata()[0]): line for line in axes.get_lines() if line.get_marker() in ("o", "D")}
    spans = {float(line.get_ydata()[0]): line.get_xdata() for line in axes.get_lines() if line.get_linewidth() == 2}
    assert {row: (float(dot.get_xdata()[0]), dot.get_marker()) for row, dot in dots.items()} == {
        0: (21.5, "o"),
        1: (25.0, "D"),
        2: (31.25, "o"),
    }
    assert {row: tuple(map(float, span)) for row, span in spans.items()} == {0: (21.0, 22.0), 2: (30.0, 32.5)}
    assert [text.get_text() for text in axes.texts] == ["21.50 ± 0.50", "25.00 fixed", "31.25 ± 1.25"]


def test_saved_tables_give_the_same_picture(tmp_path: Path) -> None:
    pytest.importorskip("openskill")
    found = compare(["greedy", "random"], "bergen", deals=20, rating=True)
    (tmp_path / "a.csv").write_text(found.to_csv())
    (tmp_path / "a.json").write_text(json.dumps(found.to_json()))
    assert read_ratings(tmp_path / "a.json") == read_ratings(tmp_path / "a.csv") == RatingTable.of(found)
    save_ratings(found, tmp_path / "a.png")
    assert run_app(app, "domino", ["ratings", str(tmp_path / "a.csv"), "--plot", str(tmp_path / "b.png")]) == 0
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_arena_draws_what_its_table_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("openskill")
    picture, table = tmp_path / "ratings.svg", tmp_path / "table.json"
    arguments = ["bergen", "greedy", "random", "--deals", "20", "--json"]
    assert run_app(app, "domino", ["arena", *arguments, "--ratings-plot", str(picture)]) == 0
    table.write_text(capsys.readouterr().out)
    save_ratings(read_ratings(table), tmp_path / "again.svg")
    assert picture.read_bytes() == (tmp_path / "again.svg").read_bytes()
    for more, message in ((["--no-rating"], "--no-rating says"), ([], "no ratings")):
        name = picture if more else picture.with_suffix(".txt")
        assert run_app(app, "domino", ["arena", *arguments, "--ratings-plot", str(name), *more]) == 2
        assert (message if more else "ends in .png or .svg") in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "", "there is no line"),
        ("a.csv", "variant,first\nbergen,greedy\n", "there is no 'rating_mean'"),
        ("a.json", "{", "Expecting"),
        ("a.json", "[]", "not a table that the arena wrote"),
        ("a.json", "{}", "there is no 'ratings'"),
        (
            "a.json",
            json.dumps({**rated().to_json(), "ratings": [{"name": "x", "anchor": False, "rating": {"mean": 5, "low": 6, "high": 7}}]}),
            "5.0 with",
        ),
        ("a.json", json.dumps(rated().to_json()), "none in it"),
        ("a.txt", "{}", r"neither \.csv nor \.json"),
        ("b.csv", None, "No such file"),
    ],
)
def test_files_without_ratings_are_named_errors(name: str, text: str | None, message: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(OptionsError, match=rf"ratings '.*{name}'.*{message}"):
        read_ratings(tmp_path / name)


def test_without_ratings_nothing_is_drawn(tmp_path: Path) -> None:
    with pytest.raises(OptionsError, match="no ratings"):
        save_ratings(rated(), tmp_path / "a.png")
    assert not list(tmp_path.iterdir())
