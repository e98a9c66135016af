"""The named errors of this package. Each message says what was received and what would be right."""

from __future__ import annotations

__all__ = [
    "CheckpointError",
    "DominoError",
    "EmptyMaskError",
    "IllegalMoveError",
    "NotationError",
    "OptionsError",
    "PolicyError",
    "RecordError",
    "RenderModeError",
    "RulesError",
]


class DominoError(ValueError):
    """Base of every error that this package raises on bad input."""


class RulesError(DominoError):
    """A rules field has an impossible value, or two fields contradict each other."""


class OptionsError(DominoError):
    """An argument of an environment, of ``reset`` or of ``Games`` cannot be used."""


class RenderModeError(OptionsError, TypeError):
    """A render mode that there is not; a ``TypeError`` too, for libraries that try one mode after another."""


class IllegalMoveError(DominoError):
    """An action is no integer, out of range, or not legal in the position."""


class NotationError(DominoError):
    """A text is no tile or no move."""


class RecordError(DominoError):
    """A record breaks a rule or a score; the message names round and event."""


class PolicyError(DominoError):
    """A policy cannot be found, or its answer cannot be used."""


class EmptyMaskError(PolicyError):
    """A policy was asked to act where no action is legal."""


class CheckpointError(PolicyError):
    """A checkpoint file is damaged, foreign, or does not fit the game."""
