"""OpenSpiel's algorithms on the variants: CFR, exploitability, best responses, Monte Carlo CFR, IS-MCTS, its RL environment."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy, rl_environment
from open_spiel.python.algorithms import (
    best_response,
    cfr,
    expected_game_score,
    exploitability,
    external_sampling_mccfr,
    get_all_states,
    ismcts,
    mcts,
    outcome_sampling_mccfr,
)

from domino_env.variants import VARIANTS
from tests.openspiel_cases import SEATS, load, play, tiny


@pytest.fixture(scope="module")
def block() -> Any:
    """Double-two, two tiles each, seat 0 leads: 90 deals."""
    return tiny("block")


@pytest.mark.parametrize(("variant", "seats"), [*((variant, 2) for variant in VARIANTS), ("draw", 3), ("block", 4)])
def test_all_states_can_be_listed(variant: str, seats: int) -> None:
    game = tiny(variant, seats)
    states = get_all_states.get_all_states(game, include_chance_states=True)
    assert 100 < len(states) < 20_000
    for state in states.values():
        if state.is_terminal():
            assert sum(state.returns()) == pytest.approx(0, abs=1e-12)
            assert max(map(abs, state.returns())) <= game.max_utility()
        elif state.is_player_node():
            assert state.legal_actions() == sorted(state.legal_actions())


@pytest.mark.parametrize("variant", ["block", pytest.param("bergen", marks=pytest.mark.slow)])
def test_cfr_brings_exploitability_down(variant: str) -> None:
    game = tiny(variant)
    solver = cfr.CFRSolver(game)
    for _ in range(7):
        solver.evaluate_and_update_policy()
    uniform = exploitability.exploitability(game, policy.UniformRandomPolicy(game))
    learned = exploitability.exploitability(game, solver.average_policy())
    assert 0 <= learned < 0.25 * uniform
    # OpenSpiel's compiled measure of the same policy
    table = {text: list(solver.average_policy().policy_for_key(text)) for text in solver.average_policy().state_lookup}
    listed = {text: [(action, chance) for action, chance in enumerate(chances)] for text, chances in table.items()}
    assert pyspiel.exploitability(game, pyspiel.TabularPolicy(listed)) == pytest.approx(learned, abs=1e-9)


def test_compiled_cfr_plus_comes_close_to_equilibrium(block: Any) -> None:
    solver = pyspiel.CFRPlusSolver(block)
    for _ in range(8):
        solver.evaluate_and_update_policy()
    assert 0 <= pyspiel.exploitability(block, solver.average_policy()) < 0.02


def test_best_response_is_worth_what_exploitability_says(block: Any) -> None:
    uniform = policy.UniformRandomPolicy(block)
    start = block.new_initial_state()
    replies = [best_response.BestResponsePolicy(block, seat, uniform) for seat in (0, 1)]
    assert sum(reply.value(start) for reply in replies) == pytest.approx(2 * exploitability.exploitability(block, uniform))
    even = expected_game_score.policy_value(start, [uniform, uniform])
    assert all(replies[seat].value(start) > even[seat] + 0.1 for seat in (0, 1))


@pytest.mark.parametrize("sampling", ["external", "outcome"])
def test_monte_carlo_cfr_learns(block: Any, sampling: str) -> None:
    np.random.seed(1)  # noqa: NPY002  what these solvers draw from
    module = external_sampling_mccfr if sampling == "external" else outcome_sampling_mccfr
    solver = module.ExternalSamplingSolver(block) if sampling == "external" else module.OutcomeSamplingSolver(block)
    for _ in range(100 if sampling == "external" else 700):
        solver.iteration()
    uniform = exploitability.exploitability(block, policy.UniformRandomPolicy(block))
    assert exploitability.exploitability(block, solver.average_policy()) < 0.5 * uniform


def ismcts_bot(game: Any, simulations: int, seed: int) -> Any:
    chance = np.random.RandomState(seed)
    return ismcts.ISMCTSBot(game, mcts.RandomRolloutEvaluator(1, chance), 2 * game.setting.most_points, simulations, random_state=chance)


@pytest.mark.parametrize(("variant", "seats"), SEATS)
def test_ismcts_plays_every_variant(variant: str, seats: int) -> None:
    rng = random.Random(f"{variant} {seats}")
    game = load(variant, players=seats)
    bot = ismcts_bot(game, 8, 3)
    state = play(game.new_initial_state(), 0, rng)
    decided = 0
    while not state.is_terminal() and decided < 3:
        if len(state.legal_actions()) > 1:
            decided += 1
            chosen = bot.step(state)
            assert chosen in state.legal_actions()
            state.apply_action(chosen)
            play(state, 0, rng)
        else:
            play(state, 1, rng)
    assert decided


def test_rl_environment_of_openspiel_plays_rounds() -> None:
    env = rl_environment.Environment(load("bergen", players=3), seed=4)
    rng = random.Random(4)
    for _ in range(3):
        step = env.reset()
        while not step.last():
            seat = step.observations["current_player"]
            assert len(step.observations["info_state"][seat]) == env.observation_spec()["info_state"][0]
            step = env.step([rng.choice(step.observations["legal_actions"][seat])])
        assert sum(step.rewards) == pytest.approx(0)
