"""The docs are true: generated parts are fresh, examples run and print what stands below them, links and names lead somewhere."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import re
import runpy
import textwrap
from pathlib import Path
from typing import NamedTuple

import pytest

from docs import make_tables
from domino_env.variants import VARIANTS

ROOT = make_tables.ROOT
PAGES = make_tables.pages()
README = ROOT / "README.md"
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
