"""The house itself: what a variant must bring, how long files may be, what an install holds, and what importing costs."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from domino_env.variants import SOURCES, VARIANTS

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MODULES = sorted(path for folder in ("domino_env", "training") for path in (ROOT / folder).rglob("*.py"))
RULES_FILES = [f"domino_env/{name}.py" for name in ("rules", "rules_check", "rule_terms", "tiles")]
RULES_MODULES = [path for path in MODULES if path.parent.name == "engine" or path.relative_to(ROOT).as_posix() in RULES_FILES]
SEATS = [(variant, seats) for variant, rules in VARIANTS.items() for seats in rules.players]

MOST_LINES = 260
MOST_KERNEL_LINES = 60
# "draw" and "block" are words of every game, so only the other names give a variant away.
VARIANT_NAMES = [name for name in VARIANTS if name not in ("draw", "block")]
RL_WORDS = ["agent", "action_mask", "observation", "reward", "termination", "truncation"]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def run_python(code: str, folder: Path, path: Path) -> str:
    """What ``code`` prints, run in ``folder`` with ``path`` first on the import path."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env={**os.environ, "PYTHONPATH": str(path)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# What a variant brings


@pytest.mark.parametrize("variant", VARIANTS)
def test_variant_has_a_source(variant: str) -> None:
    assert SOURCES[variant]


@pytest.mark.parametrize("variant", VARIANTS)
def test_variant_has_a_training_config(variant: str) -> None:
    assert re.search(rf"^\s*variant: {variant}\b", read(ROOT / "configs" / f"{variant}_ppo.yaml"), re.MULTILINE)


@pytest.mark.parametrize(("variant", "seats"), SEATS)
def test_variant_has_a_golden_record_for_each_seat_count(variant: str, seats: int) -> None:
    record = json.loads(read(ROOT / "tests" / "golden" / f"{variant}_{seats}p.json"))
    assert (record["variant"], record["num_players"]) == (variant, seats)
    assert record["rounds"]


@pytest.mark.parametrize("variant", VARIANTS)
def test_variant_has_perft_counts(variant: str) -> None:
    assert json.loads(read(ROOT / "tests" / "golden" / "perft.json")).get(variant)


@pytest.mark.parametrize("variant", VARIANTS)
def test_variant_has_a_docs_page(variant: str) -> None:
    page = read(ROOT / "docs" / "variants" / f"{variant}.md")
    assert page.startswith("# ")
    assert f"{variant}_v0" in page
    assert "perft" in page.lower()


# How the house is kept


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_file_is_short(path: Path) -> None:
    assert len(read(path).splitlines()) <= MOST_LINES


@pytest.mark.parametrize("path", [path for path in MODULES if path.parent.name == "engine"], ids=name_of)
def test_kernels_are_short(path: Path) -> None:
    functions = [node for node in ast.walk(ast.parse(read(path))) if isinstance(node, ast.FunctionDef)]
    too_long = {node.name: node.end_lineno - node.lineno + 1 for node in functions if node.end_lineno - node.lineno >= MOST_KERNEL_LINES}
    assert not too_long


@pytest.mark.parametrize("path", RULES_MODULES, ids=name_of)
def test_rules_know_no_variant_and_no_learner(path: Path) -> None:
    words = re.compile("|".join([*(rf"\b{name}\b" for name in VARIANT_NAMES), *RL_WORDS]), re.IGNORECASE)
    assert words.findall(read(path)) == []


@pytest.mark.parametrize("path", [path for path in MODULES if "engine._jit import" in read(path)], ids=name_of)
def test_no_kernel_calls_itself(path: Path) -> None:
    """A recursive function that numba has kept on disk ends the process when another one loads it."""
    functions = [node for node in ast.parse(read(path)).body if isinstance(node, ast.FunctionDef)]
    compiled = [node for node in functions if any(isinstance(d, ast.Name) and d.id in ("jit", "kernel") for d in node.decorator_list)]
    assert [node.name for node in compiled if any(isinstance(n, ast.Name) and n.id == node.name for n in ast.walk(node))] == []


def test_rules_modules_are_found() -> None:
    assert len(RULES_MODULES) > 10


# Versions


def test_changelog_tells_of_this_version() -> None:
    headings = re.findall(r"^## (.*)$", read(ROOT / "CHANGELOG.md"), re.MULTILINE)
    assert any(PROJECT["version"] in heading for heading in headings)


def pins(path: Path = ROOT / "constraints.txt") -> dict[str, Version]:
    """Package name -> the one version that a file of constraints allows."""
    lines = [line for line in read(path).splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines), f"every line of {path.name} is name==version"
    return {canonicalize_name(line.split("==")[0]): Version(line.split("==")[1]) for line in lines}


def test_constraints_pin_each_dependency_within_its_range() -> None:
    # libraries that cannot share the environment of the rest have pins of their own; the rest goes first
    pinned: dict[str, Version] = {}
    for path in sorted((ROOT / "tests" / "integrations").glob("constraints*.txt")):
        pinned |= pins(path)
    pinned |= pins()
    for text in [*PROJECT["dependencies"], *(text for extra in PROJECT["optional-dependencies"].values() for text in extra)]:
        requirement = Requirement(text)
        if requirement.name != PROJECT["name"]:
            assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)]), text


# What is installed, and what importing it loads


def test_import_loads_no_learning_library(tmp_path: Path) -> None:
    code = "import sys, domino_env; print(sorted({name.partition('.')[0] for name in sys.modules}))"
    loaded = ast.literal_eval(run_python(code, tmp_path, ROOT))
    assert "domino_env" in loaded
    assert not {"torch", "stable_baselines3", "sb3_contrib", "tensorboard", "training", "tests"} & set(loaded)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def test_wheel_holds_the_package_and_its_checkpoints(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    checkpoints = {f"domino_env/{name_of(path)}" for path in (ROOT / "checkpoints").rglob("*.safetensors")}
    modules = {name_of(path) for path in MODULES if path.is_relative_to(ROOT / "domino_env")}
    assert checkpoints
    assert {path for path in held if path.startswith("domino_env/checkpoints/")} == checkpoints
    assert modules | {"domino_env/py.typed"} | checkpoints <= held
    assert {name.partition("/")[0] for name in held} == {"domino_env"}


def test_wheel_plays_and_finds_its_checkpoints(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    bundled = ROOT / "checkpoints"
    names = sorted(path.relative_to(bundled).with_suffix("").as_posix() for path in bundled.rglob("*.safetensors"))
    code = f"""
import os
os.environ["NUMBA_DISABLE_JIT"] = "1"  # a copy elsewhere would be compiled anew
import domino_env
from domino_env import bergen_v0
bergen_v0.env().reset(seed=0)
from domino_env.shopping import ShoppingRules, load_speaker
for name in {names}:
    (load_speaker if name.startswith("shopping/") else domino_env.load_policy)(name)
print(ShoppingRules().words(0)[0])
print(domino_env.__file__)
"""
    word, place = run_python(code, tmp_path, tmp_path).splitlines()
    assert word  # the vocabulary travels too
    assert Path(place).is_relative_to(tmp_path)
