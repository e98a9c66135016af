"""A game as text: what one seat may know of it, readable at a glance. Plain by default; colours are an option."""

from __future__ import annotations

import textwrap
from types import SimpleNamespace
from typing import Any

from domino_env.engine.packed import numbers
from domino_env.engine.state import GAME, PLAYING
from domino_env.errors import OptionsError
from domino_env.notation.game import END_NAMES, PlayedGame, RoundLog
from domino_env.notation.moves import ARM_NAMES, move_text, tile_text
from domino_env.rendering.drawing import WIDTH, draw_layout
from domino_env.rendering.table import lay_out
from domino_env.rule_terms import DrawWhen, MatchWinner
from domino_env.tiles import tiles_in

__all__ = ["event_text", "render_game", "round_end_text", "seats_text"]

LAST_MOVES = 5
BOLD, YELLOW, GREEN, CYAN, PLAIN = "\x1b[1m", "\x1b[1;33m", "\x1b[32m", "\x1b[36m", "\x1b[0m"


def render_game(game: PlayedGame, seat: int | None, reveal: bool = False, color: bool = False) -> str:
    """The table as ``seat`` may see it (None: as a spectator, who sees no hand), as lines of at most 78 columns.

    Hidden hands and drawn tiles stay hidden, also when the game is over, unless ``reveal``. ``color`` adds ANSI codes and
    changes nothing else. Rounds, moves and seats are counted from 0, as in a record.

    Raises ``OptionsError`` before the first deal and for a seat that the game has not.
    """
    if not game.started:
        raise OptionsError("render: no game yet, call reset")
    if seat is not None and seat not in range(game.num_players):
        raise OptionsError(f"seat={seat!r}, but seats are 0 to {game.num_players - 1}, or None for a spectator")
    return "\n".join(_View(game, seat, reveal, color).lines())


def seats_text(seats: list[int]) -> str:
    """``seat 1``, or ``seats 0 and 2``."""
    names = [str(seat) for seat in seats]
    return f"seat {names[0]}" if len(names) == 1 else f"seats {', '.join(names[:-1])} and {names[-1]}"


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


