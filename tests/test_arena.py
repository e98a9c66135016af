"""The arena: duplicate deals, symmetric results, honest intervals, and the same numbers from the same seed."""

from __future__ import annotations

import csv
import errno
import io
import itertools
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from domino_env.arena import Comparison, Estimate, PairResult, PolicyRating, PolicyTime, compare, deal_seed, save_heatmap
from domino_env.arena.comparison import estimate
from domino_env.arena.heatmap import draw_heatmap
from domino_env.arena.rating import check_anchors, rate_policies
from domino_env.arena.seating import seating_for
from domino_env.cli import main
from domino_env.engine.state import new_games
from domino_env.envs.aec import raw_env
from domino_env.errors import CheckpointError, DominoError, OptionsError, PolicyError, RulesError
from domino_env.policies import Batch, GreedyPolicy, RandomPolicy, decide, load_policy
from domino_env.variants import VARIANTS
from tests.policy_cases import random_checkpoint


class Watching(GreedyPolicy):
    """Greedy, and remembers what it was asked."""

    name = "watching"

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self.resets: list[list[int]] = []

    def act(self, batch: Batch) -> Any:
        self.batches.append(batch)
        return super().act(batch)

    def reset(self, rows: Any) -> None:
        self.resets.append(rows.tolist())


class OtherRandom(RandomPolicy):
    """As good as random, but with other chances."""

    name = "other random"

    def __init__(self, number: int) -> None:
        self.number = np.uint64(number * 0x9E3779B97F4A7C15 % 2**64)

    def act(self, batch: Batch) -> Any:
        return super().act(replace(batch, random=batch.random ^ self.number))


def numbers_of(result: Comparison) -> dict[str, Any]:
    """All but the times."""
    return {**result.to_json(), "times": None}


# -------------------------------------------------------------------------------------------------------- symmetry


@pytest.mark.parametrize(
    ("variant", "num_players", "rules", "episode"),
    [
        ("bergen", 2, None, "round"),
        ("draw", 3, None, "round"),
        ("block", 4, {"sides": True}, "round"),
        ("all_fives", 4, None, "round"),
        ("fives_and_threes", 5, None, "round"),
        ("threes", 2, None, "match"),
    ],
)
def test_equal_policies_are_exactly_equal(variant: str, num_players: int, rules: Any, episode: str) -> None:
    for pair in ([RandomPolicy(), RandomPolicy()], ["greedy", "greedy"]):
        result = compare(pair, variant, rules=rules, num_players=num_players, deals=40, episode=episode)
        only = result.pairs[0]
        assert only.points == Estimate(0.0, 0.0, 0.0)
        assert only.won == only.won_second
        assert only.won.mean == pytest.approx(result.fair_share, abs=0.1 if num_players > 2 and not rules else 1e-12)


def test_swapping_the_policies_mirrors_the_result() -> None:
    for variant, num_players in (("bergen", 2), ("draw", 3)):
        one = compare(["random", "greedy"], variant, num_players=num_players, deals=150)
        two = compare(["greedy", "random"], variant, num_players=num_players, deals=150)
        assert one.pairs[0].points.mean < 0
        assert two.pairs[0].points == -one.pairs[0].points
        assert one.pair("greedy", "random").points == two.pairs[0].points
        assert one.pair("greedy", "random").won.mean == pytest.approx(two.pairs[0].won.mean)


def test_a_third_policy_changes_nothing_for_the_others() -> None:
    two = compare(["random", "greedy"], "fives", deals=60)
    three = compare({"first": "random", "second": "greedy", "third": OtherRandom(1)}, "fives", deals=60)
    assert [(pair.first, pair.second) for pair in three.pairs] == [("first", "second"), ("first", "third"), ("second", "third")]
    assert three.pair("first", "second").points == two.pair("random", "greedy").points


# ------------------------------------------------------------------------------------------------------ what is played


