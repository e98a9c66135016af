"""Ratings: anchors stay, intervals are honest, and no order of the games matters."""

from __future__ import annotations

import csv
import io
import itertools
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from domino_env.arena import Estimate, PolicyRating, compare, save_heatmap
from domino_env.arena.rating import check_anchors, rate_policies
from domino_env.arena.seating import seating_for
from domino_env.engine.state import new_games
from domino_env.errors import OptionsError
from domino_env.policies import Batch
from tests.arena_cases import OtherRandom, printed

SCALE = 2**0.5 * 25 / 6


def sharing(difference: float) -> float:
    """The chance to win over a policy that is weaker by so much."""
    return 1 / (1 + math.exp(-difference / SCALE))


def simulated(generator: np.random.Generator, strengths: list[float], deals: int, luck: str = "own") -> Any:
    """Two games of each pair in each deal: won by chances of their own, by one and the same, or by opposite ones."""
    meetings = {}
    for i, j in itertools.combinations(range(len(strengths)), 2):
        chance = sharing(strengths[i] - strengths[j])
        first = generator.random(deals)
        second = {"own": generator.random(deals), "same": first, "opposite": 1 - first}[luck]
        wins = (first < chance).astype(float) + (second < chance)
        meetings[i, j] = np.stack([wins, 2 - wins], axis=1)
    return meetings


def apart(one: PolicyRating, two: PolicyRating) -> bool:
    """Whether two ratings differ by more than their intervals."""
    return abs(one.rating.mean - two.rating.mean) > one.rating.half + two.rating.half


def test_ratings_order_random_greedy_and_a_trained_agent() -> None:
    result = compare(["greedy", "bergen/ppo", "random"], "bergen", deals=2000)
    greedy, learned, random = result.ratings
    assert [rating.name for rating in result.ratings] == ["greedy", "bergen/ppo", "random"] == list(result.names)
    assert random == PolicyRating("random", Estimate(25.0, 25.0, 25.0), True)
    assert not greedy.anchor
    assert greedy.rating.low > 25
    assert greedy.rating.high < learned.rating.low
    # where each pair alone would put them
    for name, rating in (("greedy", greedy), ("bergen/ppo", learned)):
        share = result.pair(name, "random").won
        assert rating.rating.mean == pytest.approx(25 + SCALE * math.log(share.mean / (1 - share.mean)), abs=rating.rating.half)


@pytest.mark.parametrize(
    ("variant", "num_players", "rules", "episode"),
    [
        ("draw", 3, None, "round"),
        ("fives_and_threes", 5, None, "round"),
        ("block", 4, {"sides": True}, "round"),
        ("threes", 2, None, "match"),
    ],
)
def test_a_rating_is_the_odds_to_win_rather_than_the_other(variant: str, num_players: int, rules: Any, episode: str) -> None:
    """Without ties: alone among n - 1, a share w is odds of w (n - 1) : 1 - w; measured from both sides, the mean of what they tell."""
    result = compare(["random", "greedy"], variant, num_players=num_players, rules=rules, deals=400, episode=episode)
    pair, rating = result.pairs[0], result.ratings[1].rating
    others = 1 if result.sides else num_players - 1
    odds = [share.mean * others / (1 - share.mean) for share in (pair.won, pair.won_second)]
    if others == 1:
        assert odds[0] * odds[1] == pytest.approx(1)
    assert rating.low < 25 + SCALE * math.log(math.sqrt(odds[1] / odds[0])) < rating.high
    assert rating.mean > 25


@pytest.mark.parametrize(("num_players", "sides"), [(2, False), (3, False), (5, False), (4, True)])
def test_who_is_above_whom_is_counted_seat_by_seat(num_players: int, sides: bool) -> None:
    seating = seating_for(num_players, sides)
    games = new_games(60 * len(seating.owners))
    generator = np.random.default_rng(1)
    pairs = [0b0101, 0b1010, 0b1111]
    games["winners"] = generator.choice(pairs, len(games)) if sides else generator.integers(1, 1 << num_players, len(games))
    found = seating.above(games)
    for deal in range(60):
        counts = [0.0, 0.0]
        for sitting, owners in enumerate(seating.owners.tolist()):
            won = int(games["winners"][deal * len(seating.owners) + sitting])
            for one, two in itertools.product(*([s for s in range(num_players) if owners[s] == k] for k in (0, 1))):
                mine, theirs = won >> one & 1, won >> two & 1
                counts[0] += (mine > theirs) + (mine and theirs) / 2
                counts[1] += (theirs > mine) + (mine and theirs) / 2
        assert found[deal].tolist() == [count / (4 if sides else 1) for count in counts]


