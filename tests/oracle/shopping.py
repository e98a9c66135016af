"""The memory game on plain lists of plain words (RULES.md 3.10), with nothing of the engine but the words it is given."""

from __future__ import annotations

from collections.abc import Sequence

GIVE_UP = None


class OracleParty:
    """One party: ``say`` a word (or ``GIVE_UP``), read the attributes after each.

    ``fitting`` holds, letter by letter, the words that may be new ones: with a theme only the theme's (RULES.md 3.10, "harder form").
    A party may be joined in the middle: ``bought`` was said, the seats ``out`` are out, ``first`` speaks.
    """

    def __init__(
        self,
        num_players: int,
        fitting: list[list[str]],
        drawn: bool = False,
        word_reward: float = 0.0,
        first: int = 0,
        bought: Sequence[str] = (),
        out: Sequence[int] = (),
    ) -> None:
        """A party nobody has won yet (RULES.md 3.10)."""
        self.fitting, self.drawn, self.word_reward = fitting, drawn, word_reward
        self.everybody = list(range(num_players))
        self.still_in = [seat for seat in self.everybody if seat not in out]
        self.turn: int | None = first
        self.bought = list(bought)
        self.recited: list[str] = []
        self.winners: list[int] = []
        self.right = False
        self.was_new = False
        self.rewards = [0.0] * num_players

    @property
    def over(self) -> bool:
        """Somebody has won."""
        return bool(self.winners)

    @property
    def due(self) -> int:
        """The letter that must be said now, 0 for the first: each word of the list has its own letter, in order."""
        return len(self.recited)

    def say(self, word: str | None, drawn: str | None = None) -> None:
        """The seat on turn says ``word``; where a new word is drawn, ``drawn`` is what chance gave.

        Reading: a new word that is drawn takes a step too. Any word of the theme said then stands for "I draw", and what chance gave is
        what is heard; a word of another theme, or giving up, puts the speaker out there as well.
        """
        if self.turn is None:
            raise ValueError("the party is over")
        self.rewards = [0.0] * len(self.everybody)
        seat, letter = self.turn, self.due
        self.was_new = letter == len(self.bought)
        if self.was_new and self.drawn and word in self.fitting[letter]:
            if drawn not in self.fitting[letter]:
                raise ValueError(f"{drawn!r} cannot be drawn: {self.fitting[letter]}")
            word = drawn
        self.right = word in self.fitting[letter] if self.was_new else word == self.bought[letter]
        if word is GIVE_UP or not self.right:
            self._put_out(seat)
            return
        self.recited.append(word)
        if self.was_new:
            self.bought.append(word)
            self._next_turn(seat)
        else:
            self.rewards[seat] = self.word_reward  # Reading: for what was remembered, not for the new word

    def _put_out(self, seat: int) -> None:
        """Out of the game at once; the list stays as it is (RULES.md 3.10)."""
        self.rewards[seat] = -1.0
        self.still_in.remove(seat)
        self._next_turn(seat)

    def _next_turn(self, seat: int) -> None:
        """To the left, to somebody who is in and starts from the first letter; or the party is over (RULES.md 3.10)."""
        self.recited = []
        if len(self.still_in) == 1 or len(self.bought) == len(self.fitting):
            self.winners = list(self.still_in)
            for winner in self.winners:
                self.rewards[winner] += 1.0 / len(self.winners)
            self.turn = None
            return
        seats = self.everybody
        self.turn = next(after for after in seats[seat + 1 :] + seats[:seat] if after in self.still_in)
