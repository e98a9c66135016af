"""What a player is told: information states (all it has seen in the round) and observations (the suite's encoding)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyspiel

from domino_env.encoding.kernels import observe
from domino_env.engine.packed import DRAW, PASS
from domino_env.errors import OptionsError
from domino_env.integrations.openspiel.rounds import TERMINAL, Round
from domino_env.integrations.openspiel.setting import Setting
from domino_env.notation.log import END_NAMES
from domino_env.notation.moves import tile_text

__all__ = ["DominoObserver"]

PRIVATE = ("hand", "play_points", "must_place")
"""Sections of the encoding that only the seat itself may know."""


class DominoObserver:
    """An observer as OpenSpiel has them: ``tensor`` is a flat float32 array, ``dict`` its named pieces.

    With perfect recall the pieces are ``player`` (P), ``dealt`` (T) tiles, ``leader`` (P) and ``moves`` (M, W): for each move
    the seat, the arm, the tile (of a draw only for who drew it), lengthwise, draw, pass, and its points; and ``drawing`` (1) where
    tiles can be drawn: a tile was asked for, and chance is on turn. Without recall there is one piece ``observation`` (D), the
    suite's encoding as the AEC environment shows it. ``private_info`` none leaves out what only one seat knows, all adds every
    hand (``hands`` (P, T)); ``public_info=False`` leaves the private part alone.
    """

    def __init__(self, setting: Setting, kind: Any, params: Any = None) -> None:
        if params:
            raise OptionsError(f"observer: params={params!r}, but it takes none")
        self._setting = setting
        self._recall = bool(kind.perfect_recall)
        self._public = bool(kind.public_info)
        self._one = kind.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        self._all = kind.private_info == pyspiel.PrivateInfoType.ALL_PLAYERS
        sections = setting.encoding.sections
        shown = [s for s in sections if (self._one if s.name in PRIVATE else self._public)]
        self._shown = np.concatenate([np.arange(s.start, s.start + s.size) for s in shown]) if shown else np.zeros(0, np.int64)
        self._whole = np.zeros(setting.encoding.size, np.float32)
        self._arms = setting.rules.arms
        self.dict: dict[str, Any] = {}
        self.tensor = np.zeros(0, np.float32)
        self._make_pieces()

    def _make_pieces(self) -> None:
        seats, tiles = self._setting.num_players, self._setting.rules.num_tiles
        shapes: dict[str, tuple[int, ...]] = {}
        if self._recall:
            shapes["player"] = (seats,)
            shapes |= {"dealt": (tiles,)} if self._one else {}
            if self._public:
                shapes |= {"leader": (seats,), "moves": (self._setting.max_moves, seats + self._arms + tiles + 4)}
                shapes |= {"drawing": (1,)} if self._setting.num_drawable else {}
        elif self._shown.size:
            shapes["observation"] = (self._shown.size,)
        if self._all:
            shapes["hands"] = (seats, tiles)
        self.tensor = np.zeros(sum(int(np.prod(shape)) for shape in shapes.values()), np.float32)
        start = 0
        for name, shape in shapes.items():
            size = int(np.prod(shape))
            self.dict[name] = self.tensor[start : start + size].reshape(shape)
            start += size

    def set_from(self, state: Any, player: int) -> None:
        """Write what ``player`` is told of ``state`` into ``tensor``."""
        round_: Round = state.round
        self.tensor.fill(0)
        if self._all:
            for seat in range(self._setting.num_players):
                self.dict["hands"][seat, self._hand(round_, seat)] = 1
        if not self._recall:
            if self._shown.size:
                self.dict["observation"][:] = self._encoded(round_, player)[self._shown]
            return
        self.dict["player"][player] = 1
        if self._one:
            self.dict["dealt"][round_.dealt(player)] = 1
        if self._public and round_.game is not None:
            self.dict["leader"][round_.game.rounds[-1].leader] = 1
            self._write_moves(round_, player)
            if round_.drawing:
                self.dict["drawing"][0] = 1

    def _write_moves(self, round_: Round, player: int) -> None:
        packed, seats, tiles = self._setting.packed, self._setting.num_players, self._setting.rules.num_tiles
        rows = self.dict["moves"]
        rest = seats + self._arms + tiles
        for row, event in zip(rows, round_.events, strict=False):
            arm = packed.action_arm[event.action]
            row[event.seat] = 1
            row[rest + 3] = event.points / self._setting.most_points
            if arm == DRAW:
                row[rest + 1] = 1
                if event.tile >= 0 and (self._all or (self._one and event.seat == player)):
                    row[seats + self._arms + event.tile] = 1
            elif arm == PASS:
                row[rest + 2] = 1
            else:
                row[seats + arm] = 1
                row[seats + self._arms + packed.action_tile[event.action]] = 1
                row[rest] = packed.action_flat[event.action]

    def _encoded(self, round_: Round, player: int) -> Any:
        """The suite's encoding; while tiles are dealt, of the hand alone. What all may know is told as seat 0 sees it."""
        if round_.game is None:
            self._whole.fill(0)
            self._whole[round_.dealt(player)] = 1  # the hand is the first section
        else:
            observe(round_.game.games, 0, round_.game.packed, player if self._one else 0, self._whole)
        return self._whole

    def _hand(self, round_: Round, seat: int) -> list[int]:
        """Tiles that a seat holds now, ascending."""
        if round_.game is None:
            return round_.dealt(seat)
        mask = int(round_.game.games["hands"][0, seat])
        return [tile for tile in range(self._setting.rules.num_tiles) if mask >> tile & 1]

    def string_from(self, state: Any, player: int) -> str:
        """What ``player`` is told of ``state``, as one line: it tells as much as ``tensor``."""
        round_: Round = state.round
        words = [f"p{player}"] if self._one or self._recall else []
        if self._recall:
            words += self._recalled(round_, player)
        elif self._shown.size:
            words += self._observed(round_, player)
        if self._all:
            words += [f"hand{seat}[{_tiles(self._hand(round_, seat))}]" for seat in range(self._setting.num_players)]
        return " ".join(words)

    def _recalled(self, round_: Round, player: int) -> list[str]:
        words = [f"dealt[{_tiles(round_.dealt(player))}]"] if self._one else []
        if not self._public or round_.game is None:
            return words
        words.append(f"leader:{round_.game.rounds[-1].leader}")
        for event, (shown, own) in zip(round_.events, round_.texts(), strict=True):
            words.append(own if self._all or (self._one and event.seat == player) else shown)
        if round_.drawing:
            words.append(f"{round_.game.seat}:drawing")
        if round_.player == TERMINAL:
            log = round_.game.rounds[-1]
            words.append(f"end:{END_NAMES[log.end]} bonus:{log.bonus}")
        return words

    def _observed(self, round_: Round, player: int) -> list[str]:
        """The numbers of the encoding that are not 0, by name."""
        values, encoding = self._encoded(round_, player), self._setting.encoding
        words = []
        for section in encoding.sections:
            if self._one if section.name in PRIVATE else self._public:
                part = values[section.slice]
                told = [_told(section.labels[i], float(part[i]) * section.scale) for i in np.flatnonzero(part)]
                words += [f"{section.name}[{', '.join(told)}]"] if told else []
        return words


def _tiles(tiles: list[int]) -> str:
    return " ".join(map(tile_text, tiles))


def _told(label: str, value: float) -> str:
    return label if value == 1 else f"{label}={value:.4g}"
