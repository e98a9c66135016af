"""RLlib's environment, its module, and runs on one machine."""

# ruff: noqa: E402 -- what is missing skips the module, before it is imported

from __future__ import annotations

import json
import re
import runpy
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.integrations.libraries import THEIR_WARNINGS, library

library("ray.rllib")  # before what needs it is imported

import torch
from gymnasium import spaces
from ray.rllib.core.columns import Columns
from ray.rllib.utils.pre_checks.env import check_multiagent_environments

from domino_env.arena import compare
from domino_env.envs.aec import DominoAECEnv
from domino_env.envs.gym_env import DominoGymEnv
from domino_env.errors import CheckpointError, EmptyMaskError, IllegalMoveError, OptionsError
from domino_env.integrations.rllib import DominoMultiAgentEnv, DominoRLModule
from domino_env.policies import Batch, CheckpointMeta, LearnedPolicy, load_checkpoint, load_policy, save_checkpoint
from domino_env.variants import VARIANTS
from tests.integrations.rllib_cases import any_legal, configured, folder_of, play_episode
from training.config import ConfigError
from training.rllib_config import RayConfig, RllibConfig, load_rllib_config

pytestmark = [pytest.mark.integration, THEIR_WARNINGS]

SEATS = [(variant, seats) for variant, rules in VARIANTS.items() for seats in rules.players]


# The environment


@pytest.mark.parametrize(("variant", "seats"), SEATS)
@pytest.mark.parametrize("skip_forced", [False, True])
def test_games_are_those_of_the_aec_environment(variant: str, seats: int, skip_forced: bool) -> None:
    game: dict[str, Any] = {"variant": variant, "num_players": seats, "episode": "round", "skip_forced": skip_forced}
    env, aec = DominoMultiAgentEnv(game), DominoAECEnv(**game)
    random = np.random.default_rng(0)
    for seed in range(3):
        observations, _ = env.reset(seed=seed)
        aec.reset(seed=seed)
        due, given = Counter(aec.rewards), Counter[str]()
        over = False
        while not over:
            ((agent, seen),) = observations.items()
            assert agent == aec.agent_selection
            theirs = aec.observe(agent)
            assert seen["observations"].tobytes() == theirs["observation"].tobytes()
            assert seen["action_mask"].tobytes() == theirs["action_mask"].tobytes()
            assert env.observation_spaces[agent].contains(seen)
            action = any_legal(seen["action_mask"], random)
            observations, rewards, terminateds, truncateds, infos = env.step({agent: action})
            aec.step(action)
            due.update(aec.rewards)
            given.update(rewards)
            over = terminateds["__all__"]
            assert over == aec.game.over
            assert not any(truncateds.values())
        assert list(observations) == list(terminateds)[:-1] == env.possible_agents
        assert all(terminateds.values())
        assert not any(seen["action_mask"].any() for seen in observations.values())
        assert infos["player_0"]["scores"] == aec.scores
        assert infos["player_0"]["winners"] == aec.winners
        for agent in env.possible_agents:
            assert given[agent] == pytest.approx(due[agent], abs=1e-9)


@pytest.mark.parametrize(("variant", "seats"), [("bergen", 2), ("draw", 4), ("fives_and_threes", 5)])
@pytest.mark.parametrize("cut_every", [0, 1, 3])
def test_every_move_and_every_point_is_learnt_from(variant: str, seats: int, cut_every: int) -> None:
    env = DominoMultiAgentEnv({"variant": variant, "num_players": seats, "episode": "round"})
    for seed in range(5):
        episode, given, moves = play_episode(env, seed, cut_every)
        assert sum(len(own) for own in episode.agent_episodes.values()) == moves
        for agent, own in episode.agent_episodes.items():
            assert own.is_terminated
            assert sum(own.get_rewards()) == pytest.approx(given[agent], abs=1e-9)
            for number, action in enumerate(own.get_actions()):
                assert own.get_observations(number)["action_mask"][action] == 1


