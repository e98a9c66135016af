"""A real cluster of several nodes, one of which is killed in the middle of a tournament and of trainings."""

# ruff: noqa: E402 -- what is missing skips the module, before it is imported

from __future__ import annotations

import csv
import io
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integrations.libraries import THEIR_WARNINGS, library

library("ray.rllib")  # before what needs it is imported

import ray
from ray.cluster_utils import Cluster

from domino_env.arena import Comparison, compare
from domino_env.cli import main
from domino_env.errors import OptionsError, PolicyError
from domino_env.integrations.ray_arena import _under_way, spread_on_ray
from domino_env.integrations.ray_cluster import connected
from tests.integrations.rllib_cases import configured
from training.state_file import load_state

pytestmark = [pytest.mark.integration, THEIR_WARNINGS]

POLICIES = ["random", "greedy", "bergen/ppo", "search:pimc?worlds=4"]
MEMORY = 80 << 20


class Nodes:
    """Three nodes that work, and one that leads and plays nothing."""

    def __init__(self) -> None:
        head = {"num_cpus": 0, "object_store_memory": MEMORY, "include_dashboard": False}
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        self.workers = {node.node_id: node for node in (self.add() for _ in range(3))}

    @property
    def address(self) -> str:
        return str(self.cluster.address)

    def add(self) -> Any:
        return self.cluster.add_node(num_cpus=1, object_store_memory=MEMORY)

    def kill(self, node_id: str) -> None:
        """As if it lost its power; another one is put in its place."""
        self.cluster.remove_node(self.workers.pop(node_id), allow_graceful=False)
        fresh = self.add()
        self.workers[fresh.node_id] = fresh


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        found = Nodes()
        yield found
        found.cluster.shutdown()


def without_times(found: Comparison) -> str:
    told = found.to_json()
    del told["times"]
    return json.dumps(told)


@pytest.mark.parametrize(("seats", "killed"), [(2, True), (3, False)])
def test_a_tournament_is_the_same_on_a_cluster_that_loses_a_node(nodes: Nodes, seats: int, killed: bool) -> None:
    policies = POLICIES if seats == 2 else POLICIES[:2]
    game: dict[str, Any] = {"num_players": seats, "deals": 120, "seed": 5}
    here = compare(policies, "bergen", **game)
    told: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        told.append((done, total))
        if killed and done == total // 4:
            nodes.kill(next(iter(nodes.workers)))

    with connected(nodes.address):
        there = compare(policies, "bergen", **game, spread=spread_on_ray, progress=progress)
    assert without_times(there) == without_times(here)
    assert told[-1][0] == told[-1][1] >= 8
    assert all(time.decisions > 0 for time in there.times)