class _View:
    """What one onlooker is shown."""

    def __init__(self, game: PlayedGame, seat: int | None, reveal: bool, color: bool) -> None:
        self.game, self.seat, self.reveal, self.color = game, seat, reveal, color
        # as plain values once: every field of a recarray costs microseconds
        self.row: Any = SimpleNamespace(**dict(zip(GAME.names or (), game.games[0].item(), strict=True)))
        self.rules = numbers(game.packed)
        self.log = game.rounds[-1]

    def paint(self, text: str, code: str) -> str:
        return f"{code}{text}{PLAIN}" if self.color else text

    def may_see(self, seat: int) -> bool:
        """Whether the hand of ``seat`` is shown."""
        return self.reveal or seat == self.seat

    def lines(self) -> list[str]:
        layout = lay_out(self.log, self.game.packed)
        picture = draw_layout(layout).lines(YELLOW, PLAIN) if self.color else draw_layout(layout).lines()
        return [
            *self.head(),
            "",
            *(picture or [f"    an empty table: seat {self.log.leader} leads"]),
            "",
            *self.ends(),
            *self.boneyard(),
            *(line for seat in range(self.game.num_players) for line in self.hand(seat)),
            *self.moves(),
            *self.outcome(),
        ]

    def head(self) -> list[str]:
        game, rules = self.game, self.game.rules
        aim = f"{'lowest' if rules.match_winner == MatchWinner.LOWEST else 'highest'} score wins"
        length = "one round" if game.one_round else f"match to {self.rules.target}"
        sides = ", seats 0 and 2 against 1 and 3" if rules.sides else ""
        text = f"{rules.variant}, {game.num_players} players{sides}, {length}, {aim}"
        title = textwrap.wrap(f"{text}: round {len(game.rounds) - 1}", WIDTH)
        return [self.paint(line, BOLD) for line in title]

    def ends(self) -> list[str]:
        """Open ends, what each counts, and their sum; a tile alone on the table counts its pips once."""
        if self.game.leading:
            return []
        row, table = self.row, int(self.row.table)
        alone = table & (table - 1) == 0
        parts = [self.end_text(arm, alone) for arm in range(int(self.rules.arms)) if row.arm_pip[arm] >= 0]
        total = int(row.arm_pip[0] + row.arm_pip[1]) if alone else int(row.arm_count.sum())
        return textwrap.wrap(f"{', '.join(parts)}; sum {total}", WIDTH, initial_indent="ends      ", subsequent_indent=" " * 10)

    def end_text(self, arm: int, alone: bool) -> str:
        pip, count = int(self.row.arm_pip[arm]), int(self.row.arm_count[arm])
        if alone or count == pip:
            return f"{ARM_NAMES[arm]} {pip}"
        return f"{ARM_NAMES[arm]} {pip} (counts {count})"

    def boneyard(self) -> list[str]:
        left = int(self.rules.num_tiles - self.row.next_tile)
        drawable = int(self.rules.first_reserved - self.row.next_tile)
        if self.game.rules.draw_when == DrawWhen.NEVER:
            return [f"boneyard  {left} set aside"]
        return [f"boneyard  {drawable} to draw" + (f", {left - drawable} in reserve" if left > drawable else "")]

    def hand(self, seat: int) -> list[str]:
        tiles = tiles_in(int(self.row.hands[seat]))
        turn = self.game.phase == PLAYING and self.game.seat == seat
        backs = f"{len(tiles)} {'tile' if len(tiles) == 1 else 'tiles'} {'#' * len(tiles)}" if tiles else "no tiles"
        shown = " ".join(tile_text(tile) for tile in tiles) if tiles and self.may_see(seat) else backs
        notes = [text for text, holds in (("you", seat == self.seat), ("led", seat == self.log.leader)) if holds]
        if turn:
            notes.append(self.turn_text())
        first = f"{'>' if turn else ' '} seat {seat}  {self.score_text(seat)}  "
        more = f"  ({'; '.join(notes)})" if notes else ""
        lines = textwrap.wrap(shown + more, WIDTH, initial_indent=first, subsequent_indent=" " * len(first), break_on_hyphens=False)
        return [self.paint(line, GREEN if turn else CYAN) for line in lines] if turn or seat == self.seat else lines

    def score_text(self, seat: int) -> str:
        """The score, in columns that are as wide for every seat."""
        scores = self.game.scores()
        text = f"{scores[seat]:>{max(3, *(len(str(score)) for score in scores))}}"
        if not self.rules.lucky:
            return text
        paid = int(self.row.penalties[seat])
        return f"{text} (won {scores[seat] + paid}, penalties {paid})"

    def turn_text(self) -> str:
        row = self.row
        text = "on turn"
        if row.draws:
            text += f", drew {int(row.draws)}"
        if row.drawn_tile >= 0 and self.may_see(self.game.seat):
            text += f", must place {tile_text(int(row.drawn_tile))}"
        return text

    def moves(self) -> list[str]:
        """The last moves of the round."""
        events = self.log.events
        first = max(0, len(events) - LAST_MOVES)
        texts = (event_text(self.game, self.log, number, self.may_see(events[number].seat)) for number in range(first, len(events)))
        return [f"{'' if offset else 'moves':8}  {first + offset:>2}. {text}" for offset, text in enumerate(texts)]

    def outcome(self) -> list[str]:
        """How the last finished round ended, and who won the game."""
        ended = [number for number, log in enumerate(self.game.rounds) if log.end]
        lines = []
        if ended:
            lines = textwrap.wrap(f"round {ended[-1]} ended: {round_end_text(self.game.rounds[ended[-1]])}", WIDTH)
        if self.game.over:
            winners = self.game.winners()
            lines.append(self.paint(f"game over: {seats_text(winners)} {'wins' if len(winners) == 1 else 'win'}", BOLD))
        return lines
