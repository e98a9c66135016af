"""The libraries of the extra ``arena``: looked for before the play, imported when used."""

from __future__ import annotations

from importlib.util import find_spec

from domino_env.errors import OptionsError

__all__ = ["installed", "need"]


def installed(library: str) -> bool:
    """Whether the library is there; it is not imported."""
    return find_spec(library) is not None


def need(library: str, what: str) -> None:
    """Raise ``OptionsError`` where the library that does ``what`` is missing."""
    if not installed(library):
        raise OptionsError(f"{what} needs {library}, which is not installed: pip install 'domino-env[arena]'")
