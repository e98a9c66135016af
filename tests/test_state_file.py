"""The state of a run: whatever it holds comes back, and what is damaged or foreign is refused in one line, and run by nobody."""

from __future__ import annotations

import io
import math
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO

from tests.training_cases import assert_equal, configured, content, run
from training.algorithms import make_env, make_model
from training.config import ConfigError
from training.state_file import load_state, save_state

# --------------------------------------------------------------------------------------------------- the state file

ODD: dict[str, Any] = {
    "nothing": None,
    "flags": [True, False],
    "whole": [0, -1, 2**70],
    "numbers": [0.1, -0.0, 5e-324, 1.7976931348623157e308, math.inf, -math.inf, math.nan],
    "texts": ["", 'ä\n"\\\u2028', "array number"],
    "empty": [{}, [], np.zeros((0, 3), np.float16)],
    "nested": {"a": [{"b": [[np.arange(3)]]}, np.arange(6).reshape(2, 3).T], "c": {"d": {}}},
    "rows": np.zeros(3, np.dtype([("small", np.int8), ("wide", np.float64), ("many", np.int32, 5)], align=True)),
    "scalars": np.array(7, np.uint64),
    "bits": np.array([1, 0x7FC00001, 0xFFFFFFFF, 0x80000000], np.uint32).view(np.float32),
    "big": np.array([1, 2], ">i4"),
    "flags of a mask": np.array([[True], [False]]),
}


def test_whatever_a_state_holds_comes_back(tmp_path: Path) -> None:
    ODD["rows"]["many"][1] = range(5)
    save_state(tmp_path / "state.npz", ODD)
    back = load_state(tmp_path / "state.npz")
    assert_equal(back, ODD)
    assert repr(back["numbers"]) == repr(ODD["numbers"])
    assert [file.name for file in tmp_path.iterdir()] == ["state.npz"]


def test_tensors_tuples_and_numpy_numbers_come_back_as_plain_ones(tmp_path: Path) -> None:
    kept = torch.arange(4.0, requires_grad=True)
    save_state(tmp_path / "s.npz", {1: (2, (kept, kept[::2])), "n": [np.float32(0.1), np.int8(-3), np.bool_(True), np.str_("x")]})
    back = load_state(tmp_path / "s.npz")
    assert_equal(
        back, {"1": [2, [np.arange(4, dtype=np.float32), np.array([0, 2], np.float32)]], "n": [float(np.float32(0.1)), -3, True, "x"]}
    )


def test_a_state_with_any_byte_changed_is_as_it_was_or_refused(tmp_path: Path) -> None:
    state = {"a": np.arange(3), "b": {"c": 1.5}}
    save_state(tmp_path / "good.npz", state)
    data, path = (tmp_path / "good.npz").read_bytes(), tmp_path / "bad.npz"
    refusals = set()
    for place in range(len(data)):
        change = (1, 64, 255)[place % 3]
        path.write_bytes(data[:place] + bytes([data[place] ^ change]) + data[place + 1 :])
        try:
            assert_equal(load_state(path), state)
        except ConfigError as error:
            refusals.add((place, str(error)))
    assert len(refusals) > len(data) / 2
    assert all(str(path) in said and "\n" not in said for _, said in refusals)
    for size in range(0, len(data), 5):
        path.write_bytes(data[:size])
        with pytest.raises(ConfigError, match=r"bad\.npz: damaged"):
            load_state(path)


# ------------------------------------------------------------------------------------- what is damaged is not taken up


class Planted:
    """Makes a folder when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.mkdir, (self.path,)


def npz(**arrays: Any) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def npy(array: Any) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def sb3_zip(path: Path) -> bytes:
    config = configured(num_envs=2, ppo={"n_steps": 2, "batch_size": 2})
    model = make_model(config, make_env(config))
    assert isinstance(model, MaskablePPO)
    model.save(path / "model.zip")
    return (path / "model.zip").read_bytes()


def zipped(data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in ("tree.npy", "0.npy", "data.pkl"):
            archive.writestr(name, data)
    return out.getvalue()


def changed(data: bytes) -> bytes:
    """With one bit turned, in the middle of the largest array."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        largest = max(archive.infolist(), key=lambda info: info.file_size)
    place = largest.header_offset + largest.file_size // 2
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


DAMAGED: dict[str, Callable[[bytes, Path], bytes]] = {
    "empty": lambda data, path: b"",
    "cut": lambda data, path: data[: len(data) // 2],
    "last byte lost": lambda data, path: data[:-1],
    "changed": lambda data, path: changed(data),
    "text": lambda data, path: b"hello",
    "pickle": lambda data, path: pickle.dumps(Planted(path / "sign")),
    "pickles in a zip": lambda data, path: zipped(pickle.dumps(Planted(path / "sign"))),
    "pickled tree": lambda data, path: npz(tree=np.array(Planted(path / "sign"), object)),
    "pickled array": lambda data, path: npz(
        tree=np.array('{"config": {"array number": 0}}'), **{"0": np.array([Planted(path / "sign")], object)}
    ),
    "zip of sb3": lambda data, path: sb3_zip(path),
    "one array": lambda data, path: npy(np.arange(3)),
    "other arrays": lambda data, path: npz(weights=np.arange(3)),
    "no table": lambda data, path: npz(tree=np.array("[1]")),
    "empty table": lambda data, path: npz(tree=np.array("{}")),
    "deep": lambda data, path: npz(tree=np.array("[" * 100_000)),
    "config that is none": lambda data, path: npz(tree=np.array('{"config": {"variant": "bergn"}}')),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_damaged_or_foreign_state_is_refused(kind: str, run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """PAINS 3: nothing is unpickled, whatever lies in the place of the state."""
    state = run_folder / "state.npz"
    state.write_bytes(DAMAGED[kind](state.read_bytes(), tmp_path))
    before = content(run_folder)
    more = ("--set", "decisions=1024")
    for command in (
        ("train", tmp_path / "run.yaml", "--run", run_folder, "--resume", *more),
        ("export", run_folder, "--output", tmp_path / "out.safetensors"),
    ):
        assert run(*command) == 2
        said = capsys.readouterr()
        assert (said.out, said.err.count("\n")) == ("", 1)
        assert "state.npz" in said.err
    assert content(run_folder) == before
    assert not (tmp_path / "sign").exists()
    assert not (tmp_path / "out.safetensors").exists()


def test_a_state_whose_parts_do_not_fit_is_refused(run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Written by a run, then altered by hand."""
    good = load_state(run_folder / "state.npz")
    for drop in (("model",), ("model", "policy"), ("model", "games"), ("league",), ("due",)):
        state = load_state(run_folder / "state.npz")
        part = state
        for name in drop[:-1]:
            part = part[name]
        del part[drop[-1]]
        save_state(run_folder / "state.npz", state)
        before = content(run_folder)
        assert run("train", tmp_path / "run.yaml", "--run", run_folder, "--resume", "--set", "decisions=1024") == 2, drop
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "state.npz" in said
        assert content(run_folder) == before
        save_state(run_folder / "state.npz", good)
