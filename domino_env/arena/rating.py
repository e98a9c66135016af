"""Ratings: one number for the strength of each policy, on openskill's scale, with an interval and with fixed anchors.

**What is counted.** In each game every seat of one policy is set against every seat of the other: who won the game is above who did
not, those who share the win take half each, and two who both lost say nothing of each other. A side counts as one seat.

**What a rating means.** The model is openskill's ``BradleyTerryFull``. Of two policies whose ratings differ by d, the odds that the
better one wins, rather than the other, are exp(d / 5.89): 54 % for 1, 58 % for 2, 70 % for 5, 85 % for 10.

**How it is found.** openskill rates game after game, so its figures depend on the order of the games, and with many policies they
lag behind for thousands of games. Here its rule is applied to all games at once: it is asked how far each result moves a rating,
and the ratings are those where all these moves together come to nothing. openskill's first belief, 25 with a deviation of 25/3,
stays in the sum, so a policy that wins everything has a finite rating. No chance is in it: the same games give the same figures.

**Anchors.** A policy named in ``anchors`` has exactly the rating it is given, and the first belief stands around their mean. Ratings
of two tables of the same game can be compared if their anchors are the same. Without any, the mean of the table is 25 and its
ratings can be compared with each other only.

**The interval** is the 95 % interval of drawing the deals anew, all games of a deal together, by the covariance of what each
deal says (the first belief counts as one more). It is the interval of the rating given the anchors. openskill's own sigma is left
out: it takes the games of one deal for independent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from domino_env.arena.comparison import Estimate, PolicyRating
from domino_env.arena.extra import need
from domino_env.errors import OptionsError

if TYPE_CHECKING:
    from openskill.models import BradleyTerryFull

__all__ = ["Meetings", "check_anchors", "rate_policies"]

Floats = npt.NDArray[np.float64]
Meetings = Mapping[tuple[int, int], Floats]
"""(i, j) -> (deals, 2) float64: how often policy i was above policy j in each deal, and the reverse; all pairs play the same deals."""

DEFAULT_ANCHORS: Mapping[str, float] = {"random": 25.0}
"""Taken where no anchors are given and these policies play."""

_HIGHEST = 1000.0
_SURE = 0.01  # so small a deviation that openskill's answer is that for exact ratings
_LONGEST_STEP = 5.0
_CLOSE = 1e-6
_MOST_STEPS = 1000
_Z = 1.959964  # of 95 % of a normal distribution


def check_anchors(anchors: Mapping[str, float] | None, names: Sequence[str]) -> dict[str, float]:
    """Name -> fixed rating. Raises ``OptionsError`` for a name that does not play or a value that is no number from -1000 to 1000."""
    if anchors is None:
        return {name: value for name, value in DEFAULT_ANCHORS.items() if name in names}
    for name, value in anchors.items():
        if name not in names:
            raise OptionsError(f"anchor {name!r}, but the policies are {', '.join(names)}")
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= _HIGHEST:
            raise OptionsError(f"anchor {name!r}={value!r}, but a rating is a number from {-_HIGHEST:g} to {_HIGHEST:g}")
    return {name: float(value) for name, value in anchors.items()}


def rate_policies(names: Sequence[str], meetings: Meetings, anchors: Mapping[str, float] | None = None) -> tuple[PolicyRating, ...]:
    """Rate the policies ``names`` by their ``meetings``; see the head of this file for what the figures mean.

    ``anchors``: name -> fixed rating; left out, ``random`` is fixed at 25 where it plays. Raises ``OptionsError`` for anchors that
    cannot be used, or where openskill is missing.
    """
    fixed = check_anchors(anchors, names)
    need("openskill", "a rating")
    from openskill.models import BradleyTerryFull

    model = BradleyTerryFull(tau=0.0, gamma=lambda *_: 1.0)  # strength stands still, and each game says all it can
    centre = sum(fixed.values()) / len(fixed) if fixed else model.mu
    ratings = np.array([fixed.get(name, centre) for name in names])
    free = np.flatnonzero([name not in fixed for name in names])
    halves = _settle(model, meetings, ratings, free, centre) if len(free) else np.zeros(len(names))
    return tuple(
        PolicyRating(name, Estimate(float(value), float(value - half), float(value + half)), name in fixed)
        for name, value, half in zip(names, ratings, halves, strict=True)
    )


def _settle(model: BradleyTerryFull, meetings: Meetings, ratings: Floats, free: npt.NDArray[np.int64], centre: float) -> Floats:
    """Move the ``free`` of ``ratings`` (P,), in place, to where no result moves them; returns half of each interval, (P,)."""
    belief = 1 / model.sigma**2
    totals = {pair: above.sum(axis=0) for pair, above in meetings.items()}
    for _ in range(_MOST_STEPS):
        pulls, information = _ask(model, totals, ratings)
        pull = _collect(totals, pulls, len(ratings))[free] - belief * (ratings[free] - centre)
        inverse = np.asarray(np.linalg.inv(information[np.ix_(free, free)] + belief * np.eye(len(free))), np.float64)
        step = inverse @ pull
        ratings[free] += np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
        if np.abs(step).max() < _CLOSE:
            break
    # where all are free their mean is 25 by definition, and the belief tells of their differences alone
    told = np.eye(len(free)) - (1 / len(free) if len(free) == len(ratings) else 0)
    halves = np.zeros(len(ratings))
    halves[free] = _halves(_collect(meetings, pulls, len(ratings))[:, free], inverse, belief * told)
    return halves


def _halves(by_deal: Floats, inverse: Floats, belief: Floats) -> Floats:
    """Half of the intervals (F,) of the free ratings: ``by_deal`` (deals, F) is the pull of each deal on them."""
    deals, size = by_deal.shape
    spread = deals * np.cov(by_deal, rowvar=False).reshape(size, size) + belief
    # Student's quantile to the first order: few deals tell less of their own spread
    quantile = _Z + (_Z**3 + _Z) / (4 * (deals - 1))
    halves: Floats = quantile * np.sqrt(np.diag(inverse @ spread @ inverse))
    return halves


def _ask(model: BradleyTerryFull, totals: Meetings, ratings: Floats) -> tuple[dict[tuple[int, int], Floats], Floats]:
    """What openskill makes of the results at these ratings: the pull of a win and of a loss on the first of each pair, (2,), the
    opposite of that on the second; and what all results together tell of the ratings, (P, P)."""
    pulls = {}
    information = np.zeros((len(ratings), len(ratings)))
    for (i, j), total in totals.items():
        moves = [_move(model, ratings[i], ratings[j], ranks) for ranks in ([1.0, 2.0], [2.0, 1.0])]
        pulls[i, j] = np.array([move[0] for move in moves])
        told = moves[0][1] * total.sum()
        information[[i, j], [i, j]] += told
        information[[i, j], [j, i]] -= told
    return pulls, information


def _move(model: BradleyTerryFull, first: float, second: float, ranks: list[float]) -> tuple[float, float]:
    """How far one game moves the first, and how much surer of it one is, both for each unit of its variance."""
    variance = _SURE**2
    after = model.rate([[model.rating(first, _SURE)], [model.rating(second, _SURE)]], ranks=ranks)[0][0]
    return (after.mu - first) / variance, (1 - after.sigma**2 / variance) / variance


def _collect(counts: Meetings, pulls: Mapping[tuple[int, int], Floats], num_policies: int) -> Floats:
    """The pulls of all results on each policy, (..., P), from counts (..., 2)."""
    shape = next(iter(counts.values())).shape[:-1]
    out = np.zeros((*shape, num_policies))
    for (i, j), count in counts.items():
        pull = count @ pulls[i, j]
        out[..., i] += pull
        out[..., j] -= pull
    return out
