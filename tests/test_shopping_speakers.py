"""Speakers of the memory game by name, and what they may answer: whatever cannot be used is refused in one clear line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from domino_env.errors import CheckpointError, PolicyError
from domino_env.shopping import ShoppingRules, Table, load_speaker, loading
from domino_env.shopping.learned import LearnedSpeaker
from domino_env.shopping.learner import ShoppingGames
from domino_env.shopping.loading import load_speakers
from domino_env.shopping.policies import RandomSpeaker, RememberingSpeaker
from domino_env.shopping.rules import GIVE_UP
from domino_env.shopping.table import answers_of
from tests.policy_cases import random_checkpoint as domino_checkpoint
from tests.shopping_play import Room, random_checkpoint


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recurrent network for three players."""
    return random_checkpoint(tmp_path_factory.mktemp("learned") / "a.safetensors", ShoppingRules(3))


def test_specs_that_are_known(path: Path) -> None:
    rules = ShoppingRules(3)
    assert isinstance(load_speaker("random", rules), RandomSpeaker)
    names = {"perfect": "perfect", "forgetful": "forgetful?p=0.1", "forgetful?p=1": "forgetful?p=1", "forgetful?p=2e-1": "forgetful?p=0.2"}
    for spec, name in names.items():
        speaker: Any = load_speaker(spec, rules)
        assert isinstance(speaker, RememberingSpeaker)
        assert speaker.name == name
    for learned in (path, str(path), f"{path}?sample=1", f"{path}?sample=0"):
        assert isinstance(load_speaker(learned, rules), LearnedSpeaker)
    made = RandomSpeaker()
    assert load_speaker(made, rules) is made
    assert load_speaker("perfect") is not load_speaker("perfect")
    assert [type(one) for one in load_speakers(["perfect", made], rules)] == [RememberingSpeaker, RandomSpeaker]


BAD_SPECS: list[tuple[Any, str]] = [
    ("greedy", "greedy"),
    ("", "''"),
    ("Perfect", "Perfect"),
    ("perfect?p=0.1", "takes no parameters"),
    ("random?seed=1", "takes no parameters"),
    ("forgetful?p=1.5", "1.5"),
    ("forgetful?p=-0.1", "-0.1"),
    ("forgetful?p=nan", "nan"),
    ("forgetful?p=inf", "inf"),
    ("forgetful?p=often", "often"),
    ("forgetful?p=", "p=,"),
    ("forgetful?p", "name=value"),
    ("forgetful?q=0.1", "parameters are p"),
    ("forgetful?p=0.1&p=0.2", "each once"),
    ("shopping/no_such_agent", "no_such_agent"),
    ("no_such_file.safetensors", "no_such_file"),
    ("no\0file.safetensors", "file"),
    ("agent.zip", "agent.zip"),
    (3, "3"),
    (None, "None"),
    (RandomSpeaker, "RandomSpeaker"),
    ([], r"\[\]"),
]


@pytest.mark.parametrize(("spec", "words"), BAD_SPECS)
def test_specs_that_are_refused(spec: Any, words: str) -> None:
    with pytest.raises(PolicyError, match=words) as caught:
        load_speaker(spec, ShoppingRules(3))
    assert "\n" not in str(caught.value)


def test_bundled_checkpoints_of_this_game(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They go by their names; those of dominoes are no speakers."""
    other = domino_checkpoint(tmp_path / "b.safetensors")
    monkeypatch.setattr(loading, "bundled_checkpoints", lambda: {"bergen/ppo": other, "shopping/agent": path})
    assert isinstance(load_speaker("shopping/agent"), LearnedSpeaker)
    assert isinstance(load_speaker("shopping/agent?sample=1"), LearnedSpeaker)
    for name in ("bergen/ppo", "shopping/other"):
        with pytest.raises(PolicyError, match=rf"{name}.*shopping/agent") as caught:
            load_speaker(name)
        assert "\n" not in str(caught.value)


def test_parameters_of_a_checkpoint(path: Path) -> None:
    for query in ("sample=2", "sample=", "temperature=1", "sample=1&sample=1", "sample"):
        with pytest.raises(PolicyError, match="sample"):
            load_speaker(f"{path}?{query}")
    with pytest.raises(PolicyError, match=r"opponents=\[\]"):
        load_speakers([], ShoppingRules(3))
    with pytest.raises(CheckpointError, match="num_players=3, but this game has num_players=2"):
        ShoppingGames(1, [path], num_players=2)


BAD_ANSWERS: dict[str, Callable[[int], Any]] = {
    "none": lambda count: None,
    "one for all": lambda count: 0,
    "one too many": lambda count: np.zeros(count + 1, np.int64),
    "a column": lambda count: np.zeros((count, 1), np.int64),
    "floats": lambda count: np.zeros(count),
    "flags": lambda count: np.zeros(count, bool),
    "texts": lambda count: [GIVE_UP] * count,
    "ragged": lambda count: [[0], [0, 1], *[0] * count],
    "below": lambda count: np.full(count, -1),
    "above": lambda count: np.full(count, 5),
    "far above": lambda count: np.full(count, 2**64 - 1, np.uint64),
}


class Answering:
    """Gives whatever answer it was made with."""

    def __init__(self, answer: Callable[[int], Any]) -> None:
        self.answer = answer

    def act(self, batch: Any) -> Any:
        return self.answer(len(batch))


@pytest.mark.parametrize("kind", BAD_ANSWERS)
def test_answers_that_are_none(kind: str) -> None:
    rules = ShoppingRules(3)
    with pytest.raises(PolicyError, match="Answering"):
        answers_of(Answering(BAD_ANSWERS[kind]), Room(rules, range(3)).listening())
    with pytest.raises(PolicyError, match="Answering"):
        Table(rules, [Answering(BAD_ANSWERS[kind])] * 3, seed=0).play()


def test_answers_off_turn_are_not_heard() -> None:
    batch = Room(ShoppingRules(3), range(3)).listening()
    answers = answers_of(Answering(lambda count: np.where(batch.on_turn, 2, -99)), batch)
    assert (answers[batch.on_turn] == 2).all()
    assert batch.on_turn.sum() == 3
