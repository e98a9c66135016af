"""Policies at a table of one game, and what is printed of their moves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from domino_env.encoding import Encoding
from domino_env.engine.state import PLAYING
from domino_env.envs.options import check_seed, entropy_seed, is_one_round
from domino_env.errors import OptionsError
from domino_env.notation.game import PlayedGame
from domino_env.policies import Batch, Policy, decide, load_policy, reset_policy
from domino_env.rendering.ansi import event_text, round_end_text
from domino_env.rules import Rules

__all__ = ["Table"]


class Table:
    """One game, started, and who sits in its seats: a policy, or None for a person.

    ``specs``: one for each seat, as ``load_policy`` takes them. Raises ``DominoError`` for what cannot be used.
    """

    def __init__(self, rules: Rules, specs: Sequence[str | None], episode: str, seed: int | None) -> None:
        self.game = PlayedGame(rules, len(specs), is_one_round(episode))
        self.policies = [None if spec is None else load_policy(spec, rules, len(specs)) for spec in specs]
        self.encoding = Encoding(rules, len(specs))
        self.game.start(check_seed(entropy_seed() if seed is None else seed))
        for policy in self.policies:
            if policy is not None:
                reset_policy(policy, np.zeros(1, np.int64))

    def decide(self, policy: Policy) -> int:
        """The move of the policy on turn; it is not asked where it has no choice."""
        game = self.game
        if game.num_legal == 1:
            return game.legal_actions()[0]
        return int(decide(policy, Batch.of_game(game, self.encoding))[0])

    def move(self, action: int, shown: bool) -> list[str]:
        """Make a move; returns its line, and that of the end of the round. A tile drawn is named only where ``shown``."""
        game = self.game
        number = len(game.rounds) - 1
        log = game.rounds[-1]
        game.make_move(action)
        lines = [f"{len(log.events) - 1:>3}. {event_text(game, log, len(log.events) - 1, shown)}"]
        if game.phase != PLAYING:
            lines.append(f"round {number} ended: {round_end_text(log)}")
        return lines


def seat_specs(rules: Rules, against: Sequence[str], num_players: int | None, seat: int) -> list[str | None]:
    """Who sits where in a game with one person: ``against`` in the other seats from the person's left on, a single one in all of them."""
    fewest = 4 if rules.sides else min(rules.players)
    seats = rules.check_players(max(len(against) + 1, fewest) if num_players is None else num_players)
    return seats_of(against, seats, seat)


def seats_of(against: Sequence[str], seats: int, seat: int) -> list[str | None]:
    """As ``seat_specs``, for so many ``seats``."""
    if not 0 <= seat < seats:
        raise OptionsError(f"seat={seat}, but seats are 0 to {seats - 1}")
    others = list(against) * (seats - 1) if len(against) == 1 else list(against)
    if len(others) != seats - 1:
        raise OptionsError(f"{len(others)} opponents, but {seats} players need {seats - 1}, or one spec for all of them")
    specs: list[str | None] = [None] * seats
    for offset, spec in enumerate(others):
        specs[(seat + 1 + offset) % seats] = spec
    return specs
