"""Learning curves as a picture: what is drawn is what the files say, to the number."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from domino_env.commands.common import run_app
from tests.plot_cases import HEAD, band, evaluated, lines, panels, run_folder, write_log
from tests.training_cases import EVALUATED, values
from training.__main__ import app
from training.config import ConfigError
from training.config_file import load_config
from training.plots import draw_curves, save_curves
from training.train import train


def test_a_panel_for_each_anchor_with_the_figures_of_the_file_and_their_intervals(tmp_path: Path) -> None:
    run = run_folder(tmp_path / "mine")
    drawn = panels(draw_curves([run]))
    assert list(drawn) == ["points per round against random", "points per round against greedy"]
    for anchor in ("random", "greedy"):
        axes = drawn[f"points per round against {anchor}"]
        points, low, high = evaluated(run, anchor, "points", "low", "high")
        assert np.array_equal(lines(axes)["mine"], [[100, 200, 300], points])
        assert band(axes) == {100.0 * (k + 1): (low[k], high[k]) for k in range(3)}
        assert [line.get_ydata() for line in axes.get_lines() if line.get_label() != "mine"] == [[0, 0]]


def test_runs_of_different_settings_are_lines_of_their_own(tmp_path: Path) -> None:
    runs = [run_folder(tmp_path / "a" / "run"), run_folder(tmp_path / "b" / "run", layers=[8])]
    figure = draw_curves(runs, what=["won"], against=["greedy"])
    ((title, axes),) = panels(figure).items()
    assert title == "share of rounds won against greedy"
    drawn = lines(axes)
    for run, label in zip(runs, ("a/run", "b/run"), strict=True):
        assert np.array_equal(drawn[label][1], evaluated(run, "greedy", "won")[0])
    assert len({line.get_color() for line in axes.get_lines() if line.get_label() in ("a/run", "b/run")}) == 2
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a/run", "b/run"]
    level = next(points for label, points in drawn.items() if label.startswith("_"))
    assert np.array_equal(level[1], [0.5, 0.5])


def test_seeds_are_a_mean_with_a_band_from_the_lowest_to_the_highest(tmp_path: Path) -> None:
    runs = [run_folder(tmp_path / f"bergen_seed{seed}", seed, evaluations=3 + (seed == 2)) for seed in (1, 2, 3)]
    figure = draw_curves(runs, against=["greedy"])
    (axes,) = figure.axes
    points = np.stack([evaluated(run, "greedy", "points")[0][:3] for run in runs])
    assert np.allclose(lines(axes)["bergen: mean of 3 seeds"], [[100, 200, 300], points.mean(axis=0)])
    assert band(axes) == {100.0 * (k + 1): (points[:, k].min(), points[:, k].max()) for k in range(3)}
    assert sum(label.startswith("_") for label in lines(axes)) == 4, "each seed too, and the level"
    assert figure.legends[0].get_title().get_text() == "bands: from the lowest seed to the highest"
    (axes,) = draw_curves(runs, against=["greedy"], each=True).axes
    assert {"bergen_seed1", "bergen_seed2", "bergen_seed3"} < set(lines(axes))


def test_a_seed_that_is_there_twice_is_no_other_seed(tmp_path: Path) -> None:
    runs = [run_folder(tmp_path / name, seed) for name, seed in (("a1", 1), ("a2", 2), ("again", 1))]
    (axes,) = draw_curves(runs, against=["greedy"]).axes
    assert {"a: mean of 2 seeds", "again"} < set(lines(axes))


@pytest.mark.parametrize(("longest", "unit", "name"), [(120, 1, "seconds"), (600, 60, "minutes"), (36_000, 3600, "hours")])
def test_wall_time_comes_from_the_log(longest: int, unit: int, name: str, tmp_path: Path) -> None:
    run = run_folder(tmp_path / "mine")
    # two lines between which the evaluations at 200 and 300 lie; none so far at 400
    write_log(run, 0, [[100, longest / 4, 0.5], [300, longest, ""]])
    (axes,) = draw_curves([run], against=["random"], x="time").axes
    at, points = lines(axes)["mine"]
    assert np.allclose(at, np.array([longest / 4, longest * 5 / 8, longest]) / unit)
    assert np.array_equal(points, evaluated(run, "random", "points")[0])
    assert axes.get_xlabel() == f"{name} of training"


def test_columns_of_the_log_are_found_by_the_end_of_their_names(tmp_path: Path) -> None:
    run = run_folder(tmp_path / "mine")
    write_log(run, 0, [[100, 1, 0.25], [200, 2, "nan"], [300, 3, ""], [400, 4, 0.75]])
    for name in ("return", "rollout/return"):
        ((title, axes),) = panels(draw_curves([run], what=[name])).items()
        assert title == "rollout/return"
        assert np.array_equal(lines(axes)["mine"], [[100, 400], [0.25, 0.75]])


def test_what_a_start_lost_is_left_out(tmp_path: Path) -> None:
    run = run_folder(tmp_path / "mine")
    write_log(run, 0, [[100, 1, 1.0], [200, 2, 2.0], [300, 3, 3.0]])
    write_log(run, 200, [[250, 4, 9.0]])
    write_log(run, 200, [[240, 4, 4.0], [1000, 6, 5.0]], again="_2")
    (axes,) = draw_curves([run], what=["return"]).axes
    assert np.array_equal(lines(axes)["mine"], [[100, 200, 240, 1000], [1, 2, 4, 5]])


def test_a_live_run_may_be_drawn(tmp_path: Path) -> None:
    run = run_folder(tmp_path / "mine", evaluations=0)
    log = write_log(run, 0, [[100, 1, 1.0], [200, 2, 2.0], [300, 3, 2.5]], end="")  # the last number may be cut: 2.5 of 2.53
    for end in ("", "\n400,4", "\n400,4,0.1"):
        log.write_text(log.read_text().removesuffix("\n400,4") + end)
        (axes,) = draw_curves([run]).axes
        assert lines(axes)["mine"][0].max() == (200 if not end else 300)
    write_log(run, 0, [[100, 1, -0.5]], head=[*HEAD[:2], "train/entropy_loss"])  # who plays every seat logs no return
    assert list(panels(draw_curves([run]))) == ["train/entropy_loss"]
    write_log(run, 0, [[100, 1, 0.5]])
    (run / "evaluations.json").unlink()
    assert list(panels(draw_curves([run]))) == ["rollout/return"]


def test_memory_game(tmp_path: Path) -> None:
    run = run_folder(tmp_path / "shop", variant="shopping", algorithm="ppo", layers=[8])
    ((title, axes),) = panels(draw_curves([run])).items()
    recited, low, high = evaluated(run, None, "recited", "low", "high")
    assert title == "words recited"
    assert np.array_equal(lines(axes)["shop"][1], recited)
    assert band(axes) == {100.0 * (k + 1): (low[k], high[k]) for k in range(3)}
    both = draw_curves([run, run_folder(tmp_path / "bergen", episode="match")])
    assert list(panels(both)) == ["words recited", "points per match against random", "points per match against greedy"]
    assert "shop" not in lines(both.axes[1])
    assert "bergen" in lines(both.axes[1])


def test_a_real_run_is_read(tmp_path: Path) -> None:
    config = tmp_path / "small.yaml"
    config.write_text(yaml.safe_dump(values(EVALUATED)))
    train(load_config(config), tmp_path / "run", ["a", "test"])
    figure = draw_curves([tmp_path / "run"], what=["points", "won", "approx_kl"], x="time")
    assert list(panels(figure)) == [
        *(f"points per round against {anchor}" for anchor in ("random", "greedy", "first")),
        *(f"share of rounds won against {anchor}" for anchor in ("random", "greedy", "first")),
        "train/approx_kl",
    ]
    assert np.array_equal(lines(figure.axes[0])["run"][1], evaluated(tmp_path / "run", "random", "points")[0])


@pytest.mark.parametrize(
    ("damage", "options", "message"),
    [
        (lambda run: (run / "config.yaml").unlink(), {}, "there is no config.yaml"),
        (lambda run: (run / "config.yaml").write_text("variant: chess"), {}, "chess"),
        (lambda run: (run / "evaluations.json").write_text('[{"decisions": 1'), {}, r"evaluations .*evaluations\.json: Expecting"),
        (lambda run: (run / "evaluations.json").write_text(""), {}, r"evaluations\.json: Expecting value"),
        (lambda run: (run / "evaluations.json").write_text("{}"), {}, "dict, but it is a list"),
        (lambda run: (run / "evaluations.json").write_text('[{"decisions": 5, "against": {"x": 3}}]'), {}, "entry 0 is no evaluation"),
        (lambda run: (run / "evaluations.json").write_text('[{"decisions": 5}]'), {}, "entry 0 is no evaluation"),
        (lambda run: write_log(run, 0, [[1, 2], [1, 2, 3]]), {"what": ["return"]}, "line 2: .* 3 columns"),
        (lambda run: write_log(run, 0, [[1, "x", 3]]), {"what": ["return"]}, "line 2: could not convert"),
        (lambda run: write_log(run, 0, [[1, 2, 3]], head=["a", "b", "c"]), {"what": ["return"]}, "its columns: a, b, c"),
        (lambda run: write_log(run, 0, [], end=""), {"what": ["return"]}, "'return', but the runs have points, won"),
        (lambda run: shutil.rmtree(run / "logs"), {"x": "time"}, "no time in its log"),
        (lambda run: None, {"what": ["speed"]}, "'speed', but the runs have points, won, rollout/return, time/seconds"),
        (lambda run: None, {"against": ["nobody"]}, "'nobody', but the evaluations are against random, greedy"),
        (lambda run: None, {"x": "games"}, "axis 'games', but it is 'decisions' or 'time'"),
    ],
)
def test_bad_runs_are_named_errors(damage: Any, options: dict[str, Any], message: str, tmp_path: Path) -> None:
    run = run_folder(tmp_path / "mine")
    damage(run)
    with pytest.raises(ConfigError, match=message):
        draw_curves([run], **options)


def test_every_run_that_is_named_is_seen(tmp_path: Path) -> None:
    runs = [run_folder(tmp_path / "told"), run_folder(tmp_path / "young", evaluations=0, layers=[8])]
    shutil.rmtree(runs[1] / "logs")
    with pytest.raises(ConfigError, match=r"young: it has nothing yet"):
        draw_curves(runs)
    with pytest.raises(ConfigError, match="no evaluation and no line of its log yet"):
        draw_curves(runs[1:])
    with pytest.raises(ConfigError, match="told is named twice"):
        draw_curves([runs[0], tmp_path / "young" / ".." / "told"])
    with pytest.raises(ConfigError, match="at least one"):
        draw_curves([])


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_curves_are_written_whole_and_alike(kind: str, tmp_path: Path) -> None:
    run = run_folder(tmp_path / "mine")
    files = [tmp_path / f"{name}.{kind}" for name in "ab"]
    for file in files:
        save_curves([run], file)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert files[0].read_bytes().startswith(b"\x89PNG" if kind == "png" else b"<?xml")


def test_plot_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, out = run_folder(tmp_path / "mine"), tmp_path / "curves.svg"
    assert run_app(app, "training", ["plot", str(run), "--out", str(out), "--against", "greedy", "--x", "time"]) == 0
    assert capsys.readouterr().out == f"curves {out}\n"
    assert out.exists()
    for arguments, message in (
        ([str(run), "--out", str(tmp_path / "curves.gif")], "ends in .png or .svg"),
        ([str(run), "--out", str(tmp_path / "no" / "curves.png")], "there is no folder"),
        ([str(tmp_path), "--out", str(out)], "not the folder of a run"),
        ([], "RUN"),
    ):
        assert run_app(app, "training", ["plot", *arguments]) == 2
        assert message in capsys.readouterr().err
