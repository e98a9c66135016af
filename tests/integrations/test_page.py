"""``docs/integrations.md`` tells the versions that the tests run with, the extras that exist, and every example whole; needs no library."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from docs.integration_tables import EXAMPLES, integration

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "integrations.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("| [")]
FILES = sorted(EXAMPLES.glob("*.py"))


def pins(name: str) -> dict[str, str]:
    lines = (ROOT / "tests" / "integrations" / name).read_text(encoding="utf-8").splitlines()
    return {key.lower().replace("_", "-"): version for key, version in (line.split("==") for line in lines if not line.startswith("#"))}


def test_every_version_on_the_page_is_one_that_is_installed() -> None:
    shared, agilerl, ray = pins("constraints.txt"), pins("constraints-agilerl.txt"), pins("constraints-ray.txt")
    shared["torch"] = agilerl["torch"] = re.search(r"^TORCH \?= torch==(\S+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
    assert len(ROWS) >= 10
    for library, _, versions, *_ in ROWS:
        held = agilerl if "AgileRL" in library else ray if "RLlib" in library else shared
        for told in versions.split(", "):
            name, version = told.split(" ")
            assert held[name] == version, told


def test_every_extra_on_the_page_exists_and_admits_its_version() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    told = [row[1].strip("`") for row in ROWS if row[1]]
    assert set(told) >= {"torchrl", "tianshou", "agilerl", "pufferlib", "supersuit", "shimmy", "rlcard", "rllib"}
    installed = pins("constraints.txt") | pins("constraints-agilerl.txt")
    for extra in set(told) - {"train"}:
        held = pins("constraints-ray.txt") if extra == "rllib" else installed
        for need in map(Requirement, extras[extra]):
            if need.name != "domino-env":
                assert need.specifier.contains(held[need.name]), str(need)


def test_every_example_stands_on_the_page_as_it_is_tested() -> None:
    assert re.findall(r"<!-- integration (\w+) -->", PAGE) == sorted(
        (file.stem for file in FILES), key=lambda name: PAGE.index(f"integration {name} ")
    )
    for file in FILES:
        assert "\n".join(integration(file.stem)) in PAGE, "run python -m docs.make_tables"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_examples_are_short(file: Path) -> None:
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            assert node.end_lineno - node.lineno < 20, node.name


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_example_is_run_by_a_test(file: Path) -> None:
    tests = [path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py")]
    assert any(f'example("{file.stem}")' in text for text in tests)
