"""Two-sided self-play: the network plays every seat of every game, and every decision is learnt from (see ``seat_buffer``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from domino_env import Games
from domino_env.envs.sb3 import BatchVecEnv
from domino_env.errors import OptionsError
from training.seat_buffer import EverySeatBuffer

__all__ = ["EverySeatEnv", "EverySeatPPO"]

Floats = npt.NDArray[np.float32]


class EverySeatEnv(BatchVecEnv):
    """``Games`` with the spaces that SB3 asks for. It cannot be stepped as a VecEnv: one reward a game would be a wrong one."""

    def __init__(self, games: Games) -> None:
        self.games = games
        self.render_mode = None
        space = spaces.Box(-1.0, 1.0, (games.encoding.size,), np.float32)
        super().__init__(games.num_games, space, spaces.Discrete(games.num_actions))

    def get_state(self) -> dict[str, npt.NDArray[Any]]:
        """Copies of all that ``set_state`` needs to go on from here."""
        return self.games.get_state()

    def set_state(self, state: Mapping[str, npt.NDArray[Any]]) -> Floats:
        """Go on from a state; returns the observation."""
        self.games.set_state(state)
        return self.games.observation

    def reset(self) -> Floats:
        """Observation (N, D) of the seats on turn; the games themselves start in their constructor."""
        return self.games.observation

    def step_async(self, actions: Any) -> None:
        """Not possible: ``OptionsError``."""
        raise OptionsError(f"step({type(actions).__name__}): every seat learns here, so step the Games themselves: they reward each seat")

    def step_wait(self) -> Any:
        """Not possible: ``OptionsError``."""
        return self.step_async(None)


class EverySeatPPO(MaskablePPO):
    """MaskablePPO whose rollouts are the decisions of all seats. Its environment is an ``EverySeatEnv``."""

    def __init__(self, policy: Any, env: EverySeatEnv, **kwargs: Any) -> None:
        seats = {"num_seats": env.games.num_players}
        super().__init__(policy, env, rollout_buffer_class=EverySeatBuffer, rollout_buffer_kwargs=seats, **kwargs)

    def collect_rollouts(
        self, env: Any, callback: BaseCallback, rollout_buffer: Any, n_rollout_steps: int, use_masking: bool = True
    ) -> bool:
        """Play ``n_rollout_steps`` decisions in every game and fill the buffer. False where the callback stopped it.

        ``OptionsError`` without masks: the games take legal actions only.
        """
        if not use_masking:
            raise OptionsError(f"use_masking={use_masking}, but the games take legal actions only")
        games: Games = env.games
        self.policy.set_training_mode(False)
        callback.on_rollout_start()
        rollout_buffer.reset()
        for _ in range(n_rollout_steps):
            with torch.no_grad():
                observation = torch.from_numpy(games.observation).to(self.device)
                actions, values, log_probs = (part.cpu().numpy() for part in self.policy(observation, action_masks=games.action_mask))
            rollout_buffer.record(games, actions, values[:, 0], log_probs)
            games.step(actions)
            rollout_buffer.reward(games.reward, games.done)
            self.num_timesteps += games.num_games
            callback.update_locals(locals())
            if not callback.on_step():
                return False
        rollout_buffer.finish()
        callback.on_rollout_end()
        return True

    def train(self) -> None:
        """MaskablePPO's update; none where so few games were played that hardly a decision is ready."""
        if len(self.rollout_buffer.ready) > 1:  # type: ignore[attr-defined]
            super().train()
