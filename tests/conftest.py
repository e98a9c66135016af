"""What holds for every test: one thread a process, no screen, and examples that are the same on every run."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.command_cases import Done

# Set before torch and pygame are imported; a value from outside wins. Small networks are slower on many threads.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

# No deadline: the first example of a run compiles the kernels. A test's own @settings go before its profile.
settings.register_profile(
    "fast", derandomize=True, database=None, deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("slow", parent=settings.get_profile("fast"), max_examples=2000)
settings.load_profile("fast")  # another one: pytest --hypothesis-profile=slow


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small run, to be copied; see ``run_folder``."""
    from tests.training_cases import EVALUATED, configured, started

    return started(configured(EVALUATED), tmp_path_factory.mktemp("finished") / "run")


@pytest.fixture
def run_folder(finished_run: Path, tmp_path: Path) -> Path:
    """The folder of a finished run of ``EVALUATED``, to do with as one likes; its config is ``run.yaml`` beside it."""
    from tests.training_cases import EVALUATED, copied, write

    write(tmp_path / "run.yaml", EVALUATED)
    return copied(finished_run, tmp_path / "run")


@pytest.fixture
def domino(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """Run the command line in this process; ``typed`` is what comes from the keyboard."""
    from domino_env.cli import main

    def run(*arguments: object, typed: str = "") -> Done:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        monkeypatch.setenv("COLUMNS", "120")
        with pytest.raises(SystemExit) as stopped:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        notice = "domino_env: compiling"
        return Done(stopped.value.code, out, "".join(line for line in err.splitlines(True) if not line.startswith(notice)))  # type: ignore[arg-type]

    return run
