"""Search: simulations, playouts and worlds a second on one core, at the first decisions of rounds; and what a clone costs.

Beside it OpenSpiel's IS-MCTS in Python on its ``python_block_dominoes``, at the first decision of a round, with random playouts; its
worlds are dealt by a callback of this file, for its Python game has none. Ours plays out by greedy, which takes longer than at random.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.common import Case, measure, options, pin, report
from domino_env import Games, load_policy
from domino_env.engine._jit import kernel
from domino_env.engine.state import new_games
from domino_env.engine.worlds import draw_worlds, scratch
from domino_env.policies import Batch, decide

PEER = "OpenSpiel ISMCTSBot, python_block_dominoes"
SIMULATIONS = 1000
WORLDS = 64
CLONES = 1_000_000


def first_decisions(variant: str, num_players: int = 2, count: int = 4) -> Batch:
    games = Games(variant, count, num_players=num_players, seed=1, skip_forced=True)
    return Batch.of_games(games.rows, np.arange(count), games.packed, games.rules, num_players, games.encoding)


def simulating(variant: str, num_players: int = 2) -> Callable[[], int]:
    batch = first_decisions(variant, num_players)
    policy = load_policy(f"search:ismcts?simulations={SIMULATIONS}")

    def run() -> int:
        decide(policy, batch)
        return SIMULATIONS * len(batch)

    return run


def playing_out(variant: str, num_players: int = 2) -> Callable[[], int]:
    batch = first_decisions(variant, num_players)
    policy = load_policy(f"search:pimc?worlds={WORLDS}")
    playouts = WORLDS * int(batch.action_mask.sum())

    def run() -> int:
        decide(policy, batch)
        return playouts

    return run


def drawing(variant: str, num_players: int = 2) -> Callable[[], int]:
    batch = first_decisions(variant, num_players)
    worlds, (table, classes) = new_games(WORLDS), scratch()

    def run() -> int:
        for k in range(len(batch)):
            draw_worlds(batch.seen, k, batch.packed, batch.random[k], worlds, table, classes)
        return WORLDS * len(batch)

    return run


@kernel
def clone_often(rows: Any, count: Any) -> None:
    for k in range(count):
        rows[k & 7] = rows[(k + 1) & 7]


def cloning() -> Callable[[], int]:
    rows = new_games(8)

    def run() -> int:
        clone_often(rows, CLONES)
        return CLONES

    return run


def openspiel() -> Callable[[], int] | None:
    try:
        import pyspiel
        from open_spiel.python.algorithms import ismcts, mcts
        from open_spiel.python.games import block_dominoes
    except ImportError:
        return None
    game = pyspiel.load_game(block_dominoes._GAME_TYPE.short_name)
    rng = random.Random(0)

    def dealt(first: list[int]) -> Any:
        """A state with those tiles dealt first, and the others at random."""
        state = game.new_initial_state()
        while state.is_chance_node():
            free = [action for action, _ in state.chance_outcomes()]
            known = [action for action in first if action in free]
            state.apply_action(known[0] if known else rng.choice(free))
        return state

    root = dealt([])
    own = [int(action) for action in root.history()[:7]]

    def resample(state: Any, player: int) -> Any:
        assert state.history() == root.history(), "the callback deals for the first decision alone"
        assert player == root.current_player()
        return dealt(own if player == 0 else [])

    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(0))
    simulations = 50

    def run() -> int:
        bot = ismcts.ISMCTSBot(
            game=game,
            evaluator=evaluator,
            uct_c=1.4,
            max_simulations=simulations,
            random_state=np.random.RandomState(0),
        )
        bot.set_resampler(resample)
        bot.step(root)
        return simulations

    return run


def main() -> None:
    args = options(__doc__ or "")
    pin()
    cases = [
        Case("ISMCTS, block, 2 seats", simulating("block"), "simulations"),
        Case("ISMCTS, bergen, 2 seats", simulating("bergen"), "simulations"),
        Case("ISMCTS, all_fives, 4 seats", simulating("all_fives", 4), "simulations"),
        Case("PIMC, block, 2 seats", playing_out("block"), "playouts of greedy"),
        Case("PIMC, all_fives, 4 seats", playing_out("all_fives", 4), "playouts of greedy"),
        Case("worlds, bergen, 2 seats", drawing("bergen"), "worlds drawn, 64 at a time"),
        Case("worlds, fives_and_threes, 5 seats", drawing("fives_and_threes", 5), "worlds drawn, 64 at a time"),
        Case("clones", cloning(), "rows copied in the engine"),
    ]
    peer = openspiel()
    if peer is not None:
        cases.append(Case(PEER, peer, "simulations, random playouts"))
    report("Search, one core", measure(cases, args.slices, PEER if peer else None), PEER, args.json)


if __name__ == "__main__":
    main()
