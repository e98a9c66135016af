"""How a table is set: which rules, who sits where, and the seed of the deals."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from domino_env.envs.options import check_seed, entropy_seed, is_one_round
from domino_env.errors import DominoError, OptionsError
from domino_env.policies import Policy, load_policy
from domino_env.rules import Rules
from domino_env.variants import VARIANTS, get_rules

__all__ = ["FieldError", "Setup"]

_FIELDS = ("variant", "rules", "specs", "episode", "seed")


class FieldError(OptionsError):
    """A field of a setup cannot be used; ``field`` names it, a seat as ``specs.1``."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field = field


@dataclass(frozen=True)
class Setup:
    """A table before the first deal. Raises ``FieldError`` where it cannot be played at."""

    rules: Rules
    specs: tuple[str | None, ...]
    """One for each seat, as ``load_policy`` takes them; None for the person, who sits in one of them."""
    episode: str
    seed: int

    def __post_init__(self) -> None:
        with _naming("specs"):
            self.rules.check_players(len(self.specs))
        if self.specs.count(None) != 1:
            raise FieldError("specs", f"{self.specs.count(None)} seats for persons, but one person sits at the table")
        with _naming("episode"):
            is_one_round(self.episode)
        with _naming("seed"):
            check_seed(self.seed)

    @property
    def seat(self) -> int:
        """The person's seat."""
        return self.specs.index(None)

    @property
    def one_round(self) -> bool:
        """Whether the game is one round."""
        return is_one_round(self.episode)

    def again(self) -> Setup:
        """The same table with a new seed."""
        return replace(self, seed=entropy_seed())

    def load_policies(self) -> list[Policy | None]:
        """The policies by seat. Raises ``FieldError`` for one that cannot be loaded or does not fit."""
        out: list[Policy | None] = []
        for seat, spec in enumerate(self.specs):
            with _naming(f"specs.{seat}"):
                out.append(None if spec is None else load_policy(spec, self.rules, len(self.specs)))
        return out

    def to_json(self) -> dict[str, Any]:
        """As ``from_json`` reads it."""
        base = VARIANTS.get(self.rules.variant)
        rules = self.rules.to_json() if base is None else self.rules.overrides_from(base)
        return {
            "variant": self.rules.variant,
            "rules": rules,
            "specs": list(self.specs),
            "episode": self.episode,
            "seed": str(self.seed),
        }

    @classmethod
    def from_json(cls, value: object) -> Setup:
        """Read ``{"variant", "specs", "rules": {overrides}, "episode", "seed"}``; the last three may be left out.

        Seeds may be texts: a page cannot write whole numbers of 64 bits.
        """
        if not isinstance(value, Mapping):
            raise FieldError("variant", f"a setup of {type(value).__name__}, but it is an object with variant and specs")
        unknown = sorted(str(name) for name in value if name not in _FIELDS)
        if unknown:
            raise FieldError(unknown[0], f"unknown {', '.join(unknown):.200}; a setup has {', '.join(_FIELDS)}")
        return cls(_rules(value), _specs(value.get("specs")), _text("episode", value.get("episode", "match")), _seed(value.get("seed")))


@contextlib.contextmanager
def _naming(field: str) -> Iterator[None]:
    """Gives an error inside the name of the field."""
    try:
        yield
    except FieldError:
        raise
    except DominoError as error:
        raise FieldError(field, str(error)) from None


def _rules(value: Mapping[str, Any]) -> Rules:
    variant, overrides = _text("variant", value.get("variant")), value.get("rules", {})
    with _naming("variant"):
        base = get_rules(variant)
    if not isinstance(overrides, Mapping):
        raise FieldError("rules", f"rules={overrides!r}, but they are an object with the fields to change")
    with _naming("rules"):
        return Rules.from_overrides(base, overrides)


def _specs(value: object) -> tuple[str | None, ...]:
    if not isinstance(value, list) or not all(spec is None or isinstance(spec, str) for spec in value):
        raise FieldError("specs", f"specs={value!r}, but they are a list with a policy for each seat, and null for the person's")
    for seat, spec in enumerate(value):
        if spec is not None and not spec.strip():
            raise FieldError(f"specs.{seat}", f"seat {seat} has no policy: choose one, or write its name or path")
    return tuple(spec if spec is None else spec.strip() for spec in value)


def _text(field: str, value: object) -> str:
    if not isinstance(value, str):
        raise FieldError(field, f"{field}={value!r}, but it is a text")
    return value


def _seed(value: object) -> int:
    if value is None or value == "":
        return entropy_seed()
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdecimal() and len(value) < 30:
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise FieldError("seed", f"seed={value!r}, but it is a whole number from 0 to 2**64 - 1")
    return value
