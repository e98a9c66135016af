"""``docs/examples/ppo.py``: it is short, it learns, its log-probabilities are right, and what it writes is an opponent."""

from __future__ import annotations

import ast
import copy
import dataclasses
import json
import math
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open

from docs.examples import ppo
from domino_env import DominoVecEnv, Games, cli, load_policy
from domino_env.errors import DominoError, OptionsError
from domino_env.policies import Batch, LearnedPolicy, decide, load_checkpoint
from domino_env.variants import VARIANTS

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "docs" / "examples" / "ppo.py"
SMALL: dict[str, Any] = {
    "total_decisions": 2048,
    "num_envs": 64,
    "num_steps": 8,
    "minibatch_size": 128,
    "epochs": 2,
    "layers": (32, 16),
    "deals": 20,
}
Played = tuple[ppo.Args, ppo.Agent, ppo.Rollout, torch.Tensor]


def options(**changes: Any) -> list[str]:
    """A small run as a command line."""
    words = []
    for name, value in {**SMALL, **changes}.items():
        many = isinstance(value, tuple)
        words += [f"--{name.replace('_', '-')}", *map(str, value if many else [value])]
    return words


@pytest.fixture(scope="module")
def played() -> Played:
    """One rollout of an untrained agent, and the values of what follows it."""
    args = ppo.Args(**{**SMALL, "num_steps": 24})
    torch.manual_seed(0)
    env = ppo.make_env(args, VARIANTS["bergen"])
    observation = env.reset()
    sizes = observation.shape[1], env.action_masks().shape[1]
    agent = ppo.Agent(*sizes, args.layers)
    with torch.no_grad():
        agent.logits.weight.mul_(100.0)  # far from uniform, so that a wrong log-probability shows
    rollout = ppo.Rollout.empty(args.num_steps, args.num_envs, *sizes)
    _, next_value, _ = ppo.collect(env, agent, rollout, observation)
    return args, agent, rollout, next_value


# The file


def test_file_is_short_and_uses_the_public_package_alone() -> None:
    text = SCRIPT.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 400
    imported = {node.module for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)}
    ours = {module for module in imported if module and module.startswith(("domino_env", "training", "docs", "tests"))}
    assert ours == {"domino_env", "domino_env.arena", "domino_env.errors", "domino_env.policies", "domino_env.variants"}


