"""The modules ``domino_env.<variant>_v0`` and the ids ``domino/<variant>-v0``, one of each for every variant and the memory game."""

from __future__ import annotations

import importlib.machinery
import sys
from types import ModuleType
from typing import Any

import gymnasium

from domino_env.variants import SOURCES, VARIANTS

__all__ = ["SHOPPING", "env_id", "register_all"]

SHOPPING = "shopping"
"""The memory word game: no dominoes, so no preset of ``Rules``."""


def env_id(variant: str) -> str:
    """``domino/bergen-v0`` for ``bergen``."""
    return f"domino/{variant.replace('_', '-')}-v0"


def register_all() -> None:
    """Make the modules and register the ids, once."""
    for variant in VARIANTS:
        told = f"{variant}: rules of {SOURCES[variant]}."
        _make_module(variant, told, "domino_env.envs.aec", (variant,))
        _register(variant, "domino_env.envs.gym_env:DominoGymEnv", "domino_env.envs.vector:DominoVectorEnv", {"variant": variant})
    _make_module(SHOPPING, "I went to the shop: the memory word game of 3.10, text 000 (third game).", "domino_env.shopping.aec", ())
    _register(SHOPPING, "domino_env.shopping.gym_env:ShoppingGymEnv", "domino_env.shopping.vector:ShoppingVectorEnv", {})


def _make_module(variant: str, told: str, home: str, first: tuple[str, ...]) -> None:
    """``domino_env.<variant>_v0``, whose functions are those of the module ``home`` with the arguments ``first``."""
    name = f"domino_env.{variant}_v0"
    if name in sys.modules:
        return
    module = ModuleType(name, f"{told} ``env()`` and ``raw_env()`` are PettingZoo AEC environments.")
    module.__spec__ = importlib.machinery.ModuleSpec(name, None)
    module.__all__ = ["env", "raw_env"]  # type: ignore[attr-defined]

    def env(**kwargs: Any) -> Any:
        return importlib.import_module(home).env(*first, **kwargs)

    def raw_env(**kwargs: Any) -> Any:
        return importlib.import_module(home).raw_env(*first, **kwargs)

    for function in (env, raw_env):
        function.__module__, function.__qualname__ = name, function.__name__
        function.__doc__ = f"The {variant} environment: see ``{home}.{function.__name__}``."
        setattr(module, function.__name__, function)
    sys.modules[name] = module
    setattr(sys.modules["domino_env"], f"{variant}_v0", module)


def _register(variant: str, entry_point: str, vector_entry_point: str, kwargs: dict[str, Any]) -> None:
    name = env_id(variant)
    if name not in gymnasium.registry:
        gymnasium.register(name, entry_point=entry_point, vector_entry_point=vector_entry_point, kwargs=kwargs)
    import pettingzoo

    # PettingZoo has a registry from 1.27 on
    if hasattr(pettingzoo, "register"):
        pettingzoo.register("aec", name, entry_point=f"domino_env.{variant}_v0:env")
