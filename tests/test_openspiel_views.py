"""What a player is told in OpenSpiel's games: exactly what it has seen, no less (perfect recall) and no more (no leak)."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import numpy as np
import pyspiel
import pytest

from domino_env.encoding.kernels import observe
from domino_env.errors import OptionsError
from domino_env.notation.moves import tile_text
from domino_env.variants import VARIANTS
from tests.openspiel_cases import SEATS, load, play, positions, tiny, walk


class Told:
    """What each player has been told on the way to a state, kept without a look at any information state."""

    def __init__(self, seats: int) -> None:
        self.by_seat: list[list[Any]] = [[] for _ in range(seats)]

    def after(self, state: Any, action: int, child: Any) -> Told:
        other = Told(len(self.by_seat))
        other.by_seat = [list(told) for told in self.by_seat]
        old, new = state.round, child.round
        for seat, told in enumerate(other.by_seat):
            if old.game is None and len(old.actions) < old.setting.num_dealt:
                told += [("dealt", action)] if len(old.actions) // old.setting.hand_size == seat else []
            elif old.game is None:
                told.append(("leader", action))
            elif old.drawing:
                told.append(("drawn", action if old.game.seat == seat else None, new.events[-1].points))
            else:
                told.append(("move", old.game.seat, action, None if new.drawing else new.events[-1].points))
            if new.game is not None and old.game is None:
                told.append(("leads", new.game.seat))
            if child.is_terminal():
                told.append(("end", new.game.rounds[0].end, *new.game.rounds[0].bonus))
        return other


def walk_told(state: Any, told: Told) -> Any:
    """As ``walk``, with what each player has been told."""
    yield state, told
    for action in state.legal_actions():
        child = state.child(action)
        yield from walk_told(child, told.after(state, action, child))


def seen(observer: Any, state: Any, seat: int) -> bytes:
    """The tensor of an observer."""
    observer.set_from(state, seat)
    return observer.tensor.tobytes()


@pytest.mark.parametrize(("variant", "seats"), [*((variant, 2) for variant in VARIANTS), ("block", 3), ("draw", 4)])
def test_information_states_are_exactly_what_a_player_was_told(variant: str, seats: int) -> None:
    game = tiny(variant, seats)
    states: dict[Any, set[Any]] = defaultdict(set)
    views: dict[Any, set[Any]] = defaultdict(set)
    tensors: dict[Any, set[Any]] = defaultdict(set)
    choices: dict[Any, set[Any]] = defaultdict(set)
    behind: dict[Any, set[Any]] = defaultdict(set)
    now = game.make_py_observer()
    recall = game.make_py_observer(pyspiel.IIGObservationType(perfect_recall=True))
    for state, told in walk_told(game.new_initial_state(), Told(seats)):
        if state.round.game is None:
            continue
        for seat in range(seats):
            known = (seat, *told.by_seat[seat])
            text = state.information_state_string(seat)
            states[known].add(text)
            behind[text].add(known)
            views[known].add((state.observation_string(seat), seen(now, state, seat)))
            if not state.is_terminal():
                tensors[text].add(seen(recall, state, seat))
        if state.is_player_node():
            choices[state.information_state_string()].add((state.current_player(), tuple(state.legal_actions())))
    for table in (states, views, tensors, choices, behind):
        assert [found for found in table.values() if len(found) != 1] == []
    assert len({next(iter(found)) for found in tensors.values()}) == len(tensors)
    # several worlds stand behind most information states, so that the test could fail
    assert len(states) < len(list(walk(game.new_initial_state()))) * seats


@pytest.mark.parametrize(("variant", "seats"), SEATS)
def test_worlds_that_a_player_cannot_tell_apart_look_alike(variant: str, seats: int) -> None:
    rng = random.Random(f"{variant} {seats}")
    game = load(variant, players=seats)
    differ = 0
    for state in positions(game, 8, rng):
        for seat in range(seats):
            other = state.resample_from_infostate(seat, rng.random)
            for look in ("information_state_string", "observation_string", "information_state_tensor", "observation_tensor"):
                assert getattr(other, look)(seat) == getattr(state, look)(seat), look
            assert other.current_player() == state.current_player()
            if state.current_player() == seat:
                assert other.legal_actions() == state.legal_actions()
            differ += str(other) != str(state)
            play(other, 1000, rng)
            assert other.is_terminal()
    assert differ > seats


@pytest.mark.parametrize("variant", ["bergen", "lucky_threes", "block"])
def test_resampling_reaches_every_world_of_an_information_state_and_no_other(variant: str) -> None:
    game = tiny(variant)
    worlds: dict[str, set[str]] = defaultdict(set)
    found = {}
    for state in walk(game.new_initial_state()):
        if state.is_player_node():
            worlds[state.information_state_string()].add(str(state))
            found[state.information_state_string()] = state
    rng = random.Random(variant)
    for text in rng.sample(sorted(worlds), 12):
        state = found[text]
        seen = {str(state.resample_from_infostate(state.current_player(), rng.random)) for _ in range(20 * len(worlds[text]))}
        assert seen == worlds[text]
    # OpenSpiel's own sampler is new at every call, and any number from 0 to 1 will do
    for sampler in (pyspiel.UniformProbabilitySampler(0.0, 1.0), lambda: 0.0, lambda: 1.0):
        assert str(state.resample_from_infostate(state.current_player(), sampler)) in worlds[text]


@pytest.mark.parametrize(("variant", "seats"), SEATS)
def test_observations_are_the_encoding_of_the_suite(variant: str, seats: int) -> None:
    game = load(variant, players=seats)
    row = np.empty(game.setting.encoding.size, np.float32)
    assert game.observation_tensor_shape() == [row.size]
    for state in positions(game, 4, random.Random(seats)):
        for seat in range(seats):
            observe(state.round.game.games, 0, state.round.game.packed, seat, row)
            assert state.observation_tensor(seat) == row.tolist()
            for section in game.setting.encoding.sections:
                assert (f" {section.name}[" in state.observation_string(seat)) == bool(row[section.slice].any()), section.name


def kind(recall: bool, public: bool, private: Any) -> Any:
    return pyspiel.IIGObservationType(perfect_recall=recall, public_info=public, private_info=private)


PRIVATE = pyspiel.PrivateInfoType


@pytest.mark.parametrize("recall", [True, False])
@pytest.mark.parametrize("public", [True, False])
@pytest.mark.parametrize("private", [PRIVATE.NONE, PRIVATE.SINGLE_PLAYER, PRIVATE.ALL_PLAYERS])
def test_observers_of_every_kind(recall: bool, public: bool, private: Any) -> None:
    rng = random.Random(f"{recall} {public} {private}")
    game = load("lucky_threes", players=3)
    observer = game.make_py_observer(kind(recall, public, private))
    assert observer.tensor.size == sum(piece.size for piece in observer.dict.values())
    assert all(np.shares_memory(observer.tensor, piece) for piece in observer.dict.values())
    for state in positions(game, 12, rng):
        for seat in range(3):
            other = state.resample_from_infostate(seat, rng.random)
            observer.set_from(state, seat)
            shown = observer.tensor.copy(), observer.string_from(state, seat)
            observer.set_from(other, seat)
            alike = np.array_equal(shown[0], observer.tensor), shown[1] == observer.string_from(other, seat)
            if private == PRIVATE.ALL_PLAYERS:
                # with every hand face up, worlds differ as soon as a hand does
                same = np.array_equal(state.round.game.games["hands"], other.round.game.games["hands"])
                assert alike[0] == alike[1]
                assert same or not alike[0]
            else:
                assert alike == (True, True)
            if private == PRIVATE.NONE and not recall:
                observer.set_from(state, 0)
                assert np.array_equal(observer.tensor, shown[0])
                assert observer.string_from(state, 0) == shown[1]


def test_observer_takes_no_parameters() -> None:
    with pytest.raises(OptionsError, match="it takes none"):
        load("block").make_py_observer(None, {"colour": 1})


def test_strings_read_well() -> None:
    state = pyspiel.load_game("domino_bergen(max_pip=3,hand=3,reserve=1)").new_initial_state()
    for tile in (0, 3, 8, 1, 2, 4):
        assert state.action_to_string(tile) == f"dealt {tile_text(tile)} to {len(state.history()) // 3}"
        state.apply_action(tile)
    assert state.information_state_string(0) == "p0 dealt[0-0 0-2 2-3] leader:0"
    moves = []
    while len(state.round.events) < 3:
        action = state.legal_actions()[0]
        moves.append(state.action_to_string(action))
        state.apply_action(action)
    assert moves == ["0-0", "0-1@left", "0-2@right"]
    assert state.information_state_string(1) == "p1 dealt[0-1 1-1 1-2] leader:0 0:0-0(+2) 1:0-1@left 0:0-2@right"
    assert "hand[1-1, 1-2]" in state.observation_string(1)
    assert "hand[2-3]" in state.observation_string(0)


def test_a_draw_is_a_move_and_then_a_chance_node() -> None:
    state = pyspiel.load_game("domino_bergen(max_pip=3,hand=3,reserve=1)").new_initial_state()
    for tile in (0, 1, 3, 4, 5, 9):
        state.apply_action(tile)
    state.apply_action(state.legal_actions()[0])
    assert [state.action_to_string(action) for action in state.legal_actions()] == ["draw"]
    state.apply_action(state.legal_actions()[0])
    assert state.is_chance_node()
    assert state.information_state_string(0).endswith("1:drawing")
    assert state.action_to_string(6) == "drawn 0-3"
    assert [outcome for outcome, _ in state.chance_outcomes()] == [2, 6, 7, 8]
    state.apply_action(6)
    assert state.information_state_string(0).endswith("0:0-0(+2) 1:draw")
    assert state.information_state_string(1).endswith("0:0-0(+2) 1:draw 0-3")
    assert state.current_player() == 1
