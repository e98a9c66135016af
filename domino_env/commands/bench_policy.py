"""``domino bench-policy``: a policy in the benchmark, and result files checked."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from domino_env.commands.common import progress, say_json
from domino_env.commands.options import Json

if TYPE_CHECKING:
    from domino_env.benchmark import Result

__all__ = ["bench_policy"]


def bench_policy(
    policy: Annotated[
        str | None,
        typer.Argument(
            metavar="POLICY",
            help="What 'domino arena' takes, cmd:COMMAND, NAME.onnx, MODULE:ATTRIBUTE or FILE.py:ATTRIBUTE; "
            "{variant} and {players} stand for those of the setting.",
            show_default=False,
        ),
    ] = None,
    variant: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A variant, or a setting such as bergen/4; may be repeated. [default: all]", show_default=False),
    ] = None,
    size: Annotated[str, typer.Option(help="'full' (a result to hand in) or 'quick' (does it play?).")] = "full",
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json", help="The result; a run goes on with what it holds. [default: by policy and size]", show_default=False
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Of the policy in the result. [default: its own]", show_default=False)] = None,
    show_stderr: Annotated[bool, typer.Option("--show-stderr", help="Pass on what a cmd: player writes to stderr.")] = False,
    check: Annotated[
        Path | None, typer.Option("--check", metavar="FILE.json", help="Play nothing: check a result and print it.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """Measure a policy by the benchmark's fixed protocol, and write the result file.

    A module or a command is code of your own choosing, and is run.

    Example: domino bench-policy "{variant}/ppo" --size quick
    """
    if (policy is None) == (check is None):
        raise typer.BadParameter("Give a POLICY to measure, or --check FILE.json to check a result")
    if check is not None:
        _check(check, json)
    elif policy is not None:
        _play(policy, variant or [], size, out, name, show_stderr, json)


def _play(policy: str, variants: Sequence[str], size: str, out: Path | None, name: str | None, show_stderr: bool, as_json: bool) -> None:
    """Play what the result file lacks. Raises ``DominoError`` before anything is played for bad input."""
    from domino_env.benchmark import run

    path = out or Path(f"bench-{re.sub(r'[^A-Za-z0-9]+', '_', name or policy).strip('_')[:60]}-{size}.json")
    played = 0

    def told(done: int, total: int) -> None:
        nonlocal played
        played = done
        tell(done, total)

    with progress("rounds") as tell:
        result = run(
            policy, variants=variants, size=size, out=path, name=name, show_stderr=show_stderr, progress=told, left_out=_say_left_out
        )
    sys.stderr.write(f"result {path}{'' if played else ': it held all of it, nothing was played'}\n")
    _show(result, as_json)


def _check(path: Path, as_json: bool) -> None:
    """Check a result file that is handed in, and print it. Raises ``ResultError``."""
    from domino_env.benchmark import check_result

    _show(check_result(path), as_json)


def _say_left_out(name: str, why: str) -> None:
    sys.stderr.write(f"left out {name}: {' '.join(why.split())}\n")


def _show(result: Result, as_json: bool) -> None:
    if as_json:
        say_json(result.to_json())
        return
    from rich.console import Console

    from domino_env.benchmark import result_tables

    # a table that wraps cannot be read, so what is no terminal gets room
    Console(width=None if sys.stdout.isatty() else 120).print(result_tables(result))