def test_points_made_before_the_first_move_come_with_the_first_action() -> None:
    env = DominoMultiAgentEnv({"variant": "bergen", "num_players": 3, "episode": "round"})
    late = 0
    for seed in range(40):
        observations, _ = env.reset(seed=seed)
        first = next(iter(observations))
        ((agent, seen),) = observations.items()
        observations, rewards, *_ = env.step({agent: any_legal(seen["action_mask"], np.random.default_rng(seed))})
        ((second, _),) = observations.items()
        if second != first:
            assert second not in rewards
            late += env._owed[second] != 0.0
    assert late > 0


def test_a_learner_among_opponents_sees_what_the_gymnasium_environment_shows() -> None:
    game: dict[str, Any] = {"variant": "bergen", "num_players": 3, "opponents": ["greedy", "random"], "episode": "round"}
    env, gym = DominoMultiAgentEnv(game), DominoGymEnv(**game)
    random = np.random.default_rng(1)
    for seed in range(20):
        observations, _ = env.reset(seed=seed)
        theirs, _ = gym.reset(seed=seed)
        over = False
        while not over:
            ((agent, seen),) = observations.items()
            assert agent == f"player_{gym.learner_seat}"
            assert seen["observations"].tobytes() == theirs.tobytes()
            action = any_legal(seen["action_mask"], random)
            observations, rewards, terminateds, _, infos = env.step({agent: action})
            theirs, reward, over, _, info = gym.step(action)
            assert rewards == {agent: reward}
            assert terminateds["__all__"] == over
        assert infos[agent] == {name: info[name] for name in ("scores", "winners", "opponents")}


def test_opponents_can_be_changed_with_chances() -> None:
    env = DominoMultiAgentEnv({"variant": "bergen", "opponents": "random"})
    env.set_opponents(["random", "greedy"], [0.0, 1.0])
    env.reset(seed=1)
    assert env.view is not None
    assert [policy.name for policy in env.view.pool.policies] == ["random", "greedy"]
    assert set(env.view.pool.tickets) == {1}
    with pytest.raises(OptionsError, match="all seats are agents"):
        DominoMultiAgentEnv({"variant": "bergen"}).set_opponents("greedy")


def test_rllib_s_own_check_passes() -> None:
    for opponents in (None, "greedy"):
        check_multiagent_environments(DominoMultiAgentEnv({"variant": "bergen", "num_players": 4, "opponents": opponents}))


def test_what_is_drawn_from_the_action_space_is_legal() -> None:
    env = DominoMultiAgentEnv({"variant": "bergen"})
    observations, _ = env.reset(seed=0)
    ((agent, seen),) = observations.items()
    drawn = {int(env.get_action_space(agent).sample()) for _ in range(200)}
    assert drawn == set(np.flatnonzero(seen["action_mask"]).tolist())


@pytest.mark.parametrize("config", [{}, {"variant": "bergen", "seats": 3}, None, "bergen", 5])
def test_an_env_config_that_cannot_be_is_told(config: Any) -> None:
    with pytest.raises(OptionsError, match="env_config="):
        DominoMultiAgentEnv(config)


def test_moves_that_cannot_be_are_refused_and_change_nothing() -> None:
    env = DominoMultiAgentEnv({"variant": "bergen"})
    with pytest.raises(IllegalMoveError, match="call reset"):
        env.step({"player_0": 0})
    observations, _ = env.reset(seed=0)
    ((agent, seen),) = observations.items()
    before = env.table.get_state()
    other = "player_1" if agent == "player_0" else "player_0"
    for actions in ({other: 0}, {}, {agent: 0, other: 0}):
        with pytest.raises(IllegalMoveError, match=f"it is the turn of {agent}"):
            env.step(actions)
    for rubbish in (None, 0, [agent]):
        with pytest.raises(IllegalMoveError, match=f"it is the turn of {agent}"):
            env.step(rubbish)  # type: ignore[arg-type]
    with pytest.raises(IllegalMoveError, match="not legal"):
        env.step({agent: int(np.flatnonzero(seen["action_mask"] == 0)[0])})
    assert env.table.get_state() == before


# The module


def module(config: dict[str, Any] | None = None, actions: int = 58, size: int = 12) -> DominoRLModule:
    observed = spaces.Dict({"observations": spaces.Box(-1, 1, (size,), np.float32), "action_mask": spaces.Box(0, 1, (actions,), np.int8)})
    return DominoRLModule(observation_space=observed, action_space=spaces.Discrete(actions), model_config=config or {"layers": [8]})


