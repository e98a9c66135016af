"""The docs are true: generated parts are fresh, examples run and print what stands below them, links and names lead somewhere."""

from __future__ import annotations

import ast
import contextlib
import csv
import importlib.util
import io
import json
import re
import runpy
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import yaml

from docs import make_tables, training_tables
from domino_env.arena import compare
from domino_env.policies import CheckpointMeta, save_checkpoint
from domino_env.rules import Rules
from domino_env.variants import VARIANTS
from tests.training_cases import SMALL_DQN, configured, started
from training.config import TrainingConfig
from training.config_file import load_config
from training.ship import agent_name

ROOT = make_tables.ROOT
PAGES = make_tables.pages()
README = ROOT / "README.md"
TRAINING = ROOT / "docs" / "training.md"
AGENT_PAGES = {TRAINING: "agents", ROOT / "checkpoints" / "README.md": "agents", README: "best_agents"}
LEARNING = ("sb3_contrib", "stable_baselines3", "torch")


class Example(NamedTuple):
    """A block of Python on a page, and the text that it should print (None: the page does not say)."""

    page: str
    line: int
    code: str
    printed: str | None


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def page_name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def fences(text: str) -> list[tuple[int, int, str, str]]:
    """First line, last line, language and dedented body of each fenced block."""
    found = []
    for match in re.finditer(r"^( *)```(\w*)\n(.*?)^\1```$", text, re.MULTILINE | re.DOTALL):
        first = text.count("\n", 0, match.start()) + 1
        found.append((first, first + match[0].count("\n"), match[2], textwrap.dedent(match[3])))
    return found


def examples(path: Path) -> list[Example]:
    blocks = fences(read(path))
    found = []
    for block, after in zip(blocks, [*blocks[1:], (0, 0, "", "")], strict=False):
        first, last, language, body = block
        if language == "python":
            # a text block right below is what the code prints
            printed = after[3] if after[2] == "text" and after[0] == last + 2 else None
            found.append(Example(page_name(path), first, body, printed))
    return found


EXAMPLES = [example for path in PAGES for example in examples(path)]


# Generated parts


@pytest.mark.parametrize("variant", VARIANTS)
def test_page_of_a_variant_has_every_generated_part(variant: str) -> None:
    text = read(ROOT / "docs" / "variants" / f"{variant}.md")
    assert make_tables.parts_of(text) == list(make_tables.VARIANT_PARTS)


@pytest.mark.parametrize("path", PAGES, ids=page_name)
def test_generated_parts_are_fresh(path: Path) -> None:
    text = read(path)
    assert make_tables.fill(path, text) == text, "run python -m docs.make_tables"


@pytest.mark.parametrize("path", PAGES, ids=page_name)
def test_every_marker_is_of_a_whole_part(path: Path) -> None:
    text = read(path)
    opened = re.findall(rf"<!-- ({'|'.join(make_tables.MAKERS)})\b", text)
    assert opened == make_tables.parts_of(text)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_stale_or_empty_part_is_noticed(variant: str) -> None:
    path = ROOT / "docs" / "variants" / f"{variant}.md"
    text = read(path)
    assert make_tables.fill(path, text.replace("| Reserve | ", "| Reserve | 1")) == text != text.replace("| Reserve | ", "| Reserve | 1")
    emptied = re.sub(r"(<!-- perft -->\n).*?(<!-- /perft -->)", r"\1\2", text, flags=re.DOTALL)
    assert emptied != text
    assert make_tables.fill(path, emptied) == text


