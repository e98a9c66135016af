"""PPO with action masks in one file: read it from top to bottom, copy it, change it.

    python docs/examples/ppo.py --variant bergen --total-decisions 1000000 --output runs/my_ppo.safetensors

One learner sits in each of many games, policies sit in the other seats, and finished games start anew by themselves. The file
needs torch and stable-baselines3 (whose vector environment ``DominoVecEnv`` is); no training code but its own. Letters in
shapes: T steps between two updates, N games, D numbers observed, A actions, B = T * N decisions of an update.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import os
import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from torch import Tensor, nn

from domino_env import DominoVecEnv, Rules
from domino_env.arena import Comparison, compare
from domino_env.errors import DominoError, OptionsError
from domino_env.policies import CheckpointMeta, load_policy, save_checkpoint
from domino_env.variants import get_rules

# ---------------------------------------------------------------------------------------------------------- arguments


def option(default: Any, text: str) -> Any:
    """A field of ``Args`` and its line in ``--help``."""
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True)
class Args:
    """What a run is told; every field is an option of the command line. Raises ``OptionsError`` for values that cannot be."""

    variant: str = option("bergen", "a name that 'domino variants' lists")
    num_players: int = option(2, "seats; the learner's is drawn for each game")
    opponents: Sequence[str] = option(("random", "greedy"), "who may sit in the other seats: random, greedy, checkpoints")
    episode: str = option("round", "a game is one 'round' or a whole 'match'")
    reward: str = option("points", "learn for 'points' (divided by the target of a match) or to 'win'")
    total_decisions: int = option(1_000_000, "learner's decisions in the whole run, rounded up to full updates")
    num_envs: int = option(512, "games played at once (N)")
    num_steps: int = option(16, "decisions in each game between two updates (T)")
    epochs: int = option(3, "passes over the decisions of an update")
    minibatch_size: int = option(1024, "decisions in one step of the optimiser")
    learning_rate: float = option(1e-3, "Adam's step size; falls linearly to 0")
    gamma: float = option(1.0, "discount per decision; a round is short, so none")
    gae_lambda: float = option(0.95, "bias (0) against variance (1) of the advantages")
    clip: float = option(0.2, "largest change of a probability ratio that is rewarded")
    entropy_weight: float = option(0.0, "weight of the entropy bonus; the deals bring variety enough")
    value_weight: float = option(0.5, "weight of the value loss")
    max_grad_norm: float = option(0.5, "gradients are scaled down to this norm")
    layers: Sequence[int] = option((256, 256), "units of the hidden layers, shared by policy and value")
    threads: int = option(1, "torch threads; so small a network gains little from more")
    seed: int = option(0, "of games, weights, moves and minibatches: same seed, same weights")
    output: str = option("runs/example_ppo.safetensors", "the checkpoint to write")
    tensorboard: str = option("", "folder for TensorBoard; empty: none")
    deals: int = option(2000, "deals in every seating of the closing table")

    def __post_init__(self) -> None:
        for name in ("total_decisions", "num_envs", "num_steps", "epochs", "minibatch_size", "threads"):
            self._check(name, getattr(self, name) >= 1, "1 or more")
        for name in ("learning_rate", "clip", "max_grad_norm"):
            self._check(name, 0 < getattr(self, name) < math.inf, "a number above 0")
        for name in ("gamma", "gae_lambda"):
            self._check(name, 0 <= getattr(self, name) <= 1, "a number from 0 to 1")
        for name in ("entropy_weight", "value_weight"):
            self._check(name, 0 <= getattr(self, name) < math.inf, "0 or more")
        self._check("deals", self.deals >= 2, "2 or more")
        self._check("seed", 0 <= self.seed < 2**32 - 1, "from 0 to 2**32 - 2")
        self._check("output", self.output.endswith(".safetensors"), "a file that ends in .safetensors")

    def _check(self, name: str, good: bool, right: str) -> None:
        if not good:
            raise OptionsError(f"{name}={getattr(self, name)!r}, but it is {right}")


def parse(arguments: Sequence[str] | None) -> Args:
    """The command line (None: that of the process) as ``Args``."""
    parser = argparse.ArgumentParser(description="Masked PPO in one file.", formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    for item in fields(Args):
        default: Any = item.default
        many = isinstance(default, tuple)
        kind = type(default[0] if many else default)
        told: dict[str, Any] = {"type": kind, "nargs": "+" if many else None, "metavar": kind.__name__.upper()}
        parser.add_argument(f"--{item.name.replace('_', '-')}", default=default, help=item.metadata["help"], **told)
    return Args(**vars(parser.parse_args(arguments)))


# ------------------------------------------------------------------------------------------------------------ network


class Agent(nn.Module):
    """ReLU layers shared by a policy head and a value head. The names of its weights are those of a checkpoint."""

    def __init__(self, observation_size: int, num_actions: int, layers: Sequence[int]) -> None:
        super().__init__()
        sizes = [observation_size, *layers]
        hidden = [nn.Linear(inputs, outputs) for inputs, outputs in zip(sizes, layers, strict=False)]
        self.layers = nn.ModuleList(hidden)
        self.logits = nn.Linear(sizes[-1], num_actions)
        self.value = nn.Linear(sizes[-1], 1)
        # a small gain for the logits: the first policy plays all legal actions about alike
        for layer, gain in [*((layer, math.sqrt(2)) for layer in hidden), (self.logits, 0.01), (self.value, 1.0)]:
            nn.init.orthogonal_(layer.weight, gain)
            nn.init.zeros_(layer.bias)

    def forward(self, observation: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """(B, D) float32 and (B, A) bool to log-probabilities (B, A), -inf where the mask is False, and values (B,)."""
        hidden = observation
        for layer in self.layers:
            hidden = torch.relu(layer(hidden))
        # -inf, not just a large negative number: then the probability is exactly 0
        logits = self.logits(hidden).masked_fill(~mask, -math.inf)
        return logits.log_softmax(dim=-1), self.value(hidden).squeeze(-1)


# --------------------------------------------------------------------------------------------------------- collecting


@dataclass
class Rollout:
    """What the learner saw and did between two updates; all tensors start with (T, N)."""

    observation: Tensor  # (T, N, D) float32
    mask: Tensor  # (T, N, A) bool
    action: Tensor  # (T, N) int64
    log_prob: Tensor  # (T, N) float32, of the action
    value: Tensor  # (T, N) float32
    reward: Tensor  # (T, N) float32, what the action brought until the next decision
    done: Tensor  # (T, N) float32, 1 where the game ended before the next decision

    @classmethod
    def empty(cls, steps: int, num_envs: int, observation_size: int, num_actions: int) -> Rollout:
        """Room for ``steps`` decisions in each game."""
        shape = (steps, num_envs)
        return cls(
            torch.zeros(*shape, observation_size),
            torch.zeros(*shape, num_actions, dtype=torch.bool),
            torch.zeros(shape, dtype=torch.int64),
            *(torch.zeros(shape) for _ in range(4)),
        )


def make_env(args: Args, rules: Rules) -> DominoVecEnv:
    """The games. ``skip_forced``: positions with one legal action are played by themselves, so every step is a decision."""
    return DominoVecEnv(
        args.variant,
        num_envs=args.num_envs,
        seed=args.seed,
        rules=rules,
        num_players=args.num_players,
        opponents=list(args.opponents),
        episode=args.episode,
        reward=args.reward,
        skip_forced=True,
    )


@torch.no_grad()
def collect(env: DominoVecEnv, agent: Agent, rollout: Rollout, observation: Any) -> tuple[Any, Tensor, list[dict[str, Any]]]:
    """Play T steps from ``observation`` (N, D) into ``rollout``.

    Returns the observation that follows, its values (N,), and the infos of the games that ended.
    """
    finished: list[dict[str, Any]] = []
    for t in range(len(rollout.reward)):
        # assignments copy: the environment writes observations and masks over again in later steps
        rollout.observation[t] = torch.from_numpy(observation)
        rollout.mask[t] = torch.from_numpy(env.action_masks())
        log_probs, rollout.value[t] = agent(rollout.observation[t], rollout.mask[t])
        action = torch.multinomial(log_probs.exp(), 1)
        rollout.action[t] = action[:, 0]
        rollout.log_prob[t] = log_probs.gather(1, action)[:, 0]
        observation, reward, done, infos = env.step(rollout.action[t].numpy())
        rollout.reward[t] = torch.from_numpy(reward)
        rollout.done[t] = torch.from_numpy(done)
        finished += [infos[row] for row in np.flatnonzero(done)]
    _, value = agent(torch.from_numpy(observation), torch.from_numpy(env.action_masks()))
    return observation, value, finished


def estimate_advantages(rollout: Rollout, next_value: Tensor, gamma: float, gae_lambda: float) -> Tensor:
    """Generalised advantage estimates (T, N); ``next_value`` (N,) is of the observation after the last step."""
    advantages = torch.zeros_like(rollout.reward)
    carried = torch.zeros_like(next_value)
    for t in reversed(range(len(advantages))):
        goes_on = 1.0 - rollout.done[t]
        surprise = rollout.reward[t] + gamma * goes_on * next_value - rollout.value[t]
        advantages[t] = carried = surprise + gamma * gae_lambda * goes_on * carried
        next_value = rollout.value[t]
    return advantages


# ----------------------------------------------------------------------------------------------------------- learning


def update(agent: Agent, optimizer: torch.optim.Optimizer, rollout: Rollout, advantages: Tensor, args: Args) -> dict[str, float]:
    """Learn from one rollout; ``advantages`` (T, N). Returns the means of what is logged of it."""
    observation, mask, action = rollout.observation.flatten(0, 1), rollout.mask.flatten(0, 1), rollout.action.flatten()
    old_log_prob, returns = rollout.log_prob.flatten(), (advantages + rollout.value).flatten()
    scaled = ((advantages - advantages.mean()) / (advantages.std(correction=0) + 1e-8)).flatten()
    seen: list[tuple[float, ...]] = []
    for _ in range(args.epochs):
        for rows in torch.split(torch.randperm(len(action)), args.minibatch_size):
            log_probs, value = agent(observation[rows], mask[rows])
            log_ratio = log_probs.gather(1, action[rows, None])[:, 0] - old_log_prob[rows]
            ratio = log_ratio.exp()
            clipped = ratio.clamp(1 - args.clip, 1 + args.clip)
            policy_loss = -torch.min(ratio * scaled[rows], clipped * scaled[rows]).mean()
            value_loss = 0.5 * (value - returns[rows]).square().mean()
            # 0 * log 0 is 0: without the fill it would be NaN
            entropy = -(log_probs.exp() * log_probs.masked_fill(~mask[rows], 0.0)).sum(-1).mean()

            optimizer.zero_grad()
            (policy_loss + args.value_weight * value_loss - args.entropy_weight * entropy).backward()
            nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
            optimizer.step()
            with torch.no_grad():
                kl, far = (ratio - 1 - log_ratio).mean(), ((ratio - 1).abs() > args.clip).float().mean()
            seen.append((policy_loss.item(), value_loss.item(), entropy.item(), kl.item(), far.item()))
    names = ("policy_loss", "value_loss", "entropy", "approx_kl", "clip_fraction")
    return dict(zip(names, np.mean(seen, axis=0).tolist(), strict=True))


def summarize(rollout: Rollout, advantages: Tensor, finished: list[dict[str, Any]]) -> dict[str, float]:
    """What the games and the values of one rollout say."""
    games = max(len(finished), 1)
    won = sum(info["seat"] in info["winners"] for info in finished)
    returns = advantages + rollout.value
    return {
        "games": len(finished),
        "mean_return": sum(info["episode"]["r"] for info in finished) / games,
        "win_share": won / games,
        "explained_variance": (1 - advantages.var(correction=0) / returns.var(correction=0).clamp_min(1e-8)).item(),
    }


def train(args: Args, rules: Rules) -> tuple[Agent, int]:
    """The whole run: returns the agent and the number of decisions it learnt from. Ctrl-C ends it early, keeping what is learnt."""
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    env = make_env(args, rules)
    observation = env.reset()
    sizes = observation.shape[1], env.action_masks().shape[1]
    agent = Agent(*sizes, args.layers)
    optimizer = torch.optim.Adam(agent.parameters(), args.learning_rate, eps=1e-5, fused=True)
    rollout = Rollout.empty(args.num_steps, args.num_envs, *sizes)
    writer = open_tensorboard(args.tensorboard)
    per_update = args.num_steps * args.num_envs
    updates = math.ceil(args.total_decisions / per_update)
    decisions, begin = 0, time.perf_counter()
    try:
        for number in range(updates):
            optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - number / updates)
            observation, next_value, finished = collect(env, agent, rollout, observation)
            advantages = estimate_advantages(rollout, next_value, args.gamma, args.gae_lambda)
            metrics = summarize(rollout, advantages, finished) | update(agent, optimizer, rollout, advantages, args)
            decisions += per_update
            log(writer, decisions, decisions / (time.perf_counter() - begin), metrics)
    except KeyboardInterrupt:
        if decisions == 0:
            raise  # nothing learnt, so nothing to keep
        print(f"stopped after {decisions:,} of {updates * per_update:,} decisions", flush=True)
    return agent, decisions


def open_tensorboard(folder: str) -> Any:
    """A writer for TensorBoard; None where ``folder`` is empty. Raises ``OptionsError`` where it is not installed."""
    if not folder:
        return None
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise OptionsError(f"tensorboard={folder!r}, but tensorboard is not installed: pip install tensorboard") from None
    return SummaryWriter(folder)


def log(writer: Any, decisions: int, rate: float, metrics: dict[str, float]) -> None:
    """One line for each update, and all metrics for TensorBoard."""
    print(
        f"{decisions:>10,} decisions {rate:>7,.0f}/s  return {metrics['mean_return']:+.3f}  won {metrics['win_share']:.1%}  "
        f"kl {metrics['approx_kl']:.4f}  entropy {metrics['entropy']:.3f}  explained {metrics['explained_variance']:+.2f}",
        flush=True,
    )
    if writer is not None:
        for name, value in {**metrics, "decisions_per_second": rate}.items():
            writer.add_scalar(name, value, decisions)
        writer.flush()


# ----------------------------------------------------------------------------------------------------------- the run


def main(arguments: Sequence[str] | None = None) -> Comparison:
    """Train, write the checkpoint, and print its table against random and greedy. Raises ``DominoError`` for bad input."""
    args = parse(arguments)
    rules = get_rules(args.variant)  # or rules of your own: get_rules("bergen").replace(target={2: 21})
    output = Path(args.output)
    # made before the training, like the folder: what cannot be written is found out now
    meta = CheckpointMeta.of(
        rules,
        args.num_players,
        algorithm="ppo",
        layers=list(args.layers),
        value_layers=[],  # the value head stands on the shared layers
        activation="relu",
        seed=args.seed,
        command=shlex.join(["python", "docs/examples/ppo.py", *(sys.argv[1:] if arguments is None else arguments)]),
    )
    output.parent.mkdir(parents=True, exist_ok=True)
    if output.is_dir() or not os.access(output.parent, os.W_OK):
        raise OptionsError(f"output={args.output!r}, but it is a folder, or its folder cannot be written to")

    agent, decisions = train(args, rules)
    weights = {name: tensor.numpy() for name, tensor in agent.state_dict().items()}
    save_checkpoint(output, weights, dataclasses.replace(meta, steps_trained=decisions))
    print(f"checkpoint {output}", flush=True)

    # from here on it is a policy like any other: in a seat, in `domino arena`, among the --opponents of the next run
    policies = {"ppo": load_policy(output), "random": load_policy("random"), "greedy": load_policy("greedy")}
    result = compare(
        policies,
        rules,
        num_players=args.num_players,
        deals=args.deals,
        seed=args.seed + 1,  # other deals than those it learnt on
        episode=args.episode,
    )
    Console(width=None if sys.stdout.isatty() else 120).print(result.table())
    return result


if __name__ == "__main__":
    try:
        main()
    except (DominoError, OSError) as error:
        print(f"ppo.py: {error}", file=sys.stderr)
        sys.exit(2)
