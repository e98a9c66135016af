"""What a tournament and a training on Ray bring on this machine, with one worker and with two, and what their messages weigh.

``python -m benchmarks.scaling [--learners]`` prints the figures of ``docs/scaling.md``. Needs ``ray[rllib]``. Workers are processes of
this machine, so more of them than it has free cores bring nothing.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ray
from ray import cloudpickle

from domino_env.arena import compare
from domino_env.arena.portions import DealTable, Player
from domino_env.integrations.ray_arena import spread_on_ray
from domino_env.integrations.ray_cluster import connected
from domino_env.policies import load_policy
from domino_env.variants import VARIANTS
from training.rllib_algorithm import Runners, make_algorithm, module_weights, stop_algorithm
from training.rllib_config import RllibConfig

SEARCH = "search:pimc?worlds=256"
DEALS = 1000
UPDATES = 4


@contextmanager
def timed(label: str, times: dict[str, float]) -> Iterator[None]:
    """Note the seconds of a block."""
    begin = time.perf_counter()
    yield
    times[label] = time.perf_counter() - begin


def tournament(workers: int) -> dict[str, float]:
    """Seconds of a small tournament, by this process (0 workers) or by workers that are warm."""
    times: dict[str, float] = {}
    game: dict[str, Any] = {"deals": DEALS, "seed": 1, "rating": False}
    if not workers:
        compare([SEARCH, "greedy"], "bergen", deals=4)
        with timed("seconds", times):
            compare([SEARCH, "greedy"], "bergen", **game)
        return times
    with connected("local", workers):
        compare([SEARCH, "greedy"], "bergen", deals=8 * workers, spread=spread_on_ray)  # processes start, kernels load
        with timed("seconds", times):
            found = compare([SEARCH, "greedy"], "bergen", **game, spread=spread_on_ray)
        times["decisions"] = sum(one.decisions for one in found.times)
    return times


def portion_bytes() -> tuple[int, float]:
    """What a task is answered with: bytes of a portion of 64 deals, and per deal."""
    table = DealTable(VARIANTS["bergen"], 2, True, 64, 1)
    portion = table.play(range(64), *(Player(name, load_policy(name)) for name in ("greedy", "random")))
    size = len(cloudpickle.dumps((portion, ((0, 0.0), (0, 0.0)))))
    return size, size / 64


def training(runners: int, every_seat: bool, learners: int = 0) -> dict[str, float]:
    """Rates and sizes of a training."""
    told = {"variant": "bergen", "ppo": {"every_seat": every_seat}, "ray": {"num_env_runners": runners, "num_learners": learners}}
    config = RllibConfig.model_validate(told)
    with connected("local", runners + learners + 1):
        algorithm = make_algorithm(config, 0)
        try:
            algorithm.train()
            begin, decisions, playing, learning = time.perf_counter(), 0, 0.0, 0.0
            for _ in range(UPDATES):
                found = algorithm.train()
                decisions += int(found["env_runners"]["num_env_steps_sampled"])
            seconds = time.perf_counter() - begin
            playing = float(found["timers"]["env_runner_sampling_timer"])
            learning = float(found["timers"]["learner_update_timer"])
            sizes = algorithm.env_runner_group.foreach_env_runner(_sample_bytes, local_env_runner=runners == 0)
            weights = len(cloudpickle.dumps(module_weights(algorithm)))
            if not every_seat:
                Runners(algorithm).set_opponents([load_policy("bergen/ppo")])
        finally:
            stop_algorithm(algorithm)
    return {
        "decisions/s": decisions / seconds,
        "playing": playing,
        "learning": learning,
        "bytes per decision": sum(size for size, _ in sizes) / max(1, sum(count for _, count in sizes)),
        "weights": float(weights),
    }


def _sample_bytes(runner: Any) -> tuple[int, int]:
    """Bytes of what an env runner answers with, and the decisions in it."""
    episodes = runner.sample()
    return len(cloudpickle.dumps(episodes)), sum(episode.env_steps() for episode in episodes)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--learners", action="store_true", help="also with two learners")
    options = parser.parse_args()
    print(f"ray {ray.__version__}")
    for workers in (0, 1, 2):
        print("tournament, workers:", workers, {name: round(value, 2) for name, value in tournament(workers).items()}, flush=True)
    print("bytes of a portion of 64 deals, and per deal:", portion_bytes())
    cases = [(1, False, 0), (2, False, 0), (1, True, 0), (2, True, 0), *([(1, True, 2), (1, False, 2)] if options.learners else [])]
    for runners, every_seat, learners in cases:
        found = training(runners, every_seat, learners)
        shown = {name: round(value, 2) for name, value in found.items()}
        print(f"training, runners={runners} every_seat={every_seat} learners={learners}:", shown, flush=True)
    policy = load_policy("bergen/ppo")
    print("a checkpoint as a frozen opponent, bytes:", len(cloudpickle.dumps(policy)))


if __name__ == "__main__":
    main()