def naive_points(variant: str, num_players: int, owners: list[int], seed: int) -> list[float]:
    """Scores of one round in the AEC environment, greedy in the seats of owner 0, the first legal action in the others."""
    env = raw_env(variant, num_players=num_players, episode="round", skip_forced=True)
    env.reset(seed=seed)
    while not env.game.over:
        seat = env.possible_agents.index(env.agent_selection)
        mask = env.observe(env.agent_selection)["action_mask"]
        if owners[seat] == 0:
            packed, games = env.game.packed, env.game.games
            batch = Batch.of_games(games, np.zeros(1, np.int64), packed, env.game.rules, num_players, env.encoding)
            action = int(decide(GreedyPolicy(), batch)[0])
        else:
            action = int(mask.argmax())
        env.step(action)
    return [float(score) for score in env.scores]


class First:
    """The first legal action."""

    def act(self, batch: Batch) -> Any:
        return batch.action_mask.argmax(axis=1)


@pytest.mark.parametrize(("variant", "num_players"), [("bergen", 2), ("draw", 2), ("block", 3)])
def test_deals_are_those_of_the_environment_with_their_seed(variant: str, num_players: int) -> None:
    deals = 12
    result = compare({"greedy": "greedy", "first": First()}, variant, num_players=num_players, deals=deals, seed=9)
    margins = []
    for deal in range(deals):
        for owner in (0, 1) if num_players > 2 else (0,):
            for seat in range(num_players):
                owners = [owner if other == seat else 1 - owner for other in range(num_players)]
                scores = naive_points(variant, num_players, owners, deal_seed(9, deal))
                margin = scores[seat] - (sum(scores) - scores[seat]) / (num_players - 1)
                margins.append(margin * (1 - 2 * owner) * (-1 if variant == "draw" else 1))
    assert result.pairs[0].points.mean == pytest.approx(sum(margins) / len(margins))
    assert result.pairs[0].points.mean != 0


def test_policies_are_asked_for_decisions_only_and_told_of_new_games() -> None:
    watching = Watching()
    compare([watching, "random"], "bergen", deals=30)
    assert watching.resets == [list(range(60))]
    assert min(int(batch.action_mask.sum(axis=1).min()) for batch in watching.batches) >= 2
    assert len(watching.batches[0]) > 20  # many games at once


def test_matches_count_the_whole_match() -> None:
    result = compare(["random", "greedy"], "bergen", deals=40, episode="match", rules={"target": {2: 5}})
    assert abs(result.pairs[0].points.mean) > 0.3
    assert result.rules == {"target": {"2": 5, "3": 10, "4": 10}}
    assert result.episode == "match"


def test_seatings() -> None:
    assert seating_for(2, False).owners.tolist() == [[0, 1], [1, 0]]
    assert seating_for(4, True).owners.tolist() == [[0, 1, 0, 1], [1, 0, 1, 0]]
    three = seating_for(3, False)
    assert three.owners.tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert three.measured.tolist() == [[True, False, False], [False, True, False], [False, False, True]] * 2
    assert three.of_second.tolist() == [False] * 3 + [True] * 3


def test_learned_policies_play_legal_moves_in_whole_matches(tmp_path: Path) -> None:
    """1,000 games with random weights: ``decide`` would raise at the first illegal move."""
    for variant, num_players in (("bergen", 3), ("all_fives", 2)):
        rules = VARIANTS[variant].replace(target=30)
        paths = [random_checkpoint(tmp_path / f"{k}.safetensors", rules, num_players, seed=k) for k in range(2)]
        deals = 250 if num_players == 2 else 84
        result = compare([paths[0], f"{paths[1]}?sample=1"], rules, num_players=num_players, deals=deals, episode="match")
        assert sum(time.decisions for time in result.times) > 5000


# ------------------------------------------------------------------------------------------------------- intervals


