"""The domino suite of reinforcement learning: every variant as an environment, on one compiled engine.

``domino_env.VARIANTS`` holds the rules; ``domino_env.bergen_v0`` and its like are PettingZoo modules; ``domino_env.Games``
plays batches; ``domino_env.DominoVecEnv`` is for stable-baselines3; ``domino_env.load_policy`` seats an opponent.
Importing this package registers ``domino/bergen-v0`` and its like with Gymnasium and PettingZoo; it imports no torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from domino_env.envs.registry import register_all
from domino_env.errors import DominoError
from domino_env.rules import Rules
from domino_env.variants import VARIANTS

if TYPE_CHECKING:
    from domino_env.encoding import Encoding
    from domino_env.envs.games import Games
    from domino_env.envs.gym_env import DominoGymEnv
    from domino_env.envs.sb3 import DominoVecEnv
    from domino_env.envs.vector import DominoVectorEnv
    from domino_env.notation import load_record, replay, save_record
    from domino_env.policies import load_policy

__version__ = "0.1.0"

__all__ = [
    "VARIANTS",
    "DominoError",
    "DominoGymEnv",
    "DominoVecEnv",
    "DominoVectorEnv",
    "Encoding",
    "Games",
    "Rules",
    "load_policy",
    "load_record",
    "replay",
    "save_record",
]

# loaded on first use: the kernels and, for DominoVecEnv, torch take their time
_LAZY = {
    "DominoGymEnv": "domino_env.envs.gym_env",
    "DominoVecEnv": "domino_env.envs.sb3",
    "DominoVectorEnv": "domino_env.envs.vector",
    "Encoding": "domino_env.encoding",
    "Games": "domino_env.envs.games",
    "load_policy": "domino_env.policies",
    "load_record": "domino_env.notation",
    "replay": "domino_env.notation",
    "save_record": "domino_env.notation",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'domino_env' has no attribute {name!r}")


register_all()