def test_check_says_which_page_is_stale(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "bergen.md"
    page.write_text("<!-- actions -->\n<!-- /actions -->\n", encoding="utf-8")
    monkeypatch.setattr(make_tables, "ROOT", tmp_path)
    monkeypatch.setattr(make_tables, "pages", lambda: [page])
    assert make_tables.main(["--check"]) == 1
    assert capsys.readouterr().out == "stale: bergen.md\n"
    assert make_tables.main([]) == 0
    assert "| 57 | `pass` |" in read(page)
    assert make_tables.main(["--check"]) == 0


def test_variants_stand_in_the_readme_and_in_the_rules() -> None:
    for variant in VARIANTS:
        assert f"(docs/variants/{variant}.md)" in read(README)
        assert f"(variants/{variant}.md)" in read(ROOT / "docs" / "RULES.md")


# Training


def test_every_key_of_a_config_stands_on_the_page_of_training() -> None:
    keys = [name for name in TrainingConfig.model_fields if name not in training_tables.key_tables()]
    for holder, schema in training_tables.key_tables().items():
        keys += [f"{holder}.{name}" for name in schema.model_fields if holder]
    assert len(keys) > 50
    text = read(TRAINING)
    assert make_tables.parts_of(text).count("config_keys") == len(training_tables.key_tables())
    assert [key for key in keys if f"\n| `{key}` | " not in text] == []


def test_keys_are_told_with_default_values_and_meaning() -> None:
    assert training_tables.config_keys()[2] == "| `variant` | has none | text | a name of domino_env.VARIANTS |"
    rows = [*training_tables.config_keys(), *training_tables.config_keys("ppo"), *training_tables.config_keys("self_play")]
    for start in (
        "| `num_players` | `2` | whole number, 2 to 5 | ",
        "| `episode` | `round` | `round`, `match` | ",
        "| `opponents` | `[random, greedy]` | list of texts, 1 or more of them | ",
        "| `seed` | `0` | whole number, 0 or more, below 2^31 | ",
        "| `ppo.gamma` | `1.0` | number, above 0, at most 1 | ",
        "| `self_play.share` | `0.5` | number, above 0, at most 1 | ",
    ):
        assert any(row.startswith(start) for row in rows), start


def test_configs_on_the_page_of_training_can_be_trained() -> None:
    blocks = [body for _, _, language, body in fences(read(TRAINING)) if language == "yaml"]
    assert len(blocks) >= 2
    for body in blocks:
        TrainingConfig.model_validate(yaml.safe_load(body))


def test_every_logged_metric_is_told_and_every_told_one_is_logged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in LEARNING:
        pytest.importorskip(module)
    monkeypatch.setattr("training.callback._LOG_EVERY", 64)
    often: dict[str, Any] = {"evaluation": {"every": 128, "deals": 2}, "self_play": {"every": 128}}
    logged: set[str] = set()
    for number, config in enumerate((configured(**often), configured(SMALL_DQN, **often))):
        started(config, tmp_path / str(number))
        with (tmp_path / str(number) / "logs" / "from_0" / "progress.csv").open(encoding="utf-8") as file:
            logged |= set(next(csv.reader(file)))
    general = {re.sub(r"^evaluation/[a-z]+_", "evaluation/<anchor>_", name) for name in logged}
    general = {re.sub(r"^opponents/(random|greedy)_", "opponents/<name>_", name) for name in general}
    assert general == set(re.findall(r"^\| `((?:train|rollout|opponents|evaluation|time)/[\w<>]+)` \|", read(TRAINING), re.MULTILINE))


@pytest.mark.parametrize("path", AGENT_PAGES, ids=page_name)
def test_pages_have_a_part_on_the_agents(path: Path) -> None:
    assert AGENT_PAGES[path] in make_tables.parts_of(read(path))


def test_every_agent_of_the_configs_is_listed_or_named_as_missing() -> None:
    text = "\n".join(training_tables.agents())
    names = [agent_name(load_config(path)) for path in (ROOT / "configs").glob("*.yaml") if not path.stem.startswith("shopping")]
    assert len(names) >= len(VARIANTS)
    assert [name for name in names if text.count(f"`{name}`") == 0] == []
    for name in names:
        made = all((ROOT / "checkpoints" / f"{name}.{end}").exists() for end in ("json", "safetensors"))
        assert (f"\n| `{name}` | " in text) == made


@pytest.fixture
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of checkpoints of its own, empty."""
    monkeypatch.setattr(training_tables, "CHECKPOINTS", tmp_path)
    return tmp_path


def make_agent(name: str, rules: Rules, place: Path, **header: Any) -> dict[str, Any]:
    """Write an untrained agent and its table, as ``training.ship`` does; returns the table."""
    draw = np.random.default_rng(list(name.encode()))
    meta = CheckpointMeta.of(rules, 2, algorithm=name.split("/")[1], layers=[8, 8], **header)
    path = place / f"{name}.safetensors"
    save_checkpoint(path, {key: draw.normal(size=shape) for key, shape in meta.shapes().items()}, meta)
    found = compare({name: path, "random": "random", "greedy": "greedy"}, rules, deals=4, rating=False).to_json()
    path.with_suffix(".json").write_text(json.dumps(found), encoding="utf-8")
    return found


def test_without_a_table_all_agents_are_missing(agents: Path) -> None:
    lines = training_tables.agents()
    assert lines[0] == training_tables.best_agents()[0] == "No agent has been measured yet."
    assert lines[2].startswith("Not made yet, or not measured: ")
    assert all(f"`{variant}/ppo`" in lines[2] for variant in VARIANTS)
    make_agent("bergen/ppo", VARIANTS["bergen"], agents)
    (agents / "bergen" / "ppo.json").unlink()
    assert training_tables.agents() == lines, "a checkpoint that was not measured"


def test_agents_are_shown_with_their_figures_and_their_origin(agents: Path) -> None:
    found = make_agent(
        "bergen/ppo", VARIANTS["bergen"], agents, steps_trained=1234567, seed=5, command="python -m training x", residual=True
    )
    lines = training_tables.agents()
    against = {pair["second"]: pair for pair in found["pairs"] if pair["first"] == "bergen/ppo"}
    greedy, random = ([f"{pair['points'][end]:+.3f}" for end in ("mean", "low", "high")] for pair in (against["greedy"], against["random"]))
    won = [f"{100 * against['greedy']['won'][end]:.1f}" for end in ("mean", "low", "high")]
    shown = [f"{mean} [{low}, {high}]" for mean, low, high in (greedy, random)] + [f"{won[0]} % [{won[1]}, {won[2]}]"]
    assert lines[0].startswith("4 deals in every seating, 95 % intervals.")
    assert f"| `bergen/ppo` | 2 | 1,234,567 | {shown[0]} | {shown[1]} | {shown[2]} |" in lines
    assert "| `bergen/ppo` | 8, 8 (residual) | 5 | `python -m training x` |" in lines
    assert "`bergen/ppo`" not in lines[-1]
    assert "`block/ppo`" in lines[-1]
    assert training_tables.best_agents()[2:] == [f"| `bergen/ppo` | 2 | {shown[0]} | {shown[2]} |"]


def test_best_agents_are_those_with_most_points_against_greedy(agents: Path) -> None:
    tables = {name: make_agent(name, VARIANTS["block"], agents) for name in ("block/dqn", "block/ppo")}
    make_agent("fives/ppo", VARIANTS["fives"], agents)
    points = {name: table["pairs"][1]["points"]["mean"] for name, table in tables.items()}
    assert points["block/dqn"] != points["block/ppo"]
    best = max(points, key=lambda name: points[name])
    assert [row.split(" | ")[0] for row in training_tables.best_agents()[2:]] == ["| `fives/ppo`", f"| `{best}`"]
    assert [row.split(" | ")[0] for row in training_tables.agents()[5:8]] == ["| `fives/ppo`", "| `block/ppo`", "| `block/dqn`"]


def test_table_of_another_game_is_refused(agents: Path) -> None:
    make_agent("bergen/ppo", VARIANTS["bergen"], agents)
    other = make_agent("block/ppo", VARIANTS["block"], agents)
    (agents / "bergen" / "ppo.json").write_text(json.dumps(other), encoding="utf-8")
    with pytest.raises(ValueError, match=r"bergen/ppo\.json: measured in another game"):
        training_tables.agents()


def test_files_of_training_stand_in_the_architecture() -> None:
    text = read(ROOT / "docs" / "architecture.md")
    for path in (ROOT / "training").glob("*.py"):
        assert path.stem == "__init__" or f"| `training/{path.name}` | " in text


# Examples


@pytest.mark.parametrize("example", EXAMPLES, ids=[f"{example.page}:{example.line}" for example in EXAMPLES])
def test_example_runs_and_prints_what_the_page_says(example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in LEARNING:
        if module in example.code:
            pytest.importorskip(module)
    script = tmp_path / "example.py"
    script.write_text(example.code, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        runpy.run_path(str(script), run_name="__main__")
    if example.printed is not None:
        assert out.getvalue() == example.printed


def test_readme_examples_are_short_and_show_the_three_front_ends() -> None:
    blocks = [example.code for example in examples(README)]
    assert all(len([line for line in block.splitlines() if line.strip()]) <= 10 for block in blocks)
    assert [name for block in blocks for name in ("bergen_v0.env(", "gymnasium.make(", "DominoVecEnv(") if name in block] == [
        "bergen_v0.env(",
        "gymnasium.make(",
        "DominoVecEnv(",
    ]


@pytest.mark.parametrize("variant", VARIANTS)
def test_page_of_a_variant_has_an_example_of_that_variant(variant: str) -> None:
    shown = examples(ROOT / "docs" / "variants" / f"{variant}.md")
    assert any(f"{variant}_v0" in example.code and example.printed for example in shown)


# Links and names


def slugs(text: str) -> set[str]:
    """Anchors of the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", PAGES, ids=page_name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", read(path)):
        if target.startswith("https://"):
            continue
        file, _, anchor = target.partition("#")
        page = (path.parent / file).resolve() if file else path
        assert page.is_file(), target
        if anchor:
            assert anchor in slugs(read(page)), target


