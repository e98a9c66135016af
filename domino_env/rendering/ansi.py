"""A game as text: what one seat may know of it, readable at a glance. Plain by default; colours are an option."""

from __future__ import annotations

import textwrap

from domino_env.notation.game import PlayedGame
from domino_env.notation.moves import tile_text
from domino_env.rendering.drawing import WIDTH, draw_layout
from domino_env.rendering.onlooker import Onlooker, event_text, round_end_text, seats_text
from domino_env.rendering.table import lay_out

__all__ = ["event_text", "render_game", "round_end_text", "seats_text"]

LAST_MOVES = 5
BOLD, YELLOW, GREEN, CYAN, PLAIN = "\x1b[1m", "\x1b[1;33m", "\x1b[32m", "\x1b[36m", "\x1b[0m"


def render_game(game: PlayedGame, seat: int | None, reveal: bool = False, color: bool = False) -> str:
    """The table as ``seat`` may see it (None: as a spectator, who sees no hand), as lines of at most 78 columns.

    Hidden hands and drawn tiles stay hidden, also when the game is over, unless ``reveal``. ``color`` adds ANSI codes and
    changes nothing else. Rounds, moves and seats are counted from 0, as in a record.

    Raises ``OptionsError`` before the first deal and for a seat that the game has not.
    """
    return "\n".join(_Text(Onlooker(game, seat, reveal), color).lines())


class _Text:
    """What the onlooker is told, in lines."""

    def __init__(self, view: Onlooker, color: bool) -> None:
        self.view, self.game, self.color = view, view.game, color

    def paint(self, text: str, code: str) -> str:
        return f"{code}{text}{PLAIN}" if self.color else text

    def lines(self) -> list[str]:
        layout = lay_out(self.view.log, self.game.packed)
        picture = draw_layout(layout).lines(YELLOW, PLAIN) if self.color else draw_layout(layout).lines()
        return [
            *(self.paint(line, BOLD) for line in textwrap.wrap(self.view.title(), WIDTH)),
            "",
            *(picture or [f"    an empty table: seat {self.view.log.leader} leads"]),
            "",
            *textwrap.wrap(self.view.ends(), WIDTH, initial_indent="ends      ", subsequent_indent=" " * 10),
            f"boneyard  {self.view.boneyard()}",
            *(line for seat in range(self.game.num_players) for line in self.hand(seat)),
            *self.moves(),
            *self.outcome(),
        ]

    def hand(self, seat: int) -> list[str]:
        view = self.view
        tiles, turn = view.hand(seat), view.on_turn(seat)
        backs = f"{len(tiles)} {'tile' if len(tiles) == 1 else 'tiles'} {'#' * len(tiles)}" if tiles else "no tiles"
        shown = " ".join(tile_text(tile) for tile in tiles) if tiles and view.may_see(seat) else backs
        notes = view.notes(seat)
        first = f"{'>' if turn else ' '} seat {seat}  {self.score_text(seat)}  "
        more = f"  ({'; '.join(notes)})" if notes else ""
        lines = textwrap.wrap(shown + more, WIDTH, initial_indent=first, subsequent_indent=" " * len(first), break_on_hyphens=False)
        return [self.paint(line, GREEN if turn else CYAN) for line in lines] if turn or seat == view.seat else lines

    def score_text(self, seat: int) -> str:
        """The score, in columns that are as wide for every seat."""
        scores = self.game.scores()
        text = f"{scores[seat]:>{max(3, *(len(str(score)) for score in scores))}}"
        lucky = self.view.lucky_score(seat)
        return f"{text} ({lucky})" if lucky else text

    def moves(self) -> list[str]:
        """The last moves of the round."""
        count = len(self.view.log.events)
        first = max(0, count - LAST_MOVES)
        return [f"{'' if number > first else 'moves':8}  {number:>2}. {self.view.move(number)}" for number in range(first, count)]

    def outcome(self) -> list[str]:
        """How the last finished round ended, and who won the game."""
        lines = textwrap.wrap(self.view.round_end(), WIDTH)
        return [*lines, self.paint(self.view.game_end(), BOLD)] if self.game.over else lines