def test_the_command_prints_the_same_table(nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tables = []
    for more in ([], ["--ray", nodes.address]):
        with pytest.raises(SystemExit) as stopped:
            main(["arena", "bergen", "greedy", "random", "--deals", "40", "--csv", "table.csv", *more])
        assert stopped.value.code == 0
        rows = list(csv.DictReader(io.StringIO(Path("table.csv").read_text())))
        tables.append([{name: value for name, value in row.items() if not name.startswith("microseconds")} for row in rows])
    assert tables[0] == tables[1]


def test_what_ray_has_to_say_is_not_in_the_table(nodes: Nodes, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from domino_env.integrations import ray_arena

    def spread(*arguments: Any) -> Any:
        sys.stdout.write("(raylet) A worker died\n")
        return spread_on_ray(*arguments)

    monkeypatch.setattr(ray_arena, "spread_on_ray", spread)
    with pytest.raises(SystemExit):
        main(["arena", "bergen", "greedy", "random", "--deals", "20", "--json", "--ray", nodes.address])
    told = capsys.readouterr()
    assert json.loads(told.out)
    assert "A worker died" in told.err


def test_what_goes_wrong_on_a_node_is_told_here(nodes: Nodes) -> None:
    class Cheat:
        """Plays what is not legal."""

        name = "cheat"

        def act(self, batch: Any) -> Any:
            return batch.action_mask.argmin(axis=1)

    with connected(nodes.address), pytest.raises(PolicyError, match=r"^cheat: action \d+ in game"):
        compare({"cheat": Cheat(), "random": "random"}, "bergen", deals=20, spread=spread_on_ray)


def test_few_tasks_are_left_when_a_tournament_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray, "cluster_resources", lambda: {"CPU": 2.0})
    begun: list[int] = []

    def begin(task: int) -> int:
        begun.append(task)
        return task

    tasks = _under_way(map(begin, range(100)))
    assert next(tasks) == 0
    assert begun == list(range(8))
    assert list(tasks) == list(range(1, 100))
    assert begun == list(range(100))


def test_an_address_where_nobody_is() -> None:
    with pytest.raises(OptionsError, match="ray address 'nowhere'"), connected("nowhere"):
        pass


def test_a_port_where_nobody_listens_is_told_at_once() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # taken, and not listening
        address = f"127.0.0.1:{held.getsockname()[1]}"
        with pytest.raises(OptionsError, match=f"ray address '{address}': nobody listens there"), connected(address):
            pass


@pytest.fixture
def head(tmp_path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """A head node as a user starts one, with a token of its own, and the environment of whoever has the same home."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / ".ray").mkdir()
    (tmp_path / ".ray" / "auth_token").write_text("0" * 64)
    environ = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")} | {"HOME": str(tmp_path)}
    start = [str(Path(sys.executable).with_name("ray")), "start", "--head", f"--port={port}", "--num-cpus=2", "--block"]
    # sockets have short paths
    with tempfile.TemporaryDirectory(prefix="ray", dir="/tmp") as folder:
        more = [f"--temp-dir={folder}", "--include-dashboard=false", "--disable-usage-stats", f"--object-store-memory={80 << 20}"]
        process = subprocess.Popen([*start, *more], env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 90
            while not Path(folder, "ray_current_cluster").exists() and time.monotonic() < deadline:
                time.sleep(0.2)
            yield f"127.0.0.1:{port}", environ
        finally:
            process.terminate()
            process.wait(60)


def test_a_cluster_that_wants_a_token_is_joined_by_its_address(head: tuple[str, dict[str, str]]) -> None:
    """In a process of its own: one that has run a cluster shows its token everywhere."""
    address, environ = head
    arena = [sys.executable, "-m", "domino_env", "arena", "bergen", "greedy", "random", "--deals", "20", "--json"]
    found = [subprocess.run([*arena, *more], env=environ, capture_output=True, text=True) for more in ([], ["--ray", address])]
    assert [done.returncode for done in found] == [0, 0], found[1].stderr
    here, there = (json.loads(done.stdout) for done in found)
    assert here.pop("times") != there.pop("times")
    assert here == there


def killing(nodes: Nodes, monkeypatch: pytest.MonkeyPatch, after: int, place_of: Any) -> list[str]:
    """Kill the node that ``place_of(algorithm)`` names once so many decisions are made."""
    from training.rllib import _Run

    killed: list[str] = []
    between = _Run._between_updates

    def watched(run: Any, algorithm: Any, runners: Any, logger: Any, last: bool) -> None:
        if run.decisions >= after and not killed:
            killed.append(place_of(algorithm))
            nodes.kill(killed[0])
        between(run, algorithm, runners, logger, last)

    monkeypatch.setattr(_Run, "_between_updates", watched)
    return killed


def node_of(_: Any) -> str:
    return str(ray.get_runtime_context().get_node_id())


def told_by(runner: Any) -> tuple[str, list[str]]:
    """The node of an env runner, and whom it lets play against the learner."""
    return node_of(runner), [policy.name for policy in runner.env.envs[0].unwrapped.view.pool.policies]


def runners_of(algorithm: Any, ask: Any) -> list[Any]:
    found: list[Any] = algorithm.env_runner_group.foreach_env_runner(ask, local_env_runner=False)
    return found


@pytest.mark.parametrize("runners", [1, 2])
def test_a_training_goes_on_when_the_node_of_an_env_runner_is_lost(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, runners: int
) -> None:
    from training.rllib import _Run, train

    killed = killing(nodes, monkeypatch, 900, lambda algorithm: runners_of(algorithm, node_of)[0])
    seen: list[list[tuple[str, list[str]]]] = []
    loop = _Run._loop

    def watched(run: Any, algorithm: Any, *more: Any) -> None:
        loop(run, algorithm, *more)
        deadline = time.monotonic() + 120
        while len(found := runners_of(algorithm, told_by)) < runners and time.monotonic() < deadline:
            algorithm.train()  # a process takes its time to start
        seen.append(found)

    monkeypatch.setattr(_Run, "_loop", watched)
    train(configured(decisions=3000, ray={"num_env_runners": runners}), tmp_path / "run", ["test"], nodes.address)
    assert load_state(tmp_path / "run" / "state.npz")["decisions"] >= 3000
    (found,) = seen  # the run never began anew
    assert len(found) == runners
    assert killed[0] not in [node for node, _ in found]
    # the runner that took the place of the lost one plays against the opponents of the day
    assert all(opponents == ["greedy", "learned", "learned"] for _, opponents in found)


def test_a_training_goes_on_from_its_last_save_when_the_node_that_learns_is_lost(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from training.rllib import _Run, train

    def learner_of(algorithm: Any) -> str:
        return str(algorithm.learner_group.foreach_learner(node_of).result_or_errors[0].get())

    killed = killing(nodes, monkeypatch, 700, learner_of)
    begun: list[int] = []
    loop = _Run._loop

    def kept(run: Any, *more: Any) -> None:
        begun.append(run.decisions)
        loop(run, *more)

    monkeypatch.setattr(_Run, "_loop", kept)
    train(configured(decisions=1500, ray={"num_env_runners": 1, "num_learners": 1}), tmp_path / "run", ["test"], nodes.address)
    assert len(killed) == 1
    assert begun[0] == 0
    assert begun[1] > 0  # from the last save, not from the start
    assert "a process was lost" in capsys.readouterr().err
    assert load_state(tmp_path / "run" / "state.npz")["decisions"] >= 1500
