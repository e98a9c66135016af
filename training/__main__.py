"""``python -m training COMMAND``: train, rllib, plot, evaluate, exploit, exploitability, ship, export, export-onnx."""

from __future__ import annotations

import sys
from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from domino_env.commands.common import run_app
from domino_env.commands.options import (
    Anchors,
    Csv,
    Deals,
    DealsSeed,
    Episode,
    Heatmap,
    HeatmapOf,
    Json,
    Players,
    Rating,
    RatingsPlot,
    Ray,
    RulesFile,
    Specs,
)
from training.export_onnx import export_onnx

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True, help="Train agents and measure them.")

Config = Annotated[Path, typer.Argument(help="A YAML file such as configs/bergen_ppo.yaml.", show_default=False)]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Replace a key of the config, such as ppo.n_epochs=4; may be repeated."),
]
Output = Annotated[Path | None, typer.Option(metavar="FILE", help="Copy the best checkpoint there too.", show_default=False)]
Folder = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run, such as runs/bergen_ppo.", show_default=False)]


@app.command()
def train(
    config: Config,
    run: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Folder of the run. [default: runs/<config>]")] = None,
    output: Output = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in the folder, as if it had never stopped.")] = False,
    settings: Settings = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the run, in place of the config's.", show_default=False)] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Train as CONFIG says. The folder of the run gets checkpoints that any seat can load, curves, and all that resuming needs.

    Example: python -m training train configs/bergen_ppo.yaml --set decisions=200000
    """
    from training.config_file import load_config
    from training.train import default_folder
    from training.train import train as start

    told = load_config(config, [*(settings or []), *([f"seed={seed}"] if seed is not None else [])])
    folder = run or default_folder(config)
    path = start(told, folder, ["python", "-m", "training", *sys.argv[1:]], resume, output)
    print(dumps({"checkpoint": str(path), "run": str(folder), "config": told.model_dump()}) if json else f"checkpoint {path}")


@app.command()
def rllib(
    config: Annotated[Path, typer.Argument(help="A YAML file such as configs/rllib/bergen_ppo.yaml.", show_default=False)],
    address: Annotated[str, typer.Option(help="The Ray cluster: 'local' (this machine), 'auto' or HOST:PORT.")] = "local",
    run: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder of the run. [default: runs/rllib/<config>]", show_default=False)
    ] = None,
    output: Output = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in the folder from its last save.")] = False,
    settings: Settings = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the run, in place of the config's.", show_default=False)] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Train on RLlib, on this machine or on a Ray cluster. What comes out are checkpoints like those of 'train'. Needs ray[rllib].

    Example: python -m training rllib configs/rllib/bergen_ppo.yaml --set ray.num_env_runners=8 --address auto
    """
    from domino_env.integrations.ray_cluster import check_ray
    from training.rllib_config import load_rllib_config

    told = load_rllib_config(config, [*(settings or []), *([f"seed={seed}"] if seed is not None else [])])
    check_ray()
    from training.rllib import train as start

    folder = run or Path("runs") / "rllib" / config.stem
    path = start(told, folder, ["python", "-m", "training", *sys.argv[1:]], address, resume, output)
    print(dumps({"checkpoint": str(path), "run": str(folder), "config": told.whole()}) if json else f"checkpoint {path}")


@app.command()
def evaluate(
    specs: Specs,
    variant: Annotated[str, typer.Option(help="A name that 'domino variants' lists.")],
    deals: Deals = 1000,
    players: Players = 2,
    seed: DealsSeed = 0,
    episode: Episode = "round",
    rules_file: RulesFile = None,
    csv: Csv = None,
    heatmap: Heatmap = None,
    heatmap_of: HeatmapOf = "points",
    rating: Rating = None,
    anchors: Anchors = None,
    ratings_plot: RatingsPlot = None,
    ray: Ray = None,
    json: Json = False,
) -> None:
    """Compare policies on duplicate deals, with 95 % intervals: the same as 'domino arena'.

    Example: python -m training evaluate --variant bergen runs/bergen_ppo/best.safetensors random greedy --deals 2000
    """
    from domino_env.commands.measure import arena

    arena(
        variant,
        specs,
        deals,
        players,
        seed,
        episode,
        rules_file,
        csv,
        heatmap,
        heatmap_of,
        rating,
        anchors or (),
        ratings_plot,
        json,
        ray=ray,
    )


@app.command()
def plot(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs, such as runs/bergen_ppo.", show_default=False)],
    out: Annotated[Path, typer.Option(metavar="FILE", help="Picture to write, .png or .svg.")] = Path("curves.png"),
    what: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MEASURE",
            help="points, won, recited, survived, or a column of the log such as return; may be repeated. [default: what evaluations tell]",
            show_default=False,
        ),
    ] = None,
    against: Annotated[
        list[str] | None, typer.Option(metavar="ANCHOR", help="Of points and won; may be repeated. [default: all]", show_default=False)
    ] = None,
    x: Annotated[str, typer.Option("--x", help="'decisions', or 'time' for the wall time.")] = "decisions",
    each: Annotated[bool, typer.Option("--each", help="Draw every seed by itself, in place of their mean.")] = False,
) -> None:
    """Draw learning curves. Runs that differ in the seed alone are one line, their mean.

    Example: python -m training plot runs/bergen_ppo runs/bergen_dqn --against greedy --out curves.png
    """
    from domino_env.files import check_writable
    from training.plots import save_curves

    check_writable(out)
    save_curves(runs, out, what=what or (), against=against or (), x=x, each=each)
    print(f"curves {out}")


