"""States of the memory game: batches go on from theirs, and what cannot be the state of a game is refused and changes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from domino_env.errors import DominoError, OptionsError
from domino_env.notation.state_bytes import open_bytes, seal
from domino_env.shopping.party import Party, Start
from domino_env.shopping.sb3 import ShoppingVecEnv
from tests.test_shopping_aec import channels
from tests.test_shopping_batches import MEMORIES, recite
from tests.test_shopping_records import played
from tests.test_shopping_views import SaysFirst


@pytest.mark.parametrize("seats", [2, 3])
def test_a_vec_env_goes_on_from_a_state(seats: int) -> None:
    """Opponents' memories, returns and lengths of games that are under way included."""
    env, other = (ShoppingVecEnv(9, seed=seed, num_players=seats, opponents=MEMORIES, num_letters=8, new_words="drawn") for seed in (1, 2))
    rng = np.random.default_rng(0)
    for one in (env, other):
        one.reset()
        for _ in range(33):
            one.step(recite(one, rng))
    state = env.get_state()
    copies = {name: array.copy() for name, array in state.items()}
    assert other.set_state(state).tobytes() == env.games.observation.tobytes()
    ended = 0
    for _ in range(200):
        actions = recite(env, rng)
        mine, theirs = env.step(actions), other.step(actions)
        assert all(a.tobytes() == b.tobytes() for a, b in zip(mine[:3], theirs[:3], strict=True))
        for info, again in zip(mine[3], theirs[3], strict=True):
            assert list(info) == list(again)
            for name, value in info.items():
                assert np.array_equal(value, again[name]) or {**value, "t": 0} == {**again[name], "t": 0}
        ended += int(mine[2].sum())
    assert ended > 30
    assert all((state[name] == copies[name]).all() for name in state)


def state_after(steps: int, count: int = 4, **kwargs: Any) -> tuple[ShoppingVecEnv, dict[str, np.ndarray]]:
    env = ShoppingVecEnv(count, seed=0, **{"opponents": "perfect", **kwargs})
    env.reset()
    rng = np.random.default_rng(1)
    for _ in range(steps):
        env.step(recite(env, rng))
    return env, env.get_state()


OTHERS: dict[str, dict[str, Any]] = {
    "more games": {"count": 5},
    "more players": {"num_players": 4},
    "more opponents": {"opponents": ["perfect"] * 3},
    "an opponent without a memory": {"opponents": SaysFirst()},
    "another opponent first": {"opponents": ["random", "perfect"]},
}
MISSING = ("rows", "learner", "seated", "recited", "speaker0.memory", "returns", "lengths")


@pytest.mark.parametrize("what", [*OTHERS, *MISSING, "a shape", "a type"])
def test_a_state_of_other_games_is_refused(what: str) -> None:
    """And leaves the games as they were."""
    env, before = state_after(20)
    other = state_after(40, **OTHERS.get(what, {}))[1]
    changes = {"a shape": {"returns": other["returns"][:1]}, "a type": {"rows": other["learner"]}}
    state = {name: array for name, array in other.items() if name != what}
    with pytest.raises(DominoError, match="state: "):
        env.set_state({**state, **changes.get(what, {})})
    assert all((array == before[name]).all() for name, array in env.get_state().items())


IMPOSSIBLE: dict[str, dict[str, Any]] = {
    "a word that there is not": {"words": [999]},
    "a list that is whole": {"words": [0] * 26},
    "a speaker that there is not": {"speaker": 77},
    "a speaker that is out": {"speaker": 1, "out": [1]},
    "nobody": {"out": [0, 1, 2]},
    "a seat that there is not": {"out": [9]},
    "a theme of rules that have none": {"theme": 2},
    "a seed that is too large": {"seed": 2**64},
    "games begun that are too many": {"begun": [2**70, 0]},
}


@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_states_that_cannot_be(what: str) -> None:
    """Made by hand, their digests right."""
    game = played(steps=9)
    before, fields = channels(game), IMPOSSIBLE[what]
    outer, _ = open_bytes(game.get_state())
    party = Party(game.rules)
    party.start(0)
    if what not in list(IMPOSSIBLE)[-2:]:
        party.set_up(Start(**fields))
        fields = {}
    head, row = open_bytes(party.to_bytes())
    with pytest.raises(OptionsError, match="state"):
        game.set_state(seal(outer, seal({**head, **fields}, row)))
    assert channels(game) == before
