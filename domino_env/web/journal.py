"""Games on disk: one JSON file each, written anew after every step, so that a game outlives its server.

``{"format": 1, "setup": {as ``Setup.to_json``}, "steps": ["1-1", "draw", "1-4@left", ..., "next", ...]}``: all moves of all seats in order,
and ``"next"`` where the next round was dealt. The seed and the steps make the game again, to the last tile.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from domino_env.errors import DominoError, OptionsError
from domino_env.files import write_file
from domino_env.web.setup import Setup

__all__ = ["ForkedError", "Journal", "JournalError", "KeepingError", "Kept"]

FORMAT = 1
_NAME = re.compile(r"[A-Za-z0-9_-]{12}", re.ASCII)


class JournalError(DominoError):
    """A game on disk cannot be read, or is not there."""


class ForkedError(JournalError):
    """Another server played the game on."""


class KeepingError(JournalError):
    """A game cannot be written."""


class Kept(NamedTuple):
    """What a file holds."""

    setup: Setup
    steps: list[str]


class Journal:
    """The folder of the games, made where it is missing. Raises ``OptionsError`` where that cannot be."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OptionsError(f"folder {str(folder)!r} for the games: {error.strerror}") from None

    def new_name(self) -> str:
        """A name that says nothing of the game."""
        return secrets.token_urlsafe(9)

    def names(self) -> list[str]:
        """Games in the folder, the one played last first."""
        files = [path for path in self.folder.glob("*.json") if _NAME.fullmatch(path.stem)]
        return [path.stem for path in sorted(files, key=_age)]

    def save(self, name: str, setup: Setup, steps: Sequence[str]) -> None:
        """Write a new game, or one whose last step is new.

        Raises ``ForkedError`` where the file holds another game than the one before that step, ``JournalError`` where it is gone.
        """
        if steps and self.load(name).steps != list(steps[:-1]):
            raise ForkedError("another server played this game on: stop one of them")
        write_file(self._path(name), json.dumps({"format": FORMAT, "setup": setup.to_json(), "steps": list(steps)}) + "\n")

    def load(self, name: str) -> Kept:
        """Read a game. Raises ``JournalError``."""
        path = self._path(name)
        try:
            value = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise JournalError(f"there is no game {name}: it was removed, or another folder was meant") from None
        except (OSError, ValueError, RecursionError) as error:
            raise JournalError(f"game {name}: its file cannot be read ({error})") from None
        if not isinstance(value, dict) or value.get("format") is True or value.get("format") != FORMAT:
            raise JournalError(f"game {name}: its file is of another format than {FORMAT}")
        steps = value.get("steps")
        if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
            raise JournalError(f"game {name}: its steps are no list of texts")
        setup = value.get("setup")
        if isinstance(setup, dict) and setup.get("seed") is None:
            raise JournalError(f"game {name}: it has no seed, so nobody knows its deals")
        try:
            return Kept(Setup.from_json(setup), steps)
        except DominoError as error:
            raise JournalError(f"game {name}: {error}") from None

    def remove(self, name: str) -> None:
        """Forget a game. Raises ``JournalError`` where there is none, ``KeepingError`` where its file cannot be removed."""
        try:
            self._path(name).unlink()
        except FileNotFoundError:
            raise JournalError(f"there is no game {name}") from None
        except OSError as error:
            raise KeepingError(f"game {name} cannot be removed: {error.strerror}") from None

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise JournalError(f"there is no game {name!r}: a name has 12 letters, figures, - or _")
        return self.folder / f"{name}.json"


def _age(path: Path) -> float:
    try:
        return -path.stat().st_mtime
    except OSError:  # removed by somebody else just now
        return 0.0
