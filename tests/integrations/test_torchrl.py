"""TorchRL: rollouts to the end, legal moves alone, and the rewards of the table."""

from __future__ import annotations

import pytest

from domino_env import VARIANTS, bergen_v0
from domino_env.envs.aec import raw_env
from tests.integrations.conftest import Witness
from tests.integrations.libraries import SEATS, THEIR_WARNINGS, example, library

library("torchrl")
torchrl_rollout = example("torchrl_rollout")
pytestmark = THEIR_WARNINGS


@SEATS
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_example_plays_a_round_to_its_end(num_players: int, seed: int, witness: Witness) -> None:
    rollout = torchrl_rollout.main(num_players, seed)
    game = witness.finished[-1]
    assert bool(rollout["next", "done"][-1])
    assert rollout["next", "done"].sum() == 1
    assert game.moves == len(rollout)
    assert witness.refused == 0
    for agent, earned in game.returns.items():
        assert float(rollout["next", agent, "reward"].sum()) == pytest.approx(earned, abs=1e-5)


@SEATS
def test_the_seat_on_turn_is_the_one_that_moves_and_its_move_is_legal(num_players: int, witness: Witness) -> None:
    rollout = torchrl_rollout.main(num_players, seed=5)
    for step, mover in enumerate(witness.finished[-1].order):
        for agent in witness.finished[-1].returns:
            assert bool(rollout[agent, "mask"][step]) is (agent == mover)
        assert bool(rollout[mover, "action_mask"][step, 0, rollout[mover, "action"][step, 0]])


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_meets_its_specs(variant: str, witness: Witness) -> None:
    from torchrl.envs import PettingZooWrapper, check_env_specs

    env = PettingZooWrapper(raw_env(variant, num_players=max(2, min(VARIANTS[variant].players)), episode="round"), use_mask=True)
    check_env_specs(env, seed=0)
    assert bool(env.rollout(2_000)["next", "done"][-1])
    assert witness.refused == 0


def test_a_loss_made_by_another_seat_arrives() -> None:
    """In rounds whose last move was another's, the seat's own last reward is not 0."""
    from torchrl.envs import PettingZooWrapper

    table = bergen_v0.raw_env(episode="round", reward="win")
    env = PettingZooWrapper(table, use_mask=True)
    lost = 0
    for seed in range(12):
        env.set_seed(seed)
        last = env.rollout(1_000)[-1]
        for seat, agent in enumerate(table.possible_agents):
            if not bool(last[agent, "mask"]) and seat not in table.winners:
                assert float(last["next", agent, "reward"]) == -1
                lost += 1
    assert lost > 0


def test_its_own_way_by_name_still_fails() -> None:
    """The page says so of TorchRL 0.14.1 on PettingZoo 1.27: when this fails, the page has to change."""
    from torchrl.envs import PettingZooEnv

    with pytest.raises(ImportError, match="MPE has been moved"):
        PettingZooEnv("domino/bergen-v0", parallel=False, use_mask=True)