@pytest.mark.parametrize("luck", ["own", "same", "opposite"])
@pytest.mark.parametrize("deals", [25, 300])
def test_the_true_rating_lies_in_19_of_20_intervals(luck: str, deals: int) -> None:
    """Whether the games of a deal are alike, opposite or have nothing to do with each other."""
    generator = np.random.default_rng(5)
    tables, held, equal = 250, 0, 0
    for _ in range(tables):
        anchor, one, two = rate_policies(["random", "one", "two"], simulated(generator, [25, 28, 28], deals, luck))
        assert (anchor.rating.low, anchor.rating.high) == (25.0, 25.0)
        held += one.rating.low <= 28 <= one.rating.high
        equal += not apart(one, two)
    assert 0.91 <= held / tables <= 0.99  # outside once in 300 for 0.95
    assert equal / tables >= 0.95


def test_equal_policies_differ_by_less_than_their_interval_in_95_of_100_tables() -> None:
    """Their ratings, and their points: a new pair of random players for each table, beside the anchor."""
    ratings = points = 0
    for table in range(100):
        policies = {"random": "random", "one": OtherRandom(2 * table + 1), "two": OtherRandom(2 * table + 2)}
        result = compare(policies, "bergen", deals=100, seed=table)
        _, one, two = result.ratings
        ratings += not apart(one, two)
        gain = result.pair("one", "two").points
        points += gain.low <= 0 <= gain.high
    assert ratings >= 95
    assert points >= 90  # exact intervals hold zero in 95 of 100, give or take two


def test_anchors_stay_exactly_where_they_were_put() -> None:
    meetings = simulated(np.random.default_rng(2), [20, 25, 31, 24], 500)
    names = ["a", "b", "random", "c"]
    for anchors in ({"a": -3.3}, {"random": 0.1, "c": 77.7}, dict.fromkeys(names, 25.0), {"a": 1000.0, "c": -1000.0}):
        for rating in rate_policies(names, meetings, anchors):
            assert rating.anchor == (rating.name in anchors)
            if rating.anchor:
                assert rating.rating == Estimate(anchors[rating.name], anchors[rating.name], anchors[rating.name])
            else:
                assert math.isfinite(rating.rating.mean)
                assert rating.rating.low < rating.rating.mean < rating.rating.high
    assert [rating.anchor for rating in rate_policies(names, meetings)] == [False, False, True, False]
    assert rate_policies(names, meetings)[2].rating.mean == 25.0


def test_an_anchor_moves_the_scale_and_not_the_differences() -> None:
    meetings = simulated(np.random.default_rng(3), [25, 27, 31], 2000)
    for value in (0.0, 25.0, 500.0):
        _, one, two = rate_policies(["random", "one", "two"], meetings, {"random": value})
        assert one.rating.mean == pytest.approx(value + 2, abs=0.5)
        assert two.rating.mean - one.rating.mean == pytest.approx(4, abs=0.5)
    free = rate_policies(["random", "one", "two"], meetings, {})
    assert sum(rating.rating.mean for rating in free) == pytest.approx(75)
    assert free[2].rating.mean - free[0].rating.mean == pytest.approx(6, abs=0.5)
    assert all(0 < rating.rating.half < 0.4 for rating in free)


def test_the_order_of_the_games_is_nothing_to_a_rating() -> None:
    meetings = simulated(np.random.default_rng(4), [25, 27, 31], 400)
    order = np.random.default_rng(5).permutation(400)
    straight, mixed = (rate_policies(["random", "b", "c"], games) for games in (meetings, {k: v[order] for k, v in meetings.items()}))
    for one, other in zip(straight, mixed, strict=True):
        assert one.rating.mean == pytest.approx(other.rating.mean, abs=1e-6)
        assert one.rating.half == pytest.approx(other.rating.half, abs=1e-6)


def test_ratings_are_where_openskill_itself_comes_to_rest() -> None:
    """Game after game in a mixed order, thousands of them, the anchor set back after each."""
    from openskill.models import BradleyTerryFull

    model = BradleyTerryFull(tau=0.0, gamma=lambda *_: 1.0)
    generator = np.random.default_rng(6)
    wins = generator.permutation((generator.random(4000) < sharing(3)).astype(float))
    player = model.rating()
    for won in wins:
        anchor = model.rating(25.0, 0.01)
        player = model.rate([[player], [anchor]], ranks=[1.0, 2.0] if won else [2.0, 1.0])[0][0]
    found = rate_policies(["player", "random"], {(0, 1): np.stack([wins, 1 - wins], axis=1)})[0].rating
    assert player.mu == pytest.approx(found.mean, abs=0.1)
    assert found.half == pytest.approx(1.96 * player.sigma, rel=0.1)  # games of one deal each: here openskill's own is right
    assert found.half < 0.5


