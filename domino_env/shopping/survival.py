"""How far a policy recites: the longest list that it says whole before it is out, among players that remember everything.

The others never fail, so the list grows by a word a turn, and what ends the learner's game is its own memory or the end of the
alphabet. New words are drawn, or the table could agree on them. What can be reached without a memory is worked out exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from domino_env.envs.options import check_count, check_seed
from domino_env.errors import OptionsError
from domino_env.shopping.learner import ShoppingGames
from domino_env.shopping.loading import SpeakerSpec, load_speaker, speaker_name
from domino_env.shopping.policies import Listening
from domino_env.shopping.rules import ShoppingRules
from domino_env.shopping.table import answers_of

__all__ = ["Survival", "expected_recited", "measure_survival", "memoryless_ceiling"]

_NORMAL_95 = 1.959964


@dataclass(frozen=True)
class Survival:
    """What was measured. Lengths are numbers of words."""

    policy: str
    games: int
    recited: float
    """Mean of the longest list that the policy said whole in a game."""
    low: float
    """Ends of the 95 % interval of that mean (normal approximation)."""
    high: float
    longest: int
    """The longest list that it said whole in any game."""
    survived: float
    """Share of the games in which it was still in when the alphabet ran out."""

    def to_json(self) -> dict[str, Any]:
        """All fields."""
        return asdict(self)


def measure_survival(
    policy: SpeakerSpec,
    rules: ShoppingRules,
    games: int = 1000,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Survival:
    """Play ``games`` games, each with the policy in one seat, drawn by lot, and perfect memories in the others.

    Game g has the seed ``seed + g``, so all policies meet the same words. Raises ``OptionsError`` for rules under which new words are
    chosen, ``PolicyError`` and ``CheckpointError`` for a policy that cannot play.
    """
    if rules.new_words != "drawn":
        raise OptionsError(f"new_words={rules.new_words!r}, but memory is measured with 'drawn': chosen words may follow a convention")
    games = check_count("games", games)
    speaker = load_speaker(policy, rules)
    table = ShoppingGames(games, "perfect", **rules.to_json())
    table.reset(np.array([(check_seed(seed) + g) % 2**64 for g in range(games)], np.uint64))
    recited, survived = np.zeros(games, np.int64), np.zeros(games, np.bool_)
    open_rows = np.arange(games)
    actions = np.zeros(games, np.int64)
    while len(open_rows):
        listening = Listening.of_games(table.rows, open_rows, table.learner[open_rows], rules, table.encoding)
        actions[open_rows] = np.where(listening.on_turn, answers_of(speaker, listening), 0)
        table.step(actions)
        ended = open_rows[table.done[open_rows]]
        recited[ended] = table.final_recited[ended]

        survived[ended] = [table.result(row)["seat"] in table.result(row)["winners"] for row in ended.tolist()]
        open_rows = open_rows[~table.done[open_rows]]
        if progress is not None and len(ended):
            progress(games - len(open_rows), games)
    mean, spread = float(recited.mean()), float(recited.std(ddof=1) / np.sqrt(games)) if games > 1 else 0.0
    return Survival(
        policy=speaker_name(speaker),
        games=games,
        recited=mean,
        low=mean - _NORMAL_95 * spread,
        high=mean + _NORMAL_95 * spread,
        longest=int(recited.max()),
        survived=float(survived.mean()),
    )


def memoryless_ceiling(rules: ShoppingRules) -> Fraction:
    """The most words that any policy without a memory recites on average, as ``measure_survival`` counts them.

    On its turn such a policy hears the last word of the list w(L) first, then each word that it has said right itself, so what it
    says is f0(w(L)), f1(w(1)), f2(w(2)), ... Whole lists that it says are closed chains w(1) = f0(w(L)), w(2) = f1(w(1)), ..., which are at
    most W of the W^L lists, W being ``words_per_letter``: words are drawn uniformly and independently, so it says a list of L words whole
    with probability W^(1 - L) at most. Who says at every letter the number of the word just heard comes that far with all lists of a
    game at once, for the lists of later turns begin with those of earlier ones. Chance in the answers is a mixture of such
    policies, which may differ from turn to turn.
    """
    count = rules.words_per_letter
    return _mean_over_seats(rules, lambda length: Fraction(1, count ** max(length - 1, 0)))


def expected_recited(rules: ShoppingRules, word_chance: Fraction, new_word_chance: Fraction = Fraction(1)) -> Fraction:
    """Mean of the longest list said whole, where each word of the list is right with ``word_chance``, independently at each turn.

    ``new_word_chance``: that a new word is added, not given up.
    """

    def reaches(length: int) -> Fraction:
        turns = range(length, -1, -rules.num_players)
        return word_chance ** sum(turns) * new_word_chance ** (len(turns) - 1)

    return _mean_over_seats(rules, reaches)


def _mean_over_seats(rules: ShoppingRules, reaches: Callable[[int], Fraction]) -> Fraction:
    """Mean of the longest list said whole, where a player says one of so many words whole, and all before it, with chance ``reaches``.

    The seat s meets lists of s, s + P, s + 2P, ... words.
    """
    total = Fraction(0)
    for seat in range(rules.num_players):
        before = 0
        for length in range(seat, rules.num_letters, rules.num_players):
            total += reaches(length) * (length - before)
            before = length
    return total / rules.num_players