@app.command()
def ship(
    configs: Annotated[
        list[Path] | None, typer.Argument(metavar="[CONFIG]...", help="Left out: all of configs/.", show_default=False)
    ] = None,
    jobs: Annotated[int, typer.Option(help="Trainings at a time, each on a core of its own.")] = 1,
) -> None:
    """Train the shipped checkpoints that are not there yet and measure each on 10,000 duplicate deals. Stopped, it goes on where it was.

    Example: python -m training ship configs/bergen_ppo.yaml --jobs 2
    """
    from training.ship import ROOT
    from training.ship import ship as start

    start(configs or sorted((ROOT / "configs").glob("*.yaml")), jobs)


@app.command()
def exploit(
    checkpoint: Annotated[str, typer.Argument(metavar="CHECKPOINT", help="A checkpoint file or a bundled name.", show_default=False)],
    decisions: Annotated[int, typer.Option(help="Decisions of the training.")] = 1_000_000,
    deals: Deals = 2000,
    seed: Annotated[int, typer.Option(help="Seed of the training.")] = 0,
    run: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Folder of the run. [default: runs/exploit/<checkpoint>]")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in the folder, as if it had never stopped.")] = False,
    json: Json = False,
) -> None:
    """Train a best reply against a frozen policy, and tell what it wins: a lower bound of what can be won against it.

    Example: python -m training exploit bergen/ppo --decisions 2000000
    """
    from training.exploit import exploit as start

    folder = run or Path("runs") / "exploit" / checkpoint.replace("/", "_").replace(".safetensors", "")
    found = start(checkpoint, folder, decisions, seed, deals, ["python", "-m", "training", *sys.argv[1:]], resume)
    points = found["points"]
    won = f"{points['mean']:+.3f} [{points['low']:+.3f}, {points['high']:+.3f}] points a round"
    print(dumps(found) if json else f"the reply wins {won} against {checkpoint}: a lower bound, a better reply may win more")


@app.command()
def exploitability(
    policy: Annotated[
        str,
        typer.Argument(metavar="POLICY", help="A checkpoint of a small set; with --game any policy, such as greedy.", show_default=False),
    ],
    game: Annotated[
        str | None,
        typer.Option(metavar="GAME", help="OpenSpiel's name of the game. [default: that of the checkpoint]", show_default=False),
    ] = None,
    iterations: Annotated[int, typer.Option(help="Iterations of CFR+, beside which it is shown.")] = 32,
    json: Json = False,
) -> None:
    """Tell exactly what a perfect opponent wins against a policy, on a set small enough; beside CFR+ and random play. Needs OpenSpiel.

    Example: python -m training exploitability greedy --game "domino_block(max_pip=2,hand=2)"
    """
    from training.exploitability import exploitability as start

    found = start(policy, iterations, game)
    if json:
        print(dumps(found))
        return
    for one in found:
        print(f"{one['exploitability']:8.4f} points a round  {one['policy']}")


@app.command()
def export(
    run: Folder,
    output: Annotated[Path, typer.Option(metavar="FILE", help="Checkpoint to write.")],
) -> None:
    """Make a checkpoint of a run as it was last saved.

    Example: python -m training export runs/bergen_ppo --output mine.safetensors
    """
    from training.train import export as start

    print(f"checkpoint {start(run, output)}")


app.command("export-onnx")(export_onnx)


if __name__ == "__main__":
    sys.exit(run_app(app, "training", sys.argv[1:] or ["--help"]))
