"""The policy of PPO: sb3-contrib's, on one shared trunk of hidden layers."""

from __future__ import annotations

from typing import Any, cast

import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import nn

from domino_env.errors import EmptyMaskError, PolicyError

__all__ = ["MaskedPolicy", "ppo_heads"]


_EMPTY = "action_masks: a row is all False, but a seat on turn has at least one legal action"


_NO_NUMBERS = "the network has come to outputs that are no numbers: a smaller learning_rate may help; what was saved before is whole"


class MaskedPolicy(MaskableActorCriticPolicy):
    """sb3-contrib's policy with the distribution worked out once: illegal actions have probability 0, exactly.

    ``autocast``: number type of the trunk, or None for float32.
    """

    def __init__(self, *args: Any, autocast: torch.dtype | None = None, **kwargs: Any) -> None:
        self._autocast = autocast
        super().__init__(*args, **kwargs)

    def forward(
        self, obs: torch.Tensor, deterministic: bool = False, action_masks: Any = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Actions (B,), values (B, 1) and log-probabilities (B,) for observations (B, D) and masks (B, A)."""
        probabilities, log_probs, values = self._evaluate(obs, action_masks)
        actions = probabilities.argmax(dim=1) if deterministic else _draw(probabilities)
        return actions, values, _at(log_probs, actions)

    def evaluate_actions(
        self, obs: torch.Tensor, actions: torch.Tensor, action_masks: Any = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Values (B, 1), log-probabilities of ``actions`` (B,) and entropies (B,)."""
        probabilities, log_probs, values = self._evaluate(obs, action_masks)
        return values, _at(log_probs, actions.long().flatten()), -(probabilities * log_probs).sum(dim=1)

    def get_distribution(self, obs: Any, action_masks: Any = None) -> MaskableDistribution:
        """sb3-contrib's distribution. Raises ``EmptyMaskError`` where a row of masks is empty: sb3-contrib would play any action."""
        if action_masks is not None and not torch.as_tensor(action_masks, dtype=torch.bool).any(dim=-1).all():
            raise EmptyMaskError(_EMPTY)
        return super().get_distribution(obs, action_masks)

    def _predict(self, observation: Any, deterministic: bool = False, action_masks: Any = None) -> torch.Tensor:
        return self(observation, deterministic, action_masks)[0]  # type: ignore[no-any-return]

    def _evaluate(self, obs: torch.Tensor, action_masks: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Probabilities (B, A), log-probabilities (B, A; those of illegal actions mean nothing) and values (B, 1)."""
        with torch.autocast(obs.device.type, self._autocast, enabled=self._autocast is not None):
            features = cast(torch.Tensor, self.extract_features(obs)).float()
        logits = self.action_net(features)
        if action_masks is None:
            legal = torch.ones_like(logits, dtype=torch.bool)
        else:
            legal = torch.as_tensor(action_masks, dtype=torch.bool, device=logits.device).reshape(logits.shape)
        return *_masked_softmax(logits, legal), self.value_net(features)


def _masked_softmax(logits: torch.Tensor, legal: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Probabilities and log-probabilities over the legal actions, (B, A) each. ``EmptyMaskError`` where there are none."""
    highest = torch.where(legal, logits.detach(), -torch.inf).amax(dim=1, keepdim=True)
    if not torch.isfinite(highest).all():
        raise EmptyMaskError(_EMPTY) if legal.any(dim=1).logical_not().any() else PolicyError(_NO_NUMBERS)
    # not a huge negative number at illegal actions: exp of one takes ten times as long as exp of 0
    heights = torch.where(legal, logits - highest, 0.0)
    weights = heights.exp() * legal
    totals = weights.sum(dim=1, keepdim=True)
    return weights / totals, heights - totals.log()


def _draw(probabilities: torch.Tensor) -> torch.Tensor:
    """A draw (B,) from each row; never one of probability 0."""
    sums = probabilities.cumsum(dim=1)
    # a little below 1, or rounding might lead beyond the last
    bars = torch.rand(len(sums), 1, device=sums.device) * (1 - 1e-6) * sums[:, -1:]
    # sums of zeros need not stay equal on every device, so that p > 0 is asked for too
    return ((sums > bars) & (probabilities > 0)).int().argmax(dim=1)


def _at(values: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
    return values.gather(1, actions[:, None])[:, 0]


def ppo_heads(model: MaskablePPO) -> dict[str, nn.Linear]:
    """The layers behind the trunk, by their name in a checkpoint."""
    return {"logits": cast(nn.Linear, model.policy.action_net), "value": model.policy.value_net}
