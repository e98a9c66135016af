"""What a player in another process is told, as JSON values, and what it answers."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from domino_env.benchmark.protocol import PROTOCOL_VERSION, Limits, Setting
from domino_env.encoding import Encoding
from domino_env.engine.packed import DRAW, PASS, Packed
from domino_env.engine.state import LOG, LOG_HIT, LOG_SEAT
from domino_env.notation.moves import ARM_NAMES, move_text, tile_text
from domino_env.policies import Batch

__all__ = ["Messages", "read_object"]

_ACTION_BITS = (1 << LOG_SEAT) - 1
_SEAT_BITS = 7
_RANDOM_BITS = 53
"""Bits of a whole number that every language reads exactly."""


def read_object(line: bytes) -> dict[str, Any] | None:
    """The JSON object of a line; None where it is none."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


class Messages:
    """The messages of one setting."""

    def __init__(self, setting: Setting, packed: Packed) -> None:
        self.setting = setting
        self._packed = packed
        table = packed[0]
        self.num_actions = int(table["num_actions"])
        self._arms = int(table["arms"])
        self._dealt = setting.num_players * int(table["hand_size"])
        self._reserved = int(table["first_reserved"])
        self._tiles = [tile_text(tile) for tile in range(int(table["num_tiles"]))]
        self._leads, self._moves = ([move_text(packed, action, lead) for action in range(self.num_actions)] for lead in (True, False))
        self._arm_of = table["action_arm"][: self.num_actions].tolist()

    def hello(self, limits: Limits) -> dict[str, Any]:
        """The first line."""
        setting = self.setting
        return {
            "type": "hello",
            "protocol": PROTOCOL_VERSION,
            "setting": setting.name,
            "variant": setting.variant,
            "num_players": setting.num_players,
            "sides": setting.sides,
            "rules": setting.rules.to_json(),
            "actions": self._moves,
            "observation_size": Encoding(setting.rules, setting.num_players).size,
            "start_seconds": limits.start_seconds,
            "decision_seconds": limits.decision_seconds,
        }

    def request(self, batch: Batch, k: int, number: int, game: int, bits: int, observed: bool) -> dict[str, Any]:
        """Decision ``k`` of a batch: everything that its seat knows. ``game`` tells rounds apart; ``bits``: 64 random ones."""
        row = batch.seen[k]
        seat, seats = int(batch.seats[k]), self.setting.num_players
        texts = self._moves if row["table"] else self._leads
        left = len(self._tiles) - int(row["next_tile"])
        message = {
            "type": "move",
            "id": number,
            "round": game,
            "seat": seat,
            "leader": int(row["leader"]),
            "hand": [text for tile, text in enumerate(self._tiles) if int(row["hands"][seat]) >> tile & 1],
            "hand_sizes": row["hand_sizes"][:seats].tolist(),
            "scores": row["score"][:seats].tolist(),
            "boneyard": left,
            "drawable": max(0, self._reserved - int(row["next_tile"])),
            "ends": self._ends(row),
            "log": self._log(row),
            "legal": [{"action": action, "move": texts[action]} for action in np.flatnonzero(batch.action_mask[k]).tolist()],
            "random": bits >> (64 - _RANDOM_BITS),
        }
        if observed:
            message["observation"] = batch.observation[k].tolist()
        return message

    def _ends(self, row: Any) -> list[dict[str, Any]]:
        """The open ends: arm, pip, and whether a crosswise double lies there."""
        ends = zip(ARM_NAMES, row["arm_pip"][: self._arms].tolist(), row["arm_cross"].tolist(), strict=False)
        return [{"arm": arm, "pip": pip, "crosswise": bool(cross)} for arm, pip, cross in ends if pip >= 0]

    def _log(self, row: Any) -> list[dict[str, Any]]:
        """The moves of the round in order; a draw of its own names the tile, and a lucky draw that hit says so."""
        out: list[dict[str, Any]] = []
        texts, drawn = self._leads, self._dealt
        for entry in row["log"][: min(int(row["log_size"]), LOG)].tolist():
            action = entry & _ACTION_BITS
            event: dict[str, Any] = {"seat": entry >> LOG_SEAT & _SEAT_BITS, "move": texts[action]}
            if self._arm_of[action] == DRAW:
                tile = int(row["order"][drawn])
                drawn += 1
                if tile >= 0:
                    event["tile"] = self._tiles[tile]
                if entry & LOG_HIT:
                    event["hit"] = True
            elif self._arm_of[action] != PASS:
                texts = self._moves
            out.append(event)
        return out

    def action_of(self, answer: dict[str, Any], batch: Batch, k: int) -> int | None:
        """The action id of an answer, or -1 where it is not legal; None where the answer names no move, or two."""
        named = [key for key in ("action", "move") if key in answer]
        if len(named) != 1:
            return None
        value = answer[named[0]]
        if named == ["action"]:
            if type(value) is not int:
                return None
            action = value
        elif isinstance(value, str):
            texts = self._moves if batch.seen[k]["table"] else self._leads
            action = texts.index(value) if value in texts else -1
        else:
            return None
        return action if 0 <= action < self.num_actions and batch.action_mask[k, action] else -1
