"""Options that several commands take, each told once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Against",
    "Anchors",
    "AnyVariant",
    "Blunder",
    "Csv",
    "Deals",
    "DealsSeed",
    "Episode",
    "Film",
    "Fps",
    "GamesFolder",
    "Heatmap",
    "HeatmapOf",
    "Html",
    "Json",
    "NoBrowser",
    "Players",
    "Port",
    "Rating",
    "RatingsPlot",
    "Ray",
    "RulesFile",
    "Search",
    "Specs",
    "Svg",
    "Web",
]

Specs = Annotated[
    list[str],
    typer.Argument(metavar="SPEC...", help="Policies: random, greedy, search:..., a checkpoint, a bundled name.", show_default=False),
]
RulesFile = Annotated[Path | None, typer.Option(help="JSON or YAML file with fields of the rules to change.", show_default=False)]
Players = Annotated[int, typer.Option(help="Number of players.")]
Episode = Annotated[str, typer.Option(help="'round' or 'match' (to the target).")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

# of a replay page
Html = Annotated[Path | None, typer.Option("--html", metavar="FILE.html", help="Write a page to step through there.", show_default=False)]
Search = Annotated[
    str | None,
    typer.Option(metavar="SPEC", help="What marks blunders on the page, or 'none'. [default: search:pimc?worlds=256]", show_default=False),
]
Blunder = Annotated[
    float | None, typer.Option(metavar="POINTS", help="What one loses at least. [default: 2 % of the target]", show_default=False)
]

# pictures of a game
Svg = Annotated[Path | None, typer.Option("--svg", metavar="FILE.svg", help="Draw the game there as it stands.", show_default=False)]
Film = Annotated[
    Path | None, typer.Option("--film", metavar="FILE.gif", help="Make a film of the game there, .gif or .mp4.", show_default=False)
]
Fps = Annotated[float | None, typer.Option(help="Moves a second of the film. [default: 1.5]", show_default=False)]

# of a comparison
Deals = Annotated[int, typer.Option(help="Deals that every pair plays, in every seating.")]
DealsSeed = Annotated[int, typer.Option(help="Seed of the deals, 0 to 2**32-1.")]
Csv = Annotated[Path | None, typer.Option(metavar="FILE.csv", help="Write the table there too.", show_default=False)]
Heatmap = Annotated[Path | None, typer.Option(metavar="FILE.png", help="Draw row against column there.", show_default=False)]
HeatmapOf = Annotated[str, typer.Option(help="What is drawn: 'points', or 'won' for the share of games won.")]
Rating = Annotated[
    bool | None,
    typer.Option("--rating/--no-rating", help="Rate the policies. [default: where openskill is installed]", show_default=False),
]
Ray = Annotated[
    str | None,
    typer.Option("--ray", metavar="ADDRESS", help="Spread the deals over a Ray cluster: 'local', 'auto' or HOST:PORT.", show_default=False),
]
Anchors = Annotated[
    list[str] | None,
    typer.Option("--anchor", metavar="NAME=VALUE", help="Fix a policy's rating; may be repeated. [default: random=25]", show_default=False),
]
RatingsPlot = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Draw the ratings with their intervals there, .png or .svg.", show_default=False)
]

# of a table with a person
AnyVariant = Annotated[
    str | None, typer.Argument(metavar="VARIANT", help="A name that 'domino variants' lists; optional with --web.", show_default=False)
]
Against = Annotated[list[str] | None, typer.Option(metavar="SPEC", help="An opponent; once for all, or once for each. [default: greedy]")]
Web = Annotated[bool, typer.Option("--web", help="Play in the browser; without VARIANT its page asks what.")]
Port = Annotated[
    int | None, typer.Option(help="With --web: port on this machine, 0 for any that is free. [default: 8477]", show_default=False)
]
GamesFolder = Annotated[
    Path | None,
    typer.Option("--games", metavar="FOLDER", help="With --web: keep games there. [default: your state folder]", show_default=False),
]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="With --web: print the address, open no browser.")]
