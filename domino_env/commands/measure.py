"""``domino arena`` and ``domino bench``: who is better, and how fast it runs."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from domino_env.commands.common import load_rules, print_table, progress, say, say_json
from domino_env.errors import OptionsError
from domino_env.files import check_writable
from domino_env.variants import VARIANTS, get_rules

if TYPE_CHECKING:
    from domino_env.arena.run import Spread

__all__ = ["arena", "bench", "ratings"]


def arena(
    variant: str,
    specs: Sequence[str],
    deals: int,
    num_players: int,
    seed: int,
    episode: str,
    rules_file: Path | None,
    csv_file: Path | None,
    heatmap_file: Path | None,
    heatmap_of: str,
    rating: bool | None,
    anchors: Sequence[str],
    ratings_plot: Path | None,
    as_json: bool,
    ray: str | None = None,
) -> None:
    """Every pair of policies on the same deals, in every seating; see ``domino_env.arena.compare``.

    ``csv_file``, ``heatmap_file``, ``ratings_plot``: written beside their places and renamed, once all is played. ``heatmap_of``:
    ``"points"`` or ``"won"``. ``rating``: None for a rating where openskill is installed. ``anchors``: texts NAME=VALUE. ``ray``: address
    of the Ray cluster that plays; None: this process does. Raises ``DominoError`` before anything is played for whatever cannot be used.
    """
    from domino_env.arena import compare, save_heatmap, save_ratings
    from domino_env.arena.heatmap import check_heatmap
    from domino_env.files import write_file

    check_writable(csv_file, ".csv")
    if heatmap_file is not None:
        check_heatmap(heatmap_file, heatmap_of)
        check_writable(heatmap_file)
    if ratings_plot is not None:
        _check_ratings_plot(ratings_plot, rating)
        rating = True
    fixed = _read_anchors(anchors)
    rules = load_rules(variant, rules_file)
    with _spread(ray) as spread, progress("deals") as tell:
        game: dict[str, Any] = {"num_players": num_players, "deals": deals, "seed": seed, "episode": episode}
        found = compare(list(specs), rules, **game, rating=rating, anchors=fixed, progress=tell, spread=spread)
    if csv_file is not None:
        write_file(csv_file, found.to_csv())
    if heatmap_file is not None:
        save_heatmap(found, heatmap_file, heatmap_of)
    if ratings_plot is not None:
        save_ratings(found, ratings_plot)
    if as_json:
        say_json(found.to_json())
    else:
        from rich.console import Console

        # a table that wraps cannot be read, so what is no terminal gets room
        Console(width=None if sys.stdout.isatty() else 120).print(found.table())


@contextlib.contextmanager
def _spread(address: str | None) -> Iterator[Spread | None]:
    """What plays the deals: None for this process."""
    if address is None:
        yield None
        return
    from domino_env.integrations.ray_cluster import connected

    # Ray prints what it has to say of lost processes; the table has stdout for itself
    with contextlib.redirect_stdout(sys.stderr), connected(address):
        from domino_env.integrations.ray_arena import spread_on_ray

        yield spread_on_ray


def _check_ratings_plot(path: Path, rating: bool | None) -> None:
    from domino_env.arena.drawing import check_picture

    check_picture(path, "ratings")
    check_writable(path)
    if rating is False:
        raise OptionsError(f"picture {str(path)!r} is of ratings, but --no-rating says that none are made")


def ratings(table: Path, plot: Path) -> None:
    """Draw the ratings of a saved table. Raises ``DominoError`` for a file that is none, or a picture that cannot be written."""
    from domino_env.arena import read_ratings, save_ratings

    _check_ratings_plot(plot, None)
    save_ratings(read_ratings(table), plot)
    say(f"ratings {plot}")


def _read_anchors(texts: Sequence[str]) -> dict[str, float] | None:
    """Name -> rating from texts NAME=VALUE, None where there are none; a name may hold an equals sign itself."""
    anchors: dict[str, float] = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        try:
            number = float(value)
        except ValueError:
            raise OptionsError(f"anchor {text!r}, but it is NAME=VALUE, such as random=25") from None
        if name in anchors:
            raise OptionsError(f"anchor {name!r} is given twice")
        anchors[name] = number
    return anchors or None


def bench(variants: Sequence[str], num_players: int, num_games: int, moves: int, repeats: int, seed: int, as_json: bool) -> None:
    """Random play on one core: engine steps a second with action masks, and with observations too."""
    if moves < 1 or repeats < 1:
        raise OptionsError(f"moves={moves}, repeats={repeats}, but both are 1 or more")
    names = list(variants) or [name for name, rules in VARIANTS.items() if num_players in rules.players]
    if not names:
        raise OptionsError(f"players={num_players}, but no variant is for so many")
    for name in names:
        get_rules(name).check_players(num_players)
    results = []
    with progress("variants") as tell:
        for number, name in enumerate(names):
            results.append(_measure(name, num_players, num_games, moves, repeats, seed))
            tell(number + 1, len(names))
    if as_json:
        say_json(results)
        return
    rows = [[row["variant"], f"{row['steps_per_second'] / 1e6:.2f}", f"{row['steps_per_second_observed'] / 1e6:.2f}"] for row in results]
    title = f"million steps a second, {num_players} players, {num_games} games, one core"
    print_table(title, ("variant", "with masks", "with masks and observations"), rows)


def _measure(variant: str, num_players: int, num_games: int, moves: int, repeats: int, seed: int) -> dict[str, Any]:
    from domino_env.envs.games import Games

    games = Games(variant, num_games, num_players, seed=seed)
    out: dict[str, Any] = {"variant": variant, "players": num_players, "games": num_games, "moves": moves, "repeats": repeats, "seed": seed}
    for name, observe in (("steps_per_second", False), ("steps_per_second_observed", True)):
        games.play_random(1, observe)  # compiles, and fills the cache
        times = []
        for _ in range(repeats):
            begin = time.perf_counter()
            games.play_random(moves, observe)
            times.append(time.perf_counter() - begin)
        out[name] = round(num_games * moves / min(times))
    return out
