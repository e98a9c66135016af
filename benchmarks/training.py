"""Training: decisions that are made and learnt from per second, beside the usual way, and where the time goes.

The usual way: sb3-contrib's MaskablePPO over one PettingZoo environment, wrapped as in PettingZoo's SB3 tutorial. All learners take
turns in one process, so that a machine whose speed drifts treats them alike; a turn is made of whole updates. Ours are the shipped
configs of the variant, run as ``python -m training train`` runs them, but for evaluations and saves.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict

import torch
from rich.console import Console
from rich.table import Table
from stable_baselines3.common.env_util import make_vec_env

from benchmarks.common import Case, Rate, machine, measure, parser, pin, positive, seconds, tell
from benchmarks.learners import Learner, changed, one_learner, ours, plain, shipped, tutorial_env, with_pool
from benchmarks.split import PARTS, Split
from domino_env.variants import VARIANTS
from training.algorithms import make_env
from training.config import TrainingConfig

USUAL = "tutorial: 1 PettingZoo game"
SHIPPED = "our PPO, shipped config"
POOL = "our PPO, pool of 8 snapshots"
GOAL = 40_000
"""Decisions a second at two layers of 256."""
LATE = 0.1
"""Part of the run that remains, all the time: DQN then has its last epsilon, so hardly an action comes for free."""
LEGEND = """\
environment: steps and masks, and with them random and greedy opponents, which move inside the compiled loop. opponents: learned ones,
their networks and the moves that follow in their games. policy: its forward pass while decisions are collected. update: from the
buffer to the optimiser. rest: filling the buffer, advantages, callbacks.
Not shown: how well it plays (python -m benchmarks.learning), evaluations and saves, other machines, a GPU, rules with larger
observations. Decisions with one legal action are played by themselves everywhere, and count nowhere."""


class Turns:
    """A learner as a case: every run is a turn of ``seconds``."""

    def __init__(self, name: str, learner: Learner, seconds: float) -> None:
        self.name, self.learner, self.seconds = name, learner, seconds
        self.splits: list[Split] = []

    def run(self) -> int:
        tell(f"turn {len(self.splits)}: {self.name}")
        self.splits.append(Split())
        with self.splits[-1].over(self.learner.model):
            return self.learner.learn_for(self.seconds, lambda elapsed: LATE)

    def shares(self) -> dict[str, float]:
        """Part -> share of the time of all turns but the first, which warms up."""
        spent = {part: sum(split.seconds[part] for split in self.splits[1:]) for part in PARTS}
        return {part: seconds / sum(spent.values()) for part, seconds in spent.items()}


def usual(config: TrainingConfig) -> dict[str, tuple[Learner, str]]:
    """MaskablePPO as it comes, on what it is usually given, and on our batch of games."""
    ppo = config.ppo
    eight = make_vec_env(lambda: tutorial_env(config), 8)
    batch = make_env(one_learner(config))
    return {
        USUAL: (plain(config, tutorial_env(config)), "MaskablePPO as it comes, but for two layers of 256"),
        "the same, 8 in DummyVecEnv": (plain(config, eight, n_steps=256), "2,048 decisions an update, as with one"),
        "MaskablePPO on DominoVecEnv": (
            plain(config, batch, n_steps=ppo.n_steps, batch_size=ppo.batch_size),
            f"as it comes ({config.num_envs} games, {ppo.n_steps} steps, minibatches of {ppo.batch_size} as ours; 10 epochs)",
        ),
    }


def own(ppo: TrainingConfig, dqn: TrainingConfig) -> dict[str, tuple[Learner, str]]:
    """Our learners. DQN's buffer is full of random moves from the start, so that its warm-up is over."""
    other, pool = changed(ppo, {"ppo": {"every_seat": not ppo.ppo.every_seat}}), with_pool(ppo)
    dqn = changed(dqn, {"dqn": {"learning_starts": dqn.dqn.buffer_size}})
    learner = ours(dqn)
    while learner.model.num_timesteps < dqn.dqn.learning_starts:
        learner.learn_for(1.0, lambda elapsed: LATE)
    reuse = dqn.dqn.gradient_steps * dqn.dqn.batch_size / (dqn.num_envs * dqn.dqn.train_freq)
    return {
        SHIPPED: (ours(ppo), _ppo_note(ppo)),
        f"our PPO, {'every seat learns' if other.ppo.every_seat else 'one seat learns'}": (ours(other), _ppo_note(other)),
        POOL: (ours(pool), f"{_ppo_note(pool)}; snapshots hold half of the other seats, a new one after every update"),
        "our DQN, shipped config": (learner, f"{dqn.num_envs} games; each decision is learnt from {reuse:.3g} times on average"),
    }


