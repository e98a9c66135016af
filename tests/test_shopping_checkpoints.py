"""Checkpoints of the memory game: what fits is read, and whatever else lies in the path is refused in one clear line."""

from __future__ import annotations

import dataclasses
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from domino_env import load_policy
from domino_env.errors import CheckpointError
from domino_env.policies import save_checkpoint
from domino_env.shopping import ShoppingRules, load_speaker
from domino_env.shopping.checkpoint import ShoppingMeta, load_shopping_checkpoint
from tests.policy_cases import random_checkpoint as domino_checkpoint
from tests.shopping_play import random_checkpoint, random_weights

RULES = ShoppingRules(3, 7, new_words="drawn")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A small recurrent network for ``RULES``."""
    return random_checkpoint(tmp_path / "agent.safetensors", RULES, lstm=2)


def refused(path: Path, *words: str) -> None:
    """One clear line that names the file."""
    with pytest.raises(CheckpointError) as caught:
        load_speaker(path, RULES)
    for word in (path.name, *words):
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    rules = ShoppingRules(4, 11, 3, "drawn", "drawn", 0.25)
    meta = ShoppingMeta.of(rules, algorithm="x", layers=[5], lstm=3, activation="tanh", steps_trained=9, seed=4, command="c")
    weights = random_weights(meta)
    save_checkpoint(tmp_path / "a.safetensors", {name: np.asfortranarray(array) for name, array in weights.items()}, meta)
    back = load_shopping_checkpoint(tmp_path / "a.safetensors")
    assert (back.meta, back.meta.read_rules()) == (meta, rules)
    assert {name: array.tobytes() for name, array in back.weights.items()} == {name: array.tobytes() for name, array in weights.items()}


def test_games_that_it_was_not_made_for(tmp_path: Path) -> None:
    made = ShoppingRules(3, 7, 3, "drawn", "drawn")
    speaker = load_speaker(random_checkpoint(tmp_path / "a.safetensors", made), made)
    for same in (ShoppingRules(3, 26, 3, made.themes[0]), ShoppingRules(3, 2, 3, made.themes[-1], word_reward=1.0)):
        load_speaker(speaker, same)
    others = {
        "num_players=3, but this game has num_players=4": ShoppingRules(4, 7, 3, "drawn", "drawn"),
        "words_per_letter=3, but this game has words_per_letter=4": ShoppingRules(3, 7, 4, "drawn", "drawn"),
        "themes=True, but this game has themes=False": ShoppingRules(3, 7, 3, None, "drawn"),
    }
    for words, other in others.items():
        with pytest.raises(CheckpointError, match=rf"a\.safetensors.*{words}"):
            load_speaker(tmp_path / "a.safetensors", other)


def test_files_cut_off_anywhere(path: Path) -> None:
    whole = path.read_bytes()
    for size in [*range(0, len(whole), 61), len(whole) - 1]:
        path.write_bytes(whole[:size])
        refused(path)
    path.write_bytes(whole)
    load_speaker(path, RULES)


def test_files_damaged_anywhere(path: Path) -> None:
    whole = path.read_bytes()
    for place in range(0, len(whole), 13):
        for flip in (1, 0x80):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ flip]) + whole[place + 1 :])
            refused(path)


def test_foreign_files(path: Path, tmp_path: Path) -> None:
    path.write_bytes(pickle.dumps({"a": 1}, protocol=4))
    refused(path, "pickle")
    path.write_bytes(b"PK\x03\x04" + bytes(100))
    refused(path, "zip", "pickles")
    save_file({"a": np.zeros(2, np.float32)}, path)
    refused(path, "no domino_env checkpoint")
    (tmp_path / "folder.safetensors").mkdir()
    refused(tmp_path / "folder.safetensors", "cannot be read")
    refused(tmp_path / "missing.safetensors", "cannot be read")


def test_each_game_refuses_the_checkpoints_of_the_other(path: Path, tmp_path: Path) -> None:
    refused(domino_checkpoint(tmp_path / "dominoes.safetensors"), "bergen", "memory game")
    with pytest.raises(CheckpointError, match=r"agent\.safetensors.*memory game.*dominoes") as caught:
        load_policy(path)
    assert "\n" not in str(caught.value)


HEADERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "num_players=99": lambda header: header["rules"].update(num_players=99),
    "word_reward": lambda header: header["rules"].update(word_reward=10**400),
    "theme='stars'": lambda header: header["rules"].update(theme="stars"),
    "nonsense": lambda header: header["rules"].update(nonsense=1),
    "rules=[]": lambda header: header.update(rules=[]),
    "version 99": lambda header: header.update(encoding_version=99),
    "format 9": lambda header: header.update(format=9),
    "lstm=-1": lambda header: header.update(lstm=-1),
    "lstm=1073741824": lambda header: header.update(lstm=1 << 30),
    "layers=[0]": lambda header: header.update(layers=[0]),
    "activation='gelu'": lambda header: header.update(activation="gelu"),
    "asks for": lambda header: header.update(lstm=3),
    "chess": lambda header: header.update(variant="chess"),
    "header fields": lambda header: header.pop("seed"),
    "altered": lambda header: header.update(steps_trained=5),
}


@pytest.mark.parametrize("words", HEADERS)
def test_headers_that_were_changed(words: str, path: Path) -> None:
    with safe_open(str(path), framework="numpy") as file:
        texts = dict(file.metadata())
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 -- not a mapping
    digest = texts.pop("digest")
    header = {name: json.loads(text) for name, text in texts.items()}
    HEADERS[words](header)
    save_file(arrays, path, {"digest": digest, **{name: json.dumps(value) for name, value in header.items()}})
    refused(path, words)


def test_headers_that_cannot_be(tmp_path: Path) -> None:
    for name, value in (("lstm", -1), ("layers", [0]), ("activation", "gelu"), ("steps_trained", -5), ("seed", -1)):
        fields: dict[str, Any] = {"algorithm": "none", "layers": [], "lstm": 2, name: value}
        with pytest.raises(CheckpointError, match=name):
            ShoppingMeta.of(RULES, **fields)
    meta = ShoppingMeta.of(RULES, algorithm="none", layers=[], lstm=2)
    weights = random_weights(meta)
    with pytest.raises(CheckpointError, match="finite"):
        save_checkpoint(tmp_path / "a.safetensors", {**weights, "logits.bias": np.full(5, np.nan, np.float32)}, meta)
    with pytest.raises(CheckpointError, match="asks for"):
        save_checkpoint(tmp_path / "a.safetensors", weights, dataclasses.replace(meta, lstm=3))
    assert not list(tmp_path.iterdir())
