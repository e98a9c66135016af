"""A result as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from domino_env.arena.comparison import Estimate
from domino_env.benchmark.protocol import PROTOCOL_VERSION, SETTINGS
from domino_env.benchmark.result import PairFound, Result

__all__ = ["interval", "result_tables"]

_TRACKS = {"two": "two seats, all nine variants", "more": "more seats"}


def result_tables(result: Result) -> Group:
    """One row for each pair, then the scores: those of the settings, and of each track that is whole."""
    return Group(_pairs(result), _scores(result), *_notes(result))


def interval(found: Estimate, digits: int) -> str:
    """``+1.23 [+1.00, +1.46]``."""
    return f"{found.mean:+.{digits}f} [{found.low:+.{digits}f}, {found.high:+.{digits}f}]"


def _pairs(result: Result) -> Table:
    # the name in a file that is handed in is anybody's text: it may not move the cursor or style the table
    name = result.policy if result.policy.isprintable() else ascii(result.policy)
    table = Table(title=escape(f"{name}: protocol {PROTOCOL_VERSION}, size {result.size}, 95 % intervals"))
    for column in ("setting", "against"):
        table.add_column(column, overflow="fold")
    for column in ("points a round", "rounds won", "forfeits", "a decision"):
        table.add_column(column, justify="right")
    for found in result.settings.values():
        for pair in found.pairs:
            told = (interval(pair.points, 2), f"{pair.won.mean:.1%}", str(pair.forfeited), _time(pair))
            table.add_row(*map(Text, (found.setting.name, pair.opponent.spec, *told)))
    return table


def _time(pair: PairFound) -> str:
    if not pair.decisions:
        return "not timed"
    microseconds = 1e6 * pair.seconds / pair.decisions
    return f"{microseconds:.1f} µs" if microseconds < 1000 else f"{microseconds / 1000:.1f} ms"


def _scores(result: Result) -> Table:
    table = Table()
    table.add_column("score of")
    table.add_column("100 is one spread a round", justify="right")
    for name in SETTINGS:
        found = result.settings.get(name)
        if found is not None:
            table.add_row(Text(name), Text(interval(found.score, 1) if found.score else "not finished"))
    table.add_section()
    for track, meaning in _TRACKS.items():
        score = result.scores[track]
        table.add_row(Text(meaning), Text(interval(score, 1) if score else "not all settings played"), style="bold")
    return table


def _notes(result: Result) -> Iterator[Text]:
    reasons: dict[str, int] = {}
    for found in result.settings.values():
        for pair in found.pairs:
            for reason, count in pair.forfeits.items():
                reasons[reason] = reasons.get(reason, 0) + count
    if reasons:
        yield Text("Forfeited rounds: " + ", ".join(f"{reason.replace('_', ' ')} {count:,}" for reason, count in sorted(reasons.items())))
    if result.size != "full":
        yield Text("Size quick shows that a policy plays; only a result of size full is one to hand in.")