def _ppo_note(config: TrainingConfig) -> str:
    ppo = config.ppo
    who = "every seat learns" if ppo.every_seat else f"one seat learns, against {', '.join(config.opponents)}"
    return f"{who}; {config.num_envs} games, {ppo.n_steps} steps, minibatches of {ppo.batch_size}, {ppo.n_epochs} epochs, {config.layers}"


def goals(rates: Mapping[str, Rate], shares: Mapping[str, Mapping[str, float]]) -> dict[str, bool]:
    """Each goal in words, and whether it is reached."""
    rate, pool = rates[SHIPPED], shares[POOL]
    out = {
        f"{SHIPPED}: {rate.median:,.0f} decisions/s, goal {GOAL:,}": rate.median >= GOAL,
        f"{SHIPPED}: {rate.times_baseline:,.1f} times the tutorial way, goal 30": (rate.times_baseline or 0.0) >= 30,
        f"{POOL}: opponents {pool['opponents']:.1%} of the time, less than the update's {pool['update']:.1%}": (
            pool["opponents"] < pool["update"]
        ),
    }
    for name, share in shares.items():
        if name.startswith("our"):
            both = share["environment"] + share["opponents"]
            out[f"{name}: environment and opponents {both:.1%} of the time, less than 25 %"] = both < 0.25
    return out


def show(title: str, rates: Mapping[str, Rate], shares: Mapping[str, Mapping[str, float]]) -> None:
    table = Table(title=title, caption=f"times: median over turns of the rate divided by that of {USUAL!r} in the same turn")
    table.add_column("what", no_wrap=True)
    for head in ("decisions/s, fastest", "median", "times", *PARTS):
        table.add_column(head, justify="right")
    for name, rate in rates.items():
        figures = [f"{rate.best:,.0f}", f"{rate.median:,.0f}", f"{rate.times_baseline:,.1f}"]
        table.add_row(name, *figures, *(f"{shares[name][part]:.1%}" for part in PARTS))
    console = Console(width=140, highlight=False)
    console.print(table)
    for name, rate in rates.items():
        console.print(f"{name}: {rate.note}", markup=False)
    console.print(LEGEND, markup=False)
    for goal, reached in goals(rates, shares).items():
        console.print(f"{'reached' if reached else 'MISSED '} {goal}", markup=False)
    console.print(machine())


def main() -> None:
    command = parser(__doc__ or "", slices=5)
    threads = "torch threads, and cores to stay on (%(default)s); more than 1 stall one another unless the machine is idle"
    command.add_argument("--threads", type=positive, default=2, help=threads)
    command.add_argument("--variant", default="bergen", choices=list(VARIANTS), help="whose configs (%(default)s)", metavar="NAME")
    command.add_argument("--seconds", type=seconds, default=5.0, help="how long a turn is, at least (%(default)s)")
    args = command.parse_args()
    pin(args.threads)
    torch.set_num_threads(args.threads)
    ppo, dqn = (changed(shipped(args.variant, algorithm), {"threads": args.threads}) for algorithm in ("ppo", "dqn"))
    learners = {**usual(ppo), **own(ppo, dqn)}
    turns = {name: Turns(name, learner, args.seconds) for name, (learner, _) in learners.items()}
    cases = [Case(name, turns[name].run, note) for name, (_, note) in learners.items()]
    rates = {rate.name: rate for rate in measure(cases, args.slices, USUAL)}
    shares = {name: turn.shares() for name, turn in turns.items()}
    title = f"Training on {args.variant}, {ppo.num_players} seats, {args.threads} torch threads"
    if args.json:
        figures = [{**asdict(rate), "shares": shares[name]} for name, rate in rates.items()]
        told = {"title": title, "machine": machine(), "baseline": USUAL, "rates": figures, "goals": goals(rates, shares)}
        print(json.dumps(told, indent=1))
    else:
        show(title, rates, shares)


if __name__ == "__main__":
    main()
