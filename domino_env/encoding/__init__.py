"""Observations as ordered, named, versioned sections; the compiled writers stand in ``writers.py``."""

from __future__ import annotations

from domino_env.encoding.sections import ENCODING_VERSION, Encoding, Section

__all__ = ["ENCODING_VERSION", "Encoding", "Section"]