def test_intervals_of_equally_good_policies_hold_zero_in_95_of_100_tables() -> None:
    tables = 100
    results = [compare([OtherRandom(k), OtherRandom(1000 + k)], "bergen", deals=120, seed=k).pairs[0] for k in range(tables)]
    holds = sum(result.points.low <= 0 <= result.points.high for result in results)
    fair = sum(result.won.low <= 0.5 <= result.won.high for result in results)
    assert 88 <= holds <= 99, holds  # a binomial(100, 0.95) is outside once in 100; so is an interval off by a quarter
    assert 88 <= fair <= 99, fair
    assert len({result.points.mean for result in results}) > 50


def test_interval_is_that_of_drawing_deals_again() -> None:
    values = np.random.default_rng(3).choice([-2.0, 0.0, 0.5, 4.0], 500)
    generator = np.random.default_rng(4)
    means = values[generator.integers(0, 500, (4000, 500))].mean(axis=1)
    found = estimate(values, 0)
    low, high = np.quantile(means, [0.025, 0.975])
    assert found.mean == pytest.approx(values.mean())
    assert found.low == pytest.approx(low, abs=0.03)
    assert found.high == pytest.approx(high, abs=0.03)
    assert high - low > 0.2
    assert estimate(-values, 0) == -found
    continuous = np.random.default_rng(5).normal(size=3000)
    wide = estimate(continuous, 1)
    assert wide.high - wide.low == pytest.approx(2 * 1.96 * continuous.std() / 3000**0.5, rel=0.1)


# --------------------------------------------------------------------------------------------------------- ratings

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


# --------------------------------------------------------------------------------------------------------- heat map


def made_up(size: int, largest: float = 1.0, name: str = "policy {}", **more: Any) -> Comparison:
    """A comparison of so many policies that nobody played."""
    generator = np.random.default_rng(size)
    names = [name.format(k) for k in range(size)]
    pairs = []
    for first, second in itertools.combinations(names, 2):
        gain, won = generator.uniform(-largest, largest), generator.uniform()
        shares = Estimate(won, won - 0.02, won + 0.02), Estimate(1 - won, 0.98 - won, 1.02 - won)
        pairs.append(PairResult(first, second, Estimate(gain, gain - largest / 9, gain + largest / 9), *shares))
    about = {"variant": "bergen", "rules": {}, "rules_fingerprint": "", "num_players": 2, "sides": False, "episode": "round"}
    times = tuple(PolicyTime(name, 1, 1.0) for name in names)
    return Comparison(**{**about, **more}, deals=1000, seed=0, pairs=tuple(pairs), times=times)


@pytest.mark.parametrize("measure", ["points", "won"])
def test_heatmap_shows_every_number_in_the_colour_of_its_sign(measure: str) -> None:
    found = made_up(4)
    figure = draw_heatmap(found, measure)
    (axes,) = figure.axes
    texts = {text.get_position(): text.get_text() for text in axes.texts}
    (image,) = axes.images
    colours = np.asarray(image.get_array())
    assert colours.shape == (4, 4, 4)
    assert len(texts) == 24
    for row, column in itertools.product(range(4), repeat=2):
        red, _, blue, _ = colours[row, column].tolist()
        number, half = texts.get((column, row - 0.04)), texts.get((column, row + 0.08))
        if row == column:
            assert (number, half, red) == (None, None, blue)
            continue
        one = getattr(found.pair(found.names[row], found.names[column]), measure)
        assert number == (f"{one.mean:+.3f}" if measure == "points" else f"{100 * one.mean:.1f} %")
        assert half == (f"± {one.half:.3f}" if measure == "points" else "± 2.0")
        assert (blue > red) == (one.mean > (0 if measure == "points" else 0.5))
    assert [label.get_text() for label in axes.get_xticklabels()] == list(found.names)
    assert [label.get_text() for label in axes.get_yticklabels()] == list(found.names)


