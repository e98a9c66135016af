"""Moves and ends of rounds in words that can be read aloud."""

from __future__ import annotations

from domino_env.engine.state import GAME_OVER
from domino_env.notation.game import END_NAMES, PlayedGame
from domino_env.notation.moves import move_text, tile_text
from domino_env.rendering.onlooker import seats_text

__all__ = ["end_words", "move_words", "out_seat", "text_words"]

_PLACES = {"left": "on the left", "right": "on the right", "up": "above", "down": "below"}
_ENDS = {"out": "goes out", "blocked": "the round is blocked", "exhausted": "nothing is left to draw", "target": "the target is reached"}


def text_words(text: str) -> str:
    """``"4-4 on the left, lengthwise"`` for ``"4-4@left:lengthwise"``."""
    move, _, lie = text.partition(":")
    tile, _, arm = move.partition("@")
    return tile + (f" {_PLACES[arm]}" if arm else "") + (f", {lie}" if lie else "")


def move_words(game: PlayedGame, number: int, shown: bool) -> tuple[str, str]:
    """Move ``number`` of the open round as text and in words, without the seat; the tile that was drawn only where it may be ``shown``."""
    event = game.rounds[-1].events[number]
    text = move_text(game.packed, event.action, number == 0)
    if text == "pass":
        return text, "passes"
    if text == "draw":
        drawn = f" {tile_text(event.tile)}" if shown and event.tile >= 0 else ""
        return text + drawn, f"draws{drawn or ' a tile'}"
    return text, f"{'leads' if number == 0 else 'plays'} {text_words(text)}"


def out_seat(game: PlayedGame) -> int:
    """Who went out in a round that ended so: the first one, where the round goes on after that."""
    return int(game.row.first_out) if game.rules.play_on else game.rounds[-1].events[-1].seat


def end_words(game: PlayedGame) -> str:
    """How the round that is over ended, what that brought, and who won where the game is over too."""
    log = game.rounds[-1]
    end = END_NAMES[log.end]
    how = f"Seat {out_seat(game)} {_ENDS[end]}" if end == "out" else _ENDS[end].capitalize()
    bonus = [f"seat {seat} {points:+d}" for seat, points in enumerate(log.bonus) if points]
    text = f"{how}{': ' + ', '.join(bonus) if bonus else ''}."
    if game.phase == GAME_OVER:
        winners = game.winners()
        text += (
            f" {seats_text(winners).capitalize()} {'wins' if len(winners) == 1 else 'win'} the {'round' if game.one_round else 'match'}."
        )
    return text
