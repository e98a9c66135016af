"""The game itself: its state, one row of a structured array, and what saying a word does to it (RULES.md 3.10)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from domino_env.engine._jit import jit
from domino_env.engine.rng import below, mix64
from domino_env.shopping.rules import DRAWN

__all__ = ["GAME", "NOBODY", "Games", "is_in", "new_games", "say", "start_game", "write_rewards"]

Games = npt.NDArray[Any]

NOBODY = -1
_WORD_STREAM = np.uint64(0xC2B2AE3D27D4EB4F)
_THEME_STREAM = np.uint64(0x9FB21C651E98DF25)

GAME = np.dtype(
    [
        ("key", np.uint64),  # of its generator
        ("deals", np.int64),  # games begun in this row
        ("moves", np.int64),  # words said in them all, giving up included
        ("words", np.int16, (26,)),  # the list: number of the word of each letter; -1 from `length` on
        ("length", np.int16),  # words in the list
        ("position", np.int16),  # letter that is due: right words of this turn so far
        ("seat", np.int16),  # on turn
        ("in_game", np.int16),  # bit for each seat that is not out
        ("winners", np.int16),  # bit for each winner; 0 until the game is over
        ("theme", np.int16),  # number of the theme, or -1
        # what is heard now
        ("heard_seat", np.int16),  # who spoke; NOBODY before the first word
        ("heard_letter", np.int16),
        ("heard_word", np.int16),  # its number; that after the last word: gave up
        ("heard_new", np.int16),  # 1: it was to be a new word
        ("heard_right", np.int16),  # 1: the speaker stays in the game
    ]
)
"""One game. Its fields leave no gap, so equal games are equal bytes."""


def new_games(count: int) -> Games:
    """``count`` rows, not started."""
    return np.zeros(count, GAME)


@jit
def is_in(game: Any, seat: Any) -> Any:
    """Whether the seat is still in the game."""
    return (np.int64(game.in_game) >> np.int64(seat)) & 1 == 1


@jit
def start_game(game: Any, rules: Any) -> None:
    """Begin a new game with the generator where it stands: an empty list, all in, seat 0 speaks first."""
    game.words[:] = -1
    game.length = 0
    game.position = 0
    game.seat = 0
    game.in_game = (1 << rules.num_players) - 1
    game.winners = 0
    game.theme = rules.theme
    if rules.theme == DRAWN:
        game.theme = below(mix64(game.key ^ _THEME_STREAM, game.deals), rules.num_themes)
    game.heard_seat = NOBODY
    game.heard_letter = 0
    game.heard_word = 0
    game.heard_new = 0
    game.heard_right = 0
    game.deals += 1


@jit
def say(game: Any, rules: Any, action: Any, drawn: Any) -> None:
    """The seat on turn says the word ``action`` of the letter that is due, or gives up (``num_words``).

    Where new words are drawn, a word of the theme names the draw; ``drawn`` is then the word, or -1: from the game's generator.
    """
    letter = np.int64(game.position)
    new = letter == game.length
    word = np.int64(action)
    right = word < rules.num_words and (_belongs(game, rules, word) if new else word == game.words[letter])
    if new and right and rules.new_words_drawn:
        word = np.int64(drawn) if drawn >= 0 else _draw_word(game, rules, letter)
    game.heard_seat = game.seat
    game.heard_letter = letter
    game.heard_word = word
    game.heard_new = new
    game.heard_right = right
    game.moves += 1
    if not right:
        _put_out(game, rules)
    elif new:
        game.words[letter] = word
        game.length += 1
        if game.length == rules.num_letters:
            game.winners = game.in_game  # the alphabet has run out: all who are left
        else:
            _next_turn(game, rules)
    else:
        game.position += 1


@jit
def _draw_word(game: Any, rules: Any, letter: Any) -> Any:
    stream = mix64(game.key ^ _WORD_STREAM, game.deals)
    return max(np.int64(game.theme), 0) * rules.words_per_letter + below(mix64(stream, letter), rules.words_per_letter)


@jit
def _belongs(game: Any, rules: Any, word: Any) -> Any:
    """Whether a new word is of the game's theme."""
    return rules.num_themes == 0 or word // rules.words_per_letter == game.theme


@jit
def _put_out(game: Any, rules: Any) -> None:
    """The speaker is out; the list stays as it is, and the last player left wins."""
    left = np.int64(game.in_game) & ~(np.int64(1) << np.int64(game.seat))
    game.in_game = left
    if left & (left - 1) == 0:
        game.winners = left
    else:
        _next_turn(game, rules)


@jit
def _next_turn(game: Any, rules: Any) -> None:
    """The next seat to the left that is in the game says the list from its first word."""
    seat = (np.int64(game.seat) + 1) % rules.num_players
    while not is_in(game, seat):
        seat = (seat + 1) % rules.num_players
    game.seat = seat
    game.position = 0


@jit
def write_rewards(game: Any, rules: Any, out: Any) -> None:
    """Write (num_players,) rewards for the word just said: -1 to whom it put out, at the end +1 shared by the winners."""
    winners = np.int64(game.winners)
    count = np.int64(0)
    for seat in range(rules.num_players):
        count += (winners >> seat) & 1
    for seat in range(rules.num_players):
        out[seat] = 1.0 / count if (winners >> seat) & 1 else 0.0
    speaker = game.heard_seat
    if not game.heard_right:
        out[speaker] = -1.0
    elif not game.heard_new:
        out[speaker] += rules.word_reward
