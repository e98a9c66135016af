"""From what a user writes to a speaker: ``"perfect"``, ``"forgetful?p=0.1"``, a path, or the name of a bundled checkpoint."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from domino_env.errors import PolicyError
from domino_env.policies.loading import bundled_checkpoints
from domino_env.policies.parameters import read_parameters
from domino_env.shopping.checkpoint import load_shopping_checkpoint
from domino_env.shopping.learned import LearnedSpeaker
from domino_env.shopping.policies import Listening, RandomSpeaker, RememberingSpeaker
from domino_env.shopping.rules import ShoppingRules

__all__ = ["Speaker", "SpeakerSpec", "load_speaker", "load_speakers", "speaker_name"]

_SUFFIX = ".safetensors"


@runtime_checkable
class Speaker(Protocol):
    """What can sit in a seat.

    Optional: ``check(rules)`` raises ``CheckpointError`` where it does not fit the game; ``get_state`` and ``set_state`` copy its memory, a
    dict of arrays; ``name`` is its name in tables.
    """

    def act(self, batch: Listening) -> npt.NDArray[np.int64]:
        """(K,) integer action ids for K listeners; those off turn are not heard."""


SpeakerSpec = str | os.PathLike[str] | Speaker


def speaker_name(speaker: Speaker) -> str:
    """Its ``name``, or that of its class."""
    return str(getattr(speaker, "name", type(speaker).__name__))


def load_speaker(spec: SpeakerSpec, rules: ShoppingRules | None = None) -> Speaker:
    """The speaker that ``spec`` names, new and with an empty memory.

    ``"random"``; ``"perfect"``, which keeps all it has heard; ``"forgetful?p=0.1"``, which forgets each word with that probability;
    the path of a ``.safetensors`` checkpoint of this game, or a bundled one such as ``"shopping/recurrent_ppo"``, with ``"?sample=1"`` to
    draw its words. A speaker that is already made passes through. With ``rules`` it is also checked to fit them.

    Raises ``PolicyError`` for what is none, ``CheckpointError`` for a file that cannot be used or does not fit.
    """
    speaker = _from_text(os.fspath(spec)) if isinstance(spec, (str, os.PathLike)) else spec
    if isinstance(speaker, type) or not isinstance(speaker, Speaker):
        raise PolicyError(f"policy {speaker!r}, but a policy is a name, a path, or an object with act(batch)")
    check = getattr(speaker, "check", None)
    if rules is not None and check is not None:
        check(rules)
    return speaker


def load_speakers(specs: SpeakerSpec | Sequence[SpeakerSpec], rules: ShoppingRules) -> list[Speaker]:
    """Speakers from one spec or a list of them. ``PolicyError`` where there is none."""
    listed: list[Any] = list(specs) if isinstance(specs, (list, tuple)) else [specs]
    if not listed:
        raise PolicyError("opponents=[], but somebody has to sit in the other seats: 'perfect', 'random', a checkpoint, ...")
    return [load_speaker(spec, rules) for spec in listed]


def _from_text(spec: str) -> Speaker:
    name, _, query = spec.partition("?")
    if name in ("random", "perfect"):
        read_parameters(spec, query, ())
        return RandomSpeaker() if name == "random" else RememberingSpeaker()
    if name == "forgetful":
        return RememberingSpeaker(_number(spec, read_parameters(spec, query, ("p",)).get("p", "0.1")))
    bundled = {key: path for key, path in bundled_checkpoints().items() if key.startswith("shopping/")}
    path = bundled.get(name, Path(name))
    if name not in bundled and not name.endswith(_SUFFIX):
        shipped = ", ".join(bundled) or "none is bundled"
        raise PolicyError(f"policy {spec!r}, but known are random, perfect, forgetful?p=..., the path of a {_SUFFIX} file, and {shipped}")
    sample = read_parameters(spec, query, ("sample",)).get("sample", "0")
    if sample not in ("0", "1"):
        raise PolicyError(f"policy {spec!r}: sample={sample}, but it is 0 or 1")
    return LearnedSpeaker(load_shopping_checkpoint(path), sample=sample == "1", name=spec)


def _number(spec: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise PolicyError(f"policy {spec!r}: p={text}, but it is a probability from 0 to 1") from None
