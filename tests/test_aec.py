"""The AEC environments: PettingZoo's own tests, and the rows of PAINS.md that speak of them."""

from __future__ import annotations

import copy
import importlib
import pickle
import random
import warnings
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, seed_test

import domino_env
from domino_env.engine.state import GAME
from domino_env.envs.aec import DominoAECEnv, env, raw_env
from domino_env.errors import IllegalMoveError, NotationError, OptionsError, PolicyError, RulesError
from domino_env.notation.state_bytes import open_bytes, seal
from domino_env.policies import load_policy
from domino_env.variants import VARIANTS

CASES = [(variant, seats) for variant, rules in VARIANTS.items() for seats in rules.players]


# the two that api_test gives on every Dict observation
DICT_WARNINGS = {
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
    "Observation is not a NumPy array",
}


def legal_action(environment: Any, rng: random.Random) -> int:
    mask = environment.observe(environment.agent_selection)["action_mask"]
    return int(rng.choice(np.flatnonzero(mask).tolist()))


def play(environment: Any, rng: random.Random, moves: int) -> None:
    for _ in range(moves):
        if environment.unwrapped.game.over:
            return
        environment.step(legal_action(environment, rng))


def channels(environment: DominoAECEnv) -> dict[str, Any]:
    """Everything that a user can read of a game."""
    seen = {agent: environment.observe(agent) for agent in environment.possible_agents}
    return {
        "observations": {agent: (value["observation"].tobytes(), value["action_mask"].tobytes()) for agent, value in seen.items()},
        "agents": environment.agents,
        "selection": environment.agent_selection,
        "rewards": environment.rewards,
        "cumulative": environment._cumulative_rewards,
        "terminations": environment.terminations,
        "truncations": environment.truncations,
        "infos": environment.infos,
        "scores": environment.scores,
        "leader": environment.leader,
        "round": environment.round_index,
        "winners": environment.winners,
        "legal": environment.legal_moves(),
        "record": environment.record(),
        "state": environment.get_state(),
    }


@pytest.mark.parametrize(("variant", "seats"), CASES)
def test_pettingzoo_api(variant: str, seats: int) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(env(variant, num_players=seats), num_cycles=300)
        api_test(raw_env(variant, num_players=seats), num_cycles=50)
    assert {str(w.message) for w in caught} == DICT_WARNINGS


@pytest.mark.parametrize("variant", VARIANTS)
def test_pettingzoo_seeds(variant: str) -> None:
    seed_test(lambda: env(variant), num_cycles=200)


@pytest.mark.parametrize("variant", VARIANTS)
def test_modules_and_ids(variant: str) -> None:
    module = importlib.import_module(f"domino_env.{variant}_v0")
    assert getattr(domino_env, f"{variant}_v0") is module
    assert module.raw_env().metadata["name"] == f"{variant}_v0"
    made = pettingzoo.make("aec", f"domino/{variant.replace('_', '-')}-v0", num_players=3, rules={"target": {3: 7}})
    made.reset(seed=0)
    assert made.unwrapped.rules.target[3] == 7
    assert made.num_agents == 3


@pytest.mark.parametrize(("variant", "seats"), CASES)
@pytest.mark.parametrize("episode", ["round", "match"])
def test_same_seed_same_game_to_the_end(variant: str, seats: int, episode: str) -> None:
    """PAINS 12, 13: our own run goes to the end, beside another env, with the global generators disturbed."""
    records = []
    for disturb in (False, True):
        environment = raw_env(variant, num_players=seats, episode=episode)
        other = raw_env(variant, num_players=seats, episode=episode)
        environment.reset(seed=11)
        other.reset(seed=12)
        rng, beside = random.Random(5), random.Random(6)
        while not environment.game.over:
            if disturb:
                np.random.seed(3)  # noqa: NPY002 -- that it changes nothing is the point
                random.seed(4)
                play(other, beside, 1)
            play(environment, rng, 1)
        records.append(environment.record())
    assert records[0] == records[1]


def test_the_seed_run_notices_a_late_draw() -> None:
    first, second = (raw_env("draw") for _ in range(2))
    first.reset(seed=1)
    second.reset(seed=1)
    order = second.game.games["order"][0]
    order[26], order[27] = int(order[27]), int(order[26])  # the last two tiles of the boneyard
    for environment in (first, second):
        play(environment, random.Random(0), 10_000)
    assert first.record()["rounds"] != second.record()["rounds"]