@pytest.mark.parametrize(
    ("size", "largest", "name", "measure"),
    [
        (2, 1, "{}", "points"),
        (3, 3000, "p{}", "points"),
        (20, 99.5, "runs/long/name/of/a/folder/number_{}.safetensors", "points"),
        (7, 1, "$x_{}$", "won"),
    ],
)
def test_heatmap_is_legible(size: int, largest: float, name: str, measure: str, tmp_path: Path) -> None:
    from matplotlib.image import imread

    found = made_up(size, largest, name)
    figure = draw_heatmap(found, measure)
    figure.set_dpi(150)
    (axes,) = figure.axes
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    boxes = [text.get_window_extent(renderer) for text in axes.texts]
    for text, box in zip(axes.texts, boxes, strict=True):
        column, row = round(text.get_position()[0]), round(text.get_position()[1])
        (left, bottom), (right, top) = axes.transData.transform([(column - 0.5, row + 0.5), (column + 0.5, row - 0.5)])
        assert left < box.x0 < box.x1 < right, text
        assert bottom < box.y0 < box.y1 < top, text
        assert box.height > 10  # pixels
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes[:200], 2))
    rows = [label.get_window_extent(renderer) for label in axes.get_yticklabels()]
    assert not any(one.overlaps(other) for one, other in itertools.pairwise(rows))
    assert all(box.x1 <= axes.bbox.x0 for box in rows)
    path = tmp_path / "map.png"
    save_heatmap(found, path, measure)
    picture = imread(path)
    assert picture.shape[0] > 60 * size
    assert picture.shape[1] > 100 * size
    for edge in (picture[:8], picture[-8:], picture[:, :8], picture[:, -8:]):
        assert np.all(edge == 1)  # nothing is cut off
    assert [file.name for file in tmp_path.iterdir()] == ["map.png"]


def test_heatmap_of_a_comparison(tmp_path: Path) -> None:
    result = compare(["random", "greedy", "greedy"], "all_fives", num_players=3, deals=40, episode="match")
    for measure in ("points", "won"):
        save_heatmap(result, tmp_path / "MAP.PNG", measure)
        assert (tmp_path / "MAP.PNG").read_bytes().startswith(b"\x89PNG")
    (text,) = draw_heatmap(result, "won").texts
    assert text.get_text().splitlines() == [
        "Share of matches that the row wins alone among seats of the column; 33.3 % is fair",
        "all_fives, 3 seats, 40 deals in every seating, 95 % intervals",
    ]


