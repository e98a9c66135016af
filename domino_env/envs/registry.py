"""The modules ``domino_env.<variant>_v0`` and the ids ``domino/<variant>-v0``, one of each for every variant."""

from __future__ import annotations

import importlib.machinery
import sys
from types import ModuleType
from typing import Any

import gymnasium

from domino_env.variants import SOURCES, VARIANTS

__all__ = ["env_id", "register_all"]


def env_id(variant: str) -> str:
    """``domino/bergen-v0`` for ``bergen``."""
    return f"domino/{variant.replace('_', '-')}-v0"


def register_all() -> None:
    """Make the modules and register the ids, once."""
    for variant in VARIANTS:
        _make_module(variant)
        _register(variant)


def _make_module(variant: str) -> None:
    name = f"domino_env.{variant}_v0"
    if name in sys.modules:
        return
    module = ModuleType(name, f"{variant}: rules of {SOURCES[variant]}. ``env()`` and ``raw_env()`` are PettingZoo AEC environments.")
    module.__spec__ = importlib.machinery.ModuleSpec(name, None)
    module.__all__ = ["env", "raw_env"]  # type: ignore[attr-defined]

    def env(**kwargs: Any) -> Any:
        from domino_env.envs import aec

        return aec.env(variant, **kwargs)

    def raw_env(**kwargs: Any) -> Any:
        from domino_env.envs import aec

        return aec.raw_env(variant, **kwargs)

    for function in (env, raw_env):
        function.__module__, function.__qualname__ = name, function.__name__
        function.__doc__ = f"The {variant} environment: see ``domino_env.envs.aec.{function.__name__}``."
        setattr(module, function.__name__, function)
    sys.modules[name] = module
    setattr(sys.modules["domino_env"], f"{variant}_v0", module)


def _register(variant: str) -> None:
    name = env_id(variant)
    if name not in gymnasium.registry:
        gymnasium.register(
            name,
            entry_point="domino_env.envs.gym_env:DominoGymEnv",
            vector_entry_point="domino_env.envs.vector:DominoVectorEnv",
            kwargs={"variant": variant},
        )
    import pettingzoo

    # PettingZoo has a registry from 1.27 on
    if hasattr(pettingzoo, "register"):
        pettingzoo.register("aec", name, entry_point=f"domino_env.{variant}_v0:env")
