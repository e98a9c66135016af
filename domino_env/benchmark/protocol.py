"""What is played in the benchmark: settings, opponents, deals and limits of one fixed protocol. A change of any of it is a new version.

A **setting** is a variant with so many seats, with or without sides. The policy under test meets every opponent of the setting on the
same deals, in every sitting of the arena, a round a game. The two tracks are never mixed: ``"two"`` is the nine variants with two seats,
``"more"`` the settings with more of them.

**Points** are those of the policy per round less those of its opponent, as the arena counts them. **Score** of a setting is the mean over
its opponents of 100 * points / ``spread``; the spread is the standard deviation of what a seat of greedy makes in one round of
greedy alone, less the mean of its opponents, so 100 is
one such deviation a round and all variants weigh alike. The score of a track is the mean over all its settings.

**A forfeited round** counts as lost by ten spreads. No round counts as lost or won by more, so no policy gains by giving up.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from domino_env.errors import OptionsError, PolicyError
from domino_env.policies import Policy, load_policy
from domino_env.policies.loading import bundled_checkpoints
from domino_env.rules import Rules
from domino_env.variants import VARIANTS

__all__ = [
    "FORFEIT_SPREADS",
    "LIMITS",
    "PROTOCOL_VERSION",
    "SETTINGS",
    "SIZES",
    "TRACKS",
    "Limits",
    "Opponent",
    "Setting",
    "choose_settings",
    "file_digest",
]

PROTOCOL_VERSION = 1
SIZES = ("quick", "full")
"""``full`` is a result to submit; ``quick`` shows in seconds whether a policy plays at all."""
TRACKS = ("two", "more")
FORFEIT_SPREADS = 10.0
_FIRST_SEED = 3_000_000_000  # trainings have seeds below 2**31, the tables of this project 0 to 2
_DEALS = {("two", "quick"): 40, ("two", "full"): 1000, ("more", "quick"): 10, ("more", "full"): 250}


@dataclass(frozen=True)
class Limits:
    """What a player in another process may take."""

    start_seconds: float = 30.0
    """Until it is ready."""
    decision_seconds: float = 2.0
    """For one decision."""
    failures: int = 10
    """Crashes, answers too late and rubbish against one opponent, after which what is left there is forfeited."""

    def __post_init__(self) -> None:
        """Raises ``OptionsError`` for limits that no player can keep."""
        for name, seconds in (("start_seconds", self.start_seconds), ("decision_seconds", self.decision_seconds)):
            if not (isinstance(seconds, (int, float)) and 0 < seconds < math.inf):
                raise OptionsError(f"{name}={seconds!r}, but it is a number of seconds above 0")
        if not (isinstance(self.failures, int) and self.failures >= 1):
            raise OptionsError(f"failures={self.failures!r}, but it is a whole number from 1 on")


LIMITS = Limits()


@dataclass(frozen=True)
class Opponent:
    """A policy of the protocol: what ``load_policy`` takes, and of a checkpoint the SHA-256 of its file."""

    spec: str
    digest: str | None = None

    def load(self, setting: Setting) -> Policy:
        """The policy. Raises ``PolicyError`` for a checkpoint that is not the one of the protocol."""
        if self.digest is not None:
            path = bundled_checkpoints().get(self.spec)
            found = "none" if path is None else file_digest(path)
            if found != self.digest:
                why = f"but protocol {PROTOCOL_VERSION} has the one with digest {self.digest}"
                raise PolicyError(f"opponent {self.spec!r}: the checkpoint here has digest {found}, {why}")
        return load_policy(self.spec, setting.rules, setting.num_players)


@dataclass(frozen=True)
class Setting:
    """A game of the protocol."""

    variant: str
    num_players: int
    sides: bool
    fingerprint: str
    """Of its rules."""
    spread: float
    """Points."""
    opponents: tuple[Opponent, ...]
    seed: int
    """Of the deals, as the arena takes it; each setting has deals of its own."""

    @property
    def name(self) -> str:
        """Such as ``"bergen/2"`` and ``"block/4-sides"``."""
        return f"{self.variant}/{self.num_players}{'-sides' if self.sides else ''}"

    @property
    def track(self) -> str:
        """``"two"`` or ``"more"``."""
        return "two" if self.num_players == 2 else "more"

    @property
    def rules(self) -> Rules:
        """Raises ``OptionsError`` where the preset is not the one of the protocol."""
        rules = VARIANTS[self.variant].replace(sides=True) if self.sides else VARIANTS[self.variant]
        if rules.fingerprint() != self.fingerprint:
            why = f"but protocol {PROTOCOL_VERSION} is played by rules {self.fingerprint}"
            raise OptionsError(f"setting {self.name}: the rules here are {rules.fingerprint()}, {why}")
        return rules

    @property
    def rounds_per_deal(self) -> int:
        """Sittings of the arena: two, or with more seats and no sides two for each seat."""
        return 2 if self.num_players == 2 or self.sides else 2 * self.num_players

    @property
    def forfeit(self) -> float:
        """Points that a forfeited round is lost by."""
        return FORFEIT_SPREADS * self.spread

    def deals(self, size: str) -> int:
        """How many the policy plays against each opponent."""
        return _DEALS[self.track, size]


def file_digest(path: str | Path) -> str:
    """SHA-256 of a file, as ``sha256sum`` prints it."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


