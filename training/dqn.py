"""DQN: stable-baselines3's, with masks in all its places: warm-up, exploration, greedy choice and the target over *next* actions.

The games are a ``DominoVecEnv`` with ``mask_in_observation=True``: an observation is D numbers, then the mask of the A actions.
"""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar, cast

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from stable_baselines3 import DQN
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.noise import ActionNoise
from stable_baselines3.common.policies import BasePolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.type_aliases import GymEnv, MaybeCallback, Schedule
from stable_baselines3.dqn.policies import DQNPolicy, QNetwork
from torch import nn

from domino_env.errors import EmptyMaskError, OptionsError
from training.network import Trunk
from training.replay import CompactNStepReplayBuffer, CompactReplayBuffer

__all__ = ["MaskedDQN", "MaskedDQNPolicy", "MaskedQNetwork", "q_heads"]

# Finite, for a finished game's next observation has no legal action: its value is multiplied by 0, and 0 * inf is no number.
_ILLEGAL = torch.finfo(torch.float32).min


class MaskedQNetwork(QNetwork):
    """A value for each action: observation (B, D + A) float32 to (B, A) float32, a huge negative number where the mask is 0."""

    def __init__(self, observation_space: spaces.Box, action_space: spaces.Discrete, **kwargs: Any) -> None:
        super().__init__(observation_space, action_space, **kwargs)
        self.num_actions = int(action_space.n)
        width, size = observation_space.shape[0], getattr(self.features_extractor, "size", None)
        if size is None or size + self.num_actions != width:
            raise OptionsError(f"size={size}, but of {width} numbers all except the mask of {self.num_actions} actions are to be read")

    def forward(self, obs: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        """(B, D + A) to (B, A)."""
        # a network that overflows may value a legal action at -inf: still more than an illegal one
        values = super().forward(obs).clamp(min=_ILLEGAL / 2)
        return torch.where(self._legal(obs), values, _ILLEGAL)

    def _legal(self, obs: torch.Tensor) -> torch.Tensor:
        return obs[:, -self.num_actions :] > 0.5

    def _predict(self, observation: torch.Tensor, deterministic: bool = True) -> torch.Tensor:  # type: ignore[override]
        _check_masks(self._legal(observation).any(dim=1).cpu().numpy())
        return super()._predict(observation, deterministic)


class DoubleQTarget(MaskedQNetwork):
    """The target network of double DQN: observation (B, D + A) to (B, 1), its own value of the action that the online network takes.

    SB3's ``train`` takes the maximum over what the target network answers, so with one column it learns the double-Q target.
    """

    def follow(self, online: MaskedQNetwork) -> None:
        """Let ``online`` choose, and start with its weights."""
        self.load_state_dict(online.state_dict())
        # in a tuple, for a network held directly would become a part of this one, its weights and all
        self._online = (online,)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        """(B, D + A) to (B, 1)."""
        chosen = self._online[0](obs).argmax(dim=1, keepdim=True)
        return super().forward(obs).gather(1, chosen)


Network = TypeVar("Network", bound=MaskedQNetwork)


class MaskedDQNPolicy(DQNPolicy):
    """SB3's policy with masked networks: a ``Trunk`` and one linear layer on it.

    ``features_extractor_kwargs``: ``layers``, ``activation`` and ``residual`` of the trunk. ``double_q``: see ``MaskedDQN``.
    """

    def __init__(
        self,
        observation_space: spaces.Box,
        action_space: spaces.Discrete,
        lr_schedule: Schedule,
        net_arch: list[int] | None = None,
        activation_fn: type[nn.Module] = nn.ReLU,
        features_extractor_class: type[BaseFeaturesExtractor] = Trunk,
        features_extractor_kwargs: dict[str, Any] | None = None,
        double_q: bool = True,
        **kwargs: Any,
    ) -> None:
        if net_arch:
            raise OptionsError(f"net_arch={net_arch}, but hidden layers are told to the trunk: features_extractor_kwargs['layers']")
        self.double_q = double_q
        size = observation_space.shape[0] - int(action_space.n)
        trunk = {"layers": [256, 256], "activation": "relu", "size": size, **(features_extractor_kwargs or {})}
        super().__init__(observation_space, action_space, lr_schedule, [], activation_fn, features_extractor_class, trunk, **kwargs)

    def _build(self, lr_schedule: Schedule) -> None:
        super()._build(lr_schedule)
        if self.double_q:
            target = self._make(DoubleQTarget)
            target.follow(cast(MaskedQNetwork, self.q_net))
            target.set_training_mode(False)
            self.q_net_target = target

    def make_q_net(self) -> MaskedQNetwork:
        """A network with weights of its own."""
        return self._make(MaskedQNetwork)

    def _make(self, kind: type[Network]) -> Network:
        return kind(**self._update_features_extractor(self.net_args, features_extractor=None)).to(self.device)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return {**super()._get_constructor_parameters(), "double_q": self.double_q}


class MaskedDQN(DQN):
    """SB3's DQN that only ever takes legal actions, and values none else. Observations hold the mask: (N, D + A) float32.

    ``double_q``: the target network values the action that the online network takes (double DQN); without it, its own best one.
    ``n_steps`` sums so many rewards before the target's value. Replay is compact (``training.replay``) unless ``replay_buffer_class``
    says otherwise. The other arguments are SB3's; ``policy`` is ``MaskedDQNPolicy`` or ``"MlpPolicy"``, which is the same.
    Raises ``OptionsError`` for games that do not show the mask, ``EmptyMaskError`` where it is to act and nothing is legal.
    All draws come from numpy's global generator, which SB3 seeds and draws replay from: its state is the state of them all.
    """

    policy_aliases: ClassVar[dict[str, type[BasePolicy]]] = {"MlpPolicy": MaskedDQNPolicy}

    def __init__(
        self,
        policy: str | type[DQNPolicy],
        env: GymEnv | str,
        *,
        double_q: bool = True,
        policy_kwargs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(policy, env, policy_kwargs={**(policy_kwargs or {}), "double_q": double_q}, **kwargs)

    def _setup_model(self) -> None:
        if getattr(self.env, "mask_in_observation", True) is False:
            raise OptionsError(
                "mask_in_observation=False, but DQN reads the mask of each observation: DominoVecEnv(mask_in_observation=True)"
            )
        compact = self.replay_buffer_class is None
        if compact and self.replay_buffer is None:
            self.replay_buffer = self._compact_buffer()
        super()._setup_model()
        if compact:
            # SB3 has noted its own kind; a zip is to be loaded as it was made
            self.replay_buffer_class = None

    def _compact_buffer(self) -> ReplayBuffer:
        more = dict(self.replay_buffer_kwargs)
        kind: type[ReplayBuffer] = CompactReplayBuffer
        if self.n_steps > 1:
            kind = CompactNStepReplayBuffer
            more |= {"n_steps": self.n_steps, "gamma": self.gamma}
        more |= {"device": self.device, "n_envs": self.n_envs, "optimize_memory_usage": self.optimize_memory_usage}
        return kind(self.buffer_size, self.observation_space, self.action_space, **more)

    def predict(
        self,
        observation: npt.NDArray[Any] | dict[str, npt.NDArray[Any]],
        state: tuple[npt.NDArray[Any], ...] | None = None,
        episode_start: npt.NDArray[Any] | None = None,
        deterministic: bool = False,
    ) -> tuple[npt.NDArray[Any], tuple[npt.NDArray[Any], ...] | None]:
        """Actions (N,) int64 for observations (N, D + A), or () for one (D + A,).

        Legal ones always: the best, or unless ``deterministic`` in each row with the probability ``exploration_rate`` any one.
        """
        if deterministic:
            return self.policy.predict(observation, state, episode_start, deterministic=True)
        one = not self.policy.is_vectorized_observation(observation)
        rows = np.atleast_2d(cast(npt.NDArray[Any], observation))
        _check_masks(self._masks(rows).sum(axis=1) > 0)
        explores = np.random.random(len(rows)) < self.exploration_rate  # noqa: NPY002 -- one generator for all: the one that replay uses
        actions = np.empty(len(rows), np.int64)
        actions[explores] = self._draw_legal(rows[explores])
        if not explores.all():
            actions[~explores], _ = self.policy.predict(rows[~explores], deterministic=True)
        return (actions[0] if one else actions), state

    def _sample_action(
        self, learning_starts: int, action_noise: ActionNoise | None = None, n_envs: int = 1
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        if self.num_timesteps >= learning_starts:
            return super()._sample_action(learning_starts, action_noise, n_envs)
        actions = self._draw_legal(cast(npt.NDArray[Any], self._last_obs))
        return actions, actions

    def _draw_legal(self, observations: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """A legal action for each row (N, D + A), all alike: (N,) int64."""
        masks = self._masks(observations)
        counts = masks.sum(axis=1)
        _check_masks(counts > 0)
        first = np.cumsum(counts) - counts
        drawn = first + np.random.randint(0, counts)  # noqa: NPY002 -- as above
        actions: npt.NDArray[np.int64] = np.nonzero(masks)[1][drawn]
        return actions

    def _masks(self, observations: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        return observations[:, -int(cast(spaces.Discrete, self.action_space).n) :] > 0.5

    def learn(
        self,
        total_timesteps: int,
        callback: MaybeCallback = None,
        log_interval: int | None = 4096,
        tb_log_name: str = "DQN",
        reset_num_timesteps: bool = True,
        progress_bar: bool = False,
    ) -> MaskedDQN:
        """SB3's; ``log_interval`` counts games, and hundreds of them may end in one step."""
        return super().learn(total_timesteps, callback, log_interval, tb_log_name, reset_num_timesteps, progress_bar)  # type: ignore[arg-type]


def q_heads(model: DQN) -> dict[str, nn.Linear]:
    """The heads of ``training.network.as_arrays``: the values of the actions stand for logits; there is no value head."""
    (head,) = model.q_net.q_net
    return {"logits": cast(nn.Linear, head)}


def _check_masks(any_legal: npt.NDArray[np.bool_]) -> None:
    if not any_legal.all():
        raise EmptyMaskError(f"row {int(np.argmin(any_legal))}: no action is legal, but a seat on turn has at least one")
