"""Every variant as a game of OpenSpiel: their own tests of the interface, chance, returns, copies."""

from __future__ import annotations

import contextlib
import io
import itertools
import math
import pickle
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python.tests import games_sim_test

import domino_env.integrations.openspiel as bridge
from domino_env.envs.aec import raw_env
from domino_env.errors import DominoError, IllegalMoveError, OptionsError, RulesError
from domino_env.notation.game import PlayedGame
from domino_env.notation.moves import tile_text
from domino_env.rule_terms import DrawWhen, Opening
from domino_env.variants import VARIANTS
from tests.openspiel_cases import SEATS, load, load_rules, play, tiny, walk
from tests.strategies import random_rules

ROOT = Path(__file__).parent.parent


# The interface, as OpenSpiel tests it


def test_every_variant_is_registered_once() -> None:
    bridge.register_games()
    names = pyspiel.registered_names()
    assert {name for name in names if name.startswith("domino_")} == {bridge.game_name(variant) for variant in VARIANTS}
    assert len(names) == len(set(names))


@pytest.mark.parametrize(("variant", "seats"), SEATS)
def test_random_simulation_of_openspiel(variant: str, seats: int) -> None:
    pyspiel.random_sim_test(load(variant, players=seats), num_sims=2, serialize=True, verbose=False)


@pytest.mark.parametrize("variant", VARIANTS)
def test_simulation_test_of_openspiel_with_copies_and_pickles(variant: str) -> None:
    test = games_sim_test.GamesSimTest()
    with contextlib.redirect_stdout(io.StringIO()):
        for seats in VARIANTS[variant].players:
            test.sim_game(load(variant, players=seats))
        test.sim_game(tiny(variant))


