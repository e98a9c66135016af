"""``python -m training train CONFIG | evaluate ... | export ...``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from domino_env.cli import arena as evaluate_command
from domino_env.errors import DominoError

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, help="Train agents and measure them.")


@app.command()
def train(
    config: Annotated[Path, typer.Argument(help="A YAML file such as configs/bergen_ppo.yaml.")],
    output: Annotated[Path | None, typer.Option(help="Checkpoint to write [default: runs/<config>.safetensors].")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="key=value that replaces a key of the config; may be repeated.")] = None,
) -> None:
    """Train as CONFIG says and write a checkpoint that any seat can load.

    Example: python -m training train configs/bergen_ppo.yaml --set decisions=200000
    """
    from training.config import load_config
    from training.train import default_output
    from training.train import train as run

    told = load_config(config, settings)
    command = ["python", "-m", "training", *sys.argv[1:]]
    path = run(told, output or default_output(config), command)
    print(f"checkpoint: {path}")


def main() -> None:
    """Run a command; bad input ends with one line and exit code 2."""
    try:
        app()
    except DominoError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
