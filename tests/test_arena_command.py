"""``domino arena``: what it writes, and what it refuses before the play."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from domino_env.cli import main
from tests.policy_cases import random_checkpoint


@pytest.fixture
def arena(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., tuple[int, str, str]]:
    """Run ``domino arena bergen ...`` in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stopped:
            main(["arena", "bergen", *map(str, arguments)])
        out, err = capsys.readouterr()
        status: Any = stopped.value.code
        return status, out, "".join(line for line in err.splitlines(True) if not line.startswith("domino_env: compiling"))

    return run


def test_the_command_writes_table_picture_and_ratings(arena: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    status, out, err = arena(
        *("greedy", "bergen/ppo?sample=1", "random", "--deals", 30, "--csv", "a.csv", "--heatmap", "a.png", "--heatmap-of", "won"),
        *("--anchor", "random=-1.5", "--anchor", "bergen/ppo?sample=1=3", "--json"),
    )
    assert (status, err) == (0, "")
    found = json.loads(out)
    anchored = {rating["name"]: rating["rating"]["mean"] for rating in found["ratings"] if rating["anchor"]}
    assert anchored == {"random": -1.5, "bergen/ppo?sample=1": 3.0}
    rows = list(csv.DictReader(io.StringIO((tmp_path / "a.csv").read_text())))
    assert float(rows[0]["rating_mean"]) == found["ratings"][0]["rating"]["mean"]
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "a.png"]
    assert "± " in arena("greedy", "random", "--deals", 30)[1]
    assert "± " not in arena("greedy", "random", "--deals", 30, "--no-rating")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["greedy", "nobody"], "policy 'nobody'"),
        (["greedy", "other.safetensors"], "made for draw (rules "),
        (["greedy", "random", "--deals", "1"], "deals=1"),
        (["greedy", "random", "--csv", "table.txt"], "file 'table.txt', but its name ends in .csv"),
        (["greedy", "random", "--csv", "folder.csv"], "is a folder"),
        (["greedy", "random", "--heatmap", "map.jpg"], "heat map 'map.jpg', but its name ends in .png"),
        (["greedy", "random", "--heatmap", "none/map.png"], "there is no folder"),
        (["greedy", "random", "--heatmap", "pipe.png"], "file 'pipe.png' is no plain file"),
        (["greedy", "random", "--heatmap", "map.png", "--heatmap-of", "luck"], "heat map of 'luck', but it is of 'points' or 'won'"),
        (["greedy", "random", "--anchor", "greedy"], "anchor 'greedy', but it is NAME=VALUE"),
        (["greedy", "random", "--anchor", "greedy=x"], "anchor 'greedy=x', but it is NAME=VALUE"),
        (["greedy", "random", "--anchor", "greedy=nan"], "anchor 'greedy'=nan"),
        (["greedy", "random", "--anchor", "nobody=3"], "anchor 'nobody', but the policies are greedy, random"),
        (["greedy", "random", "--anchor", "greedy=3", "--anchor", "greedy=4"], "anchor 'greedy' is given twice"),
        (["greedy", "random", "--anchor", "greedy=3", "--no-rating"], "but no rating is asked for"),
    ],
)
def test_what_cannot_be_is_one_line_before_the_play(
    arena: Callable[..., tuple[int, str, str]], arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def played(*args: Any) -> None:
        raise AssertionError("played")

    monkeypatch.setattr("domino_env.arena.run._play_pair", played)
    random_checkpoint(tmp_path / "other.safetensors", "draw", 2)
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.png")
    before = sorted(tmp_path.iterdir())
    status, out, err = arena(*arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("domino: ")
    assert message in err
    assert sorted(tmp_path.iterdir()) == before


def test_a_folder_that_cannot_be_written_to(arena: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*args: Any, **options: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("tempfile.NamedTemporaryFile", refused)
    for option, name in (("--csv", "a.csv"), ("--heatmap", "a.png")):
        status, out, err = arena("greedy", "random", option, name)
        assert (status, out) == (2, "")
        assert err == f"domino: file '{name}': cannot be written (Permission denied)\n"
