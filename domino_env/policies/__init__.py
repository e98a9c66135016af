"""What can sit in a seat: the protocol, the scripted policies, and policies read from a checkpoint."""

from __future__ import annotations

from domino_env.policies.checkpoint import Checkpoint, CheckpointMeta, load_checkpoint, save_checkpoint
from domino_env.policies.learned import LearnedPolicy
from domino_env.policies.loading import load_policy
from domino_env.policies.protocol import Batch, Policy, check_policy, decide, policy_name, reset_policy
from domino_env.policies.scripted import GreedyPolicy, RandomPolicy
from domino_env.policies.thoughts import Thoughts, think

__all__ = [
    "Batch",
    "Checkpoint",
    "CheckpointMeta",
    "GreedyPolicy",
    "LearnedPolicy",
    "Policy",
    "RandomPolicy",
    "Thoughts",
    "check_policy",
    "decide",
    "load_checkpoint",
    "load_policy",
    "policy_name",
    "reset_policy",
    "save_checkpoint",
    "think",
]