_CHECKPOINTS = {
    "fives_and_threes/ppo": "a0e6f91f035affdf870181e28cf12b935d9f3e1beaddf35138da67de83869a44",
    "bergen/ppo": "b2f393b9971d0e5cec446f4ca7b449591015dac2a0c3f9fa2ee7788d8a6d7fe4",
    "bergen_classic/ppo": "d16085068f19fbab2cfa85cd39093687390c3fb3b26366c4d8083bbb2859e654",
    "fives/ppo": "5fd4751349757d6f65d842d8bf83b2b6c15e86002599ee5b38968c4005c42f30",
    "threes/ppo": "5c009ad6a2a4ed4c97e3dca6a33e92ee13b45337a99e4004942ceb0eba01ec2d",
    "lucky_threes/ppo": "e58ab0e8661d74e0ed895e0224489a583f465fae0894af2de472fc4c185a96e1",
    "all_fives/ppo": "19f513dd3f6139cf68dbaea7f0e29c049b6daa7f2827c97701bb04777ff942d5",
    "draw/ppo": "5b3cf7b2e1030c7efda45faf827a85c81a243f83d21f01b3a600e41df30bb6e7",
    "block/ppo": "a42a29a4873f46d7141f8ba91330efa10d5fe52d25e9e51af424a967c14b38a6",
    "fives_and_threes/ppo_3players": "330fe241b5a2fe3dbc925774f09a74026a82f2793f4d53b8bf75adba0a3feeda",
    "fives_and_threes/ppo_5players": "4c5da21970fc6668f23e24e6469d8f4ee828c0ce0a94afc692ec7db020ea67ff",
    "bergen/ppo_4players": "1dc78e86af70281da6fdc1ef18dc87d1270dcd86189fa2d0b28dad4ff3b38a29",
    "all_fives/ppo_4players": "36e9d4250a2f381c83c09a2ac596197849d948e402fe9c2724e6a8c1524fd0e4",
}
"""Bundled checkpoint -> SHA-256 of its file."""

# variant, seats, sides, fingerprint of the rules, spread in points, checkpoint among the opponents
_GAMES: tuple[tuple[str, int, bool, str, float, str | None], ...] = (
    ("fives_and_threes", 2, False, "b35217a24a5aa6dd", 6.9, "fives_and_threes/ppo"),
    ("bergen", 2, False, "56d1f9880bc20108", 3.7, "bergen/ppo"),
    ("bergen_classic", 2, False, "44ac703b828c0816", 4.0, "bergen_classic/ppo"),
    ("fives", 2, False, "d7e71b6b399d2c1e", 3.6, "fives/ppo"),
    ("threes", 2, False, "4c42f51afa9e044b", 6.4, "threes/ppo"),
    ("lucky_threes", 2, False, "d918a2ebb1f22755", 11.2, "lucky_threes/ppo"),
    ("all_fives", 2, False, "5cf848aa47075ee9", 23.6, "all_fives/ppo"),
    ("draw", 2, False, "c42dd920d1d5e195", 21.9, "draw/ppo"),
    ("block", 2, False, "ea0ac0fda58b26b6", 7.5, "block/ppo"),
    ("fives_and_threes", 3, False, "b35217a24a5aa6dd", 6.0, "fives_and_threes/ppo_3players"),
    ("fives_and_threes", 5, False, "b35217a24a5aa6dd", 4.4, "fives_and_threes/ppo_5players"),
    ("bergen", 4, False, "56d1f9880bc20108", 2.5, "bergen/ppo_4players"),
    ("all_fives", 4, False, "5cf848aa47075ee9", 16.3, "all_fives/ppo_4players"),
    ("block", 4, True, "4ba4faebe86b37e3", 13.2, None),
)


def _settings() -> dict[str, Setting]:
    found = {}
    for number, (variant, seats, sides, fingerprint, spread, checkpoint) in enumerate(_GAMES):
        opponents = [Opponent("greedy"), Opponent("search:pimc?worlds=64")]
        if checkpoint is not None:
            opponents.append(Opponent(checkpoint, _CHECKPOINTS[checkpoint]))
        setting = Setting(variant, seats, sides, fingerprint, spread, tuple(opponents), _FIRST_SEED + number)
        found[setting.name] = setting
    return found


SETTINGS: dict[str, Setting] = _settings()
"""Name -> setting, in the order in which they are played."""


def choose_settings(names: str | Sequence[str] | None = None) -> list[Setting]:
    """The settings of a name or of these; a variant stands for all of its settings, None for all. Raises ``OptionsError`` for others."""
    if names is None or (not isinstance(names, str) and not names):
        return list(SETTINGS.values())
    names = [names] if isinstance(names, str) else names
    for name in names:
        if name not in VARIANTS and name not in SETTINGS:
            known = f"{', '.join(VARIANTS)}, or one of the settings {', '.join(SETTINGS)}"
            raise OptionsError(f"variant {name!r}, but the benchmark has {known}")
    return [setting for setting in SETTINGS.values() if setting.variant in names or setting.name in names]
