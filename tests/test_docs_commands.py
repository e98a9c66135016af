"""Every command line on a page can be read by the command: its name, its arguments and its options are there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from docs.make_tables import ROOT, pages
from domino_env.cli import app as domino
from training.__main__ import app as training
from training.config_file import load_config

PROGRAMS = {"domino": typer.main.get_command(domino), "training": typer.main.get_command(training)}

# the usage errors of whichever click typer stands on
UsageError: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "UsageError")


def command_lines(path: Path) -> list[list[str]]:
    """Program and arguments of each line in a block of shell on the page."""
    found = []
    for block in re.findall(r"^ *```(?:sh|bash)\n(.*?)^ *```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words[:2] == ["python", "-m"]:
                words = words[2:]
            if words and words[0] in PROGRAMS and "..." not in words:
                # what stands behind a pipe or an arrow is the shell's
                end = next((k for k, word in enumerate(words) if word in ("|", ">", "&&", ";")), len(words))
                found.append(words[:end])
    return found


def parsed(words: list[str]) -> dict[str, Any]:
    """The parameters that the command reads from a line; nothing is run."""
    command: Any = PROGRAMS[words[0]]
    rest = words[1:]
    while hasattr(command, "commands") and rest and rest[0] != "--help":
        name, *rest = rest
        assert name in command.commands, f"no command {name!r}"
        command = command.commands[name]
    if "--help" in rest:
        return {}
    return command.make_context(words[0], rest).params  # type: ignore[no-any-return]


LINES = [(path.relative_to(ROOT).as_posix(), words) for path in pages() for words in command_lines(path)]


@pytest.mark.parametrize(("page", "words"), LINES, ids=[f"{page}: {' '.join(words)}" for page, words in LINES])
def test_command_line_can_be_read(page: str, words: list[str]) -> None:
    told = parsed(words)
    config = told.get("config")
    if words[:2] == ["training", "train"] and config is not None and (ROOT / config).is_file():
        load_config(ROOT / config, list(told["settings"] or ()))


def test_many_lines_are_read_and_wrong_ones_are_refused() -> None:
    assert len(LINES) > 40
    assert {"docs/ten_minutes.md", "docs/install.md", "docs/training.md"} <= {page for page, _ in LINES}
    assert parsed(["domino", "arena", "bergen", "greedy", "random", "--deals", "7"])["deals"] == 7
    for words in (["domino", "arena", "bergen", "greedy", "--deal", "7"], ["domino", "replay"], ["training", "plot", "x", "--x"]):
        with pytest.raises(UsageError, match=r"No such option|Missing|requires"):
            parsed(words)