def test_every_page_is_linked_from_another() -> None:
    linked = {(path.parent / target).resolve() for path in PAGES for target in re.findall(r"\]\(([^)#\s]+\.md)[^)]*\)", read(path))}
    assert [page_name(path) for path in PAGES if path != README and path not in linked] == []


@pytest.mark.parametrize("path", PAGES, ids=page_name)
def test_commands_exist(path: Path) -> None:
    text = read(path)
    for module in set(re.findall(r"python -m ([a-z_.]+[a-z_])", text)):
        spec = importlib.util.find_spec(module)
        assert spec, module
        # a package is run by its __main__
        assert spec.submodule_search_locations is None or importlib.util.find_spec(f"{module}.__main__"), module
    targets = re.findall(r"^([a-z-]+):", read(ROOT / "Makefile"), re.MULTILINE)
    for target in {*re.findall(r"`make ([a-z-]+)`", text), *re.findall(r"^make ([a-z-]+)", text, re.MULTILINE)}:
        assert target in targets, target


def defined_in(path: Path) -> set[str]:
    return {node.name for node in ast.parse(read(path)).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


@pytest.mark.parametrize("path", PAGES, ids=page_name)
def test_named_files_and_functions_exist(path: Path) -> None:
    for row in re.findall(r"^\|.*\|$", read(path), re.MULTILINE):
        cells = row.strip("|").split("|")
        files = [name for cell in cells for name in re.findall(r"`([\w/]+\.py)`", cell)]
        for name in files:
            assert (ROOT / "domino_env" / name).is_file() or (ROOT / name).is_file(), name
        # a row of a question, one file, and the functions that answer it
        if len(cells) == 3 and len(files) == 1 and cells[1].strip() == f"`{files[0]}`":
            assert set(re.findall(r"`(\w+)`", cells[2])) <= defined_in(ROOT / "domino_env" / files[0]), row


def test_named_functions_are_found() -> None:
    assert "forced_lead" in defined_in(ROOT / "domino_env" / "engine" / "turns.py")
    assert "| `engine/turns.py` | `find_leader`, `forced_lead` |" in read(ROOT / "docs" / "architecture.md")


def test_sections_that_the_code_names_stand_in_the_rules() -> None:
    rules = read(ROOT / "docs" / "RULES.md")
    sections = set(re.findall(r"^## (\d+)\.", rules, re.MULTILINE)) | set(re.findall(r"^\| (\d+\.\d+) \|", rules, re.MULTILINE))
    named = {
        (path.name, section)
        for path in (ROOT / "domino_env").rglob("*.py")
        for section in re.findall(r"RULES\.md (?:section )?(\d+(?:\.\d+)?)", read(path))
    }
    assert named
    assert {(file, section) for file, section in named if section not in sections} == set()