@pytest.mark.parametrize(("variant", "seats"), CASES)
@pytest.mark.parametrize("episode", ["round", "match"])
@pytest.mark.parametrize("skip", [False, True])
def test_rewards_and_returns(variant: str, seats: int, episode: str, skip: bool) -> None:
    """Rewards sum to zero; returns are the final margins; losses made by another seat's move arrive (PAINS 1, 10)."""
    environment = raw_env(variant, num_players=seats, episode=episode, skip_forced=skip)
    for seed in range(5):
        environment.reset(seed=seed)
        totals, read = np.zeros(seats), np.zeros(seats)
        totals += list(environment.rewards.values())
        rng = random.Random(seed)
        while environment.agents:
            agent = environment.agent_selection
            _, reward, terminated, _, _ = environment.last()
            read[environment.possible_agents.index(agent)] += reward
            environment.step(None if terminated else legal_action(environment, rng))
            if not terminated:
                assert abs(sum(environment.rewards.values())) < 1e-9
                totals += list(environment.rewards.values())
        scores = np.array(environment.scores, float)
        others = (scores.sum() - scores) / (seats - 1)
        sign = -1 if environment.rules.match_winner == "lowest" else 1
        margins = sign * (scores - others) / environment.rules.target[seats]
        if not skip:  # with it, a reset may have replaced games that ended before anybody decided
            np.testing.assert_allclose(totals, margins, atol=1e-9)
        np.testing.assert_allclose(read, totals, atol=1e-9)


@pytest.mark.parametrize(("variant", "seats"), CASES)
def test_win_reward(variant: str, seats: int) -> None:
    environment = raw_env(variant, num_players=seats, episode="round", reward="win")
    ties = 0
    for seed in range(20):
        environment.reset(seed=seed)
        rng = random.Random(seed)
        while not environment.game.over:
            assert set(environment.rewards.values()) == {0.0}
            play(environment, rng, 1)
        winners = environment.winners
        scores = [s * (-1 if environment.rules.match_winner == "lowest" else 1) for s in environment.scores]
        assert winners == [seat for seat in range(seats) if scores[seat] == max(scores)]
        expected = dict.fromkeys(environment.possible_agents, 0.0)
        if len(winners) < seats:
            for seat, agent in enumerate(environment.possible_agents):
                expected[agent] = 1 / len(winners) if seat in winners else -1 / (seats - len(winners))
        else:
            ties += 1
        assert environment.rewards == pytest.approx(expected)
    assert ties < 20


def test_sides_share_rewards() -> None:
    environment = raw_env("all_fives", num_players=4, rules={"sides": True})
    environment.reset(seed=0)
    rng = random.Random(0)
    seen = 0
    while not environment.game.over:
        before = environment.scores
        play(environment, rng, 1)
        after = environment.scores
        assert after[0] == after[2]
        assert after[1] == after[3]
        own = (after[0] - before[0]) - (after[1] - before[1])
        assert environment.rewards["player_0"] == environment.rewards["player_2"] == pytest.approx(own / 200)
        assert environment.rewards["player_1"] == pytest.approx(-own / 200)
        seen += own != 0
    assert seen > 3
    assert environment.winners in ([0, 2], [1, 3])


@pytest.mark.parametrize(("variant", "seats"), CASES)
def test_last_calls_after_the_end(variant: str, seats: int) -> None:
    """PAINS 10: after the last move each agent gets exactly one last() with its final reward; then nobody is left."""
    environment = raw_env(variant, num_players=seats, episode="round")
    environment.reset(seed=2)
    play(environment, random.Random(2), 10_000)
    final = dict(environment._cumulative_rewards)
    with pytest.raises(ValueError, match="None"):
        environment.step(0)
    seen = []
    while environment.agents:
        agent = environment.agent_selection
        observation, reward, terminated, truncated, _ = environment.last()
        assert (terminated, truncated, reward) == (True, False, final[agent])
        assert not observation["action_mask"].any()
        assert environment.legal_moves() == []
        seen.append(agent)
        environment.step(None)
    assert sorted(seen) == environment.possible_agents
    with pytest.raises(IllegalMoveError, match="reset"):
        environment.step(None)


