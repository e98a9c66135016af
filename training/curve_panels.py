"""What a picture of runs shows: which runs make one line, which measures have a panel, and what is missing."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.config import ConfigError, TrainingConfig
from training.run_curves import AGAINST, Curve, RunCurves

__all__ = ["Panel", "Series", "check_distinct", "labels_of", "panels_of", "series_of"]

Series = list[RunCurves]
"""The runs of one line: one run, or several seeds of one setting."""

_SEED_KEYS = ("seed", "device", "threads", "save_minutes", "tensorboard")
"""Keys in which the runs of one setting may differ."""
_OF_THE_LOG = ("return", "entropy_loss", "loss")
"""What is drawn before the first evaluation; who plays every seat logs no return."""
_TITLES = {"recited": "words recited", "survived": "share of games survived"}


@dataclass(frozen=True)
class Panel:
    """One measure and its curves: number of the series -> the curves of its runs."""

    title: str
    level: float | None
    curves: dict[int, list[Curve]]


def check_distinct(runs: list[RunCurves]) -> None:
    """``ConfigError`` where a run is named twice."""
    seen: set[Path] = set()
    for run in runs:
        if run.folder.resolve() in seen:
            raise ConfigError(f"run {run.folder} is named twice")
        seen.add(run.folder.resolve())


def series_of(runs: list[RunCurves], each: bool) -> list[Series]:
    """The runs of each line: those of one setting with different seeds are together."""
    found: list[tuple[Any, list[RunCurves]]] = []
    for run in runs:
        setting = {name: value for name, value in run.config.whole().items() if name not in _SEED_KEYS}
        for other, members in found:
            if not each and other == setting and run.config.seed not in (member.config.seed for member in members):
                members.append(run)
                break
        else:
            found.append((setting, [run]))
    return [members for _, members in found]


def panels_of(series: list[Series], what: Sequence[str] = (), against: Sequence[str] = ()) -> list[Panel]:
    """A panel for each measure, and for each anchor where it is against one. ``ConfigError`` for what is not there, and for a run
    of which nothing would be seen."""
    panels = [panel for measure in what or _usual(series) for panel in _panels(series, measure, against)]
    _check_drawn(series, panels)
    return panels


def _usual(series: list[Series]) -> list[str]:
    """What the evaluations are about, or else what the log tells of the training."""
    about = dict.fromkeys("points" if run.anchors else "recited" for runs in series for run in runs if run.evaluations)
    runs = [run for members in series for run in members]
    return list(about) or [next((name for name in _OF_THE_LOG if any(run.column(name) for run in runs)), _OF_THE_LOG[0])]


def _panels(series: list[Series], measure: str, against: Sequence[str]) -> Iterator[Panel]:
    anchors: Sequence[str | None] = (None,)
    if measure in AGAINST:
        anchors = against or list(dict.fromkeys(anchor for runs in series for run in runs for anchor in run.anchors)) or (None,)
    for anchor in anchors:
        curves = {}
        for number, runs in enumerate(series):
            found = [curve for run in runs if (curve := run.curve(measure, anchor)) is not None]
            if found:
                curves[number] = found
        if not curves:
            raise ConfigError(_missing(series, measure, anchor))
        yield Panel(_title(series, measure, anchor), _level(series, measure), curves)


def _missing(series: list[Series], measure: str, anchor: str | None) -> str:
    runs = [run for members in series for run in members]
    known = list(dict.fromkeys(name for run in runs for name in run.measures))
    if anchor is not None:
        return f"{measure} against {anchor!r}, but the evaluations are against {', '.join(runs[0].anchors) or 'nobody yet'}"
    if not known:
        return f"run {runs[0].folder} has written no evaluation and no line of its log yet"
    return f"curve {measure!r}, but the runs have {', '.join(known)}"


def _check_drawn(series: list[Series], panels: list[Panel]) -> None:
    """Every run that was named is seen."""
    for number, runs in enumerate(series):
        drawn = max((len(panel.curves.get(number, ())) for panel in panels), default=0)
        if drawn < len(runs):
            has = ", ".join(min(runs, key=lambda run: len(run.measures)).measures) or "nothing yet"
            names = ", ".join(str(run.folder) for run in runs)
            raise ConfigError(f"nothing to draw of one of the runs {names}: it has {has}")


def _title(series: list[Series], measure: str, anchor: str | None) -> str:
    config = next(run.config for runs in series for run in runs if run.curve(measure, anchor) is not None)
    episode = config.episode if isinstance(config, TrainingConfig) else "game"
    if measure == "points":
        return f"points per {episode} against {anchor}"
    if measure == "won":
        return f"share of {'matches' if episode == 'match' else 'rounds'} won against {anchor}"
    columns = (run.column(measure) for runs in series for run in runs)
    return _TITLES.get(measure) or next(column for column in columns if column)


def _level(series: list[Series], measure: str) -> float | None:
    """Where equal players stand, if that is the same in all runs."""
    levels = {_fair(run) for runs in series for run in runs} if measure == "won" else {0.0} if measure == "points" else set()
    return levels.pop() if len(levels) == 1 else None


def _fair(run: RunCurves) -> float:
    config = run.config
    return 0.5 if isinstance(config, TrainingConfig) and config.read_rules().sides else 1 / config.num_players


def labels_of(series: list[Series]) -> list[str]:
    """Names of the lines: of each folder as much of its path, from the end, as tells it from the others."""
    paths = [run.folder.resolve().parts for runs in series for run in runs]
    length = 1
    while len({path[-length:] for path in paths}) < len(paths):
        length += 1
    names = [["/".join(run.folder.resolve().parts[-length:]) for run in runs] for runs in series]
    stems = [_stem(group) for group in names]
    return [
        group[0] if len(group) == 1 else f"{stem if stems.count(stem) == 1 else group[0]}: mean of {len(group)} seeds"
        for group, stem in zip(names, stems, strict=True)
    ]


def _stem(names: Sequence[str]) -> str:
    """What all names begin with, less the word before the seed; the first name where they have nothing in common."""
    same = itertools.takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    shared = "".join(letters[0] for letters in same)
    return re.sub(r"([-_. ]+(seed|s))?[-_. ]*\d*$", "", shared) or names[0]
