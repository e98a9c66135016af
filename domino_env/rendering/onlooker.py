"""What one onlooker is told of a game: the words that every picture of it shares, and what they keep hidden."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from domino_env.engine.packed import numbers
from domino_env.engine.state import GAME, PLAYING
from domino_env.errors import OptionsError
from domino_env.notation.game import END_NAMES, PlayedGame, RoundLog
from domino_env.notation.moves import ARM_NAMES, move_text, tile_text
from domino_env.rule_terms import DrawWhen, MatchWinner
from domino_env.tiles import tiles_in

__all__ = ["Onlooker", "event_text", "game_title", "round_end_text", "seats_text"]


def seats_text(seats: list[int]) -> str:
    """``seat 1``, or ``seats 0 and 2``."""
    names = [str(seat) for seat in seats]
    return f"seat {names[0]}" if len(names) == 1 else f"seats {', '.join(names[:-1])} and {names[-1]}"


def game_title(game: PlayedGame) -> str:
    """Variant, seats, and what ends the game: ``bergen, 3 players, match to 10``."""
    rules = game.rules
    length = "one round" if game.one_round else f"match to {rules.target[game.num_players]}"
    sides = ", seats 0 and 2 against 1 and 3" if rules.sides else ""
    return f"{rules.variant}, {game.num_players} players{sides}, {length}"


def event_text(game: PlayedGame, log: RoundLog, number: int, shown: bool) -> str:
    """Move ``number`` of a round; the tile that was drawn only where it may be ``shown``."""
    event = log.events[number]
    text = move_text(game.packed, event.action, number == 0)
    if event.tile >= 0 and shown:
        text += f" {tile_text(event.tile)}"
    if number == 0:
        text = f"leads {text}"
    points = f"  {event.points:+d}" if event.points else ""
    return f"seat {event.seat}  {text}{points}"


def round_end_text(log: RoundLog) -> str:
    """How a round that is over ended, and what that brought."""
    bonus = [f"seat {seat} {points:+d}" for seat, points in enumerate(log.bonus) if points]
    return f"{END_NAMES[log.end]}, {', '.join(bonus) if bonus else 'no bonus'}; scores {', '.join(map(str, log.scores))}"


class Onlooker:
    """The game as ``seat`` may see it (None: as a spectator, who sees no hand); with ``reveal`` all of it.

    Hidden hands and drawn tiles stay hidden, also when the game is over, unless ``reveal``. Raises ``OptionsError`` before the
    first deal and for a seat that the game has not.
    """

    def __init__(self, game: PlayedGame, seat: int | None, reveal: bool) -> None:
        if not game.started:
            raise OptionsError("render: no game yet, call reset")
        if seat is not None and seat not in range(game.num_players):
            raise OptionsError(f"seat={seat!r}, but seats are 0 to {game.num_players - 1}, or None for a spectator")
        self.game, self.seat, self.reveal = game, seat, reveal
        # as plain values once: every field of a recarray costs microseconds
        self.row: Any = SimpleNamespace(**dict(zip(GAME.names or (), game.games[0].item(), strict=True)))
        self.rules = numbers(game.packed)
        self.log = game.rounds[-1]

    def may_see(self, seat: int) -> bool:
        """Whether the hand of ``seat`` is shown."""
        return self.reveal or seat == self.seat

    def on_turn(self, seat: int) -> bool:
        """Whether ``seat`` is to move."""
        return self.game.phase == PLAYING and self.game.seat == seat

    def hand(self, seat: int) -> list[int]:
        """Tiles of ``seat``, ascending; -1 for each that is hidden."""
        tiles = tiles_in(int(self.row.hands[seat]))
        return tiles if self.may_see(seat) else [-1] * len(tiles)

    def title(self) -> str:
        """Variant, players, length and aim, and the number of the round."""
        aim = f"{'lowest' if self.game.rules.match_winner == MatchWinner.LOWEST else 'highest'} score wins"
        return f"{game_title(self.game)}, {aim}: round {len(self.game.rounds) - 1}"

    def ends(self) -> str:
        """Open ends, what each counts, and their sum; a tile alone on the table counts its pips once. Empty before the lead."""
        if self.game.leading:
            return ""
        row, table = self.row, int(self.row.table)
        alone = table & (table - 1) == 0
        parts = [self._end(arm, alone) for arm in range(int(self.rules.arms)) if row.arm_pip[arm] >= 0]
        total = int(row.arm_pip[0] + row.arm_pip[1]) if alone else int(row.arm_count.sum())
        return f"{', '.join(parts)}; sum {total}"

    def _end(self, arm: int, alone: bool) -> str:
        pip, count = int(self.row.arm_pip[arm]), int(self.row.arm_count[arm])
        if alone or count == pip:
            return f"{ARM_NAMES[arm]} {pip}"
        return f"{ARM_NAMES[arm]} {pip} (counts {count})"

    def boneyard(self) -> str:
        """Tiles that are left there."""
        left = int(self.rules.num_tiles - self.row.next_tile)
        drawable = int(self.rules.first_reserved - self.row.next_tile)
        if self.game.rules.draw_when == DrawWhen.NEVER:
            return f"{left} set aside"
        return f"{drawable} to draw" + (f", {left - drawable} in reserve" if left > drawable else "")

    def lucky_score(self, seat: int) -> str:
        """With lucky draws: what the score is made of; else empty."""
        if not self.rules.lucky:
            return ""
        paid = int(self.row.penalties[seat])
        return f"won {self.game.scores()[seat] + paid}, penalties {paid}"

    def notes(self, seat: int) -> list[str]:
        """What else there is to say of ``seat``: that it is the onlooker, that it led, what it must do."""
        notes = [text for text, holds in (("you", seat == self.seat), ("led", seat == self.log.leader)) if holds]
        return [*notes, self._turn()] if self.on_turn(seat) else notes

    def _turn(self) -> str:
        row = self.row
        text = "on turn"
        if row.draws:
            text += f", drew {int(row.draws)}"
        if row.drawn_tile >= 0 and self.may_see(self.game.seat):
            text += f", must place {tile_text(int(row.drawn_tile))}"
        return text

    def move(self, number: int) -> str:
        """Move ``number`` of the round on the table."""
        return event_text(self.game, self.log, number, self.may_see(self.log.events[number].seat))

    def round_end(self) -> str:
        """How the last finished round ended; empty before the first end."""
        ended = [number for number, log in enumerate(self.game.rounds) if log.end]
        return f"round {ended[-1]} ended: {round_end_text(self.game.rounds[ended[-1]])}" if ended else ""

    def game_end(self) -> str:
        """Who won; empty until the game is over."""
        if not self.game.over:
            return ""
        winners = self.game.winners()
        return f"game over: {seats_text(winners)} {'wins' if len(winners) == 1 else 'win'}"
