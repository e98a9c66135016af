"""Speakers at the table of one game: everybody hears every word, whoever is on turn answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from domino_env.errors import PolicyError
from domino_env.shopping.loading import Speaker, SpeakerSpec, load_speaker, speaker_name
from domino_env.shopping.party import Party
from domino_env.shopping.policies import Listening
from domino_env.shopping.rules import ShoppingRules

__all__ = ["Table", "answer_of", "answers_of"]


def answers_of(speaker: Speaker, batch: Listening) -> npt.NDArray[np.int64]:
    """The speaker's answers, (K,) int64. ``PolicyError`` for those of another shape or kind, or outside the action space on turn."""
    said = speaker.act(batch)
    try:
        given = np.asarray(said)
    except ValueError as error:
        raise PolicyError(f"{speaker_name(speaker)}: an answer that is no array ({error})") from None
    if given.shape != (len(batch),) or given.dtype.kind not in "iu":
        got = f"answer of shape {given.shape} and dtype {given.dtype}"
        raise PolicyError(f"{speaker_name(speaker)}: {got}, but it is {len(batch)} whole numbers, one for each listener")
    wrong = np.flatnonzero(batch.on_turn & ((given < 0) | (given >= batch.rules.num_actions)))
    if len(wrong):
        k = int(wrong[0])
        most = batch.rules.num_actions - 1
        raise PolicyError(f"{speaker_name(speaker)}: action {given[k]} in game {batch.rows[k]}, but action ids are 0 to {most}")
    return given.astype(np.int64, copy=False)


def answer_of(speaker: Speaker, party: Party) -> int:
    """What the seat on turn would say if ``speaker`` had sat there from the beginning of this game."""
    seat = party.seat
    answer = -1
    for then in party.past():
        answer = _ask(speaker, then, [seat])[0]
    return answer


def _ask(speaker: Speaker, party: Party, seats: Sequence[int]) -> list[int]:
    rows = np.zeros(len(seats), np.int64)
    listening = Listening.of_games(party.games, rows, np.array(seats, np.int64), party.rules, party.encoding)
    return [int(answer) for answer in answers_of(speaker, listening)]


class Table:
    """One game, started from ``seed``, and who sits in its seats: a spec of ``load_speaker``, or None for a person.

    Raises ``DominoError`` for what cannot be used.
    """

    def __init__(self, rules: ShoppingRules, specs: Sequence[SpeakerSpec | None], seed: int) -> None:
        if len(specs) != rules.num_players:
            raise PolicyError(f"{len(specs)} policies, but {rules.num_players} players")
        self.party = Party(rules)
        # a speaker of its own for each seat, so that a memory is one player's
        self.speakers = [None if spec is None else load_speaker(spec, rules) for spec in specs]
        self.party.start(seed)

    def listen(self) -> int:
        """Every speaker hears what was said last; returns what the one on turn says to it, -1 where that is a person."""
        answer = -1
        for seat in self.party.seats_in():
            speaker = self.speakers[seat]
            if speaker is not None:
                heard = _ask(speaker, self.party, [seat])[0]
                answer = heard if seat == self.party.seat else answer
        return answer

    def play(self) -> Party:
        """Play to the end, all seats held by speakers."""
        while not self.party.over:
            self.party.say(self.listen())
        return self.party
