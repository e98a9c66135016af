"""What stands without Ray: where deals are played does not matter, configs are read, and what needs Ray says so."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from domino_env.arena import compare
from domino_env.arena.portions import DealTable, Player, Portion
from domino_env.cli import main
from domino_env.integrations import ray_cluster
from tests.training_cases import run
from training.rllib_config import load_rllib_config

CONFIGS = sorted((Path(__file__).resolve().parents[1] / "configs" / "rllib").glob("*.yaml"))


def scattered(table: DealTable, players: Sequence[Player], pairs: Sequence[tuple[int, int]], progress: Any) -> Iterator[Sequence[Portion]]:
    """Plays like strangers elsewhere: portions of odd size, the last ones first, each by a copy of the table and of the policies."""
    for first, second in pairs:
        found = []
        for deals in reversed(list(table.portions(14))):
            copies = [Player(players[place].name, pickle.loads(pickle.dumps(players[place].policy))) for place in (first, second)]
            found.append(pickle.loads(pickle.dumps(table)).play(deals, *copies))
            progress(1, 1)
        yield found[::-1]


@pytest.mark.parametrize("seats", [2, 3])
def test_a_table_does_not_depend_on_where_and_how_deals_are_played(seats: int) -> None:
    policies = ["greedy", "random", "search:pimc?worlds=2", *(["bergen/ppo"] if seats == 2 else [])]
    tables = []
    for spread in (None, scattered):
        told = compare(policies, "bergen", num_players=seats, deals=25, seed=3, spread=spread).to_json()
        del told["times"]
        tables.append(json.dumps(told))
    assert tables[0] == tables[1]


def test_what_needs_ray_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(ray_cluster, "find_spec", lambda _: None)
    with pytest.raises(SystemExit) as stopped:
        main(["arena", "bergen", "greedy", "random", "--ray", "local"])
    assert stopped.value.code == 2
    assert run("rllib", CONFIGS[0]) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("domino_env: compiling")]
    assert len(lines) == 2
    assert all("this needs Ray, which is not installed: pip install 'domino-env[rllib]'" in line for line in lines)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_shipped_configs_can_be_read(path: Path) -> None:
    assert load_rllib_config(path).ray.num_env_runners > 0


def test_a_faulty_config_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.yaml").write_text("variant: bergen\nray: {workers: 3}\n")
    assert run("rllib", tmp_path / "a.yaml") == 2
    assert "ray.workers" in capsys.readouterr().err
