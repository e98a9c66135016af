"""All tables of a server, and what can be set up at a new one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from threading import RLock
from typing import Any

from domino_env.errors import CheckpointError, DominoError
from domino_env.policies import Checkpoint, load_checkpoint
from domino_env.policies.loading import bundled_checkpoints
from domino_env.rendering.svg import tile_symbols
from domino_env.rules import Rules
from domino_env.variants import VARIANTS
from domino_env.web.journal import Journal, KeepingError
from domino_env.web.rules_text import rules_line, rules_text
from domino_env.web.setup import Setup
from domino_env.web.table import Table

__all__ = ["Room", "variants"]

Json = dict[str, Any]

WORKERS = 4
LISTED = 12
"""Games in the list of the start page."""
PRESETS = (
    ("greedy", "greedy: most points at once"),
    ("random", "random: any legal move"),
    ("search:pimc?worlds=64", "search: looks ahead in 64 worlds"),
    ("search:pimc?worlds=256", "strong search: 256 worlds"),
    ("search:ismcts?simulations=2000", "tree search: 2,000 games in mind"),
)
_TRAINED = {"ppo": "trained with PPO", "dqn": "trained with DQN"}


class Room:
    """The tables of a server, read from the journal when somebody comes to them. Its methods may be called from any thread."""

    def __init__(self, journal: Journal, workers: Executor | None = None) -> None:
        self.journal = journal
        self._lock = RLock()
        self._tables: dict[str, Table] = {}
        self._workers = workers or ThreadPoolExecutor(WORKERS, thread_name_prefix="policy")

    def new_table(self, setup: Setup, record: Path | None = None) -> Table:
        """Set a table and keep it. Raises ``FieldError`` for policies that cannot be used, ``KeepingError`` where it cannot be written."""
        name = self.journal.new_name()
        table = Table(name, setup, self.journal, self._workers, record=record)
        try:
            self.journal.save(name, setup, [])
        except OSError as error:
            raise KeepingError(f"the game cannot be kept on disk: {error.strerror}") from None
        with self._lock:
            self._tables[name] = table
        table.play_on()
        return table

    def table(self, name: str) -> Table:
        """A table by name, taken from the journal where the server does not have it yet. Raises ``JournalError`` or ``FieldError``."""
        with self._lock:
            if name not in self._tables:
                setup, steps = self.journal.load(name)
                self._tables[name] = Table(name, setup, self.journal, self._workers, steps=steps)
                self._tables[name].play_on()
            return self._tables[name]

    def forget(self, name: str) -> None:
        """Take a table out of memory: who comes to it next gets it as it stands on disk."""
        with self._lock:
            table = self._tables.pop(name, None)
        if table is not None:
            table.close()

    def remove(self, name: str) -> None:
        """Remove a table and its file. Raises ``JournalError`` where there is none."""
        self.journal.remove(name)
        self.forget(name)

    def close(self) -> None:
        """Stop thinking; the games stay in the journal."""
        with self._lock:
            for table in self._tables.values():
                table.close()
        self._workers.shutdown(wait=False, cancel_futures=True)

    def games(self) -> list[Json]:
        """The games that were played last; one that cannot be read says why."""
        return [_told(self._summary, name) for name in self.journal.names()[:LISTED]]

    def _summary(self, name: str) -> Json:
        """Of a table that nobody came to yet without letting anybody think there."""
        with self._lock:
            table = self._tables.get(name)
        if table is None:
            setup, steps = self.journal.load(name)
            table = Table(name, setup, self.journal, self._workers, steps=steps)
        return table.summary()

    def about(self, name: str) -> Json:
        """What a page needs once: names, rules, policies for hints, and the pictures of the tiles."""
        table = self.table(name)
        setup = table.setup
        seats = len(setup.specs)
        return {
            **table.about(),
            "rules": rules_text(setup.rules, seats, setup.one_round),
            "variant": setup.rules.variant,
            "symbols": tile_symbols(setup.rules.max_pip),
            "hints": hint_policies(setup),
        }


def variants() -> list[Json]:
    """Every variant with its line, its seat counts, and the policies that fit each; ``"4 sides"`` where four play two against two."""
    out = []
    for name, rules in VARIANTS.items():
        kinds: dict[str, Rules] = {str(seats): rules for seats in rules.players}
        if 4 in rules.players:
            kinds["4 sides"] = rules.replace(sides=True)
        policies = {kind: policies_for(fitting, int(kind[0])) for kind, fitting in kinds.items()}
        out.append({"variant": name, "line": rules_line(rules), "seats": list(rules.players), "policies": policies})
    return out


def policies_for(rules: Rules, num_players: int) -> list[tuple[str, str]]:
    """(spec, label) of what can sit at such a table."""
    trained = []
    for name, checkpoint in _bundled().items():
        try:
            checkpoint.check(rules, num_players)
        except CheckpointError:
            continue
        trained.append((name, f"{name}: {_TRAINED.get(checkpoint.meta.algorithm, 'trained')}"))
    return [*trained, *PRESETS]


def hint_policies(setup: Setup) -> list[tuple[str, str]]:
    """(spec, label) of whom one can ask: the strongest opponents at hand first."""
    fitting = policies_for(setup.rules, len(setup.specs))
    own = [(spec, spec) for spec in setup.specs if spec is not None and spec not in dict(fitting)]
    return list(dict([*own, *fitting]).items())


@functools.cache
def _bundled() -> dict[str, Checkpoint]:
    """The bundled checkpoints of the domino variants, by name."""
    found = {}
    for name, path in bundled_checkpoints().items():
        try:
            found[name] = load_checkpoint(path)
        except CheckpointError:  # of the memory game, or of a later version
            continue
    return found


def _told(summary: Callable[[str], Json], name: str) -> Json:
    try:
        return summary(name)
    except DominoError as error:
        return {"id": name, "fault": str(error)}
