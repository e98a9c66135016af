"""What the person at the table is told: one position as JSON. Nothing else of a game is ever sent while it is played."""

from __future__ import annotations

from typing import Any

from domino_env.engine.state import GAME_OVER, PLAYING
from domino_env.notation.game import END_NAMES, PlayedGame, RoundLog
from domino_env.notation.moves import move_text, tile_text
from domino_env.pages.words import out_seat, text_words
from domino_env.rendering.onlooker import Onlooker
from domino_env.rendering.svg import table_svg
from domino_env.tiles import tiles_in

__all__ = ["event_words", "frame", "round_sheet", "seat_name"]

Json = dict[str, Any]
_YOURS = {"leads": "lead", "plays": "play", "draws": "draw", "passes": "pass"}


def frame(game: PlayedGame, seat: int) -> Json:
    """The position as ``seat`` sees it. While a round is played other hands are numbers of tiles; when it is over all lie face up."""
    view = Onlooker(game, seat, False)
    count = len(view.log.events)
    playing = game.phase == PLAYING
    return {
        "round": len(game.rounds) - 1,
        "count": count,
        "event": event_words(game, view.log, count - 1, seat) if count else None,
        "table": table_svg(game, symbols=False),
        "ends": view.ends(),
        "boneyard": view.boneyard(),
        "leader": view.log.leader,
        "turn": game.seat if playing else None,
        "phase": "playing" if playing else "over" if game.phase == GAME_OVER else "between",
        "seats": [_seat(view, other, open_hand=other == seat or not playing) for other in range(game.num_players)],
        "moves": _moves(game) if playing and game.seat == seat else [],
        "end": None if playing else _end(game, seat),
        "winners": game.winners(),
        "ended": sum(log.end > 0 for log in game.rounds),
    }


def event_words(game: PlayedGame, log: RoundLog, number: int, seat: int) -> Json:
    """One move in words; the tile that was drawn only where ``seat`` drew it."""
    event = log.events[number]
    mine = event.seat == seat
    text = move_text(game.packed, event.action, number == 0)
    if text == "draw":
        verb, what = "draws", f" {tile_text(event.tile)}" if mine and event.tile >= 0 else " a tile"
    elif text == "pass":
        verb, what = "passes", ""
    else:
        verb, what = "leads" if number == 0 else "plays", f" {text_words(text)}"
    words = f"{seat_name(event.seat, seat)} {_YOURS[verb] if mine else verb}{what}"
    return {"seat": event.seat, "words": words, "points": event.points}


def round_sheet(game: PlayedGame) -> list[Json]:
    """The rounds that are over: how each ended, what that brought, and the scores."""
    ended = [log for log in game.rounds if log.end]
    return [{"end": END_NAMES[log.end], "gains": _gains(log), "scores": list(log.scores)} for log in ended]


def seat_name(other: int, seat: int) -> str:
    """``You`` or ``Seat 1``."""
    return "You" if other == seat else f"Seat {other}"


def _seat(view: Onlooker, seat: int, open_hand: bool) -> Json:
    tiles = tiles_in(int(view.row.hands[seat]))
    return {
        "score": view.game.scores()[seat],
        "count": len(tiles),
        "tiles": [tile_text(tile) for tile in tiles] if open_hand else None,
        "lucky": view.lucky_score(seat),
    }


def _moves(game: PlayedGame) -> list[Json]:
    """The person's legal moves, and the points that each makes at once; of a draw nothing is told."""
    out = []
    for action in game.legal_actions():
        text = game.move_text(action)
        move, _, lie = text.partition(":")
        tile, _, arm = move.partition("@")
        place = {} if text in ("draw", "pass") else {"tile": tile, "arm": arm or None, "lengthwise": bool(lie), "words": text_words(text)}
        out.append({"move": text, "points": game.points_of(action) or 0, **place})
    return out


def _gains(log: RoundLog) -> list[int]:
    return [after - before for before, after in zip(log.start_scores, log.scores, strict=True)]


def _end(game: PlayedGame, seat: int) -> Json:
    """How the round ended, what the end brought, and who won where the game is over."""
    log = game.rounds[-1]
    end = END_NAMES[log.end]
    how = {
        "out": _out(game, seat),
        "blocked": "Nobody can play: the round is blocked.",
        "exhausted": "The last tile that may be drawn was drawn.",
        "target": "The target is reached.",
    }[end]
    bonus = [f"{seat_name(other, seat)} {points:+d}" for other, points in enumerate(log.bonus) if points]
    text = f"{how} {', '.join(bonus)}." if bonus else f"{how} The end brings nothing."
    return {"words": text, "won": _won(game, seat)}


def _out(game: PlayedGame, seat: int) -> str:
    out = out_seat(game)
    if game.rules.play_on:
        return f"Nobody can play any more; {seat_name(out, seat).lower()} went out first."
    return f"{seat_name(out, seat)} {'go' if out == seat else 'goes'} out."


def _won(game: PlayedGame, seat: int) -> str:
    if not game.over:
        return ""
    winners = game.winners()
    what = "round" if game.one_round else "match"
    if len(winners) == game.num_players:
        return f"All win the {what} together."
    names = [seat_name(other, seat) for other in sorted(winners, key=lambda other: other != seat)]
    names[1:] = [name.lower() for name in names[1:]]
    joined = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{joined} {'wins' if len(names) == 1 and winners[0] != seat else 'win'} the {what}."