def batch_of(masks: np.ndarray, size: int = 12) -> dict[str, Any]:
    observed = torch.rand(len(masks), size) * 2 - 1
    return {Columns.OBS: {"observations": observed, "action_mask": torch.tensor(masks)}}


@pytest.mark.parametrize("forward", ["forward_inference", "forward_exploration", "forward_train"])
def test_illegal_actions_have_no_probability(forward: str) -> None:
    net = module()
    torch.nn.init.uniform_(net.logits.bias, -50, 50)
    masks = np.eye(58, dtype=np.int8) | (np.random.default_rng(0).random((58, 58)) < 0.1).astype(np.int8)
    masks[:5] = np.eye(58, dtype=np.int8)[:5]
    out = getattr(net, forward)(batch_of(masks))[Columns.ACTION_DIST_INPUTS]
    found = net.get_train_action_dist_cls().from_logits(out)
    probabilities = torch.softmax(out, dim=-1).detach().numpy()
    assert (probabilities[masks == 0] == 0).all()
    assert probabilities.sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert torch.isfinite(found.entropy()).all()
    draws = np.array([found.sample().numpy() for _ in range(50)])
    assert (masks[np.arange(58), draws] == 1).all()


def test_probabilities_are_the_same_when_acting_and_when_learning() -> None:
    net = module({"layers": [16, 16], "residual": True})
    batch = batch_of(np.ones((4, 58), np.int8))
    acting, learning = (getattr(net, name)(batch)[Columns.ACTION_DIST_INPUTS] for name in ("forward_exploration", "forward_train"))
    assert torch.equal(acting, learning)
    assert net.compute_values(batch).shape == (4,)
    assert torch.equal(net.compute_values(batch), net.compute_values(batch, net.forward_train(batch)[Columns.EMBEDDINGS]))


def test_an_empty_mask_is_an_error_when_acting_and_harmless_when_learning() -> None:
    net = module()
    masks = np.ones((3, 58), np.int8)
    masks[1] = 0
    for name in ("forward_inference", "forward_exploration"):
        with pytest.raises(EmptyMaskError, match="a row is all 0"):
            getattr(net, name)(batch_of(masks))
    out = net.forward_train(batch_of(masks))[Columns.ACTION_DIST_INPUTS]
    net.get_train_action_dist_cls().from_logits(out).entropy().sum().backward()
    assert all(torch.isfinite(values.grad).all() for values in net.parameters() if values.grad is not None)


@pytest.mark.parametrize("residual", [False, True])
def test_weights_are_those_of_a_checkpoint(residual: bool, tmp_path: Path) -> None:
    table = DominoAECEnv("bergen", episode="round")
    size, actions = table.encoding.size, table.game.num_actions
    told = {"layers": [24, 24, 16], "activation": "tanh", "residual": residual}
    net = module(told, actions, size)
    torch.nn.init.normal_(net.logits.weight)
    path = tmp_path / "net.safetensors"
    save_checkpoint(path, net.weights(), CheckpointMeta.of(table.rules, 2, algorithm="ppo", value_layers=[], **told))  # type: ignore[arg-type]
    policy = load_policy(path)
    assert isinstance(policy, LearnedPolicy)
    table.reset(seed=3)
    batch = Batch.of_game(table.game, table.encoding)
    rows = {Columns.OBS: {"observations": torch.tensor(batch.observation), "action_mask": torch.ones(1, actions)}}
    assert policy.logits(batch.observation) == pytest.approx(net.forward_train(rows)[Columns.ACTION_DIST_INPUTS].detach().numpy(), abs=1e-5)
    assert policy.values(batch.observation) == pytest.approx(net.compute_values(rows).detach().numpy(), abs=1e-5)
    again = module({**told, "checkpoint": str(path)}, actions, size)
    assert {name: values.tobytes() for name, values in again.weights().items()} == {
        name: values.tobytes() for name, values in load_checkpoint(path).weights.items()
    }
    with pytest.raises(CheckpointError, match="but this network has"):
        module({"layers": [8], "checkpoint": str(path)}, actions, size)
    with pytest.raises(CheckpointError, match=f"residual={residual}, but this network has {not residual}"):
        module({**told, "residual": not residual, "checkpoint": str(path)}, actions, size)
    with pytest.raises(CheckpointError, match="activation='tanh', but this network has 'relu'"):
        module({**told, "activation": "relu", "checkpoint": str(path)}, actions, size)
    before = net.weights()
    with pytest.raises(CheckpointError, match="weights: weights that are not finite"):
        net.load_weights({name: np.full_like(values, np.nan) for name, values in before.items()})
    assert all((values == before[name]).all() for name, values in net.weights().items())