def test_every_argument_is_an_option_with_a_help_text() -> None:
    command = [sys.executable, str(SCRIPT), "--help"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    for item in dataclasses.fields(ppo.Args):
        assert f"--{item.name.replace('_', '-')} " in done.stdout
        assert item.metadata["help"]
    assert ppo.parse([]) == ppo.Args()
    changed = ppo.parse(["--layers", "8", "4", "--opponents", "greedy", "--learning-rate", "0.5"])
    assert (changed.layers, changed.opponents, changed.learning_rate) == ([8, 4], ["greedy"], 0.5)


# A whole run


def test_run_writes_an_opponent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "new" / "agent.safetensors"
    result = ppo.main(options(output=output))
    assert [(pair.first, pair.second) for pair in result.pairs] == [("ppo", "random"), ("ppo", "greedy"), ("random", "greedy")]
    assert [path.name for path in output.parent.iterdir()] == [output.name]
    meta = load_checkpoint(output).meta
    assert (meta.variant, meta.num_players, meta.algorithm, meta.layers) == ("bergen", 2, "ppo", [32, 16])
    assert (meta.value_layers, meta.steps_trained, meta.seed) == ([], 2048, 0)
    assert meta.command.startswith("python docs/examples/ppo.py --total-decisions 2048")

    lines = [line for line in capsys.readouterr().out.splitlines() if "decisions" in line]
    number = r"[+-]?\d+\.\d+"
    shape = rf" *[\d,]+ decisions +[\d,]+/s  return {number}  won {number}%  kl {number}  entropy {number}  explained {number}"
    assert [int(re.findall(r"[\d,]+", line)[0].replace(",", "")) for line in lines] == [512, 1024, 1536, 2048]
    assert all(re.fullmatch(shape, line) for line in lines), lines

    with pytest.raises(SystemExit) as stopped:
        cli.main(["arena", "bergen", str(output), "random", "--deals", "20", "--json"])
    assert stopped.value.code == 0
    pairs = json.loads(capsys.readouterr().out)["pairs"]
    assert [(pair["first"], pair["second"]) for pair in pairs] == [(str(output), "random")]


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_plays_legally(variant: str, tmp_path: Path) -> None:
    """200 games with the trained agent in every seat, then 200 with it as the opponent; an illegal move raises."""
    seats = max(VARIANTS[variant].players)
    output = tmp_path / "agent.safetensors"
    ppo.main(options(variant=variant, num_players=seats, total_decisions=1024, deals=2, output=output))
    policy = load_policy(output, VARIANTS[variant], seats)
    games = Games(variant, 200, num_players=seats, seed=5)
    ended = np.zeros(200, bool)
    while not ended.all():
        batch = Batch.of_games(games.rows, np.arange(200), games.packed, games.rules, seats, games.encoding)
        games.step(decide(policy, batch))
        ended |= games.done

    env = DominoVecEnv(variant, num_envs=200, seed=6, num_players=seats, opponents=str(output), skip_forced=True)
    env.reset()
    ended[:] = False
    while not ended.all():
        _, _, done, _ = env.step(env.action_masks().argmax(axis=1))
        ended |= done


def test_checkpoint_is_the_trained_network(played: Played, tmp_path: Path) -> None:
    _, agent, rollout, _ = played
    args = ppo.Args(**SMALL, output=str(tmp_path / "agent.safetensors"))
    trained, decisions = ppo.train(args, VARIANTS["bergen"])
    assert decisions == 2048
    ppo.main(options(output=args.output))
    policy = load_policy(args.output)
    assert isinstance(policy, LearnedPolicy)
    observation = rollout.observation.flatten(0, 1)
    everything = torch.ones(len(observation), agent.logits.out_features, dtype=torch.bool)
    with torch.no_grad():
        log_probs, values = trained(observation, everything)
    logits = policy.logits(observation.numpy())
    np.testing.assert_allclose(logits - logits.max(axis=1, keepdims=True), log_probs - log_probs.amax(1, keepdim=True), atol=1e-4)
    np.testing.assert_allclose(policy.values(observation.numpy()), values, atol=1e-4)


def test_same_seed_same_checkpoint(tmp_path: Path) -> None:
    output = tmp_path / "agent.safetensors"
    digests, weights = [], []
    for seed in (7, 7, 8):
        torch.rand(3)  # what was drawn before does not matter
        ppo.main(options(output=output, seed=seed))
        with safe_open(output, framework="numpy") as file:
            digests.append(file.metadata()["digest"])  # of the header and all weights
        weights.append(b"".join(array.tobytes() for array in load_checkpoint(output).weights.values()))
    assert digests[0] == digests[1] != digests[2]
    assert weights[0] == weights[1] != weights[2]
    first, other = (ppo.make_env(ppo.Args(**SMALL, seed=seed), VARIANTS["bergen"]).reset() for seed in (7, 8))
    assert not np.array_equal(first, other), "the seed is that of the games too"


def test_checkpoints_can_be_its_opponents(tmp_path: Path) -> None:
    first, second = str(tmp_path / "first.safetensors"), str(tmp_path / "second.safetensors")
    ppo.main(options(output=first))
    ppo.main(options(output=second, opponents=(first, "random"), total_decisions=512))
    assert load_checkpoint(second).meta.command.count(first) == 1


# The parts


def test_log_probabilities_at_collection_are_those_at_the_update(played: Played) -> None:
    _, agent, rollout, _ = played
    observation, mask, action = rollout.observation.flatten(0, 1), rollout.mask.flatten(0, 1), rollout.action.flatten()
    rows = torch.randperm(len(action), generator=torch.Generator().manual_seed(1))
    for part in torch.split(rows, 100):
        with torch.no_grad():
            log_probs, value = agent(observation[part], mask[part])
        assert (log_probs.exp()[~mask[part]] == 0.0).all()
        torch.testing.assert_close(log_probs.exp().sum(1), torch.ones(len(part)))
        again = log_probs.gather(1, action[part, None])[:, 0]
        torch.testing.assert_close(again, rollout.log_prob.flatten()[part], atol=1e-5, rtol=0)
        torch.testing.assert_close(value, rollout.value.flatten()[part], atol=1e-5, rtol=1e-5)
    assert mask.gather(1, action[:, None]).all()
    assert rollout.log_prob.std() > 0.3


def test_first_step_of_an_update_starts_at_ratio_one(played: Played) -> None:
    args, agent, rollout, next_value = played
    advantages = ppo.estimate_advantages(rollout, next_value, args.gamma, args.gae_lambda)
    whole = ppo.Args(**{**SMALL, "epochs": 1, "minibatch_size": rollout.action.numel()})
    before = {name: weights.clone() for name, weights in agent.state_dict().items()}
    found = ppo.update(agent, torch.optim.SGD(agent.parameters(), lr=0.0), rollout, advantages, whole)
    assert abs(found["approx_kl"]) < 1e-7
    assert found["clip_fraction"] == 0.0
    # at ratio 1 the loss is the mean of advantages that were moved to mean 0
    assert abs(found["policy_loss"]) < 1e-5
    assert found["value_loss"] == pytest.approx(0.5 * advantages.square().mean().item(), rel=1e-4)
    assert all(torch.equal(weights, before[name]) for name, weights in agent.state_dict().items())


def test_update_favours_what_went_well_and_learns_the_values(played: Played) -> None:
    args, untrained, rollout, next_value = played
    agent = copy.deepcopy(untrained)
    advantages = ppo.estimate_advantages(rollout, next_value, args.gamma, args.gae_lambda)
    ppo.update(agent, torch.optim.Adam(agent.parameters(), 1e-3), rollout, advantages, args)
    with torch.no_grad():
        log_probs, value = agent(rollout.observation, rollout.mask)
    likelier = log_probs.gather(2, rollout.action[..., None])[..., 0] - rollout.log_prob
    assert torch.corrcoef(torch.stack([likelier.flatten(), advantages.flatten()]))[0, 1] > 0.1
    returns = advantages + rollout.value
    assert (value - returns).square().mean() < 0.9 * (rollout.value - returns).square().mean()


def test_rollout_holds_what_happened(played: Played) -> None:
    """The same actions in fresh games give the same arrays: nothing in the rollout was written over."""
    args, _, rollout, _ = played
    env = ppo.make_env(args, VARIANTS["bergen"])
    observation = env.reset()
    for t in range(args.num_steps):
        assert np.array_equal(rollout.observation[t], observation)
        assert np.array_equal(rollout.mask[t], env.action_masks())
        observation, reward, done, _ = env.step(rollout.action[t].numpy())
        assert np.array_equal(rollout.reward[t], reward)
        assert np.array_equal(rollout.done[t] == 1.0, done)
    assert 0 < rollout.done.mean() < 1
    assert rollout.mask.sum(-1).min() >= 2, "a position without a choice is no decision"


def test_summary_tells_of_the_games_that_ended(played: Played) -> None:
    args, agent, _, _ = played
    env = ppo.make_env(args, VARIANTS["bergen"])
    observation = env.reset()
    rollout = ppo.Rollout.empty(40, args.num_envs, observation.shape[1], env.action_masks().shape[1])
    _, next_value, finished = ppo.collect(env, agent, rollout, observation)
    found = ppo.summarize(rollout, ppo.estimate_advantages(rollout, next_value, 1.0, 0.95), finished)
    last = (rollout.done * torch.arange(1, 41)[:, None]).amax(0).long()  # decisions until each slot's last end
    total = sum(rollout.reward[:end, game].sum().item() for game, end in enumerate(last.tolist()))
    assert found["games"] == rollout.done.sum()
    assert found["mean_return"] == pytest.approx(total / found["games"], abs=1e-5)
    assert found["win_share"] == np.mean([info["seat"] in info["winners"] for info in finished])
    assert 0 < found["win_share"] < 1
    assert found["explained_variance"] < 1


@pytest.mark.parametrize(("gamma", "gae_lambda"), [(1.0, 0.95), (0.9, 0.0), (0.97, 1.0)])
def test_advantages_are_those_of_the_definition(gamma: float, gae_lambda: float) -> None:
    """For each decision: the sum of discounted one-step surprises up to the end of its game or of the rollout."""
    draw = np.random.default_rng(0)
    rollout = ppo.Rollout.empty(9, 5, 1, 1)
    rollout.reward[:] = torch.from_numpy(draw.normal(size=(9, 5)))
    rollout.value[:] = torch.from_numpy(draw.normal(size=(9, 5)))
    rollout.done[:] = torch.from_numpy(draw.random((9, 5)) < 0.3)
    rollout.done[-1, 0], rollout.done[-1, 1] = 1.0, 0.0
    next_value = torch.from_numpy(draw.normal(size=5)).float()
    values = torch.cat([rollout.value, next_value[None]])
    for game in range(5):
        for start in range(9):
            expected, weight = 0.0, 1.0
            for t in range(start, 9):
                ended = bool(rollout.done[t, game])
                following = 0.0 if ended else gamma * values[t + 1, game].item()
                expected += weight * (rollout.reward[t, game].item() + following - values[t, game].item())
                weight *= gamma * gae_lambda
                if ended:
                    break
            found = ppo.estimate_advantages(rollout, next_value, gamma, gae_lambda)[start, game].item()
            assert found == pytest.approx(expected, abs=1e-5)


def test_hard_masks_and_extreme_logits_leave_finite_gradients() -> None:
    torch.manual_seed(0)
    agent = ppo.Agent(6, 10, (8,))
    args = ppo.Args(**{**SMALL, "entropy_weight": 0.1, "minibatch_size": 32})
    optimizer = torch.optim.Adam(agent.parameters(), 1e-3)
    for _ in range(20):
        with torch.no_grad():
            agent.logits.bias.uniform_(-50.0, 50.0)
        rollout = ppo.Rollout.empty(8, 8, 6, 10)
        rollout.observation.uniform_(-1, 1)
        rollout.mask[:] = torch.rand(8, 8, 10) < 0.3
        rollout.mask[..., 3] = True
        rollout.mask[:2] = torch.nn.functional.one_hot(torch.tensor(7), 10).bool()  # one legal action
        with torch.no_grad():
            log_probs, rollout.value[:] = agent(rollout.observation, rollout.mask)
        drawn = torch.multinomial(log_probs.exp().flatten(0, 1), 1)
        rollout.action[:] = drawn.reshape(8, 8)
        rollout.log_prob[:] = log_probs.gather(2, rollout.action[..., None])[..., 0]
        assert (rollout.action[:2] == 7).all()
        found = ppo.update(agent, optimizer, rollout, torch.randn(8, 8), args)
        assert all(map(math.isfinite, found.values()))
        assert all(weights.isfinite().all() for weights in agent.parameters())


# Bad input, and an end before the end


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"variant": "bergn"}, "the variants are"),
        ({"num_players": 5}, "2, 3 or 4 players"),
        ({"opponents": ("nobody",)}, "nobody"),
        ({"episode": "hour"}, "hour"),
        ({"reward": "fun"}, "fun"),
        ({"layers": (0,)}, "layers"),
        ({"num_envs": 0}, "num_envs=0, but it is 1 or more"),
        ({"deals": 1}, "deals=1, but it is 2 or more"),
        ({"minibatch_size": -3}, "minibatch_size=-3"),
        ({"learning_rate": "nan"}, "learning_rate=nan"),
        ({"gamma": 1.5}, "gamma=1.5"),
        ({"entropy_weight": -1.0}, "entropy_weight=-1.0"),
        ({"seed": -1}, "seed=-1"),
        ({"output": "agent.zip"}, "ends in .safetensors"),
    ],
)
def test_bad_input_is_refused_before_training(
    changes: dict[str, Any], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    old = tmp_path / "agent.safetensors"
    old.write_text("kept")
    with pytest.raises(DominoError, match=words):
        ppo.main(options(**{"output": old, **changes}))
    assert old.read_text() == "kept"
    assert "decisions" not in capsys.readouterr().out


def test_folder_as_output_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "agent.safetensors"
    folder.mkdir()
    with pytest.raises(OptionsError, match="folder"):
        ppo.main(options(output=folder))


def test_script_says_one_line_and_exits_with_2(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["ppo.py", "--epochs", "0"])
    with pytest.raises(SystemExit) as stopped:
        runpy.run_path(str(SCRIPT), run_name="__main__")
    assert stopped.value.code == 2
    assert capsys.readouterr().err == "ppo.py: epochs=0, but it is 1 or more\n"


@pytest.mark.parametrize("updates", [0, 2])
def test_ctrl_c_keeps_what_was_learnt(updates: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = tmp_path / "agent.safetensors"
    output.write_text("kept")
    left = [updates]
    update = ppo.update

    def stop(*arguments: Any) -> dict[str, float]:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return update(*arguments)

    monkeypatch.setattr(ppo, "update", stop)
    if updates:
        ppo.main(options(output=output))
        assert load_checkpoint(output).meta.steps_trained == updates * 512
    else:
        with pytest.raises(KeyboardInterrupt):
            ppo.main(options(output=output))
        assert output.read_text() == "kept"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tensorboard_gets_every_metric(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    ppo.main(options(output=tmp_path / "agent.safetensors", tensorboard=tmp_path / "logs"))
    events = accumulator.EventAccumulator(str(tmp_path / "logs")).Reload()
    assert {"mean_return", "win_share", "approx_kl", "entropy", "explained_variance"} <= set(events.Tags()["scalars"])
    assert [event.step for event in events.Scalars("win_share")] == [512, 1024, 1536, 2048]
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(OptionsError, match="not installed"):
        ppo.main(options(output=tmp_path / "other.safetensors", tensorboard=tmp_path / "logs"))


# Learning


@pytest.mark.slow
def test_it_learns_to_beat_random(tmp_path: Path) -> None:
    result = ppo.main(["--total-decisions", "300000", "--deals", "4000", "--output", str(tmp_path / "agent.safetensors")])
    assert result.pair("ppo", "random").points.low > 0
    assert result.pair("ppo", "random").won.low > 0.5
