"""Engine: random play on one core, with masks written at every step and finished games started anew.

Beside it OpenSpiel's ``python_block_dominoes``, played at random through its own interface, without and with its observation.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from benchmarks.common import Case, measure, options, pin, report
from domino_env.envs.games import Games

NUM_GAMES = 256
"""Rows that stay in the cache beside each other; the batch size changes nothing else."""

PEER = "OpenSpiel python_block_dominoes"

CASES = [
    ("block", 2),
    ("draw", 2),
    ("bergen", 2),
    ("bergen_classic", 4),
    ("fives", 2),
    ("threes", 3),
    ("lucky_threes", 2),
    ("fives_and_threes", 5),
    ("all_fives", 4),
]


def engine(variant: str, num_players: int, observe: bool, num_moves: int = 40) -> Callable[[], int]:
    games = Games(variant, NUM_GAMES, num_players=num_players)

    def run() -> int:
        games.play_random(num_moves, observe=observe)
        return num_moves * NUM_GAMES

    return run


def openspiel(observe: bool) -> Callable[[], int] | None:
    try:
        import pyspiel
        from open_spiel.python.games import block_dominoes
    except ImportError:
        return None
    game = pyspiel.load_game(block_dominoes._GAME_TYPE.short_name)
    rng = random.Random(0)

    def run() -> int:
        steps = 0
        for _ in range(20):
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    state.apply_action(rng.choice([action for action, _ in state.chance_outcomes()]))
                    continue
                if observe:
                    state.information_state_tensor()
                state.apply_action(rng.choice(state.legal_actions()))
                steps += 1
        return steps

    return run


def main() -> None:
    args = options(__doc__ or "")
    pin()
    cases: list[Case] = []
    for variant, num_players in CASES:
        name = f"{variant}, {num_players} seats"
        cases.append(Case(name, engine(variant, num_players, observe=False), "masks"))
        cases.append(Case(f"{name}, observed", engine(variant, num_players, observe=True), "masks and float32 observations"))
    for name, observe in ((PEER, False), (f"{PEER}, observed", True)):
        peer = openspiel(observe)
        if peer is not None:
            cases.append(Case(name, peer, "legal actions, Python"))
    report("Engine, random play, one core", measure(cases, args.slices, PEER), PEER, args.json)


if __name__ == "__main__":
    main()