def test_rules_as_parameters() -> None:
    text = "domino_bergen(players=3,max_pip=4,hand=3,reserve=1,reward=win,rules=draw_limit:2;must_draw:false;hit_points:4)"
    game = pyspiel.load_game(text)
    rules = game.setting.rules
    assert rules == VARIANTS["bergen"].replace(players=3, max_pip=4, hand=3, reserve=1, draw_limit=2, must_draw=False, hit_points=4)
    assert str(pyspiel.load_game(str(game))) == str(game)
    assert pyspiel.load_game(str(game)).setting.rules == rules
    assert str(pyspiel.load_game("domino_bergen(players=2,hand=-1)")) == str(pyspiel.load_game("domino_bergen")) == "domino_bergen()"
    fives = pyspiel.load_game("domino_fives_and_threes(players=4,sides=True,rules=divisors:5+2;play_on:false)")
    assert (fives.setting.rules.divisors, fives.setting.rules.play_on, fives.setting.rules.sides) == ((5, 2), False, True)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("domino_bergen(players=5)", RulesError, "players=5, but bergen is for 2, 3 or 4"),
        ("domino_bergen(max_pip=3)", RulesError, "hand=6 for 2 seats needs 12 tiles, but the double-3 set has 10"),
        ("domino_bergen(rules=colour:1)", RulesError, "unknown field 'colour'"),
        ("domino_bergen(leader=0)", OptionsError, "leader=0, but these rules say who leads"),
        ("domino_block(leader=2)", OptionsError, "leader=2, but it is a seat from 0 to 1, or -1"),
        ("domino_block(reward=gold)", OptionsError, "reward='gold', but it is 'points' or 'win'"),
        ("domino_block(rules=hand:3)", OptionsError, "'hand' is a parameter of its own: hand=3"),
        ("domino_bergen(rules=variant:block)", OptionsError, "the variant is that of the game: domino_block"),
        ("domino_block(rules=play_on)", OptionsError, "rules='play_on', but it is 'field:value;field:value'"),
        ("domino_block(rules=arms:2;arms:4)", OptionsError, "each field once"),
        ("domino_block(sides=True)", RulesError, "sides=True needs four seats"),
        ("domino_block(reserve=1)", RulesError, "draw_limit and reserve need draw_when"),
        ("domino_block(colour=1)", pyspiel.SpielError, "Unknown parameter 'colour'"),
    ],
)
def test_bad_parameters(text: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        pyspiel.load_game(text)
    assert message in str(caught.value)


def test_bad_moves_leave_the_state_as_it_was() -> None:
    state = tiny("bergen").new_initial_state()
    with pytest.raises(IllegalMoveError, match="outcome 99 of chance, but it is one of 0, 1, 2, 3, 4"):
        state.apply_action(99)
    with pytest.raises(OptionsError, match="chance is on turn"):
        state.resample_from_infostate(0, random.random)
    assert state.history() == []
    play(state, 0, random.Random(1))
    before = str(state), state.history()
    draw = int(state.get_game().setting.packed.draw_action)
    for action in (-2, draw, 10_000):
        with pytest.raises(DominoError):
            state.apply_action(action)
    assert (str(state), state.history()) == before
    with pytest.raises(OptionsError, match="deserialize_state"):
        state.get_game().new_initial_state("0-0")


# Chance


def told_policy(events: list[Any], legal: list[int]) -> int:
    """Some legal move, by what has been played."""
    return legal[sum(event.action + event.tile for event in events) % len(legal)]


def outcomes_of_tree(game: Any) -> Counter[Any]:
    """Probability of each way that a round can go under ``told_policy``."""
    found: Counter[Any] = Counter()

    def visit(state: Any, probability: float) -> None:
        if state.is_terminal():
            hands = tuple(frozenset(state.round.dealt(seat)) for seat in range(game.num_players()))
            found[hands, state.round.game.rounds[0].leader, tuple(state.round.events), tuple(state.returns())] += probability
        elif state.is_chance_node():
            outcomes = state.chance_outcomes()
            assert math.isclose(sum(chance for _, chance in outcomes), 1.0, abs_tol=1e-12)
            assert [outcome for outcome, _ in outcomes] == sorted({outcome for outcome, _ in outcomes})
            assert len(outcomes) <= game.max_chance_outcomes()
            for outcome, chance in outcomes:
                assert chance > 0
                visit(state.child(outcome), probability * chance)
        else:
            visit(state.child(told_policy(state.round.events, state.legal_actions())), probability)

    visit(game.new_initial_state(), 1.0)
    return found


def outcomes_of_engine(game: Any) -> Counter[Any]:
    """The same from the engine: every order of all tiles, each leader of a lot, equally often."""
    setting = game.setting
    found: Counter[Any] = Counter()
    leaders = range(setting.num_players) if setting.lots else [setting.leader]
    share = 1 / math.factorial(setting.rules.num_tiles) / len(leaders)
    size = setting.hand_size
    played = PlayedGame(setting.rules, setting.num_players, True)
    for order, leader in itertools.product(itertools.permutations(range(setting.rules.num_tiles)), leaders):
        played = played.copy()
        played.set_up(order, leader, [0] * setting.num_players)
        first = played.seat
        while not played.over:
            played.make_move(told_policy(played.rounds[0].events, played.legal_actions()))
        hands = tuple(frozenset(order[seat * size : (seat + 1) * size]) for seat in range(setting.num_players))
        points = played.scores()
        sign = -1 if setting.rules.match_winner == "lowest" else 1
        returns = tuple(sign * (own - (sum(points) - own) / (setting.num_players - 1)) for own in points)
        found[hands, first, tuple(played.rounds[0].events), returns] += share
    return found


@pytest.mark.parametrize(
    ("variant", "seats"), [*((variant, 2) for variant in VARIANTS), ("block", 3), ("draw", 3), ("fives_and_threes", 4)]
)
def test_chance_deals_as_the_engine_does(variant: str, seats: int) -> None:
    game = tiny(variant, seats, leader=-1) if VARIANTS[variant].draw_when == DrawWhen.NEVER else tiny(variant, seats, reserve=0)
    tree, engine = outcomes_of_tree(game), outcomes_of_engine(game)
    assert set(tree) == set(engine)
    assert max(abs(tree[way] - engine[way]) for way in tree) < 1e-12


@pytest.mark.parametrize(("max_pip", "seats", "hand"), [(2, 2, 2), (2, 3, 1), (2, 3, 2), (3, 2, 2)])
def test_each_deal_is_one_path_and_equally_likely(max_pip: int, seats: int, hand: int) -> None:
    game = load("block", players=seats, max_pip=max_pip, hand=hand)
    tiles = game.setting.rules.num_tiles
    ways = seats * math.prod(math.comb(tiles - seat * hand, hand) for seat in range(seats))
    found = []

    def visit(state: Any, probability: float) -> None:
        if not state.is_chance_node():
            found.append((tuple(state.history()), probability))
            return
        for outcome, chance in state.chance_outcomes():
            visit(state.child(outcome), probability * chance)

    visit(game.new_initial_state(), 1.0)
    assert len({deal for deal, _ in found}) == len(found) == ways
    assert all(math.isclose(probability, 1 / ways) for _, probability in found)


def test_a_drawn_tile_may_be_any_undrawn_one_the_reserve_included() -> None:
    rng = random.Random(3)
    game = load("bergen")
    seen = 0
    while seen < 20:
        state = play(game.new_initial_state(), rng.randrange(1, 12), rng)
        if state.is_terminal() or game.setting.packed.draw_action not in state.legal_actions():
            continue
        state.apply_action(int(game.setting.packed.draw_action))
        assert state.is_chance_node()
        drawn = {event.tile for event in state.round.events}
        dealt = {tile for seat in (0, 1) for tile in state.round.dealt(seat)}
        outcomes = state.chance_outcomes()
        assert [tile for tile, _ in outcomes] == [tile for tile in range(28) if tile not in dealt | drawn]
        assert len({chance for _, chance in outcomes}) == 1
        tile = rng.choice(outcomes)[0]
        seat = state.round.game.seat
        state.apply_action(tile)
        assert (state.round.events[-1].seat, state.round.events[-1].tile) == (seat, tile)
        seen += 1


# Returns and bounds


def aec_returns(state: Any, reward: str) -> list[float]:
    """What the AEC environment pays for the same deal and the same moves."""
    setting, played = state.get_game().setting, state.round.game
    env = raw_env(setting.variant, num_players=setting.num_players, episode="round", reward=reward, rules=setting.rules)
    texts = [tile_text(tile) for tile in played.rounds[0].order]
    size, dealt = setting.hand_size, setting.num_dealt
    hands = [texts[first : first + size] for first in range(0, dealt, size)]
    env.reset(seed=0, options={"hands": hands, "boneyard": texts[dealt:], "leader": played.rounds[0].leader})
    paid = np.zeros(setting.num_players)
    for event in state.round.events:
        assert env.agent_selection == f"player_{event.seat}"
        env.step(event.action)
        paid += [env.rewards[agent] for agent in env.possible_agents]
    assert all(env.terminations.values())
    scale = setting.rules.target[setting.num_players] if reward == "points" else 1
    return (paid * scale).tolist()


@pytest.mark.parametrize(("variant", "seats"), SEATS)
def test_returns_are_those_of_the_aec_environment(variant: str, seats: int) -> None:
    rng = random.Random(f"{variant} {seats}")
    kinds = [{}, {"reward": "win"}] + ([{"sides": True}, {"sides": True, "reward": "win"}] if seats == 4 else [])
    for kind in kinds:
        game = load(variant, players=seats, **kind)
        for _ in range(4):
            state = game.new_initial_state()
            assert state.returns() == [0.0] * seats
            play(state, 1000, rng)
            assert state.returns() == pytest.approx(aec_returns(state, kind.get("reward", "points")), abs=1e-9)
            assert sum(state.returns()) == pytest.approx(0, abs=1e-12)
            assert max(map(abs, state.returns())) <= game.max_utility() == -game.min_utility()
            assert len(state.round.events) <= game.max_game_length()
            assert len(state.history()) - len(state.round.events) <= game.max_chance_nodes_in_history()


def test_random_rules_as_parameters_keep_their_bounds() -> None:
    rng = random.Random(2)
    for _ in range(60):
        rules, seats = random_rules(rng.choice)
        game = load_rules(rules, seats)
        assert game.setting.rules.fingerprint() == rules.fingerprint()
        assert pyspiel.load_game(str(game)).setting.rules == game.setting.rules
        state = play(game.new_initial_state(), 1000, rng)
        assert max(map(abs, state.returns())) <= game.max_utility()
        assert sum(state.returns()) == pytest.approx(0, abs=1e-9)
        assert len(state.round.events) <= game.max_game_length()
        assert len(state.history()) - len(state.round.events) <= game.max_chance_nodes_in_history()
        assert max(abs(event.points) for event in state.round.events) <= game.setting.most_points


def test_bounds_are_reached() -> None:
    # 5-6 goes out against the seven heaviest tiles that are left, 69 pips
    game = load("block", leader=0)
    assert game.max_utility() == 69
    small = tiny("block")
    ends = [state for state in walk(small.new_initial_state()) if state.is_terminal()]
    assert max(state.returns()[0] for state in ends) == small.max_utility() == 7
    assert load("block", reward="win").max_utility() == 1


# Copies


def look(state: Any) -> Any:
    """All that a state tells."""
    seats = range(state.num_players())
    views = [(state.information_state_string(s), state.information_state_tensor(s), state.observation_tensor(s)) for s in seats]
    chance = state.chance_outcomes() if state.is_chance_node() else None
    return str(state), state.history(), state.current_player(), state.legal_actions(), chance, state.returns(), views


@pytest.mark.parametrize("variant", VARIANTS)
def test_copies_play_on_by_themselves(variant: str) -> None:
    rng = random.Random(variant)
    game = load(variant, players=3)
    state = game.new_initial_state()
    drawing = 0
    while not state.is_terminal():
        if len(state.history()) % 7 == 0 or (state.round.drawing and drawing < 3):
            drawing += state.round.drawing
            before = look(state)
            copies = [state.clone(), pickle.loads(pickle.dumps(state)), game.deserialize_state(state.serialize())]
            copies.append(pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))[1])
            for copy in copies:
                assert look(copy) == before
                play(copy, 1000, rng)
            assert look(state) == before
        state.apply_action(rng.choice(state.legal_actions()))