@pytest.mark.parametrize(("variant", "seats"), CASES)
@pytest.mark.parametrize("how", ["deepcopy", "pickle", "clone", "state"])
def test_copies(variant: str, seats: int, how: str) -> None:
    """PAINS 2: in mid-round equal in every channel, then for 200 moves; the original is untouched."""
    original = raw_env(variant, num_players=seats)
    original.reset(seed=9)
    play(original, random.Random(1), 23)
    before = channels(original)
    if how == "state":
        other = raw_env(variant, num_players=seats)
        other.reset(seed=0)
        other.set_state(original.get_state())
    else:
        other = {"deepcopy": copy.deepcopy, "pickle": lambda e: pickle.loads(pickle.dumps(e)), "clone": DominoAECEnv.clone}[how](original)
    assert channels(other) == before
    for rng in [random.Random(7)]:
        play(other, rng, 200)
    assert channels(original) == before
    play(original, random.Random(7), 200)
    assert channels(original) == channels(other)


def test_wrapped_copies() -> None:
    original = env("threes")
    original.reset(seed=3)
    play(original, random.Random(0), 9)
    for other in (copy.deepcopy(original), pickle.loads(pickle.dumps(original))):
        assert channels(other.unwrapped) == channels(original.unwrapped)
        play(other, random.Random(1), 5)
        assert channels(other.unwrapped) != channels(original.unwrapped)


def test_state_bytes_of_other_rules_are_refused() -> None:
    bergen, two = raw_env("bergen"), raw_env("bergen", rules={"target": {2: 21}})
    bergen.reset(seed=0)
    two.reset(seed=0)
    before = channels(two)
    state = bergen.get_state()
    for wrong in (state, b"", b"abc", state[:50], state[:-1], state + b"x", "text", pickle.dumps(1)):
        with pytest.raises(OptionsError):
            two.set_state(wrong)  # type: ignore[arg-type]
    assert channels(two) == before


def test_damaged_state_bytes_are_refused() -> None:
    """One flipped bit anywhere; and a row made by hand, its digest right, that no game can have."""
    environment = raw_env("bergen", num_players=3)
    environment.reset(seed=3)
    play(environment, random.Random(0), 12)
    before = channels(environment)
    state = environment.get_state()
    rng = random.Random(1)
    for _ in range(300):
        damaged = bytearray(state)
        damaged[rng.randrange(len(state))] ^= 1 << rng.randrange(8)
        with pytest.raises(OptionsError):
            environment.set_state(bytes(damaged))
    head, body = open_bytes(state)
    inner, row = open_bytes(body)
    for field, value in (("seat", 77), ("leader", -4), ("arm_pip", 1 << 20), ("next_tile", 999), ("num_legal", 0)):
        rows = np.frombuffer(row, GAME).copy()
        rows[field] = value
        with pytest.raises(OptionsError, match="no game can stand"):
            environment.set_state(seal(head, seal(inner, rows.tobytes())))
    assert channels(environment) == before


@pytest.mark.parametrize("variant", VARIANTS)
def test_bad_actions(variant: str) -> None:
    environment = raw_env(variant)
    with pytest.raises(IllegalMoveError, match="reset"):
        environment.step(0)
    environment.reset(seed=4)
    before = channels(environment)
    count = environment.action_space("player_0").n
    mask = environment.observe(environment.agent_selection)["action_mask"]
    masked = int(np.flatnonzero(mask == 0)[0])
    for wrong in (-1, count, 10**9, masked, np.int8(masked)):
        with pytest.raises(IllegalMoveError):
            environment.step(wrong)
    for wrong in (1.0, np.float32(1), np.array([0, 1]), np.array([0]), np.array(1.0), "0", None, True, np.bool_(True), [0]):
        with pytest.raises(OptionsError):
            environment.step(wrong)
    assert channels(environment) == before
    legal = int(np.flatnonzero(mask)[0])
    for right in (legal, np.int64(legal), np.uint8(legal), np.array(legal), np.array(legal, np.int16)):
        other = environment.clone()
        other.step(right)
        assert other.record()["rounds"][-1]["events"]