def test_one_that_wins_everything_has_a_finite_rating_and_an_interval() -> None:
    for deals in (2, 50, 5000):
        wins = np.tile([2.0, 0.0], (deals, 1))
        best, _ = rate_policies(["best", "random"], {(0, 1): wins})
        assert 28 < best.rating.mean < 100
        assert best.rating.half > 0.5


def test_twenty_policies_are_rated_quickly_and_rightly() -> None:
    generator = np.random.default_rng(7)
    strengths = [25.0, *generator.normal(25, 3, 19)]
    names = ["random", *(f"policy {k}" for k in range(19))]
    found = rate_policies(names, simulated(generator, strengths, 2000))
    missed = sum(not rating.rating.low <= true <= rating.rating.high for rating, true in zip(found[1:], strengths[1:], strict=True))
    assert missed <= 4
    assert max(abs(rating.rating.mean - true) for rating, true in zip(found, strengths, strict=True)) < 0.5


@pytest.mark.parametrize(
    ("anchors", "message"),
    [
        ({"nobody": 25.0}, "anchor 'nobody', but the policies are random, b"),
        ({"b": math.nan}, "anchor 'b'=nan, but a rating is a number from -1000 to 1000"),
        ({"b": math.inf}, "'b'=inf"),
        ({"b": 1000.5}, r"'b'=1000\.5"),
        ({"b": True}, "'b'=True"),
        ({"b": "30"}, "'b'='30'"),
    ],
)
def test_anchors_that_cannot_be(anchors: Any, message: str) -> None:
    with pytest.raises(OptionsError, match=message):
        check_anchors(anchors, ["random", "b"])
    with pytest.raises(OptionsError, match=message):
        compare({"random": "random", "b": NeverAsked()}, "bergen", anchors=anchors)


class NeverAsked:
    """Fails where anything is played."""

    def act(self, batch: Batch) -> Any:
        raise AssertionError("played")


def test_without_ratings() -> None:
    result = compare(["random", "greedy"], "bergen", deals=10, rating=False)
    assert result.ratings == ()
    assert result.to_json()["ratings"] == []
    assert "± " not in printed(result)
    assert next(csv.DictReader(io.StringIO(result.to_csv())))["rating_mean"] == ""
    with pytest.raises(OptionsError, match=r"anchors=\{'random': 25\}, but no rating is asked for"):
        compare(["random", "greedy"], "bergen", deals=10, rating=False, anchors={"random": 25})


def test_without_the_libraries(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No rating where none is asked for, and one clear error, before the play, where one is."""
    monkeypatch.setattr("domino_env.arena.extra.find_spec", lambda name: None)
    result = compare(["random", "greedy"], "bergen", deals=10)
    assert result.ratings == ()
    for more in ({"rating": True}, {"anchors": {"greedy": 3}}):
        with pytest.raises(OptionsError, match=r"a rating needs openskill, which is not installed: pip install 'domino-env\[arena\]'"):
            compare({"greedy": NeverAsked(), "b": "random"}, "bergen", **more)  # type: ignore[arg-type]
    with pytest.raises(OptionsError, match="a heat map needs matplotlib, which is not installed"):
        save_heatmap(result, tmp_path / "map.png")
    assert list(tmp_path.iterdir()) == []


def test_the_libraries_are_loaded_when_used() -> None:
    code = """
import sys
import domino_env, domino_env.arena, domino_env.arena.heatmap, domino_env.arena.rating, domino_env.cli, domino_env.commands.measure
print([name for name in ("openskill", "matplotlib") if name in sys.modules])
result = domino_env.arena.compare(["random", "greedy"], "bergen", deals=5, rating=False)
print([name for name in ("openskill", "matplotlib") if name in sys.modules])
domino_env.arena.save_heatmap(result, sys.argv[1])
print([name for name in ("matplotlib", "matplotlib.pyplot", "openskill") if name in sys.modules])
"""
    out = subprocess.run([sys.executable, "-c", code, "/dev/null/x.png"], capture_output=True, text=True, timeout=120, check=False)
    assert out.stdout.splitlines() == ["[]", "[]"], out.stderr
    assert "NotADirectoryError" in out.stderr  # the picture was drawn, and only then could it not be written
