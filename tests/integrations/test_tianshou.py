"""Tianshou: masked collection and training; every seat's last move is learnt with the final reward."""

from __future__ import annotations

import numpy as np

from tests.integrations.conftest import Witness
from tests.integrations.libraries import SEATS, THEIR_WARNINGS, example, library

library("tianshou")
tianshou_dqn = example("tianshou_dqn")
pytestmark = THEIR_WARNINGS


@SEATS
def test_collected_returns_are_those_of_the_table(num_players: int, witness: Witness) -> None:
    stats, _, _ = tianshou_dqn.main(num_players, updates=3)
    assert witness.refused == 0
    assert len(witness.finished) == 24
    table = [list(game.returns.values()) for game in witness.finished[-8:]]
    assert np.allclose(sorted(stats.returns.tolist()), sorted(table), atol=1e-6)


@SEATS
def test_every_move_in_the_buffer_is_legal(num_players: int, witness: Witness) -> None:
    _, buffer, _ = tianshou_dqn.main(num_players, updates=2)
    held = buffer[buffer.sample_indices(0)]
    assert len(held) > 100
    assert held.obs.mask[np.arange(len(held)), held.act].all()
    assert witness.refused == 0


@SEATS
def test_training_changes_every_seat(num_players: int) -> None:
    import torch

    weights = []
    for updates in (1, 4):
        torch.manual_seed(0)
        _, _, seats = tianshou_dqn.main(num_players, updates)
        weights.append([next(seats.get_algorithm(f"player_{seat}").policy.model.parameters()) for seat in range(num_players)])
    for before, after in zip(*weights, strict=True):
        assert not torch.equal(before, after)
        assert torch.isfinite(after).all()


@SEATS
def test_the_final_reward_reaches_the_last_move_of_every_seat(num_players: int, witness: Witness) -> None:
    _, buffer, seats = tianshou_dqn.main(num_players, updates=1)
    assert all(len(set(game.order[:num_players])) == num_players for game in witness.finished)
    indices = buffer.sample_indices(0)
    ends = indices[buffer.done[indices]]
    checked = 0
    for back in range(num_players):
        at = ends
        for _ in range(back):
            at = buffer.prev(at)
        given = seats._preprocess_batch(buffer[at], buffer, at)
        for seat in range(num_players):
            agent = f"player_{seat}"
            mine = buffer[at].obs.agent_id == agent
            if mine.any():
                expected = np.zeros(int(mine.sum()))
                here = at[mine]
                for step in range(back + 1):
                    expected += 0.99**step * buffer[here].rew[:, seat]
                    here = buffer.next(here)
                assert np.allclose(given[agent].returns.ravel(), expected, atol=1e-5)
                checked += len(expected)
    assert checked == num_players * len(ends)