@pytest.mark.parametrize(
    "config",
    [
        *({"layers": layers} for layers in (5, "256", None, [], [0], ["a"], [1.5], [True], [10**12])),
        *({"activation": activation} for activation in ("gelu", ["relu"], None)),
        {"residual": "no"},
        {"checkpoint": 5},
        {"units": 3},
        "layers",
        [1],
    ],
)
def test_a_model_config_that_cannot_be_is_told(config: Any) -> None:
    with pytest.raises(OptionsError, match="model_config="):
        module(config)


def test_spaces_of_another_environment_are_told() -> None:
    with pytest.raises(OptionsError, match="DominoMultiAgentEnv"):
        DominoRLModule(observation_space=spaces.Box(0, 1, (3,)), action_space=spaces.Discrete(2), model_config={})


# Configs


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ray": {"num_env_runners": -1}}, "ray.num_env_runners"),
        ({"ray": {"workers": 2}}, "ray.workers"),
        ({"algorithm": "dqn"}, "algorithm"),
        ({"device": "cuda"}, "device: ray.gpus_per_learner"),
        ({"dqn": {"tau": 0.5}}, "dqn: the algorithm is ppo"),
        ({"ppo": {"autocast": "bfloat16"}}, "ppo.autocast: SB3's"),
        ({"ppo": {"batch_size": 257}}, "ppo.batch_size=257, but an update has num_envs"),
        ({"ppo": {"batch_size": 256}, "ray": {"num_learners": 2}}, "but each of ray.num_learners=2 has 128"),
        ({"variant": "chess"}, "chess"),
    ],
)
def test_a_config_that_cannot_be_is_one_line(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        configured(**changes)


def test_the_update_grows_with_the_env_runners(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("variant: bergen\nnum_envs: 10\nppo: {n_steps: 8, batch_size: 80}\n")
    config = load_rllib_config(tmp_path / "a.yaml", ["ray.num_env_runners=3", "ppo.batch_size=240"])
    assert config.update_size == 240
    assert RllibConfig.model_validate(config.whole()) == config


def test_the_shipped_config_is_one() -> None:
    for path in sorted((Path(__file__).resolve().parents[2] / "configs" / "rllib").glob("*.yaml")):
        assert load_rllib_config(path).ray.num_env_runners > 0


# Runs


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that played in the process that learnt."""
    from training.rllib import train

    folder = tmp_path_factory.mktemp("rllib") / "run"
    train(configured(), folder, ["test"])
    return folder


def test_a_run_leaves_checkpoints_that_play(trained: Path) -> None:
    assert folder_of(trained) == ["best.safetensors", "config.yaml", "evaluations.json", "last.safetensors", "logs", "ray", "state.npz"]
    last = load_checkpoint(trained / "last.safetensors")
    assert (last.meta.variant, last.meta.algorithm, last.meta.layers) == ("bergen", "ppo", [16, 16])
    assert last.meta.steps_trained >= 1200
    found = compare([trained / "last.safetensors", "random"], "bergen", deals=20, rating=False)
    assert found.pairs[0].points.low < found.pairs[0].points.high
    assert [result["decisions"] >= 600 for result in json.loads((trained / "evaluations.json").read_text())] == [True, True]


def test_commands_for_run_folders_know_it(trained: Path, tmp_path: Path) -> None:
    from training.run_curves import RunCurves
    from training.train import export

    curve = RunCurves(trained).curve("points", "random")
    assert curve is not None
    assert len(curve.values) == 2
    with pytest.raises(ConfigError, match="of a run of 'python -m training rllib': go on with it by that command"):
        export(trained, tmp_path / "out.safetensors")


def test_snapshots_joined_the_opponents(trained: Path) -> None:
    from training.state_file import load_state

    state = load_state(trained / "state.npz")
    assert len(state["league"]["snapshots"]) == 2
    assert state["league"]["chances"] == pytest.approx([0.5, 0.25, 0.25])
    assert state["league"]["all_games"][0] > 100
    assert (state["league"]["games"][:2] > 0).all()  # greedy's, and the first snapshot's


def test_a_run_goes_on_where_it_stopped(trained: Path, tmp_path: Path) -> None:
    import shutil

    from training.rllib import train
    from training.state_file import load_state

    folder = tmp_path / "run"
    shutil.copytree(trained, folder)
    before = load_state(folder / "state.npz")
    with pytest.raises(ConfigError, match="holds a run"):
        train(configured(decisions=1600), folder, ["test"])
    told = (folder / "config.yaml").read_bytes()
    with pytest.raises(ConfigError, match=r"its run has ppo.gamma=1.0, but this config says 0.9"):
        train(configured(decisions=1600, ppo={"gamma": 0.9}), folder, ["test"], resume=True)
    assert (folder / "config.yaml").read_bytes() == told
    train(configured(decisions=1600), folder, ["test"], resume=True, output=tmp_path / "out.safetensors")
    after = load_state(folder / "state.npz")
    assert after["decisions"] >= 1600 > before["decisions"]
    assert after["evaluator"]["results"][: len(before["evaluator"]["results"])] == before["evaluator"]["results"]
    assert load_checkpoint(tmp_path / "out.safetensors").meta.steps_trained > 0
    assert [entry.name for entry in (folder / "ray").iterdir()] == [f"decisions_{after['decisions']}"]


def test_a_cluster_that_is_too_small_is_told(tmp_path: Path) -> None:
    import ray

    from training.rllib import train

    ray.init("local", num_cpus=1, include_dashboard=False, object_store_memory=80 << 20, log_to_driver=False)
    try:
        for processes, message in (
            ({"num_env_runners": 2}, "that takes 2 CPUs, but the cluster has 1"),
            ({"num_env_runners": 0, "num_learners": 1, "gpus_per_learner": 1}, "that takes 1 GPUs, but the cluster has 0"),
        ):
            with pytest.raises(ConfigError, match=message):
                train(configured(ray=processes), tmp_path / "run", ["test"])
        assert folder_of(tmp_path / "run") == []  # it can be begun once that is mended
    finally:
        ray.shutdown()


def test_two_learners_share_out_whole_games(tmp_path: Path) -> None:
    from ray.rllib.utils.minibatch_utils import ShardEpisodesIterator

    from training.rllib import train

    env = DominoMultiAgentEnv({"variant": "bergen", "episode": "round"})
    games = [play_episode(env, seed)[0] for seed in range(9)]
    shares = list(ShardEpisodesIterator(list(games), 2))
    assert sorted(id(game) for share in shares for game in share if len(game)) == sorted(map(id, games))
    assert abs(sum(map(len, shares[0])) - sum(map(len, shares[1]))) <= max(map(len, games))

    config = configured(decisions=600, opponents=None, self_play=None, ppo={"every_seat": True}, ray={"num_learners": 2})
    assert load_checkpoint(train(config, tmp_path / "run", ["test"])).meta.steps_trained >= 600


# The page


def test_the_examples_of_the_page_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import ray

    ray.shutdown()
    text = (Path(__file__).resolve().parents[2] / "docs" / "scaling.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```py\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(examples) == 2
    for number, example in enumerate(examples):
        file = tmp_path / f"example_{number}.py"
        file.write_text(example, encoding="utf-8")
        runpy.run_path(str(file))
        assert capsys.readouterr().out.splitlines()[-1] == "True"


def test_the_page_has_every_key_of_the_table_ray() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "scaling.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| `(\w+)` \| (\S+) \| ([^|]*) \|$", text, re.MULTILINE)
    assert told == [(name, str(field.default), field.description) for name, field in RayConfig.model_fields.items()]
