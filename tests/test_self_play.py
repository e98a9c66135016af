"""The league: who sits in the other seats, how often, and how the learner's games with them are counted."""

from __future__ import annotations

import gc
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from domino_env import DominoVecEnv
from domino_env.envs.kernels import VIEW
from domino_env.policies import Checkpoint, LearnedPolicy, load_checkpoint
from tests.policy_cases import positions, random_checkpoint, random_weights
from tests.training_cases import SMALL_DQN, Values, configured, started, values, weights
from training.algorithms import checkpoint_meta, checkpoint_weights, make_env, make_model
from training.callback import RunCallback
from training.config import TrainingConfig
from training.league import League
from training.state_file import load_state

FIXED = 2  # random and greedy


def made(snapshots: int = 0, num_players: int = 2, **self_play: Any) -> League:
    """A league with so many snapshots, of 100, 200, ... decisions."""
    config = configured(num_players=num_players, self_play={"every": 1, **self_play})
    league = League(config, checkpoint_meta(config, 0, ""))
    for number in range(snapshots):
        join(league, 100 * (number + 1))
    return league


def join(league: League, decisions: int) -> Any:
    fresh = random_weights(league._meta, decisions)
    league.add_snapshot(fresh, decisions)
    return fresh


def legal(env: DominoVecEnv, generator: np.random.Generator) -> Any:
    masks = env.action_masks()
    return (masks * generator.random(masks.shape)).argmax(axis=1)


def finished(*games: dict[str, Any]) -> Any:
    """Views of games that ended: ``seat``, ``winners`` (seats) and ``opponents`` by seat."""
    views = np.zeros(len(games), VIEW)
    for view, game in zip(views, games, strict=True):
        view["done"], view["seat"] = 1, game["seat"]
        view["winners"] = sum(1 << seat for seat in game["winners"])
        view["opponents"][: len(game["opponents"])] = game["opponents"]
    return views


# ------------------------------------------------------------------------------------------------------ who is drawn


def test_without_snapshots_the_fixed_ones_share_all_seats() -> None:
    for rule in ("uniform", "latest", "weighted"):
        league = made(rule=rule)
        assert league.names == ["random", "greedy"]
        assert league.chances == pytest.approx([0.5, 0.5])


def test_the_rules() -> None:
    assert made(3, share=0.4).chances == pytest.approx([0.3, 0.3, *[0.4 / 3] * 3])
    assert made(3, share=1.0).chances == pytest.approx([0, 0, *[1 / 3] * 3])
    assert made(3, share=0.4, rule="latest").chances == pytest.approx([0.3, 0.3, 0, 0, 0.4])
    assert made(5, share=0.4, rule="latest", keep=3).chances == pytest.approx([0.3, 0.3, 0, 0.4, 0])  # 500 in the place of 200
    assert made(3, share=0.4, rule="weighted").chances == pytest.approx([0.3, 0.3, *[0.4 / 3] * 3])  # nothing is known yet


def test_weighted_draws_those_that_the_learner_loses_to() -> None:
    league = made(3, share=0.6, rule="weighted")
    for place, won in enumerate([100, 30, 90, 50, 0]):  # of 100 games with each
        league.count(finished(*[{"seat": 0, "winners": [0 if game < won else 1], "opponents": [-1, place]} for game in range(100)]))
    before = list(league.chances)
    league.refresh()
    chances = np.array(league.chances)
    assert before != league.chances
    assert chances.sum() == pytest.approx(1)
    assert chances[:FIXED].sum() == pytest.approx(0.4)
    assert chances[0] < 0.1 * chances[1]
    assert 0 < chances[2] < 0.15 * chances[3] < 0.15 * 0.4 * chances[4]
    assert league.win_shares() == pytest.approx([1, 0.3, 0.9, 0.5, 0], abs=0.02)
    assert league.win_share == pytest.approx(0.54)


def test_a_new_snapshot_takes_the_place_of_the_oldest() -> None:
    league = made(3, keep=3)
    for place in range(5):
        league.count(finished({"seat": 0, "winners": [0], "opponents": [-1, place]}))
    assert league.names == ["random", "greedy", "snapshot_100", "snapshot_200", "snapshot_300"]
    fresh = join(league, 400)
    assert league.names == ["random", "greedy", "snapshot_400", "snapshot_200", "snapshot_300"]
    assert league.games.tolist() == league.wins.tolist() == [1, 1, 0, 1, 1]
    join(league, 500)
    join(league, 600)
    join(league, 700)
    assert league.names == ["random", "greedy", "snapshot_700", "snapshot_500", "snapshot_600"]
    assert len(league) == 5
    assert fresh["logits.bias"].tobytes() != league._snapshots[0].weights["logits.bias"].tobytes()


