"""The files of a run: a folder in use, or a disk that is full, is told in one line, and nothing is overwritten."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from domino_env.policies import load_checkpoint, save_checkpoint
from tests.training_cases import EVALUATED, configured, content, run, started, values, weights, write
from training.config import TrainingConfig
from training.run_folder import RunFolder
from training.state_file import load_state, save_state

# ----------------------------------------------------------------------------------------------------- whose folder it is


def test_a_folder_that_holds_a_run_is_refused(run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = content(run_folder)
    for more in ((), ("--seed", 3), ("--output", tmp_path / "out.safetensors")):
        assert run("train", tmp_path / "run.yaml", "--run", run_folder, *more) == 2
        said = capsys.readouterr()
        assert (said.out, said.err.count("\n")) == ("", 1)
        assert "--resume" in said.err
        assert str(run_folder) in said.err
    assert content(run_folder) == before
    assert not (tmp_path / "out.safetensors").exists()


def test_a_folder_is_held_by_one_run_at_a_time(run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = content(run_folder)
    command = ("train", tmp_path / "run.yaml", "--run", run_folder, "--resume", "--set", "decisions=1024")
    with RunFolder(run_folder).claim(resume=True):
        assert run(*command) == 2
        said = capsys.readouterr().err
        assert (said.count("\n"), "another process trains in it" in said) == (1, True)
        assert content(run_folder) == before
    assert run(*command) == 0


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("seed", 1),
        ("variant", "bergen_classic"),
        ("layers", [16, 13]),
        ("num_envs", 8),
        ("opponents", ["greedy", "random"]),
        ("reward", "win"),
        ("rules", {"target": {2: 30}}),
        ("evaluation.deals", 7),
        ("self_play.every", 100),
        ("ppo.n_epochs", 4),
        ("ppo.every_seat", True),
    ],
)
def test_another_config_is_refused_by_its_key(
    key: str, value: Any, run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = content(run_folder)
    assert run("train", tmp_path / "run.yaml", "--run", run_folder, "--resume", "--set", "decisions=1024", "--set", f"{key}={value}") == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert all(word in said for word in key.split("."))
    assert content(run_folder) == before


def test_the_state_keeps_the_keys_that_nobody_named(run_folder: Path) -> None:
    """A later version may have other defaults: the run goes on with its own, or is refused."""
    kept = load_state(run_folder / "state.npz")["config"]
    config = configured(EVALUATED).model_dump(mode="json")
    assert "n_epochs" not in EVALUATED["ppo"]
    for name in ("ppo", "evaluation", "self_play"):
        assert kept[name] == config[name]
    assert (kept["reward"], kept["opponents"]) == (config["reward"], config["opponents"])
    assert TrainingConfig.model_validate(kept) == configured(EVALUATED)


@pytest.mark.parametrize("place", ["file", "file/run", "/dev/full", "/dev/full/run"])
def test_a_folder_that_cannot_be(place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("x")
    assert run("train", write(tmp_path / "run.yaml", EVALUATED), "--run", tmp_path / place) == 2
    said = capsys.readouterr().err
    assert (said.count("\n"), str(tmp_path / place) in said) == (1, True)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "run.yaml"]


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def refused(**options: Any) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("tempfile.mkstemp", refused)
    assert run("train", write(tmp_path / "run.yaml", EVALUATED), "--run", tmp_path / "run") == 2
    assert capsys.readouterr().err == f"training: run folder {tmp_path / 'run'}: Read-only file system\n"
    assert content(tmp_path / "run") == {}


@pytest.mark.parametrize("place", ["agent.zip", "file/agent.safetensors", "folder.safetensors"])
def test_an_output_that_cannot_be_is_found_out_before_the_work(
    place: str, run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder.safetensors").mkdir()
    new = tmp_path / "new"
    for command in (("train", tmp_path / "run.yaml", "--run", new), ("export", run_folder)):
        assert run(*command, "--output", tmp_path / place) == 2
        said = capsys.readouterr()
        assert (said.out, said.err.count("\n")) == ("", 1)
        assert place in said.err
    assert not (new / "last.safetensors").exists()


# ----------------------------------------------------------------------------------------------------- a disk that is full


@contextmanager
def at_most(size: int) -> Iterator[None]:
    """No file may grow beyond ``size`` bytes: writing more fails as on a full disk, in the middle."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_save_that_fails_anywhere_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The disk is full at one of the writes, at each in turn: config, states, checkpoints, evaluations."""
    config = values(decisions=256, evaluation={"every": 128, "deals": 2})
    path = write(tmp_path / "run.yaml", config)
    straight = started(configured(config), tmp_path / "straight")
    for place in range(100):
        folder = tmp_path / str(place)
        with full_at(monkeypatch, place):
            status = run("train", path, "--run", folder, "--set", "save_minutes=0")
        said = capsys.readouterr()
        if status == 0:
            break
        assert (status, said.out) == (2, "")
        assert "No space left" in complaint(said.err)
        found = content(folder)
        assert not [name for name in found if name.startswith(".")]
        for name in found:
            if name.endswith(".safetensors"):
                load_checkpoint(folder / name)
        if "state.npz" in found:
            load_state(folder / "state.npz")
        assert run("train", path, "--run", folder, "--resume") == 0
        capsys.readouterr()
        for name in ("last.safetensors", "best.safetensors"):
            assert weights(folder / name) == weights(straight / name), place
        assert (folder / "evaluations.json").read_bytes() == (straight / "evaluations.json").read_bytes(), place
    assert 10 <= place < 100


def complaint(text: str) -> str:
    """The one line in which a run that had begun says what is wrong; what it says of its progress stands before."""
    last = text.splitlines()[-1]
    assert last.startswith("training: ")
    assert text.count("training: ") == 1
    return last


@contextmanager
def full_at(monkeypatch: pytest.MonkeyPatch, place: int) -> Iterator[None]:
    """Write number ``place`` finds the disk full."""
    sync, calls = os.fsync, iter(range(10_000))

    def full(handle: int) -> None:
        if next(calls) == place:
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(handle)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        yield


@pytest.mark.parametrize("kind", ["state", "checkpoint"])
def test_a_write_that_breaks_off_in_the_middle(
    kind: str, run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the system refuses more bytes while a file is half written."""
    name = f"training.callback.save_{kind}"
    whole: Callable[..., None] = save_state if kind == "state" else save_checkpoint

    def half(*arguments: Any) -> None:
        with at_most(2_000):
            whole(*arguments)

    before = content(run_folder)
    monkeypatch.setattr(name, half)
    command = ("train", tmp_path / "run.yaml", "--run", run_folder, "--resume", "--set", "decisions=640", "--set", "evaluation.every=256")
    assert run(*command) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert complaint(said.err)
    after = content(run_folder)
    for file in ("state.npz", "last.safetensors", "best.safetensors"):
        assert after[file] == before[file] or (kind, file) == ("state", "last.safetensors")
    assert not [file for file in after if file.startswith(".")]
    monkeypatch.undo()
    assert run(*command) == 0
    assert load_checkpoint(run_folder / "last.safetensors").meta.steps_trained == 640


def test_export_makes_the_checkpoint_of_the_state(run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "new" / "mine.safetensors"
    assert run("export", run_folder, "--output", output) == 0
    assert capsys.readouterr().out == f"checkpoint {output}\n"
    assert weights(output) == weights(run_folder / "last.safetensors")
    assert load_checkpoint(output).meta.steps_trained == 512
    assert run("export", tmp_path / "nowhere", "--output", tmp_path / "other" / "a.safetensors") == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "other").exists()
