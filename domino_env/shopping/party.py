"""One game with its log: what was said, by whom, and whether it was right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from domino_env.errors import IllegalMoveError, OptionsError
from domino_env.notation.state_bytes import open_bytes, seal
from domino_env.shopping import kernels
from domino_env.shopping.encoding import ShoppingEncoding
from domino_env.shopping.game import new_games
from domino_env.shopping.rules import ShoppingRules

__all__ = ["Party", "Said", "Start"]

_FIRST = np.zeros(1, np.int64)


class Said(NamedTuple):
    """One word said."""

    seat: int
    letter: int
    word: int
    """Its number; ``num_words``: gave up."""
    new: bool
    right: bool


class Start(NamedTuple):
    """How a game was set up; the defaults are those of a game that was not."""

    words: list[int] = []
    speaker: int = 0
    out: list[int] = []
    theme: int = -1
    """Number of the theme; -1: as the rules have it."""


def check_start(rules: ShoppingRules, first: Start) -> None:
    """``OptionsError`` for a start that no game of these rules has; its words are looked at by ``check_words`` too."""
    players = range(rules.num_players)
    fine = first.speaker in players and all(seat in players for seat in first.out) and len(set(first.out)) == len(first.out)
    fine = fine and len(first.out) <= rules.num_players - 2 and first.speaker not in first.out
    fine = fine and len(first.words) < rules.num_letters and all(word in range(rules.num_words) for word in first.words)
    if not fine or first.theme not in range(-1, len(rules.themes)) or (first.theme >= 0 and rules.theme != "drawn"):
        raise OptionsError(f"state: a game set up as {first}")


def check_words(rules: ShoppingRules, first: Start, theme: int) -> None:
    """``OptionsError`` for a first list that is not of the game's theme (its number, or -1)."""
    if theme >= 0 and any(word // rules.words_per_letter != theme for word in first.words):
        raise OptionsError(f"state: a game of the theme {rules.themes[theme]} set up as {first}")


class Party:
    """A game of one row, ``games`` (1,). It is started by ``start``."""

    def __init__(self, rules: ShoppingRules) -> None:
        self.rules = rules
        self.encoding = ShoppingEncoding(rules)
        self.games = new_games(1)
        self.seed: int | None = None
        """The seed that leads to this game by itself; None where the generator had been used before."""
        self.origin = 0
        """The seed of the generator."""
        self.started = False
        self.begun = (0, 0)
        """Games begun and words said in the row before this game."""
        self.first = Start()
        self.said: list[Said] = []
        self.reward = np.zeros(rules.num_players)
        """(P,) float64: of the word said last."""

    def start(self, seed: int) -> None:
        """Begin a game from a seed."""
        kernels.seed_rows(self.games, _FIRST, np.array([seed], np.uint64))
        self.origin = seed
        self.start_again()
        self.seed = seed

    def start_again(self) -> None:
        """Begin another game where the generator stands."""
        self.begun = (int(self.games["deals"][0]), int(self.games["moves"][0]))
        self._set_up(Start())
        self.started = True
        self.seed = None

    def set_up(self, first: Start) -> None:
        """Begin the game just started anew, in another way. The values have been checked."""
        self.games["deals"] = self.begun[0]
        self._set_up(first)

    def _set_up(self, first: Start) -> None:
        everybody = (1 << self.rules.num_players) - 1
        mask = everybody & ~sum(1 << seat for seat in first.out)
        words = np.array(first.words, np.int64)
        kernels.start_one(self.games, 0, self.rules.packed, words, first.speaker, mask, first.theme)
        self.first = first
        self.said = []
        self.reward[:] = 0.0

    def say(self, action: int, drawn: int = -1) -> Said:
        """The seat on turn says a word or gives up. ``drawn``: the new word, where new words are drawn; -1: from the generator.

        Raises ``IllegalMoveError`` outside the action space and after the end; the game stays as it was.
        """
        if self.over:
            raise IllegalMoveError(f"action {action}, but the game is over")
        if not 0 <= action < self.rules.num_actions:
            raise IllegalMoveError(f"action {action}, but action ids are 0 to {self.rules.num_actions - 1}")
        kernels.say_one(self.games, 0, self.rules.packed, action, drawn, self.reward)
        row = self.games[0]
        heard = [int(row[name]) for name in ("heard_seat", "heard_letter", "heard_word", "heard_new", "heard_right")]
        said = Said(heard[0], heard[1], heard[2], bool(heard[3]), bool(heard[4]))
        self.said.append(said)
        return said

    @property
    def over(self) -> bool:
        """Whether somebody has won."""
        return bool(self.games["winners"][0] != 0)

    @property
    def seat(self) -> int:
        """Seat on turn; after the end, that which spoke last."""
        return int(self.games["seat"][0])

    @property
    def due(self) -> int:
        """Letter that is due, from 0."""
        return int(self.games["position"][0])

    @property
    def theme(self) -> str | None:
        """The theme of this game."""
        number = int(self.games["theme"][0])
        return None if number < 0 else self.rules.themes[number]

    def seats_in(self) -> list[int]:
        """Seats that are not out."""
        return self._seats("in_game")

    def winners(self) -> list[int]:
        """Seats that won; empty until the game is over."""
        return self._seats("winners")

    def _seats(self, name: str) -> list[int]:
        mask = int(self.games[name][0])
        return [seat for seat in range(self.rules.num_players) if mask >> seat & 1]

    def words(self) -> list[str]:
        """The list as it stands."""
        numbers = self.games["words"][0, : int(self.games["length"][0])].tolist()
        return [self.rules.words(letter)[number] for letter, number in enumerate(numbers)]

    def observe(self, seat: int) -> npt.NDArray[np.float32]:
        """(D,) float32: what a seat observes now."""
        out = np.empty(self.encoding.size, np.float32)
        kernels.observe(self.games, 0, self.rules.packed, seat, out)
        return out

    # ------------------------------------------------------------------------------------------------- copies

    def copy(self) -> Party:
        """The same game, generator included, that can be played on by itself."""
        other = Party(self.rules)
        other.__dict__.update(self.__dict__)
        other.games, other.said, other.reward = self.games.copy(), list(self.said), self.reward.copy()
        return other

    def past(self) -> Iterator[Party]:
        """This game again, from its start to where it stands now: one object, handed out before every word and at the end."""
        other = Party(self.rules)
        other.start(self.origin)
        other.games["deals"], other.games["moves"] = self.begun
        other.start_again()
        other.set_up(self.first)
        other.seed = self.seed
        for said in self.said:
            yield other
            other.say(said.word, said.word if said.new else -1)
        yield other

    def reseed(self, seed: int) -> None:
        """Draw from another generator from now on; all that has been drawn stays."""
        self.first = self.first._replace(theme=int(self.games["theme"][0]) if self.rules.theme == "drawn" else -1)
        deals, moves = int(self.games["deals"][0]), int(self.games["moves"][0])
        kernels.seed_rows(self.games, _FIRST, np.array([seed], np.uint64))
        self.games["deals"], self.games["moves"] = deals, moves
        self.seed, self.origin = None, seed

    def to_bytes(self) -> bytes:
        """The game as bytes that hold no code: how it began and what was said."""
        head = {
            "rules": self.rules.to_json(),
            "seed": self.seed,
            "origin": self.origin,
            "begun": self.begun,
            "first": self.first,
            "said": self.said,
        }
        return seal(head, self.games.tobytes())

    def from_bytes(self, data: object) -> None:
        """Become the game of ``to_bytes``. ``OptionsError``, and nothing changes, for other bytes or those of other rules."""
        head, body = open_bytes(data)
        if head.get("rules") != self.rules.to_json():
            raise OptionsError(f"state: rules={head.get('rules')!r}, but this game has {self.rules.to_json()!r}")
        other = Party(self.rules)
        try:
            other.seed, other.origin, other.first = head["seed"], head["origin"], Start(*head["first"])
            deals, moves = head["begun"]
            other.begun, other.said = (deals, moves), [Said(*said) for said in head["said"]]
            check_start(self.rules, other.first)
            *_, again = other.past()
        except (KeyError, TypeError, ValueError, OverflowError, IndexError) as error:
            raise OptionsError(f"state: these bytes are damaged: {error}") from None
        if again.games.tobytes() != body or again.said != other.said or other.seed not in (None, other.origin):
            raise OptionsError("state: these bytes are damaged: what was said leads to another game")
        check_words(self.rules, other.first, int(again.games["theme"][0]))
        self.__dict__.update(again.__dict__)
