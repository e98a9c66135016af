"""Parameters behind the name of a policy: ``worlds=64&depth=2``."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import parse_qsl

from domino_env.errors import PolicyError

__all__ = ["read_parameters"]


def read_parameters(spec: str, query: str, known: Collection[str]) -> dict[str, str]:
    """Name -> text of the parameters in ``query``, which stands behind the ``?`` of ``spec``. ``PolicyError`` for ones not ``known``."""
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        raise PolicyError(f"policy {spec!r}: parameters are written name=value&name=value") from None
    given = dict(pairs)
    if len(given) < len(pairs) or not set(given) <= set(known):
        allowed = f"the parameters are {', '.join(known)}, each once" if known else "it takes no parameters"
        raise PolicyError(f"policy {spec!r}: {allowed}")
    return given
