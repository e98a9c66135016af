"""A run that starts from the weights of a checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from domino_env.errors import DominoError
from domino_env.policies import load_checkpoint
from tests.training_cases import SMALL, SMALL_DQN, Values, configured, content, started, weights
from training.algorithms import checkpoint_weights, make_env, make_model, start_from
from training.exploit import reply_config

EVERY_SEAT: Values = {**SMALL, "ppo": {**SMALL["ppo"], "every_seat": True}}
STILL = {"learning_rate": 1e-30, "final_learning_rate": 0.0}


@pytest.mark.parametrize("base", [SMALL, SMALL_DQN, EVERY_SEAT], ids=["ppo", "dqn", "every seat"])
def test_the_network_is_that_of_the_checkpoint(base: Values, tmp_path: Path) -> None:
    """All of it, the target network of DQN too; and the run goes on from there."""
    first = started(configured(base), tmp_path / "first") / "last.safetensors"
    config = configured(base, start_from=str(first), seed=5)
    model: Any = make_model(config, make_env(config))
    start_from(config, model)
    ours, theirs = checkpoint_weights(model), load_checkpoint(first).weights
    assert ours.keys() == theirs.keys()
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)
    if config.algorithm == "dqn":
        targets = model.q_net_target.state_dict()
        assert all(values.equal(targets[name]) for name, values in model.q_net.state_dict().items())
    algorithm: Any = config.algorithm
    still = started(configured(base, start_from=str(first), seed=5, **{algorithm: STILL}), tmp_path / "still") / "last.safetensors"
    assert all(np.allclose(values, theirs[name], atol=1e-6) for name, values in load_checkpoint(still).weights.items())
    untrained = started(configured(base, seed=5, **{algorithm: STILL}), tmp_path / "untrained") / "last.safetensors"
    assert not np.allclose(load_checkpoint(untrained).weights["logits.weight"], theirs["logits.weight"], atol=1e-6)


def test_a_resumed_run_needs_the_checkpoint_no_more(tmp_path: Path) -> None:
    """It goes on from its own state, the same as without a stop."""
    first = started(configured(), tmp_path / "first") / "last.safetensors"
    straight = started(configured(start_from=str(first), seed=5, ppo={"final_learning_rate": 1e-3}), tmp_path / "straight")
    half = started(configured(start_from=str(first), seed=5, decisions=256, ppo={"final_learning_rate": 1e-3}), tmp_path / "half")
    first.unlink()
    on = started(configured(start_from=str(first), seed=5, ppo={"final_learning_rate": 1e-3}), half, resume=True)
    assert weights(on / "last.safetensors") == weights(straight / "last.safetensors")


@pytest.mark.parametrize(
    ("spec", "changes", "words"),
    [
        ("greedy", {}, "start_from='greedy', but it is a checkpoint"),
        ("bergen/none", {}, "bergen/none"),
        ("block/ppo", {}, "made for block"),
        ("bergen/ppo_4players", {}, "4 players"),
        ("bergen/ppo", {}, "layers="),
        ("bergen/dqn", {}, "algorithm='dqn'"),
    ],
)
def test_weights_that_do_not_fit(spec: str, changes: Values, words: str, tmp_path: Path) -> None:
    """Found out before the folder of the run holds anything."""
    with pytest.raises(DominoError, match=words):
        started(configured(start_from=spec, **changes), tmp_path / "run")
    assert not (tmp_path / "run").exists() or not content(tmp_path / "run")


def test_a_reply_starts_level_with_the_agent() -> None:
    """It knows what the agent knows: all numbers are the agent's; against a DQN it starts untrained."""
    config = reply_config("bergen/ppo", 8000, 3)
    model = make_model(config, make_env(config))
    start_from(config, model)
    theirs = load_checkpoint("checkpoints/bergen/ppo.safetensors").weights
    assert all(np.array_equal(values, theirs[name]) for name, values in checkpoint_weights(model).items())
    assert reply_config("bergen/dqn", 8000, 3).start_from is None
