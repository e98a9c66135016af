"""What the commands share: rules from a file, output, progress, and saving a record."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import typer

from domino_env.errors import DominoError, RulesError
from domino_env.rules import Rules
from domino_env.variants import get_rules

if TYPE_CHECKING:
    from domino_env.notation.game import PlayedGame

__all__ = ["load_rules", "progress", "run_app", "save_game", "save_record_in", "say", "say_json", "wants_color"]


def say(text: str = "") -> None:
    """Print one text, at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def say_json(value: Any) -> None:
    """Print a value as JSON."""
    say(json.dumps(value, indent=1))


def wants_color() -> bool:
    """Whether the output is a terminal whose user has not asked for plain text."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def load_rules(variant: str, path: Path | None) -> Rules:
    """The rules of a variant, with the overrides of a JSON or YAML file. Raises ``RulesError``."""
    if variant == "shopping":
        raise RulesError("variant='shopping' is the memory game, no dominoes: see 'domino shopping --help'")
    rules = get_rules(variant)
    return rules if path is None else Rules.from_overrides(rules, _read_overrides(path))


def _read_overrides(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix.lower() not in (".yaml", ".yml"):
            return json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise RulesError(f"rules file {str(path)!r}: {error}") from None
    try:
        import yaml
    except ImportError:
        raise RulesError(
            f"rules file {str(path)!r}: reading YAML needs PyYAML (pip install 'domino-env[train]'); JSON needs nothing"
        ) from None
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise RulesError(f"rules file {str(path)!r}: {error}") from None


def save_game(game: PlayedGame, path: Path | None) -> None:
    """Write the record of a game where one was asked for."""
    if path is not None:
        from domino_env.notation.records import to_record

        save_record_in(to_record(game), path)


def save_record_in(record: dict[str, Any], path: Path) -> None:
    """Write a record, and say where it is."""
    from domino_env.notation.records import save_record

    save_record(record, path)
    sys.stderr.write(f"record saved in {path}\n")


@contextlib.contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr, told by ``(done, total)``; silent where that is no terminal."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1, caption: str = "") -> None:
    """A table of texts; the columns after the first ``left`` ones stand to the right."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table
    from rich.text import Text

    table = Table(title=escape(title) or None, caption=escape(caption) or None)
    for number, name in enumerate(columns):
        table.add_column(name, justify="left" if number < left else "right")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)


def run_app(app: typer.Typer, name: str, arguments: Sequence[str]) -> int:
    """Run the command line of ``name``.

    Returns 0, 2 after one line on stderr for bad input, or 128 and the number of the signal where it was stopped: 130 for Ctrl-C.
    """
    command = typer.main.get_command(app)
    with _stopping_signals() as caught:
        try:
            status: Any = command.main(args=list(arguments), prog_name=name, standalone_mode=False)
        except _UsageError as error:
            return _refuse(name, error.format_message())
        except (DominoError, OSError) as error:
            return _refuse(name, str(error))
        except (KeyboardInterrupt, typer.Abort):
            status = _STOPPED
    if status == _STOPPED and caught:
        sys.stderr.write("stopped\n")
        return 128 + caught[0]
    return status if isinstance(status, int) else 0


_STOPPED = 128 + signal.SIGINT
"""What typer makes of ``KeyboardInterrupt``."""


def _refuse(name: str, message: str) -> int:
    sys.stderr.write(f"{name}: {' '.join(message.split())}\n")
    return 2


@contextlib.contextmanager
def _stopping_signals() -> Iterator[list[int]]:
    """Whatever asks the process to end stops it as Ctrl-C does, so that files and players are closed; yields those that came."""
    caught: list[int] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        caught.append(number)
        raise KeyboardInterrupt

    before = {}
    numbers = (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM))
    with contextlib.suppress(ValueError):  # not the main thread: nobody sends it signals
        for number in set(numbers):
            if signal.getsignal(number) != signal.SIG_IGN:  # as nohup does, and a shell with what it runs in the background
                before[number] = signal.signal(number, stop)
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


# whichever click typer stands on, its usage errors are kin to this one
_UsageError: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