@pytest.mark.parametrize("num_players", [2, 4])
def test_seats_are_drawn_as_often_as_the_league_says(num_players: int) -> None:
    league = made(4, num_players, share=0.7, rule="weighted")
    league.count(finished(*[{"seat": 0, "winners": [0], "opponents": [-1, 2, 2, 2][:num_players]}] * 30))
    league.refresh()
    env = DominoVecEnv("bergen", num_envs=3000, num_players=num_players, seed=5)
    league.seat(env)
    env.reset()
    drawn = np.bincount(env.games.views["seated"][:, :num_players].ravel(), minlength=6)
    count = 3000 * num_players
    assert len(set(league.chances)) > 2
    np.testing.assert_allclose(drawn / count, league.chances, atol=4 * np.sqrt(0.25 / count) + 0.001)


# ------------------------------------------------------------------------------------------------------ what is counted


def test_ties_and_tables_of_several() -> None:
    league = made(2, num_players=4)
    league.count(
        finished(
            {"seat": 1, "winners": [1], "opponents": [0, -1, 1, 2]},
            {"seat": 1, "winners": [0], "opponents": [0, -1, 1, 3]},
            {"seat": 3, "winners": [3, 0], "opponents": [2, 2, 3, -1]},
            {"seat": 0, "winners": [0, 1, 2, 3], "opponents": [-1, 1, 1, 1]},
        )
    )
    assert league.games.tolist()[:4] == [2, 5, 3, 2]
    assert league.wins.tolist()[:4] == [1, 1 + 0.75, 1 + 1.0, 0.5]
    league.count(np.zeros(8, VIEW))  # no game ended
    assert league.games.sum() == 12


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_counts_are_those_of_the_infos(num_players: int) -> None:
    league = made(2, num_players)
    env = DominoVecEnv("bergen", num_envs=50, num_players=num_players, seed=1, skip_forced=True)
    league.seat(env)
    env.reset()
    generator = np.random.default_rng(0)
    games, wins = np.zeros(len(league.games)), np.zeros(len(league.games))
    for _ in range(40):
        infos = env.step(legal(env, generator))[3]
        league.count(env.games.views)
        for info in infos:
            if "episode" not in info:
                continue
            for seat, place in enumerate(info["opponents"]):
                if seat != info["seat"]:
                    games[place] += 1
                    wins[place] += (info["seat"] in info["winners"]) / len(info["winners"])
    assert games[: len(league)].min() > 10
    np.testing.assert_allclose(league.games, games)
    np.testing.assert_allclose(league.wins, wins)
    assert league.win_shares() == pytest.approx((wins[:4] + 2 / num_players) / (games[:4] + 2))
    assert league.win_share == pytest.approx(wins.sum() / games.sum())


def test_with_sides_partners_win_together_and_are_no_opponents() -> None:
    """Random among random wins half of its games; the partner counts for nobody."""
    config = configured(num_players=4, rules={"sides": True}, opponents=["random"])
    league = League(config, checkpoint_meta(config, 0, ""))
    env = DominoVecEnv("bergen", num_envs=200, num_players=4, rules={"sides": True}, seed=1, skip_forced=True)
    league.seat(env)
    env.reset()
    generator = np.random.default_rng(0)
    ended = 0
    for _ in range(25):
        ended += int(env.step(legal(env, generator))[2].sum())
        league.count(env.games.views)
    assert league.all_games[0] == ended > 500
    assert league.games[0] == 2 * ended
    assert 0.43 < league.win_share < 0.57


def test_old_games_fade() -> None:
    league = made(1)
    for won, times in ((1, 30), (0, 60)):  # of 200 games each
        for _ in range(times):
            league.count(finished(*[{"seat": 0, "winners": [won], "opponents": [-1, 1]}] * 200))
    assert league.games[1] <= 5000
    assert league.win_shares()[1] > 0.85
    assert league.games[0] == 0


# ------------------------------------------------------------------------------------------------------ the snapshots


def test_a_snapshot_is_the_learner_as_it_was() -> None:
    """It draws from the learner's own probabilities, and later training does not reach it."""
    config = configured(self_play={"every": 1}, activation="tanh")
    model: Any = make_model(config, make_env(config))
    with torch.no_grad():
        model.policy.action_net.weight.mul_(300)
    batch = positions("bergen", 2, 3000).batch()
    probabilities = softmax(model, batch)
    league = League(config, checkpoint_meta(config, 0, ""))
    league.add_snapshot(checkpoint_weights(model), 1)
    with torch.no_grad():
        model.policy.action_net.weight.mul_(-1)
    actions = league._snapshots[0].policy.act(batch)
    drawn = probabilities[np.arange(3000), actions]
    assert (drawn > 0).all()
    assert drawn.mean() == pytest.approx((probabilities**2).sum(axis=1).mean(), abs=0.03)
    assert (actions != probabilities.argmax(axis=1)).mean() > 0.05
    assert np.abs(softmax(model, batch) - probabilities).max() > 0.5


