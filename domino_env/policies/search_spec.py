"""``"search:pimc?worlds=64"`` and its like: from text to a search policy."""

from __future__ import annotations

from collections.abc import Callable

from domino_env.errors import PolicyError
from domino_env.policies.ismcts import ISMCTSPolicy
from domino_env.policies.parameters import read_parameters
from domino_env.policies.pimc import PIMCPolicy
from domino_env.policies.protocol import Policy

__all__ = ["SEARCHES", "search_policy"]

_PIMC: dict[str, Callable[[str], float]] = {"worlds": int, "depth": int, "endgame": int}
_ISMCTS: dict[str, Callable[[str], float]] = {"simulations": int, "exploration": float}
SEARCHES: dict[str, tuple[type, dict[str, Callable[[str], float]]]] = {
    "pimc": (PIMCPolicy, _PIMC),
    "ismcts": (ISMCTSPolicy, _ISMCTS),
}
"""Name -> policy and its parameters."""

_SHOWN = 40
"""Letters of a wrong value that a message repeats."""


def search_policy(spec: str) -> Policy:
    """The policy of a spec that begins with ``search``. ``PolicyError`` for an unknown search or parameter, or a value that cannot be."""
    name, _, query = spec.removeprefix("search").removeprefix(":").partition("?")
    if name not in SEARCHES:
        raise PolicyError(f"policy {spec!r}, but the searches are {', '.join(f'search:{known}' for known in SEARCHES)}")
    kind, known = SEARCHES[name]
    values = {}
    for parameter, text in read_parameters(spec, query, known).items():
        try:
            values[parameter] = known[parameter](text)
        except ValueError:
            kind_of_number = "a whole number" if known[parameter] is int else "a number"
            shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
            raise PolicyError(f"policy 'search:{name}': {parameter}={shown}, but it is {kind_of_number}") from None
    policy: Policy = kind(**values)
    return policy
