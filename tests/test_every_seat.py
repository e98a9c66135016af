"""Two-sided self-play: what every seat's decisions are worth, against a plain reckoning with lists, on real games."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from stable_baselines3.common.callbacks import BaseCallback

from domino_env import Games
from domino_env.envs.aec import raw_env
from domino_env.errors import OptionsError
from tests.training_cases import configured
from training.algorithms import make_env, make_model
from training.every_seat import EverySeatEnv, EverySeatPPO
from training.seat_buffer import EverySeatBuffer


@dataclass(eq=False)
class Decision:
    """One decision of a seat, and the seat's next one in the same game."""

    number: int
    slot: int
    seat: int
    action: int
    value: float
    observation: Any
    mask: Any
    reward: float = 0.0
    after: Decision | None = None
    over: bool = False
    learnt: bool = False


@dataclass(eq=False)
class Play:
    """Games played at random; every decision is kept here in the plainest way, and in the buffer."""

    games: Games
    steps: int
    gamma: float = 1.0
    gae_lambda: float = 0.95
    values: dict[int, float] = field(default_factory=dict)
    """Number of a decision -> value; those left out get one at random."""
    decisions: list[Decision] = field(default_factory=list)
    last: dict[tuple[int, int], Decision] = field(default_factory=dict)
    early: dict[tuple[int, int], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.buffer = self.new_buffer()
        self.generator = np.random.default_rng(7)

    def new_buffer(self) -> EverySeatBuffer:
        games = self.games
        box = spaces.Box(-1.0, 1.0, (games.encoding.size,), np.float32)
        kwargs: dict[str, Any] = {"n_envs": games.num_games, "num_seats": games.num_players}
        return EverySeatBuffer(
            self.steps, box, spaces.Discrete(games.num_actions), "cpu", gamma=self.gamma, gae_lambda=self.gae_lambda, **kwargs
        )

    def rollout(self) -> None:
        """Fill the buffer once."""
        self.buffer.reset()
        for _ in range(self.steps):
            games = self.games
            actions = (games.action_mask * self.generator.random(games.action_mask.shape)).argmax(axis=1)
            fresh = [self._decide(slot, int(action)) for slot, action in enumerate(actions)]
            values, numbers = (np.array([getattr(one, name) for one in fresh], np.float32) for name in ("value", "number"))
            self.buffer.record(games, actions, values, numbers)  # a number in the place of a log-probability tells them apart
            games.step(actions)
            self.buffer.reward(games.reward, games.done)
            self._reward()
        self.buffer.finish()

    def _decide(self, slot: int, action: int) -> Decision:
        games, number, value = self.games, len(self.decisions), float(self.generator.normal())
        key = slot, int(games.seat[slot])
        found = (games.observation[slot].copy(), games.action_mask[slot].copy())
        one = Decision(number, *key, action, self.values.get(number, value), *found, reward=self.early.pop(key, 0.0))
        if key in self.last:
            self.last[key].after = one
        self.last[key] = one
        self.decisions.append(one)
        return one

    def _reward(self) -> None:
        for slot in range(self.games.num_games):
            for seat in range(self.games.num_players):
                reward, key = float(self.games.reward[slot, seat]), (slot, seat)
                if key in self.last:
                    self.last[key].reward += reward
                else:
                    self.early[key] = self.early.get(key, 0.0) + reward
                if self.games.done[slot]:
                    self.early.pop(key, None)
                    if key in self.last:
                        self.last.pop(key).over = True

    def expected(self) -> dict[int, float]:
        """Number -> advantage of all decisions that wait no longer, and were not learnt from before."""
        ready = [one for one in self.decisions if not one.learnt and (one.after or one.over)]
        advantages: dict[int, float] = {}
        for one in reversed(ready):
            error = one.reward - one.value
            later = 0.0
            if one.after is not None:
                error += self.gamma * one.after.value
                later = advantages.get(one.after.number, 0.0)
            advantages[one.number] = error + self.gamma * self.gae_lambda * later
            one.learnt = True
        return advantages

    def learnt(self) -> dict[int, Any]:
        """Number -> what the buffer gives to learn from."""
        out: dict[int, Any] = {}
        for batch in self.buffer.get(23):
            columns = (batch.observations, batch.actions, batch.old_values, batch.advantages, batch.returns, batch.action_masks)
            for place, number in enumerate(batch.old_log_prob.tolist()):
                assert number not in out, "twice in one update"
                out[int(number)] = tuple(column[place].numpy() for column in columns)
        return out


CASES = [
    ("bergen", 2, "round", True, 1.0, 0.95),
    ("bergen", 3, "match", False, 0.9, 0.8),
    ("threes", 2, "match", True, 1.0, 1.0),
    ("draw", 4, "round", True, 0.97, 0.0),
    ("all_fives", 4, "round", False, 0.5, 0.5),
    ("all_fives", 3, "round", True, 0.99, 1.0),
    ("fives_and_threes", 3, "round", True, 0.9, 0.9),
    ("fives_and_threes", 5, "match", False, 1.0, 0.95),
]


@pytest.mark.parametrize("anew", [False, True])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}_{case[1]}")
def test_advantages_are_those_of_a_plain_reckoning(case: tuple[Any, ...], anew: bool) -> None:
    """Over many rollouts, shorter and longer than a game; ``anew``: each with a buffer that took over what waits."""
    variant, seats, episode, skip, gamma, gae_lambda = case
    games = Games(
        variant, 9, seats, seed=3, episode=episode, skip_forced=skip, rules={"target": {seats: 12}} if episode == "match" else None
    )
    for steps in (1, 3, 40):
        games.reset(seed=steps)
        play = Play(games, steps, gamma, gae_lambda)
        counts: list[int] = []
        for _ in range(max(4, 90 // steps)):
            if anew:
                state = play.buffer.get_state()
                play.buffer = play.new_buffer()
                play.buffer.set_state(state)
            play.rollout()
            expected, found = play.expected(), play.learnt()
            assert set(found) == set(expected)
            counts.append(len(found))
            for number, (observation, action, value, advantage, returned, mask) in found.items():
                one = play.decisions[number]
                assert (int(action), float(value)) == (one.action, np.float32(one.value))
                assert observation.tobytes() == one.observation.tobytes()
                assert (mask == one.mask).all()
                assert float(advantage) == pytest.approx(expected[number], abs=1e-4)
                assert float(returned) == pytest.approx(expected[number] + one.value, abs=1e-4)
        waiting = [one for one in play.decisions if not one.learnt]
        assert sum(counts) + len(waiting) == len(play.decisions)  # each once, none lost
        assert len(waiting) == len(play.last) <= 9 * seats
        assert sum(counts) > 200
        if steps == 1:
            assert max(counts) > 9  # more than a step brings, so some had waited
    assert any(one.over for one in play.decisions)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}_{case[1]}")
def test_with_the_true_values_there_is_nothing_to_learn(case: tuple[Any, ...]) -> None:
    """The same games twice; the second time each decision is valued at what followed: no error at any step of any chain."""
    variant, seats, episode, skip, gamma, gae_lambda = case
    rules = {"target": {seats: 12}} if episode == "match" else None
    kwargs: dict[str, Any] = {"seed": 5, "episode": episode, "skip_forced": skip, "rules": rules}
    first = Play(Games(variant, 8, seats, **kwargs), 7, gamma, gae_lambda)
    for _ in range(20):
        first.rollout()
    truth: dict[int, float] = {}
    for one in reversed(first.decisions):
        if one.over:
            truth[one.number] = one.reward
        elif one.after is not None and one.after.number in truth:
            truth[one.number] = one.reward + gamma * truth[one.after.number]
    second = Play(Games(variant, 8, seats, **kwargs), 7, gamma, gae_lambda, values=truth)
    checked = 0
    for _ in range(20):
        second.rollout()
        for number, (_, action, _, advantage, returned, _) in second.learnt().items():
            if number in truth:
                assert int(action) == first.decisions[number].action
                assert float(advantage) == pytest.approx(0, abs=1e-5)
                assert float(returned) == pytest.approx(truth[number], abs=1e-5)
                checked += 1
    assert checked > 300
    assert max(map(abs, truth.values())) > 0.05


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}_{case[1]}")
def test_a_game_brings_each_seat_its_aec_return(case: tuple[Any, ...]) -> None:
    """PAINS 1: undiscounted, the return of a seat's first decision is what the AEC environment gives that seat in all."""
    variant, seats, episode, skip, _, _ = case
    rules = {"target": {seats: 12}} if episode == "match" else None
    play = Play(Games(variant, 5, seats, seed=11, episode=episode, skip_forced=skip, rules=rules), 400, gae_lambda=1.0)
    play.rollout()
    found = play.learnt()
    env = raw_env(variant, num_players=seats, episode=episode, skip_forced=skip, rules=rules)
    losers = 0
    for slot in range(5):
        env.reset(seed=11 + slot)
        returns = dict(env.rewards)  # of forced moves before the first decision
        first: dict[str, float] = {}
        for one in (one for one in play.decisions if one.slot == slot):
            agent = env.agent_selection
            assert agent == f"player_{one.seat}"
            first.setdefault(agent, float(found[one.number][4]))
            env.step(one.action)
            for name, reward in env.rewards.items():
                returns[name] += reward
            if all(env.terminations.values()):
                break
        assert all(env.terminations.values())
        assert first == pytest.approx({agent: returns[agent] for agent in first}, abs=1e-4)
        assert len(first) >= seats - 1
        losers += sum(total < -0.01 for total in first.values())
    assert losers > 0


# -------------------------------------------------------------------------------------------------- games and learner


def test_the_games_cannot_be_stepped_as_one_learner() -> None:
    env = make_env(configured(num_players=3, ppo={"every_seat": True}))
    assert isinstance(env, EverySeatEnv)
    assert env.reset().shape == (16, *env.observation_space.shape)
    with pytest.raises(OptionsError, match="every seat learns"):
        env.step(np.zeros(16, int))
    with pytest.raises(OptionsError, match="set_attr"):
        env.set_attr("games", None)
    assert env.get_attr("render_mode") == [None] * 16
    assert len(env.env_method("reset", indices=[1, 2])) == 2


def test_a_callback_may_stop_a_rollout() -> None:
    class Stops(BaseCallback):
        def _on_step(self) -> bool:
            return self.num_timesteps < 48

    config = configured(num_players=3, ppo={"every_seat": True})
    model = make_model(config, make_env(config))
    assert isinstance(model, EverySeatPPO)
    model.learn(10_000, Stops())
    assert model.num_timesteps == 48
    assert model._n_updates == 0
