"""``python -m training train CONFIG | evaluate ... | export ...``."""

from __future__ import annotations

import sys
from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from domino_env.commands.common import run_app

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True, help="Train agents and measure them.")

Config = Annotated[Path, typer.Argument(help="A YAML file such as configs/bergen_ppo.yaml.", show_default=False)]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Replace a key of the config, such as ppo.n_epochs=4; may be repeated."),
]
Output = Annotated[Path | None, typer.Option(metavar="FILE", help="Checkpoint to write. [default: runs/<config>.safetensors]")]


@app.command()
def train(
    config: Config,
    output: Output = None,
    settings: Settings = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the run, in place of the config's.", show_default=False)] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Train as CONFIG says; write a checkpoint that any seat can load and, beside it, SB3's own zip.

    Example: python -m training train configs/bergen_ppo.yaml --set decisions=200000
    """
    from training.config import load_config
    from training.train import default_output
    from training.train import train as run

    told = load_config(config, [*(settings or []), *([f"seed={seed}"] if seed is not None else [])])
    path = run(told, output or default_output(config), ["python", "-m", "training", *sys.argv[1:]])
    print(dumps({"checkpoint": str(path), "config": told.model_dump()}) if json else f"checkpoint {path}")


@app.command()
def evaluate(
    specs: Annotated[list[str], typer.Argument(metavar="SPEC...", help="Checkpoints, random, greedy, bundled names.", show_default=False)],
    variant: Annotated[str, typer.Option(help="A name that 'domino variants' lists.")],
    deals: Annotated[int, typer.Option(help="Deals that every pair plays, with seats swapped.")] = 1000,
    players: Annotated[int, typer.Option(help="Number of players.")] = 2,
    seed: Annotated[int, typer.Option(help="Seed of the deals.")] = 0,
    episode: Annotated[str, typer.Option(help="'round' or 'match' (to the target).")] = "round",
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the table there as CSV too.", show_default=False)] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare policies on duplicate deals, with 95 % intervals: the same as 'domino arena'.

    Example: python -m training evaluate --variant bergen runs/bergen_ppo.safetensors random greedy --deals 2000
    """
    from domino_env.commands.measure import arena

    arena(variant, specs, deals, players, seed, episode, None, csv, json)


@app.command()
def export(
    config: Config,
    model: Annotated[Path, typer.Argument(metavar="ZIP", help="The zip that your own run of CONFIG wrote.", show_default=False)],
    output: Output = None,
    settings: Settings = None,
) -> None:
    """Make a checkpoint from SB3's zip of your own run. A zip holds pickles: never open one from somebody else.

    Example: python -m training export configs/bergen_ppo.yaml runs/bergen_ppo.zip --output mine.safetensors
    """
    from training.config import load_config
    from training.train import default_output
    from training.train import export as run

    told = load_config(config, settings)
    path = run(told, model, output or default_output(config), ["python", "-m", "training", *sys.argv[1:]])
    print(f"checkpoint {path}")


if __name__ == "__main__":
    sys.exit(run_app(app, "training", sys.argv[1:] or ["--help"]))
