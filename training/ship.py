"""Making the checkpoints that are shipped: every config trained, copied to ``checkpoints/`` and measured; those of dominoes on
10,000 duplicate deals.

``python -m training ship`` does what is not done yet and goes on with what was begun; each job has a core of its own.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from domino_env.arena import compare
from domino_env.errors import DominoError
from domino_env.files import write_file
from domino_env.policies import load_checkpoint
from training.config import ConfigError, TrainingConfig
from training.config_file import load_config
from training.kinds import AnyConfig, kind_of

__all__ = ["agent_name", "measure", "ship"]

ROOT = Path(__file__).resolve().parent.parent
DEALS = 10_000
SEED = 1
"""Of the deals of the tables; those of seed 0 are the first ones of a training run."""
_POLL_SECONDS = 0.5


def agent_name(config: AnyConfig) -> str:
    """The name of the agent that a config makes: ``bergen/ppo``, ``bergen/ppo_4players``, ``shopping/recurrent_ppo``."""
    players = config.num_players
    usual = 2 if isinstance(config, TrainingConfig) else 3
    seats = "" if players == usual else f"_{players}players"
    return f"{config.variant}/{config.algorithm}{seats}"


def ship(configs: Sequence[Path], jobs: int) -> None:
    """Train and measure all ``configs`` whose table is missing in ``checkpoints/``, ``jobs`` at a time, and tell of each.

    Stopped by Ctrl-C or SIGTERM, it stops them too, and they save. Raises ``ConfigError`` before anything starts for a config that
    cannot be used, and at the end where a training failed.
    """
    _check_names(configs)
    waiting = [path for path in configs if not _checkpoint(load_config(path)).with_suffix(".json").exists()]
    free = list(_cores(jobs))
    running: dict[subprocess.Popen[bytes], tuple[Path, int]] = {}
    failed: list[str] = []
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        while waiting or running:
            while waiting and free:
                path, core = waiting.pop(0), free.pop(0)
                print(f"{path.stem}: begun", flush=True)
                running[_start(path, core)] = (path, core)
            time.sleep(_POLL_SECONDS)
            for process in [one for one in running if one.poll() is not None]:
                path, core = running.pop(process)
                free.append(core)
                done = process.returncode == 0 and _measured(path)
                failed += [] if done else [path.stem]
                print(f"{path.stem}: {'done' if done else 'failed'}", flush=True)
    finally:
        for process in running:
            process.terminate()  # it saves, and the next call goes on from there
            process.wait()
        signal.signal(signal.SIGTERM, before)
    if failed:
        raise ConfigError(f"not made: {', '.join(failed)}; see output.txt in their folders in runs/ship")


def measure(checkpoint: Path, config: AnyConfig | None = None) -> None:
    """Write the table of a checkpoint beside it, as JSON: of dominoes against random and greedy. ``config``: what made it."""
    name = checkpoint.relative_to(ROOT / "checkpoints").with_suffix("").as_posix()
    if config is not None and not isinstance(config, TrainingConfig):
        out = kind_of(config).measured(name, checkpoint)
    else:
        meta = load_checkpoint(checkpoint).meta
        specs = {name: str(checkpoint), "random": "random", "greedy": "greedy"}
        found = compare(specs, meta.read_rules(), num_players=meta.num_players, deals=DEALS, seed=SEED)
        out = found.to_json()
        out.pop("times")  # of this machine alone
    write_file(checkpoint.with_suffix(".json"), json.dumps(out, indent=1) + "\n")


def _measured(path: Path) -> bool:
    """Measure what a config made; False, with the reason said, where that fails: the other trainings go on."""
    try:
        config = load_config(path)
        measure(_checkpoint(config), config)
    except (DominoError, OSError) as error:
        print(f"{path.stem}: {error}", file=sys.stderr)
        return False
    return True


def _check_names(configs: Sequence[Path]) -> None:
    """``ConfigError`` for configs whose agents have no names of their own."""
    taken: dict[str, Path] = {}
    for path in configs:
        config = load_config(path)
        name = agent_name(config)
        if isinstance(config, TrainingConfig) and config.rules:
            raise ConfigError(f"config {path}: rules={config.rules}, but the shipped agents play the presets")
        if name in taken:
            raise ConfigError(f"config {path}: makes {name}, and so does {taken[name]}")
        taken[name] = path


def _checkpoint(config: AnyConfig) -> Path:
    return ROOT / "checkpoints" / f"{agent_name(config)}.safetensors"


def _cores(jobs: int) -> list[int]:
    """As many cores as there are jobs; -1 where the system does not let one choose."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else [-1] * jobs
    if not 1 <= jobs <= len(cores):
        raise ConfigError(f"jobs={jobs}, but it is 1 to {len(cores)}, as many as there are cores")
    return cores[:jobs]


def _start(path: Path, core: int) -> subprocess.Popen[bytes]:
    """Train in a process on one core; what it says goes to a file of the run."""
    run = Path("runs") / "ship" / path.stem
    output = _checkpoint(load_config(path)).relative_to(ROOT)
    (ROOT / run).mkdir(parents=True, exist_ok=True)
    config = os.path.relpath(path, ROOT)
    command = [sys.executable, "-m", "training", "train", config, "--run", str(run), "--resume", "--output", str(output)]
    with (ROOT / run / "output.txt").open("ab") as file:
        process = subprocess.Popen(command, cwd=ROOT, stdout=file, stderr=file)
    if core >= 0:
        os.sched_setaffinity(process.pid, {core})
    return process
