"""The arena: duplicate deals, symmetric results, honest intervals, and the same numbers from the same seed."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from domino_env.arena import Comparison, Estimate, compare, deal_seed
from domino_env.arena.comparison import estimate
from domino_env.arena.seating import seating_for
from domino_env.envs.aec import raw_env
from domino_env.errors import CheckpointError, DominoError, OptionsError, PolicyError, RulesError
from domino_env.policies import Batch, GreedyPolicy, RandomPolicy, decide, load_policy
from domino_env.variants import VARIANTS
from tests.arena_cases import OtherRandom, printed
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
