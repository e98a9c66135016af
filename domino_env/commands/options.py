"""Options that several commands take, each told once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Anchors", "Csv", "Deals", "DealsSeed", "Episode", "Heatmap", "HeatmapOf", "Json", "Players", "Rating", "RulesFile", "Specs"]

Specs = Annotated[
    list[str], typer.Argument(metavar="SPEC...", help="Policies: random, greedy, a checkpoint file or a bundled name.", show_default=False)
]
RulesFile = Annotated[Path | None, typer.Option(help="JSON or YAML file with fields of the rules to change.", show_default=False)]
Players = Annotated[int, typer.Option(help="Number of players.")]
Episode = Annotated[str, typer.Option(help="'round' or 'match' (to the target).")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

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
Anchors = Annotated[
    list[str] | None,
    typer.Option("--anchor", metavar="NAME=VALUE", help="Fix a policy's rating; may be repeated. [default: random=25]", show_default=False),
]
