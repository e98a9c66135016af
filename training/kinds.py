"""The kinds of run, told apart by the variant of the config: dominoes and the memory game.

Each is a module with ``VERSIONS``, ``make_env``, ``make_model``, ``make_evaluator``, ``checkpoint_meta``, ``checkpoint_weights``,
``buffer_state`` and ``set_buffer_state``; all else of a run (folder, signals, saving, resuming) is the same for both.
"""

from __future__ import annotations

from typing import Any

from training.config import RunConfig, TrainingConfig
from training.shopping_config import ShoppingConfig

__all__ = ["AnyConfig", "kind_of", "schema_of"]

AnyConfig = TrainingConfig | ShoppingConfig


def schema_of(values: Any) -> type[AnyConfig]:
    """The schema of a config, from its keys and values."""
    return ShoppingConfig if isinstance(values, dict) and values.get("variant") == "shopping" else TrainingConfig


def kind_of(config: RunConfig) -> Any:
    """The module that makes the run of a config."""
    # they import torch, which reading a config does not need
    if isinstance(config, ShoppingConfig):
        from training import shopping

        return shopping
    from training import algorithms

    return algorithms