def test_a_snapshot_of_dqn_takes_the_best_action() -> None:
    """Values are no logits: a draw from their softmax would be nearly any move."""
    config = configured(SMALL_DQN, self_play={"every": 1})
    league = League(config, checkpoint_meta(config, 0, ""))
    arrays = random_weights(league._meta)
    league.add_snapshot(arrays, 1)
    batch = positions("bergen", 2, 500).batch()
    values_of = LearnedPolicy(Checkpoint(league._meta, arrays)).logits(batch.observation)
    assert (league._snapshots[0].policy.act(batch) == np.where(batch.action_mask == 1, values_of, -np.inf).argmax(axis=1)).all()


def softmax(model: Any, batch: Any) -> np.ndarray:
    with torch.no_grad():
        logits = model.policy.action_net(model.policy.extract_features(torch.from_numpy(batch.observation)))
        found: np.ndarray = torch.where(torch.from_numpy(batch.action_mask) == 1, logits, -torch.inf).softmax(dim=1).numpy()
    return found


@pytest.mark.parametrize("algorithm", ["ppo", "dqn"])
def test_snapshots_join_in_time_and_stay_as_they_were(algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: dict[int, dict[str, bytes]] = {}
    add, step, places = League.add_snapshot, RunCallback._on_step, set()

    def watch(self: League, arrays: Any, decisions: int) -> None:
        taken[decisions] = {name: array.tobytes() for name, array in arrays.items()}
        add(self, arrays, decisions)

    def look(self: RunCallback) -> bool:
        views = self.env.games.views  # type: ignore[union-attr]
        places.update(views["opponents"][views["done"] != 0, :2].ravel().tolist())
        return step(self)

    monkeypatch.setattr(League, "add_snapshot", watch)
    monkeypatch.setattr(RunCallback, "_on_step", look)
    dqn = {"dqn": {"learning_starts": 0, "train_freq": 8, "batch_size": 32}, "algorithm": "dqn", "ppo": None}
    config = values(decisions=1280, self_play={"every": 300, "keep": 3, "share": 0.8}, **(dqn if algorithm == "dqn" else {}))
    folder = started(TrainingConfig.model_validate({k: v for k, v in config.items() if v is not None}), tmp_path / "run")
    assert list(taken) == [384, 640, 1024, 1280]  # the first updates at or after 300, 600, 900 and 1200
    assert len({store["logits.weight"] for store in taken.values()}) == 4
    assert places >= {0, 1, 2, 3, 4}
    kept = load_state(folder / "state.npz")["league"]
    assert [snapshot["decisions"] for snapshot in kept["snapshots"]] == [1280, 640, 1024]
    for age, arrays in ((snapshot["decisions"], snapshot["weights"]) for snapshot in kept["snapshots"]):
        assert {name: array.tobytes() for name, array in arrays.items()} == taken[age]
    assert weights(folder / "last.safetensors") == taken[1280]


def test_two_hundred_swaps_leave_memory_flat() -> None:
    """Every swap brings a snapshot of 150 KB; kept are four, whoever sat at the tables before."""
    config = configured(layers=[128, 64], num_envs=32, self_play={"every": 1, "keep": 4, "share": 1.0})
    league, env = League(config, checkpoint_meta(config, 0, "")), make_env(config)
    assert isinstance(env, DominoVecEnv)
    env.reset()
    generator = np.random.default_rng(0)

    def swap(times: int) -> int:
        for _ in range(times):
            join(league, int(generator.integers(1 << 30)))
            league.seat(env)
            for _ in range(2):
                env.step(legal(env, generator))
                league.count(env.games.views)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    others = count_learned()
    tracemalloc.start()
    try:
        early = swap(30)
        late = swap(200)
    finally:
        tracemalloc.stop()
    assert count_learned() - others == 4
    assert late - early < 100_000


def count_learned() -> int:
    gc.collect()
    return sum(type(thing) is LearnedPolicy for thing in gc.get_objects())


# -------------------------------------------------------------------------------------------------------- from disk


def test_checkpoints_and_bundled_names_sit_in(tmp_path: Path) -> None:
    path = str(random_checkpoint(tmp_path / "a.safetensors"))
    config = configured(opponents=["bergen/ppo?sample=1", path, "random"], decisions=256)
    folder = started(config, tmp_path / "run")
    assert load_checkpoint(folder / "last.safetensors").meta.steps_trained == 256
    games = load_state(folder / "state.npz")["league"]["games"]
    assert (games[:3] > 0).all()


def test_every_seat_needs_no_league(tmp_path: Path) -> None:
    base: Values = values(ppo={"every_seat": True})
    assert load_state(started(configured(base), tmp_path / "run") / "state.npz")["league"] is None
