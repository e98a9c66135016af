"""The folder of a run: which file is what, who works in it, and whether it can be written."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from domino_env.files import write_file
from training.config import ConfigError

__all__ = ["RunFolder", "check_output"]


class RunFolder:
    """``runs/<name>``. Only ``state`` is read again, to resume; the rest is for the user."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = path / "config.yaml"
        """What the run was told."""
        self.state = path / "state.npz"
        """All that resuming needs."""
        self.best = path / "best.safetensors"
        """The checkpoint that did best in an evaluation."""
        self.last = path / "last.safetensors"
        """The checkpoint of the last save."""
        self.evaluations = path / "evaluations.json"
        """All evaluations so far."""
        self.logs = path / "logs"
        """CSV and TensorBoard, a set for each start."""

    @contextlib.contextmanager
    def claim(self, resume: bool) -> Iterator[None]:
        """Hold the folder for one run. ``ConfigError`` where it cannot be written, another run holds it, or it has a run already."""
        with contextlib.ExitStack() as held:
            try:
                self.path.mkdir(parents=True, exist_ok=True)
                _lock(held.enter_context((self.path / ".lock").open("w")), self.path)
                self._clear()
                _probe(self.path / ".probe")
            except (OSError, ValueError) as error:
                raise ConfigError(f"run folder {self.path}: {getattr(error, 'strerror', error)}") from None
            if not resume and any(path.exists() for path in (self.config, self.state, self.best, self.last, self.evaluations)):
                raise ConfigError(f"run folder {self.path} holds a run: go on with it by --resume, or name another folder by --run")
            yield

    def begin(self) -> None:
        """Remove what a run left that was killed before its first save: this one starts from the beginning."""
        for path in (self.best, self.last, self.evaluations):
            path.unlink(missing_ok=True)

    def _clear(self) -> None:
        """Remove what was being written when a run was killed."""
        for path in (self.config, self.state, self.best, self.last, self.evaluations):
            for beside in self.path.glob(f".{path.name}.*{path.suffix}"):
                beside.unlink()


def _lock(file: IO[str], folder: Path) -> None:
    try:
        import fcntl
    except ImportError:  # no such locks on Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise ConfigError(f"run folder {folder}: another process trains in it now") from None


def _probe(path: Path) -> None:
    """Whether a file can be written there."""
    write_file(path, "")
    path.unlink()


def check_output(output: Path | None) -> None:
    """``ConfigError`` unless a checkpoint could be written there; found out before the work is done."""
    if output is None:
        return
    if output.suffix != ".safetensors":
        raise ConfigError(f"output {output}, but a checkpoint ends in .safetensors")
    if output.is_dir():
        raise ConfigError(f"output {output} is a folder")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        _probe(output.with_name(f".{output.name}.{os.getpid()}"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"output {output}: {getattr(error, 'strerror', error)}") from None
