"""Every variant for RLlib's new API stack: an environment, a module that respects the mask, and an env runner for whole games.

``register_envs()`` makes the ids ``domino/bergen-v0`` and so on known to RLlib; ``docs/scaling.md`` shows a config.
"""

from __future__ import annotations

try:
    import ray.rllib  # noqa: F401
except ImportError:
    raise ImportError('domino_env.integrations.rllib needs RLlib: pip install "domino-env[rllib]"') from None

from domino_env.integrations.rllib.env import DominoMultiAgentEnv, register_envs
from domino_env.integrations.rllib.module import DominoRLModule
from domino_env.integrations.rllib.runner import CountsGames, DominoEnvRunner, WholeGame

__all__ = ["CountsGames", "DominoEnvRunner", "DominoMultiAgentEnv", "DominoRLModule", "WholeGame", "register_envs"]
