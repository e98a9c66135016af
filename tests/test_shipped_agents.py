"""The shipped agents: each is of its config, small enough, and as strong as is asked of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from domino_env.policies import load_checkpoint, load_policy
from training.config_file import load_config
from training.ship import DEALS, ROOT, SEED, agent_name

CONFIGS = [path for path in sorted((ROOT / "configs").glob("*.yaml")) if not path.stem.startswith("shopping")]
CHECKPOINTS = ROOT / "checkpoints"


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_an_agent_is_of_its_config(path: Path) -> None:
    config = load_config(path)
    meta = load_checkpoint(CHECKPOINTS / f"{agent_name(config)}.safetensors").meta
    for name in ("variant", "num_players", "algorithm", "layers", "activation", "residual", "seed"):
        assert getattr(meta, name) == getattr(config, name), name
    # the best of a run, whose last update may pass the end
    assert 0 < meta.steps_trained < config.decisions + config.num_envs * config.ppo.n_steps
    assert f"train {path.relative_to(ROOT).as_posix()} " in meta.command
    assert "--set" not in meta.command
    load_policy(agent_name(config), config.read_rules(), config.num_players)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_an_agent_beats_random_and_greedy(path: Path) -> None:
    """By its table; ``test_arena`` and ``ship`` see to it that tables are right."""
    name = agent_name(load_config(path))
    found: dict[str, Any] = json.loads((CHECKPOINTS / f"{name}.json").read_text(encoding="utf-8"))
    assert (found["deals"], found["seed"]) == (DEALS, SEED)
    low = {pair["second"]: pair["points"]["low"] for pair in found["pairs"] if pair["first"] == name}
    assert low["greedy"] > 0
    assert low["random"] > low["greedy"]


def test_agents_are_small() -> None:
    sizes = [file.stat().st_size for file in CHECKPOINTS.rglob("*.safetensors")]
    assert len(sizes) == len(CONFIGS) + 2  # those of the memory game
    assert max(sizes) < 2e6
    assert sum(sizes) < 40e6


@pytest.mark.slow
@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_the_table_of_an_agent_comes_out_again(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from training import ship

    name = agent_name(load_config(path))
    copy = tmp_path / "checkpoints" / f"{name}.safetensors"
    copy.parent.mkdir(parents=True)
    copy.write_bytes((CHECKPOINTS / f"{name}.safetensors").read_bytes())
    monkeypatch.setattr(ship, "ROOT", tmp_path)
    ship.measure(copy)
    one, two = (json.loads(file.read_text(encoding="utf-8")) for file in (copy.with_suffix(".json"), CHECKPOINTS / f"{name}.json"))
    assert one["pairs"] == two["pairs"]
