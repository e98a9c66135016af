"""What policies think of the decisions of a game, and which moves a search calls blunders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from domino_env.encoding import Encoding
from domino_env.errors import OptionsError
from domino_env.notation.game import PlayedGame
from domino_env.pages.story import Decision
from domino_env.policies.pimc import PIMCPolicy
from domino_env.policies.protocol import Batch, Policy, policy_name
from domino_env.policies.scripted import GreedyPolicy
from domino_env.policies.thoughts import REWARD, Thoughts, think

__all__ = ["CLEAR", "SEARCH", "Judge", "check_judge", "judge", "think_through"]

SEARCH = "search:pimc?worlds=256"
CLEAR = 3.0
"""Standard errors that a loss is at least, to be clear of the noise."""
BLUNDER_SHARE = 0.02
"""Part of the target that a blunder loses at least, where no number of points is given."""
_CHUNK = 16

Json = dict[str, Any]
Tell = Callable[[int, int], None]


@dataclass(frozen=True)
class Judge:
    """Who says what a better move would have been, and how much worse a blunder is."""

    search: PIMCPolicy | None
    blunder: float | None = None
    """Points that a blunder loses at least; None for ``BLUNDER_SHARE`` of the target."""

    def threshold(self, game: PlayedGame) -> float:
        """Points that a blunder loses at least in this game."""
        return BLUNDER_SHARE * game.rules.target[game.num_players] if self.blunder is None else self.blunder


def check_judge(search: Policy | None, blunder: float | None) -> Judge:
    """A judge. Raises ``OptionsError`` for a search that does not compare its moves world by world, and for a blunder that is no loss."""
    if search is not None and not isinstance(search, PIMCPolicy):
        raise OptionsError(f"search={policy_name(search)!r}, but what finds blunders is a search:pimc, such as {SEARCH}, or none")
    if blunder is not None and not 0 < blunder < float("inf"):
        raise OptionsError(f"blunder={blunder!r}, but it is a number of points above 0")
    return Judge(search, blunder)


def think_through(policy: Policy, game: PlayedGame, decisions: Sequence[Decision], tell: Tell | None = None) -> list[Thoughts]:
    """What ``policy`` thinks of each decision: one ``Thoughts`` of a single row for each. ``tell`` hears how many are done."""
    encoding = Encoding(game.rules, game.num_players)
    found: list[Thoughts] = []
    for first in range(0, len(decisions), _CHUNK):
        games = np.concatenate([decision.row for decision in decisions[first : first + _CHUNK]])
        batch = Batch.of_games(games, np.arange(len(games)), game.packed, game.rules, game.num_players, encoding)
        thoughts = think(policy, batch)
        found += [_row(thoughts, k) for k in range(len(games))]
        if tell is not None:
            tell(len(found), len(decisions))
    return found


def _row(thoughts: Thoughts, k: int) -> Thoughts:
    def one(array: npt.NDArray[Any] | None) -> Any:
        return None if array is None else array[k : k + 1]

    return Thoughts(
        one(thoughts.probabilities),
        one(thoughts.actions),
        thoughts.sampled,
        one(thoughts.values),
        one(thoughts.action_values),
        one(thoughts.errors),
        thoughts.unit,
    )


def thoughts_json(thoughts: Thoughts, decision: Decision, target: int) -> Json:
    """One row of thoughts for the page, moves in the order of the decision; values as points, rounded."""
    scale = target if thoughts.unit == REWARD else 1
    take = decision.actions
    out: Json = {
        "chance": [round(float(p), 4) for p in thoughts.probabilities[0, take]],
        "takes": None if thoughts.sampled else take.index(int(thoughts.actions[0])),
    }
    if thoughts.values is not None:
        out["value"] = _number(thoughts.values[0] * scale)
        if thoughts.unit == REWARD:
            out["reward"] = _number(thoughts.values[0], 3)
    if thoughts.action_values is not None:
        out["values"] = [_number(value * scale) for value in thoughts.action_values[0, take]]
    return out


def judge(found: Thoughts, decision: Decision, threshold: float) -> Json:
    """What the search says of a decision: the value of each move, the best, and of the move that was made its loss and whether it is
    clear of the noise, and a blunder.
    """
    assert found.action_values is not None
    assert found.errors is not None
    take = decision.actions
    values, errors = found.action_values[0, take], found.errors[0, take]
    best = take.index(int(found.actions[0]))
    out: Json = {
        "values": [_number(value) for value in values],
        "errors": [_number(error) for error in errors],
        "best": best,
    }
    if decision.played is not None:
        loss = float(values[best] - values[decision.played])
        clear = loss > 0 and loss >= CLEAR * float(errors[decision.played])
        out |= {"loss": _number(loss), "clear": clear, "blunder": clear and loss >= threshold}
    return out


def greedy_moves(game: PlayedGame, decisions: Sequence[Decision]) -> list[int]:
    """The number of greedy's move among the moves of each decision."""
    found = think_through(GreedyPolicy(), game, decisions)
    return [decision.actions.index(int(thoughts.actions[0])) for thoughts, decision in zip(found, decisions, strict=True)]


def _number(value: float, digits: int = 2) -> float | None:
    """Rounded for the page; None where there is no number."""
    return round(float(value), digits) + 0.0 if np.isfinite(value) else None