def test_a_heatmap_that_fails_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "map.png"
    path.write_text("old")
    for wrong, measure in ((tmp_path / "map.jpg", "points"), (tmp_path / "map", "points"), (path, "colour")):
        with pytest.raises(OptionsError, match="heat map"):
            save_heatmap(made_up(2), wrong, measure)

    def full(*args: Any, **options: Any) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", full)
    with pytest.raises(OSError, match="no space"):
        save_heatmap(made_up(2), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


# ------------------------------------------------------------------------------------------- seeds, forms, bad input


def test_the_same_seed_gives_the_same_numbers() -> None:
    one, two, other = (compare(["random", "greedy"], "threes", deals=50, seed=seed) for seed in (3, 3, 4))
    assert numbers_of(one) == numbers_of(two)
    assert one.pairs != other.pairs


def test_more_deals_than_fit_at_once_are_the_same_deals(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = compare(["random", "greedy"], "block", deals=75)
    told: list[tuple[int, int]] = []
    monkeypatch.setattr("domino_env.arena.run._GAMES_AT_ONCE", 32)
    parts = compare(["random", "greedy"], "block", deals=75, progress=lambda done, total: told.append((done, total)))
    assert parts.pairs == whole.pairs
    assert told == [(k, 5) for k in range(1, 6)]


def test_table_json_and_csv_say_the_same() -> None:
    result = compare(["random", "greedy", "greedy"], "bergen", num_players=3, deals=50)
    data = json.loads(json.dumps(result.to_json()))
    assert data["deals"] == 50
    assert [pair["second"] for pair in data["pairs"]] == ["greedy", "greedy (2)", "greedy (2)"]
    assert data["pairs"][0]["points"]["mean"] == result.pairs[0].points.mean
    assert all(time["microseconds"] > 0 for time in data["times"])
    rows = list(csv.DictReader(io.StringIO(result.to_csv())))
    assert len(rows) == 3
    assert float(rows[0]["points_low"]) == result.pairs[0].points.low
    assert float(rows[0]["won_second_high"]) == result.pairs[0].won_second.high
    text = printed(result)
    assert f"{result.pairs[0].points.mean:+.3f}" in text
    assert "33.3% is fair" in text
    assert "µs" in text
    assert "share of rounds won" in text
    for rating, row in zip(result.ratings[:2], ("", "_second"), strict=True):
        assert data["ratings"][result.ratings.index(rating)]["rating"]["low"] == rating.rating.low == float(rows[0][f"rating{row}_low"])
    assert "25.00 fixed" in text
    assert f"{result.ratings[1].rating.mean:.2f} ± {result.ratings[1].rating.half:.2f}" in text
    assert float(rows[0]["microseconds"]) == data["times"][0]["microseconds"]


def printed(result: Comparison) -> str:
    console = Console(width=160, file=io.StringIO(), record=True)
    console.print(result.table())
    return console.export_text()


def test_tables_tell_matches_from_rounds_and_what_the_ratings_rest_on() -> None:
    result = compare({"a": "greedy", "b": "greedy"}, "bergen", deals=5, episode="match", rules={"target": {2: 3}})
    text = printed(result)
    assert "share of matches won" in text
    assert "points per match" in text
    assert "Without an anchor their mean is 25" in text
    assert [rating.rating.mean for rating in result.ratings] == [25.0, 25.0]
    anchored = compare({"a": "greedy", "b": "greedy"}, "bergen", deals=5, anchors={"a": 40})
    assert anchored.ratings[0].rating.mean == 40
    assert "Without an anchor" not in printed(anchored)


def test_names_that_look_like_markup_are_printed_as_they_are() -> None:
    text = printed(compare({"[red]a[/red]": "greedy", "b[": "random"}, "bergen", deals=5))
    assert text.count("[red]a[/red]") == 2


@pytest.mark.parametrize(
    ("policies", "more", "error", "message"),
    [
        (["random"], {}, OptionsError, "at least two"),
        ("random", {}, OptionsError, "at least two"),
        (["random", "nobody"], {}, PolicyError, "policy 'nobody'"),
        (["random", "greedy"], {"deals": 1}, OptionsError, "deals=1, but it is a whole number from 2"),
        (["random", "greedy"], {"deals": 2.5}, OptionsError, r"deals=2\.5"),
        (["random", "greedy"], {"seed": -1}, OptionsError, "seed=-1"),
        (["random", "greedy"], {"episode": "game"}, OptionsError, "episode='game'"),
        (["random", "greedy"], {"num_players": 6}, RulesError, "num_players=6"),
        (["random", "greedy"], {"variant": "bridge"}, RulesError, "variant='bridge'"),
        (["random", First()], {"rules": {"target": {2: 0}}}, RulesError, "target"),
    ],
)
def test_bad_input_is_named(policies: Any, more: dict[str, Any], error: type[DominoError], message: str) -> None:
    with pytest.raises(error, match=message):
        compare(policies, more.pop("variant", "bergen"), **more)


def test_a_checkpoint_for_another_game_does_not_play(tmp_path: Path) -> None:
    path = random_checkpoint(tmp_path / "a.safetensors", "bergen", 2)
    with pytest.raises(CheckpointError, match="made for 2 players, but this game has 3"):
        compare([load_policy(path), "random"], "bergen", num_players=3, deals=5)


def test_an_illegal_answer_stops_the_match() -> None:
    class Wrong:
        def act(self, batch: Batch) -> Any:
            return np.zeros(len(batch), np.int64) - 1

    with pytest.raises(PolicyError, match="Wrong: action -1 in game"):
        compare([Wrong(), "random"], "bergen", deals=5)


# ------------------------------------------------------------------------------------------------------- command line


@pytest.fixture
def arena(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., tuple[int, str, str]]:
    """Run ``domino arena bergen ...`` in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stopped:
            main(["arena", "bergen", *map(str, arguments)])
        out, err = capsys.readouterr()
        status: Any = stopped.value.code
        return status, out, "".join(line for line in err.splitlines(True) if not line.startswith("domino_env: compiling"))

    return run


def test_the_command_writes_table_picture_and_ratings(arena: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    status, out, err = arena(
        *("greedy", "bergen/ppo?sample=1", "random", "--deals", 30, "--csv", "a.csv", "--heatmap", "a.png", "--heatmap-of", "won"),
        *("--anchor", "random=-1.5", "--anchor", "bergen/ppo?sample=1=3", "--json"),
    )
    assert (status, err) == (0, "")
    found = json.loads(out)
    anchored = {rating["name"]: rating["rating"]["mean"] for rating in found["ratings"] if rating["anchor"]}
    assert anchored == {"random": -1.5, "bergen/ppo?sample=1": 3.0}
    rows = list(csv.DictReader(io.StringIO((tmp_path / "a.csv").read_text())))
    assert float(rows[0]["rating_mean"]) == found["ratings"][0]["rating"]["mean"]
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "a.png"]
    assert "± " in arena("greedy", "random", "--deals", 30)[1]
    assert "± " not in arena("greedy", "random", "--deals", 30, "--no-rating")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["greedy", "nobody"], "policy 'nobody'"),
        (["greedy", "other.safetensors"], "made for draw (rules "),
        (["greedy", "random", "--deals", "1"], "deals=1"),
        (["greedy", "random", "--csv", "table.txt"], "file 'table.txt', but its name ends in .csv"),
        (["greedy", "random", "--csv", "folder.csv"], "is a folder"),
        (["greedy", "random", "--heatmap", "map.jpg"], "heat map 'map.jpg', but its name ends in .png"),
        (["greedy", "random", "--heatmap", "none/map.png"], "there is no folder"),
        (["greedy", "random", "--heatmap", "pipe.png"], "file 'pipe.png' is no plain file"),
        (["greedy", "random", "--heatmap", "map.png", "--heatmap-of", "luck"], "heat map of 'luck', but it is of 'points' or 'won'"),
        (["greedy", "random", "--anchor", "greedy"], "anchor 'greedy', but it is NAME=VALUE"),
        (["greedy", "random", "--anchor", "greedy=x"], "anchor 'greedy=x', but it is NAME=VALUE"),
        (["greedy", "random", "--anchor", "greedy=nan"], "anchor 'greedy'=nan"),
        (["greedy", "random", "--anchor", "nobody=3"], "anchor 'nobody', but the policies are greedy, random"),
        (["greedy", "random", "--anchor", "greedy=3", "--anchor", "greedy=4"], "anchor 'greedy' is given twice"),
        (["greedy", "random", "--anchor", "greedy=3", "--no-rating"], "but no rating is asked for"),
    ],
)
def test_what_cannot_be_is_one_line_before_the_play(
    arena: Callable[..., tuple[int, str, str]], arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def played(*args: Any) -> None:
        raise AssertionError("played")

    monkeypatch.setattr("domino_env.arena.run._play_pair", played)
    random_checkpoint(tmp_path / "other.safetensors", "draw", 2)
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.png")
    before = sorted(tmp_path.iterdir())
    status, out, err = arena(*arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("domino: ")
    assert message in err
    assert sorted(tmp_path.iterdir()) == before


def test_a_folder_that_cannot_be_written_to(arena: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*args: Any, **options: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("tempfile.NamedTemporaryFile", refused)
    for option, name in (("--csv", "a.csv"), ("--heatmap", "a.png")):
        status, out, err = arena("greedy", "random", option, name)
        assert (status, out) == (2, "")
        assert err == f"domino: file '{name}': cannot be written (Permission denied)\n"
