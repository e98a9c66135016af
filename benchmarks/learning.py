"""Learning curves against the clock: how well each setting plays after the same seconds of training, on one core.

Settings take turns in one process; the clock of a setting runs in its own turns only. Schedules (learning rate, epsilon) end with the
time, whatever the number of decisions. After each turn the network is kept, and when all have learnt, every one plays its likeliest
moves on the same duplicate deals. An interval tells what other deals would change, not what another seed of the training would.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
import yaml
from rich.console import Console
from rich.table import Table

from benchmarks.common import machine, parser, pin, positive, seconds, tell
from benchmarks.learners import Learner, changed, one_learner, ours, plain, shipped, tutorial_env, with_pool
from domino_env.errors import DominoError
from domino_env.variants import VARIANTS
from training.algorithms import make_env
from training.config import TrainingConfig
from training.evaluation import Evaluator

SETTINGS: dict[str, dict[str, Any]] = {
    "shipped": {},
    "one_seat": {"ppo": {"every_seat": False}},
    "every_seat": {"ppo": {"every_seat": True}},
    "epochs_1": {"ppo": {"n_epochs": 1}},
    "epochs_2": {"ppo": {"n_epochs": 2}},
    "epochs_3": {"ppo": {"n_epochs": 3}},
    "epochs_4": {"ppo": {"n_epochs": 4}},
    "batch_512": {"ppo": {"batch_size": 512}},
    "batch_1024": {"ppo": {"batch_size": 1024}},
    "batch_2048": {"ppo": {"batch_size": 2048}},
    "batch_4096": {"ppo": {"batch_size": 4096}},
    "bfloat16": {"ppo": {"autocast": "bfloat16"}},
    "dqn": {"algorithm": "dqn"},
}
"""Name -> what differs from the shipped config."""


def _pool(config: TrainingConfig) -> Learner:
    return ours(with_pool(config))


def _batch(config: TrainingConfig) -> Learner:
    return plain(config, make_env(one_learner(config)), n_steps=config.ppo.n_steps, batch_size=config.ppo.batch_size)


def _tutorial(config: TrainingConfig) -> Learner:
    return plain(config, tutorial_env(config))


OTHERS: dict[str, Callable[[TrainingConfig], Learner]] = {"pool": _pool, "plain": _batch, "tutorial": _tutorial}
"""Name -> learner that no overrides make: eight snapshots among the opponents; MaskablePPO as it comes, on our batch of games with the
sizes of our updates, and on one game as in PettingZoo's SB3 tutorial."""
DEFAULT = ["shipped", "one_seat", "every_seat", "epochs_1", "epochs_2", "epochs_4", "plain"]


@dataclass
class Run:
    """A setting and its clock."""

    name: str
    config: TrainingConfig
    learner: Learner
    seconds: float = 0.0
    moments: list[tuple[float, int, Mapping[str, Any]]] = field(default_factory=list)
    """Seconds, decisions and network at the end of every turn; where one update outlasts a turn, the next turns are left out."""

    def learn_until(self, seconds: float, budget: float) -> None:
        """Have a turn until the clock shows ``seconds``, if it does not yet; schedules end at ``budget``."""
        if self.seconds >= seconds:
            return
        before, start = self.seconds, time.perf_counter()
        self.learner.learn_for(seconds - before, lambda elapsed: max(0.0, 1.0 - (before + elapsed) / budget))
        self.seconds += time.perf_counter() - start
        self.moments.append((self.seconds, self.learner.model.num_timesteps, self.learner.weights()))

    def curve(self, deals: int) -> list[dict[str, Any]]:
        """What every kept network reaches: points a game against greedy and random, with the ends of the 95 % interval."""
        anchors = {"evaluation": {"every": 0, "deals": deals, "anchors": ["greedy", "random"], "best_by": "greedy"}}
        evaluator = Evaluator(changed(self.config, anchors), self.learner.meta)
        return [
            {"setting": self.name, "seconds": seconds, **evaluator.run(weights, decisions)} for seconds, decisions, weights in self.moments
        ]


def start(text: str, variant: str, seed: int) -> Run:
    """The learner of a setting, by its name or by overrides as YAML. Raises ``DominoError`` or ``ValueError`` for one that is none."""
    overrides = SETTINGS.get(text, {}) if text in SETTINGS or text in OTHERS else yaml.safe_load(text)
    if not isinstance(overrides, dict):
        raise ValueError(f"{text!r}, but it is a table of keys such as '{{ppo: {{n_epochs: 2}}}}', or one of {[*SETTINGS, *OTHERS]}")
    config = changed(shipped(variant, overrides.get("algorithm", "ppo")), {"seed": seed, "threads": 1, **overrides})
    return Run(text, config, OTHERS.get(text, ours)(config))


def start_all(command: argparse.ArgumentParser, args: argparse.Namespace) -> list[Run]:
    runs = []
    for text in args.settings:
        try:
            runs.append(start(text, args.variant, args.seed))
        except (DominoError, ValueError, yaml.YAMLError) as error:
            command.error(f"setting {text}: {' '.join(str(error).split())}")
    return runs


def show(title: str, points: list[dict[str, Any]]) -> None:
    table = Table(title=title, caption="points a game with the 95 % interval over deals; share of games won")
    table.add_column("setting")
    for head in ("seconds", "decisions", "against greedy", "won", "against random", "won"):
        table.add_column(head, justify="right")
    for number, point in enumerate(points):
        figures = [text for anchor in ("greedy", "random") for text in _figures(point["against"][anchor])]
        last = number + 1 == len(points) or points[number + 1]["setting"] != point["setting"]
        table.add_row(point["setting"], f"{point['seconds']:,.1f}", f"{point['decisions']:,}", *figures, end_section=last)
    console = Console(width=140, highlight=False)
    console.print(table)
    console.print(machine())


def _figures(found: Mapping[str, float]) -> tuple[str, str]:
    return f"{found['points']:+.3f} [{found['low']:+.3f}, {found['high']:+.3f}]", f"{found['won']:.1%}"


def main() -> None:
    command = parser(__doc__ or "", slices=6)
    names = ", ".join([*SETTINGS, *OTHERS])
    command.add_argument("--settings", nargs="+", default=DEFAULT, metavar="SETTING", help=f"{names}, or keys as YAML: '{{num_envs: 256}}'")
    command.add_argument("--variant", default="bergen", choices=list(VARIANTS), help="whose configs (%(default)s)", metavar="NAME")
    command.add_argument("--seconds", type=seconds, default=60.0, help="training time of each setting (%(default)s)")
    command.add_argument("--seed", type=int, default=0, help="of games, weights and minibatches (%(default)s)")
    command.add_argument("--deals", type=positive, default=5_000, help="deals against each anchor, in every seating (%(default)s)")
    args = command.parse_args()
    pin()
    torch.set_num_threads(1)
    runs = start_all(command, args)
    for turn in range(1, args.slices + 1):
        for run in runs:
            run.learn_until(args.seconds * turn / args.slices, args.seconds)
        tell(f"turn {turn} of {args.slices}")
    points = [point for run in runs for point in run.curve(args.deals)]
    title = f"Learning on {args.variant}, one core, seed {args.seed}, {args.seconds:g} seconds each, {args.deals:,} deals"
    if args.json:
        print(json.dumps({"title": title, "machine": machine(), "points": points}, indent=1))
    else:
        show(title, points)


if __name__ == "__main__":
    main()
