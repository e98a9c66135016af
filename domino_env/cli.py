"""The ``domino`` command: reads the command line; what each command does stands in ``domino_env.commands``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from domino_env.commands import bench_policy, shopping
from domino_env.commands.common import run_app
from domino_env.commands.options import (
    Against,
    Anchors,
    AnyVariant,
    Blunder,
    Csv,
    Deals,
    DealsSeed,
    Episode,
    Film,
    Fps,
    GamesFolder,
    Heatmap,
    HeatmapOf,
    Html,
    Json,
    NoBrowser,
    Players,
    Port,
    Rating,
    RatingsPlot,
    Ray,
    RulesFile,
    Search,
    Specs,
    Svg,
    Web,
)

__all__ = ["app", "main"]

app = typer.Typer(name="domino", help="Dominoes: play, watch, replay, compare and measure.", add_completion=False, rich_markup_mode=None)

app.add_typer(shopping.app)

Variant = Annotated[str, typer.Argument(metavar="VARIANT", help="A name that 'domino variants' lists.", show_default=False)]
Record = Annotated[Path | None, typer.Option(metavar="FILE", help="Save the record of the game there.", show_default=False)]
Seed = Annotated[
    int | None, typer.Option(help="Seed of the deals, 0 to 2**64-1. Left out: a new one, which is printed.", show_default=False)
]


@app.callback(invoke_without_command=True)
def _domino(context: typer.Context, version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        from domino_env import __version__

        typer.echo(f"domino-env {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def variants(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Show the rules of this one in full.", show_default=False)] = None,
    rules_file: RulesFile = None,
    json: Json = False,
) -> None:
    """List the rule sets, or show one in full.

    Example: domino variants bergen
    """
    from domino_env.commands.variants import show_variant, show_variants

    if name is not None:
        show_variant(name, rules_file, json)
    elif rules_file is not None:
        raise typer.BadParameter("--rules-file needs the NAME of the variant that it changes")
    else:
        show_variants(json)


@app.command()
def play(
    variant: AnyVariant = None,
    against: Against = None,
    players: Annotated[
        int | None, typer.Option(help="Number of players. Left out: as many as the opponents make.", show_default=False)
    ] = None,
    seat: Annotated[int, typer.Option(help="Your seat, from 0.")] = 0,
    seed: Seed = None,
    episode: Annotated[str, typer.Option(help="'match' (to the target) or 'round'.")] = "match",
    rules_file: RulesFile = None,
    record: Record = None,
    web: Web = False,
    port: Port = None,
    games: GamesFolder = None,
    no_browser: NoBrowser = False,
) -> None:
    """Play against policies, in the terminal or with --web in the browser.

    Example: domino play bergen --against greedy --players 3 --seed 7 --record game.json
    """
    from domino_env.commands import play as command

    if web:
        command.play_in_browser(variant, against, players, seat, seed, episode, rules_file, record, port, games, not no_browser)
    else:
        variant = command.terminal_variant(variant, port=port, games=games, no_browser=no_browser or None)
        command.play(variant, against or ["greedy"], players, seat, seed, episode, rules_file, record)


@app.command()
def watch(
    variant: Variant,
    specs: Specs,
    seed: Seed = None,
    episode: Episode = "round",
    delay: Annotated[float, typer.Option(help="Seconds to wait after each move.")] = 0.0,
    rules_file: RulesFile = None,
    record: Record = None,
    tables: Annotated[bool, typer.Option("--tables", help="Show the table after each move.")] = False,
    reveal: Annotated[bool, typer.Option("--reveal", help="Show the hands and the tiles drawn.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print nothing but the record of the game, as JSON.")] = False,
    html: Html = None,
    search: Search = None,
    blunder: Blunder = None,
) -> None:
    """Watch policies play, one for each seat.

    Example: domino watch all_fives greedy greedy random random --seed 3 --tables --delay 1
    """
    from domino_env.commands.pages import PageWish
    from domino_env.commands.watch import watch as run

    run(variant, specs, seed, episode, delay, rules_file, record, tables, reveal, json, PageWish(html, (), search, blunder))


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A record.", show_default=False)],
    to: Annotated[str | None, typer.Option(metavar="ROUND:EVENT", help="Stop after this event, both from 0.", show_default=False)] = None,
    seat: Annotated[int | None, typer.Option(help="Show what this seat saw.", show_default=False)] = None,
    reveal: Annotated[
        bool | None,
        typer.Option(
            "--reveal/--hide", help="Show all hands and drawn tiles, or none but the seat's. [default: a page without --seat does]"
        ),
    ] = None,
    json: Json = False,
    html: Html = None,
    think: Annotated[
        list[str] | None, typer.Option(metavar="SPEC", help="A policy whose thoughts the page shows; may be repeated.", show_default=False)
    ] = None,
    search: Search = None,
    blunder: Blunder = None,
    svg: Svg = None,
    film: Film = None,
    fps: Fps = None,
) -> None:
    """Check a record against the rules and print it, or write a page to step through it, a picture or a film.

    Example: domino replay game.json --to 0:12 --reveal
    """
    from domino_env.commands.pages import PageWish
    from domino_env.commands.pictures import PictureWish
    from domino_env.commands.watch import replay as run

    run(file, to, seat, reveal, json, PageWish(html, think or (), search, blunder), PictureWish(film, svg, fps))


@app.command()
def arena(
    variant: Variant,
    specs: Specs,
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
    """Compare policies on duplicate deals, with 95 % intervals, ratings and a heat map.

    Example: domino arena bergen random greedy --deals 2000
    """
    from domino_env.commands.measure import arena as run

    run(
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
def ratings(
    table: Annotated[
        Path, typer.Argument(metavar="TABLE", help="What the arena wrote: .csv, or its --json in a .json.", show_default=False)
    ],
    plot: Annotated[Path, typer.Option(metavar="FILE", help="Picture to write, .png or .svg.")] = Path("ratings.png"),
) -> None:
    """Draw the ratings in a saved table of the arena, with their intervals.

    Example: domino ratings bergen.csv --plot bergen.png
    """
    from domino_env.commands.measure import ratings as run

    run(table, plot)


@app.command()
def bench(
    variants: Annotated[list[str] | None, typer.Argument(metavar="[VARIANT]...", help="Left out: all of them.", show_default=False)] = None,
    players: Players = 2,
    games: Annotated[int, typer.Option(help="Games in the batch.")] = 1024,
    moves: Annotated[int, typer.Option(help="Moves that each game makes in one measurement.")] = 1000,
    repeats: Annotated[int, typer.Option(help="Measurements; the fastest counts.")] = 3,
    seed: Annotated[int, typer.Option(help="Seed of the games.")] = 0,
    json: Json = False,
) -> None:
    """Measure the engine: steps a second at random play on one core.

    Example: domino bench block draw --players 2
    """
    from domino_env.commands.measure import bench as run

    run(variants or [], players, games, moves, repeats, seed, json)


app.command("bench-policy")(bench_policy.bench_policy)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit, see ``run_app``."""
    sys.exit(run_app(app, "domino", sys.argv[1:] if arguments is None else arguments))