def test_undrawn_tiles_of_a_copy_are_its_own() -> None:
    rng = random.Random(8)
    state = play(load("draw").new_initial_state(), 0, rng)
    draw = int(state.get_game().setting.packed.draw_action)
    while draw not in state.legal_actions():
        state = play(load("draw").new_initial_state(), rng.randrange(2, 9), rng)
    state.apply_action(draw)
    order = list(state.round.game.rounds[0].order)
    ends = {tile: state.child(tile).round for tile, _ in state.chance_outcomes()}
    assert state.round.game.rounds[0].order == order
    for tile, child in ends.items():
        assert child.events[-1].tile == tile
        assert sorted(child.game.rounds[0].order) == list(range(28))
        assert child.game.games["order"][0, :28].tolist() == child.game.rounds[0].order


# The bridge stands apart


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


def test_without_openspiel_one_line_names_the_extra() -> None:
    done = run_python("import sys; sys.modules['pyspiel'] = None; import domino_env.integrations.openspiel")
    assert done.returncode == 1
    last = 'ImportError: domino_env.integrations.openspiel needs OpenSpiel: pip install "domino-env[openspiel]"'
    assert done.stderr.splitlines()[-1] == last


def test_a_fresh_process_unpickles_games_and_states_and_ends_well() -> None:
    game = load("bergen", players=3)
    state = play(game.new_initial_state(), 5, random.Random(2))
    done = run_python(f"import pickle; print(*map(str, pickle.loads({pickle.dumps((game, state))!r})), sep='|')")
    assert (done.returncode, done.stdout.strip()) == (0, f"{game}|{state}"), done.stderr


def test_nothing_imports_the_bridge() -> None:
    done = run_python("import sys, domino_env, domino_env.cli; print([name for name in sys.modules if 'spiel' in name])")
    assert done.stdout.strip() == "[]", done.stderr
    sources = [path for path in (ROOT / "domino_env").rglob("*.py") if "integrations" not in path.parts]
    assert len(sources) > 50
    assert [path.name for path in sources if "domino_env.integrations.openspiel" in path.read_text(encoding="utf-8")] == []


def test_every_opening_lays_its_lot_open() -> None:
    for variant, rules in VARIANTS.items():
        state = load(variant).new_initial_state()
        for _ in range(state.get_game().setting.num_dealt):
            state.apply_action(state.legal_actions()[0])
        if rules.opening == Opening.ANY:
            assert state.chance_outcomes() == [(0, 0.5), (1, 0.5)]
            assert state.action_to_string(1) == "leader 1"
            assert state.child(1).current_player() == 1
        else:
            assert state.current_player() >= 0
