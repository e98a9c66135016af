"""The folder of a run: which file is what, who works in it, and whether it can be written."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from domino_env.files import write_file
from training.config import ConfigError

__all__ = ["RunFolder"]


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
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            write_file(self.path / ".probe", "")
            (self.path / ".probe").unlink()
        except OSError as error:
            raise ConfigError(f"run folder {self.path}: {error.strerror}") from None
        with self._lock():
            if self.state.exists() and not resume:
                raise ConfigError(f"run folder {self.path} holds a run: go on with it by --resume, or name another folder by --run")
            yield

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        try:
            import fcntl
        except ImportError:  # no such locks on Windows
            yield
            return
        with (self.path / ".lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise ConfigError(f"run folder {self.path}: another process trains in it now") from None
            yield


def check_output(output: Path | None) -> None:
    """``ConfigError`` unless a checkpoint could be written there; found out before the work is done."""
    if output is None:
        return
    if output.suffix != ".safetensors":
        raise ConfigError(f"output {output}, but a checkpoint ends in .safetensors")
    if output.is_dir():
        raise ConfigError(f"output {output} is a folder")
    probe = output.with_name(f".{output.name}.{os.getpid()}")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        write_file(probe, "")
        probe.unlink()
    except OSError as error:
        raise ConfigError(f"output {output}: {error.strerror}") from None
