"""Small positions for tests: hands, layouts and plays written as text."""

from __future__ import annotations

from domino_env.rules import Rules
from domino_env.variants import VARIANTS
from tests.oracle import Layout, OracleGame

Tile = tuple[int, int]


def tiles(text: str) -> list[Tile]:
    """``"0-1 2-2"`` as pairs."""
    return [(int(word[0]), int(word[2])) for word in text.split()]


def table(plays: str, with_spinner: bool = False) -> Layout:
    """A layout from ``"5-5 0-5@left 1-1@right:lengthwise"``."""
    layout = Layout(with_spinner)
    for play in plays.split():
        where, _, how = play.partition(":")
        text, _, arm = where.partition("@")
        layout.put((int(text[0]), int(text[2])), arm or None, how == "lengthwise")
    return layout


def begin(rules: Rules | str, hands: list[str], boneyard: str = "", episode: str = "round", leader: int | None = None) -> OracleGame:
    """A game with these hands; its leader is found where the rules say who it is."""
    game = OracleGame(VARIANTS[rules] if isinstance(rules, str) else rules, len(hands), episode)
    if leader is None and game.rules.opening == "any":
        leader = 0
    game.start([tiles(hand) for hand in hands], tiles(boneyard), leader=leader)
    return game


def play(game: OracleGame, moves: str) -> list[int]:
    """Play the moves; the points of each."""
    for move in moves.split():
        game.play(move)
    return [event["points"] for event in game.events[-len(moves.split()) :]]


def blocked(rules: Rules | str, hands: list[str]) -> OracleGame:
    """Seat 0 leads 0-0, nobody holds another blank or may draw: the round is over at once, with these hands left."""
    game = begin(rules, ["0-0 " + hands[0], *hands[1:]])
    game.play("0-0")
    return game