@pytest.mark.parametrize("variant", VARIANTS)
def test_illegal_move_under_the_wrappers_leaves_the_next_game_alone(variant: str) -> None:
    """PAINS 11."""
    environment = env(variant)
    environment.reset(seed=5)
    play(environment, random.Random(0), 3)
    mask = environment.observe(environment.agent_selection)["action_mask"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loser = environment.agent_selection
        environment.step(int(np.flatnonzero(mask == 0)[0]))
        assert all(environment.terminations.values())
        assert environment.rewards[loser] == -1
        for agent in environment.agent_iter():
            environment.step(None)
            assert agent
    environment.reset(seed=6)
    fresh = env(variant)
    fresh.reset(seed=6)
    for _ in range(40):
        assert channels(environment.unwrapped) == channels(fresh.unwrapped)
        if environment.unwrapped.game.over:
            break
        action = legal_action(environment, random.Random(1))
        environment.step(action)
        fresh.step(action)


def test_reset_options() -> None:
    environment = raw_env("block", num_players=2)
    hands = [["0-0", "0-1"], ["6-6", "5-6", "4-6", "3-6", "2-6", "1-6", "0-6"]]
    environment.reset(seed=1, options={"hands": hands, "boneyard": ["5-5"], "leader": 1, "scores": [10, 20]})
    dealt = environment.record()["rounds"][0]
    assert dealt["hands"][0][:2] == ["0-0", "0-1"]
    assert dealt["hands"][1] == hands[1]
    assert dealt["boneyard"][0] == "5-5"
    assert (environment.leader, environment.scores) == (1, [10, 20])
    assert len({tile for hand in dealt["hands"] for tile in hand} | set(dealt["boneyard"])) == 28
    again = raw_env("block", num_players=2)
    again.reset(seed=1, options={"hands": hands, "boneyard": ["5-5"], "leader": 1, "scores": [10, 20]})
    assert again.record() == environment.record()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"hand": []}, "unknown 'hand'"),
        ({"hands": "0-0"}, "list"),
        ({"hands": [["0-0"], ["0-0"]]}, "twice"),
        ({"hands": [["0-7"]]}, "highest pip"),
        ({"hands": [["1-0"]]}, "lower pip"),
        ({"hands": [[], [], []]}, "3 hands"),
        ({"hands": [["0-0", "0-1", "0-2", "0-3", "0-4", "0-5", "0-6"]]}, "room for 6"),
        ({"boneyard": ["0-0"] * 17}, "room for 16"),
        ({"leader": 2}, "seats are 0 to 1"),
        ({"leader": True}, "seats are 0 to 1"),
        ({"scores": [1]}, "2 whole numbers"),
        ({"scores": [1.5, 2]}, "2 whole numbers"),
        ({"scores": [15, 0]}, "over at 15"),
        ({"scores": [-(10**30), 0]}, "stay below"),
        ({"scores": b"ab"}, "list"),
        ({"hands": [["0-0"]], "leader": 1}, "seat 0 holds the tile that must be led"),
    ],
)
def test_wrong_reset_options(options: dict[str, Any], words: str) -> None:
    environment = raw_env("bergen")
    environment.reset(seed=1)
    play(environment, random.Random(0), 5)
    before = channels(environment)
    with pytest.raises(OptionsError, match=words):
        environment.reset(seed=2, options=options)
    assert channels(environment) == before


@pytest.mark.parametrize(
    ("kwargs", "error"),
    [
        ({"num_players": 5}, RulesError),
        ({"num_players": 1}, RulesError),
        ({"num_players": "2"}, RulesError),
        ({"episode": "game"}, OptionsError),
        ({"reward": "score"}, OptionsError),
        ({"render_mode": "rgb"}, OptionsError),
        ({"rules": {"targets": 3}}, RulesError),
        ({"rules": 3}, RulesError),
        ({"rules": {"sides": True}}, RulesError),
    ],
)
def test_wrong_arguments(kwargs: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        raw_env("bergen", **kwargs)


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True, 2**64])
def test_wrong_seeds(seed: Any) -> None:
    with pytest.raises(OptionsError, match="seed"):
        raw_env("bergen").reset(seed=seed)


def test_other_wrong_calls() -> None:
    environment = raw_env("bergen")
    with pytest.raises(OptionsError, match="reset"):
        environment.last()
    for wrong in (5, "x", [1]):
        with pytest.raises(OptionsError, match="dict"):
            environment.reset(seed=1, options=wrong)  # type: ignore[arg-type]
    environment.reset(seed=1)
    with pytest.raises(OptionsError, match="player_0, player_1"):
        environment.observe("nobody")
    other = copy.copy(environment)
    play(other, random.Random(0), 3)
    assert environment.record() != other.record()


