"""Front ends on one core: AEC raw and wrapped, beside an environment that does nothing, tictactoe_v3 and connect_four_v3; and
learner decisions of ``DominoVecEnv`` with 1,024 games against scripted opponents.

Every environment is played at random by the same cheap sampler, ``last()`` at every step.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pettingzoo
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.env_registry.exceptions import FailedToImport
from pettingzoo.utils import wrappers

import domino_env
from benchmarks.common import Case, measure, options, pin, report

BASELINE = "nothing, wrapped"
LEARNERS = [("bergen", 2, ["random"]), ("bergen", 2, ["greedy"]), ("bergen", 2, ["random", "greedy"]), ("all_fives", 4, ["greedy"])]
NUM_STEPS = 500
NUM_ENVS = 1_024


class NothingEnv(AECEnv):
    """Two agents in turn, the observation and mask of Bergen, always the same; it ends after 24 steps. It does nothing else."""

    metadata = {"name": "nothing_v0", "render_modes": [], "is_parallelizable": False}

    def __init__(self) -> None:
        super().__init__()
        model = domino_env.bergen_v0.raw_env()
        self.possible_agents = list(model.possible_agents)
        self._observation = {
            "observation": np.zeros(model.encoding.size, np.float32),
            "action_mask": np.ones(model.game.num_actions, np.int8),
        }
        self._observation_space = model.observation_space("player_0")
        self._action_space = spaces.Discrete(model.game.num_actions)

    def observation_space(self, agent: str) -> Any:
        return self._observation_space

    def action_space(self, agent: str) -> Any:
        return self._action_space

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]
        self._skip_agent_selection = None
        self._count = 0

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        return self._observation

    def step(self, action: Any) -> None:
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self._count += 1
        if self._count == 24:
            self.terminations = dict.fromkeys(self.agents, True)
        self.agent_selection = self.possible_agents[self._count % 2]


def wrapped(env: AECEnv) -> AECEnv:
    """PettingZoo's usual wrappers in their usual order."""
    out: Any = wrappers.TerminateIllegalWrapper(env, illegal_reward=-1)
    out = wrappers.AssertOutOfBoundsWrapper(out)
    return wrappers.OrderEnforcingWrapper(out)


def aec(env: AECEnv) -> Callable[[], int]:
    env.reset(seed=0)
    count = 0

    def run() -> int:
        nonlocal count
        for _ in range(NUM_STEPS):
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.reset()
                continue
            legal = observation["action_mask"].nonzero()[0]
            count += 1
            env.step(int(legal[count % len(legal)]))
        return NUM_STEPS

    return run


def classic(name: str) -> AECEnv | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return pettingzoo.make("aec", f"classic/{name}")
    except FailedToImport:
        return None


def learner(opponents: list[str], variant: str, num_players: int) -> Callable[[], int]:
    env = domino_env.DominoVecEnv(variant, num_envs=NUM_ENVS, opponents=opponents, num_players=num_players, seed=0, skip_forced=True)
    env.reset()
    masks = np.zeros(env.action_masks().shape, np.uint8)
    order = np.arange(masks.shape[1], dtype=np.uint8)
    turn = 0

    def run() -> int:
        # the sampler costs more than the games would, so it is a cheap one: the first legal action after a moving start
        nonlocal turn
        for _ in range(10):
            turn = (turn + 7) % masks.shape[1]
            shifted = np.roll(env.action_masks(), -turn, axis=1)
            actions = (shifted.argmax(axis=1) + turn) % len(order)
            env.step(actions)
        return 10 * NUM_ENVS

    return run


def main() -> None:
    args = options(__doc__ or "")
    pin()
    cases = [
        Case(BASELINE, aec(wrapped(NothingEnv())), "the wrappers alone"),
        Case("bergen_v0, wrapped", aec(domino_env.bergen_v0.env())),
        Case("bergen_v0, raw", aec(domino_env.bergen_v0.raw_env())),
        Case("all_fives_v0, 4 seats, raw", aec(domino_env.all_fives_v0.raw_env(num_players=4))),
    ]
    for name in ("tictactoe_v3", "connect_four_v3"):
        peer = classic(name)
        if peer is not None:
            cases.append(Case(f"{name}, wrapped", aec(peer)))
    for variant, num_players, opponents in LEARNERS:
        name = f"DominoVecEnv {variant}, {num_players} seats, against {' and '.join(opponents)}"
        cases.append(Case(name, learner(opponents, variant, num_players), "learner decisions"))
    report("Front ends, one core", measure(cases, args.slices, BASELINE), BASELINE, args.json)


if __name__ == "__main__":
    main()
