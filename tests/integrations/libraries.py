"""Libraries that may be missing, and the examples of the docs that use them."""

from __future__ import annotations

import importlib
import os
import warnings
from types import ModuleType

import pytest

REQUIRED = "REQUIRE_LIBRARIES"
SEATS = pytest.mark.parametrize("num_players", [2, 3, 4])
THEIR_WARNINGS = pytest.mark.filterwarnings("ignore")


def library(name: str) -> ModuleType:
    """A library; where it is missing the module's tests are skipped, or fail where ``REQUIRE_LIBRARIES`` is set."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if os.environ.get(REQUIRED):
            return importlib.import_module(name)
        return pytest.importorskip(name, reason=f"{name} is not installed: make test-integrations")


def example(name: str) -> ModuleType:
    """An example of ``docs/examples/integrations``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(f"docs.examples.integrations.{name}")