def test_reset_without_seed_goes_on() -> None:
    first, second = raw_env("draw"), raw_env("draw")
    deals = []
    for environment in (first, second):
        environment.reset(seed=8)
        environment.reset()
        deals.append(environment.record()["rounds"][0])
    assert deals[0] == deals[1]
    assert first.record()["seed"] is None
    fresh = [raw_env("draw") for _ in range(2)]
    for environment in fresh:
        environment.reset()
    assert fresh[0].record()["rounds"] != fresh[1].record()["rounds"]


@pytest.mark.parametrize(("variant", "seats"), CASES)
def test_skip_forced_leaves_decisions(variant: str, seats: int) -> None:
    environment = raw_env(variant, num_players=seats, skip_forced=True)
    for seed in range(10):
        environment.reset(seed=seed)
        rng = random.Random(seed)
        while not environment.game.over:
            assert len(environment.legal_moves()) > 1
            play(environment, rng, 1)
        plain = raw_env(variant, num_players=seats)
        plain.reset(seed=seed)
        for entry in environment.record()["rounds"][0]["events"]:
            plain.step(plain.move_index(entry["move"]))
        assert plain.record()["rounds"][0] == environment.record()["rounds"][0]


def test_texts_and_spaces() -> None:
    environment = raw_env("all_fives", num_players=3)
    environment.reset(seed=0)
    assert environment.observation_space("player_0") is environment.observation_space("player_0")
    for action in range(environment.action_space("player_0").n):
        assert environment.move_index(environment.move_text(action)) == action
    with pytest.raises(NotationError):
        environment.move_text(142)
    with pytest.raises(NotationError):
        environment.move_index("1-4@middle")
    assert environment.state().shape == environment.state_space.shape
    assert len(environment.describe(environment.observe("player_1"))) == environment.encoding.size


@pytest.mark.parametrize(("variant", "seats"), CASES)
def test_render(variant: str, seats: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")  # no window opens
    environment = raw_env(variant, num_players=seats, render_mode="ansi")
    environment.reset(seed=1)
    text = environment.render()
    assert isinstance(text, str)
    assert text.strip()
    assert capsys.readouterr().out == ""
    human = raw_env(variant, num_players=seats, render_mode="human")
    human.metadata["render_fps"] = 1000
    human.reset(seed=1)
    assert human.render() is None
    human.close()
    pixels = raw_env(variant, num_players=seats, render_mode="rgb_array")
    pixels.reset(seed=1)
    assert isinstance(pixels.render(), np.ndarray)
    assert capsys.readouterr().out == ""
    assert raw_env(variant).render() is None


@pytest.mark.parametrize("max_pip", range(2, 10))
def test_other_sets(max_pip: int) -> None:
    for variant in VARIANTS:
        rules = {"max_pip": max_pip, "players": [2], "hand": 2, "reserve": 0}
        # with a large boneyard a random player of lucky_threes pays penalties for ever
        environment = raw_env(variant, rules=rules, episode="round" if variant == "lucky_threes" else "match")
        environment.reset(seed=max_pip)
        play(environment, random.Random(0), 100_000)
        assert environment.winners


def test_state_of_a_round_whose_winner_lost_points() -> None:
    """The lowest hand by doubles may hold more pips than the others, and gain less than nothing."""
    rules = {"max_pip": 9, "hand": 2, "players": [2], "lowest_hand": "fewest_doubles", "lowest_tie_wins": True}
    environment = raw_env("block", rules=rules, episode="round")
    losers = 0
    for seed in range(120):
        environment.reset(seed=seed)
        play(environment, random.Random(seed), 1_000)
        losers += min(environment.scores) < 0
        environment.set_state(environment.get_state())
    assert losers > 0


@pytest.mark.parametrize("spec", ["random", "greedy", "bergen/ppo"])
def test_a_policy_chooses_for_the_seat_on_turn(spec: str) -> None:
    """``choose`` answers as the same policy does among many games, and leaves the game as it is."""
    table = on_turn(5)
    policy = load_policy(spec)
    while not table.game.over:
        before = table.get_state()
        action = table.choose(spec)
        assert table.observe(table.agent_selection)["action_mask"][action] == 1
        assert action == table.choose(policy)
        assert table.get_state() == before
        table.step(action)
    with pytest.raises(OptionsError, match="nobody is on turn"):
        table.choose(spec)
    with pytest.raises(PolicyError):
        on_turn(1).choose("nobody")


def on_turn(seed: int) -> DominoAECEnv:
    table: DominoAECEnv = raw_env("bergen")
    table.reset(seed=seed)
    return table
