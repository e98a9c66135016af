"""Films of games, and the command that makes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from domino_env.errors import OptionsError, RecordError
from domino_env.notation.records import save_record, to_record
from domino_env.rendering.svg import to_svg
from tests.picture_cases import faces, frame, some_game

# -------------------------------------------------------------------------------------------------------------- films


def save_film_of(game: Any, path: Path, **kwargs: Any) -> None:
    from domino_env.rendering.film import save_film

    save_film(game, path, **kwargs)


def test_gif(tmp_path: Path) -> None:
    from PIL import Image

    game = some_game("bergen", 2, 10)
    save_film_of(game, tmp_path / "film.gif", seat=0, fps=2, width=480)
    with Image.open(tmp_path / "film.gif") as film:
        assert film.n_frames == 1 + len(game.rounds[0].events)
        assert film.size == (480, 310)
        assert film.info["duration"] == 500
        film.seek(film.n_frames - 1)
        assert film.info["duration"] == 3000
        last = np.asarray(film.convert("RGB")).astype(int)
        wanted = Image.fromarray(frame(game, 0)).resize((480, 310), Image.Resampling.BOX)
        assert np.abs(last - np.asarray(wanted)).mean() < 6
    save_film_of(to_record(game), tmp_path / "record.gif", seat=0, fps=2, width=480)
    assert (tmp_path / "record.gif").read_bytes() == (tmp_path / "film.gif").read_bytes()


def test_mp4(tmp_path: Path) -> None:
    import av

    game = some_game("all_fives", 2, 3)
    save_film_of(game, tmp_path / "film.mp4", reveal=True, fps=2, width=321)
    with av.open(str(tmp_path / "film.mp4")) as film:
        shown = [image.to_ndarray(format="rgb24") for image in film.decode(video=0)]
    assert len(shown) == 5 * len(game.rounds[0].events) + 30  # ten a second: half a second each, the last for three
    assert shown[0].shape == (206, 320, 3)


def test_wrong_films(tmp_path: Path) -> None:
    game = some_game("bergen", 2, 4)
    for kwargs, text in (
        ({"path": "film.avi"}, "its name ends in .gif or .mp4"),
        ({"fps": 0}, "fps=0, but it is from 0.1 to 30 moves a second"),
        ({"fps": float("nan")}, "fps=nan"),
        ({"fps": 1e-3}, "fps=0.001"),  # GIF cannot hold such times, and an MP4 would be written for ever
        ({"width": 10}, "width=10, but it is 240 to 1920"),
        ({"seat": 2}, "seat=2, but seats are 0 to 1"),
    ):
        with pytest.raises(OptionsError, match=text):
            save_film_of(game, **{"path": tmp_path / "film.gif", **kwargs})  # type: ignore[arg-type]
    record = to_record(game)
    record["rounds"][0]["events"][-1]["points"] = 77
    with pytest.raises(RecordError):
        save_film_of(record, tmp_path / "film.gif")
    with pytest.raises(OSError, match="none"):
        save_film_of(game, tmp_path / "none" / "film.gif")
    assert list(tmp_path.iterdir()) == []


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from domino_env.cli import main

    game = some_game("bergen", 2, 10)
    path, svg, film = tmp_path / "game.json", tmp_path / "game.svg", tmp_path / "film.gif"
    save_record(to_record(game), path)

    def run(*arguments: str) -> int:
        with pytest.raises(SystemExit) as stop:
            main(["replay", str(path), *arguments])
        return int(stop.value.code or 0)

    assert run("--svg", str(svg), "--film", str(film), "--seat", "1", "--fps", "30") == 0
    assert svg.read_text() == to_svg(game, 1) + "\n"
    assert film.stat().st_size > 1000
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "picture saved in" in captured.err
    assert run("--svg", str(svg), "--to", "0:2", "--json") == 0
    assert json.loads(capsys.readouterr().out)["moves"] == 3
    assert len(faces(svg.read_text())) < len(faces(to_svg(game, 1)))
    before = {file.name for file in tmp_path.iterdir()}
    for arguments, text in (
        (["--film", str(tmp_path / "film.avi")], "ends in .gif or .mp4"),
        (["--film", str(tmp_path / "none" / "film.gif")], "no folder"),
        (["--svg", str(tmp_path / "game.png")], "ends in .svg"),
        (["--fps", "2"], "add --film"),
        (["--film", str(tmp_path / "new.gif"), "--fps", "0"], "fps=0"),
        (["--svg", str(svg), "--html", str(tmp_path / "game.html")], "one after the other"),
    ):
        assert run(*arguments) == 2
        error = capsys.readouterr().err
        assert text in error
        assert error.count("\n") == 1
    assert {file.name for file in tmp_path.iterdir()} == before
