"""A game as bytes: its log as JSON, its row as it is, and a digest of both. Reading them runs no code."""

from __future__ import annotations

import hashlib
import json
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from domino_env.engine.invariants import broken_in, broken_names
from domino_env.engine.state import GAME, Games
from domino_env.errors import OptionsError
from domino_env.notation.log import Event, RoundLog

if TYPE_CHECKING:
    from domino_env.notation.game import PlayedGame

__all__ = ["open_bytes", "pack_game", "seal", "unpack_game"]

_MAGIC = b"domino-state-1\n"
_DIGEST = 16


def seal(head: dict[str, Any], body: bytes) -> bytes:
    """A JSON head and a body behind a digest of both."""
    text = json.dumps(head, separators=(",", ":")).encode()
    rest = struct.pack("<I", len(text)) + text + body
    return _MAGIC + hashlib.sha256(rest).digest()[:_DIGEST] + rest


def open_bytes(data: object) -> tuple[dict[str, Any], bytes]:
    """Head and body of ``seal``; ``OptionsError`` for anything else."""
    start = len(_MAGIC) + _DIGEST
    if not isinstance(data, bytes) or not data.startswith(_MAGIC) or len(data) < start + 4:
        raise OptionsError("state: these bytes are not the state of a game")
    if hashlib.sha256(data[start:]).digest()[:_DIGEST] != data[len(_MAGIC) : start]:
        raise OptionsError("state: these bytes are damaged: their digest is another one")
    end = start + 4 + struct.unpack("<I", data[start : start + 4])[0]
    try:
        head = json.loads(data[start + 4 : end])
    except ValueError:
        raise OptionsError("state: these bytes are damaged: their head is no JSON") from None
    if not isinstance(head, dict):
        raise OptionsError("state: these bytes are damaged: their head is no table")
    return head, data[end:]


def _rules_of(game: PlayedGame) -> dict[str, Any]:
    return {"rules": game.rules.fingerprint(), "num_players": game.num_players, "one_round": game.one_round}


def pack_game(game: PlayedGame) -> bytes:
    """The bytes of a game."""
    logs = [[log.order, log.leader, log.start_scores, log.events, log.end, log.bonus, log.scores] for log in game.rounds]
    head = {**_rules_of(game), "seed": game.seed, "first_deal": game.first_deal, "rounds": logs}
    return seal(head, game.games.tobytes())


def unpack_game(game: PlayedGame, data: object) -> tuple[Games, int | None, int, list[RoundLog]]:
    """Rows (1,), seed, first deal and log of ``pack_game``, for a game with the same rules.

    Raises ``OptionsError`` for other bytes, those of other rules, or a row that no game can have.
    """
    head, body = open_bytes(data)
    for name, value in _rules_of(game).items():
        if head.get(name) != value:
            raise OptionsError(f"state: {name}={head.get(name)!r}, but this game has {value!r}")
    if len(body) != GAME.itemsize:
        raise OptionsError(f"state: a game of {len(body)} bytes, but in this version it has {GAME.itemsize}")
    rows = np.frombuffer(body, dtype=GAME).copy()
    if broken := broken_names(broken_in(rows, 0, game.packed)):
        raise OptionsError(f"state: no game can stand like this: {', '.join(broken)}")
    try:
        rounds = [
            RoundLog(order, leader, start, [Event(*event) for event in events], *rest)
            for order, leader, start, events, *rest in head["rounds"]
        ]
        return rows, head["seed"], head["first_deal"], rounds
    except (KeyError, TypeError, ValueError) as error:
        raise OptionsError(f"state: these bytes are damaged: {error}") from None
