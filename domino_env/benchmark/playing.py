"""Running the benchmark: the policy under test against every opponent of every setting, one pair after another."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import numpy.typing as npt

from domino_env.arena.portions import DealTable, Player, Portion
from domino_env.benchmark.adapters import EntrantSpec, kind_of, open_entrant, spec_text
from domino_env.benchmark.entrants import Entrant, Watched
from domino_env.benchmark.protocol import LIMITS, SIZES, Limits, Opponent, Setting, choose_settings
from domino_env.benchmark.read import read_result
from domino_env.benchmark.result import PairFound, Result, ResultError, SettingFound, machine, rounded, versions
from domino_env.errors import CheckpointError, OptionsError, PolicyError
from domino_env.files import check_writable

__all__ = ["play_pair", "run"]

Floats = npt.NDArray[np.float64]
Progress = Callable[[int, int], None]
"""Is told how many rounds are played, and of how many."""
LeftOut = Callable[[str, str], None]
"""Is told the name of a setting that the policy does not play, and why."""


def run(
    policy: EntrantSpec,
    *,
    variants: str | Sequence[str] | None = None,
    size: str = "full",
    out: str | os.PathLike[str] | None = None,
    name: str | None = None,
    limits: Limits = LIMITS,
    show_stderr: bool = False,
    progress: Progress | None = None,
    left_out: LeftOut | None = None,
) -> Result:
    """Play the benchmark; see ``domino_env.benchmark.protocol`` for what is played and what the numbers mean.

    ``policy``: a text as ``domino_env.benchmark.adapters`` reads it, a policy, or a function of observations (N, D) and masks (N, A).
    ``variants``: of variants or settings a name, or several; None for all. One that the policy does not play is left out. ``out``: file of
    the result, written after every opponent; a run goes on with what it holds. ``name``: of the policy in the result; None: its own.
    ``limits``: of players in other processes, those of the protocol for a result to hand in. ``show_stderr``: pass on what they write.

    Raises ``OptionsError`` for arguments that cannot be used, ``PolicyError`` or ``CheckpointError`` for a policy that plays none of the
    settings or cannot be asked, ``ResultError`` where ``out`` holds the result of another policy, size or version.
    """
    if size not in SIZES:
        raise OptionsError(f"size={size!r}, but the sizes are {', '.join(SIZES)}")
    if name is not None and not (isinstance(name, str) and name.isprintable() and name.strip()):
        raise OptionsError(f"name={name!r}, but it is a printable text, or None for the policy's own")
    check_writable(None if out is None else Path(out), ".json")
    settings = choose_settings(variants)
    for setting in settings:
        for opponent in setting.opponents:
            opponent.load(setting)
    bench = _Run(policy, size, out, name, limits, show_stderr)
    bench.play(settings, progress or _tell_nobody, left_out or _say_nothing)
    return bench.result


class _Run:
    """A run with its result so far."""

    def __init__(
        self, policy: EntrantSpec, size: str, out: str | os.PathLike[str] | None, name: str | None, limits: Limits, show_stderr: bool
    ) -> None:
        self._policy, self._size, self._limits, self._show = policy, size, limits, show_stderr
        self._out = None if out is None else Path(out)
        self._spec, self._templated = spec_text(policy), "{" in spec_text(policy)
        self._name = name or (self._spec if self._templated else None)
        kind = kind_of(policy)
        self.result = Result(self._name or "", self._spec, kind, size, asdict(limits), versions(kind), machine())
        if self._out is not None and self._out.exists():
            self._go_on(self._out, name)

    def _go_on(self, path: Path, name: str | None) -> None:
        """Take over what a file holds."""
        held, mine = read_result(path), self.result
        for what, theirs, ours in (
            ("policy", held.spec, self._spec),
            ("name", held.policy, name or held.policy),
            ("size", held.size, self._size),
            ("limits", held.limits, mine.limits),
            ("versions", held.versions, mine.versions),
        ):
            if theirs != ours:
                raise ResultError(f"{path}: it holds a result of {what} {theirs!r}, but this is {ours!r}: name another file")
        mine.policy, mine.kind, mine.settings = held.policy, held.kind, held.settings

    def play(self, settings: Sequence[Setting], progress: Progress, left_out: LeftOut) -> None:
        """Every pair that is missing. A setting that is whole is opened all the same: the policy may be another by now."""
        rounds = {setting.name: setting.deals(self._size) * setting.rounds_per_deal for setting in settings}
        total = sum(rounds[setting.name] * len(setting.opponents) for setting in settings)
        done = 0
        reasons: dict[str, PolicyError] = {}
        for setting in settings:
            met = len(self.result.settings[setting.name].pairs) if setting.name in self.result.settings else 0
            done += rounds[setting.name] * met
            if met == len(setting.opponents) and self.result.kind != "command":  # a program has nothing to know it again by
                self._open(setting).close()
            for opponent in setting.opponents[met:]:
                entrant = self._open_or_note(setting, reasons)
                if entrant is None:
                    break
                with contextlib.closing(entrant):
                    tell = _counted(progress, done, total)
                    self._add(setting, play_pair(setting, opponent, entrant, setting.deals(self._size), tell), entrant)
                done += rounds[setting.name]
        if not any(setting.name in self.result.settings for setting in settings):
            raise next(iter(reasons.values()))
        for name, reason in reasons.items():
            left_out(name, str(reason))

    def _open_or_note(self, setting: Setting, reasons: dict[str, PolicyError]) -> Entrant | None:
        """None, with the reason noted, where the policy is not made for a setting."""
        try:
            return self._open(setting)
        except PolicyError as error:
            if setting.name in self.result.settings or not self._is_other_game(error):
                raise
            reasons[setting.name] = error
            return None

    def _open(self, setting: Setting) -> Entrant:
        entrant = open_entrant(self._policy, setting, self._limits, self._show)
        found = self.result.settings.get(setting.name)
        if found is not None and found.policy_digest != entrant.digest:
            entrant.close()
            why = f"its opponents so far met the policy with digest {found.policy_digest}, but now it is {entrant.digest}"
            raise ResultError(f"{self._out or 'result'}: {setting.name}: {why}: name another file")
        return entrant

    def _is_other_game(self, error: PolicyError) -> bool:
        """Whether a policy that cannot be opened is just not made for the setting; a template may also name what there is not."""
        return isinstance(error, CheckpointError) or (self._templated and not self._spec.startswith("cmd:"))

    def _add(self, setting: Setting, pair: PairFound, entrant: Entrant) -> None:
        """A pair more, and the file written."""
        result = self.result
        result.policy, result.kind = result.policy or entrant.name, entrant.kind
        found = result.settings.setdefault(setting.name, SettingFound(setting, setting.deals(self._size), entrant.digest))
        found.pairs.append(pair)
        if self._out is not None:
            result.save(self._out)


def play_pair(setting: Setting, opponent: Opponent, entrant: Entrant, deals: int, progress: Progress | None = None) -> PairFound:
    """The first ``deals`` deals of a setting against one opponent, in every sitting. ``progress`` is told rounds."""
    table = DealTable(setting.rules, setting.num_players, True, deals, setting.seed)
    watched = Watched(entrant)
    first, second = Player(entrant.name, watched), Player(opponent.spec, opponent.load(setting))
    points, won = [], []
    for portion in table.portions():
        results = _judge(setting, table, table.play(portion, first, second), watched)
        points.append(results[0])
        won.append(results[1])
        if progress is not None:
            progress(portion.stop * setting.rounds_per_deal, deals * setting.rounds_per_deal)
    by_deal = [rounded(np.concatenate(values)) for values in (points, won)]
    return PairFound(setting, opponent, by_deal[0], by_deal[1], dict(watched.faults), first.decisions, round(first.seconds, 6))


def _judge(setting: Setting, table: DealTable, portion: Portion, watched: Watched) -> tuple[Floats, Floats]:
    """By deal (K,) the points and the share of wins of the policy: its forfeited rounds are lost, whatever was played on there."""
    of_second = table.seating.of_second
    forfeited = watched.out.reshape(portion.margins.shape)
    mine = np.where(of_second, -portion.margins, portion.margins)
    mine = np.where(forfeited, -setting.forfeit, np.clip(mine, -setting.forfeit, setting.forfeit))
    won = np.where(forfeited, 0.0, portion.wins)[:, ~of_second].mean(axis=1)
    if not of_second.any():
        return mine.mean(axis=1), won
    # sitting alone among the opponent and having it alone among oneself weigh alike, as in the arena
    return (mine[:, ~of_second].mean(axis=1) + mine[:, of_second].mean(axis=1)) / 2, won


def _counted(progress: Progress, before: int, total: int) -> Progress:
    return lambda done, _: progress(before + done, total)


def _tell_nobody(done: int, total: int) -> None:
    """Progress that nobody asked for."""


def _say_nothing(name: str, why: str) -> None:
    """Settings left out, and nobody asked."""
