"""The compact replay buffers: n-step returns by hand, float16, and all of a buffer as arrays."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from stable_baselines3.common.buffers import NStepReplayBuffer, ReplayBuffer
from stable_baselines3.common.callbacks import BaseCallback

from domino_env.errors import OptionsError
from tests.dqn_cases import fill, make_env, make_model
from training.dqn import MaskedDQN
from training.replay import CompactNStepReplayBuffer, CompactReplayBuffer, buffer_arrays, restore_buffer

GAMMA = 0.9


class Recorder(BaseCallback):
    """What the games gave, step by step."""

    def __init__(self) -> None:
        super().__init__()
        self.rewards: list[Any] = []
        self.dones: list[Any] = []
        self.following: list[Any] = []

    def _on_step(self) -> bool:
        self.rewards.append(self.locals["rewards"].copy())
        self.dones.append(self.locals["dones"].copy())
        following = self.locals["new_obs"].copy()
        for row in np.flatnonzero(self.dones[-1]):
            following[row] = self.locals["infos"][row]["terminal_observation"]
        self.following.append(following.astype(np.float16).astype(np.float32))
        return True


def sampled_by_row(model: MaskedDQN, count: int) -> dict[tuple[int, int], tuple[Any, ...]]:
    """(row of the buffer, game) -> reward, done, discount and next observation that were sampled for it."""
    buffer = model.replay_buffer
    # whole numbers below 2,049 are exact in float16
    buffer.observations[:, :, 0] = np.arange(buffer.buffer_size)[:, None]
    buffer.observations[:, :, 1] = np.arange(buffer.n_envs)
    data = buffer.sample(count)
    discounts = np.full(count, GAMMA) if data.discounts is None else data.discounts.numpy()[:, 0]
    columns = zip(data.rewards.numpy()[:, 0], data.dones.numpy()[:, 0], discounts, data.next_observations.numpy(), strict=True)
    tags = data.observations.numpy()[:, :2].astype(int).tolist()
    return dict(zip(map(tuple, tags), columns, strict=True))


@pytest.mark.parametrize("steps", [20, 32, 45, 64])
@pytest.mark.parametrize("n_steps", [1, 2, 4])
def test_returns_by_hand(n_steps: int, steps: int) -> None:
    """Rewards of a game's own decisions, never over its end nor over the newest one, in a buffer of 32 rows that goes round."""
    model = make_model(make_env(num_envs=3), n_steps=n_steps, gamma=GAMMA, buffer_size=3 * 32, learning_starts=10**6)
    recorder = Recorder()
    model.learn(3 * steps, callback=recorder)
    found = sampled_by_row(model, 4000)
    kept = range(max(0, steps - 32), steps)
    assert len(found) == 3 * len(kept)
    lengths = set()
    for step in kept:
        for game in range(3):
            total, last = 0.0, step
            while True:
                total += GAMMA ** (last - step) * recorder.rewards[last][game]
                if recorder.dones[last][game] or last == steps - 1 or last - step == n_steps - 1:
                    break
                last += 1
            reward, done, discount, following = found[step % 32, game]
            assert reward == pytest.approx(total, abs=1e-6)
            assert done == recorder.dones[last][game]
            assert discount == pytest.approx(GAMMA ** (last - step + 1))
            assert following.tobytes() == recorder.following[last][game].tobytes()
            lengths.add(last - step + 1)
    assert lengths == set(range(1, n_steps + 1))


@pytest.mark.parametrize("n_steps", [1, 3])
def test_observations_are_halved(n_steps: int) -> None:
    """Same samples as SB3's own buffer: masks to the bit, numbers to float16's digits, all float32."""
    space, actions = spaces.Box(-1.0, 1.0, (40,), np.float32), spaces.Discrete(7)
    more = {"n_steps": n_steps, "gamma": GAMMA} if n_steps > 1 else {}
    kinds = (NStepReplayBuffer, CompactNStepReplayBuffer) if n_steps > 1 else (ReplayBuffer, CompactReplayBuffer)
    usual, compact = (kind(5 * 16, space, actions, device="cpu", n_envs=5, **more) for kind in kinds)
    generator = np.random.default_rng(0)
    for _ in range(20):
        seen, following = (generator.uniform(-1, 1, (5, 40)).astype(np.float32) for _ in range(2))
        for array in (seen, following):
            array[:, 33:] = array[:, 33:] > 0
        ends = generator.random(5) < 0.2
        step = (seen, following, generator.integers(0, 7, 5), generator.normal(size=5), ends)
        infos = [{"TimeLimit.truncated": bool(end and generator.random() < 0.5)} for end in ends]
        before = seen.copy()
        for buffer in (usual, compact):
            buffer.add(*step, infos)
        assert seen.tobytes() == before.tobytes()
    assert compact.observations.dtype == compact.next_observations.dtype == np.float16
    assert 2 * compact.observations.nbytes == usual.observations.nbytes
    np.random.seed(1)  # noqa: NPY002 -- replay draws from it
    wanted = usual.sample(200)
    np.random.seed(1)  # noqa: NPY002 -- replay draws from it
    got = compact.sample(200)
    for name in ("actions", "rewards", "dones", "discounts"):
        first, second = getattr(wanted, name), getattr(got, name)
        assert (first is None and second is None) or (first.numpy().tobytes() == second.numpy().tobytes())
    for name in ("observations", "next_observations"):
        first, second = getattr(wanted, name).numpy(), getattr(got, name).numpy()
        assert second.dtype == np.float32
        assert first[:, 33:].tobytes() == second[:, 33:].tobytes()
        np.testing.assert_allclose(second, first, rtol=2**-11, atol=2**-24)


def drawn(buffer: ReplayBuffer) -> bytes:
    np.random.seed(5)  # noqa: NPY002 -- replay draws from it
    return b"".join(part.numpy().tobytes() for part in buffer.sample(100) if part is not None)


@pytest.mark.parametrize("steps", [20, 64, 100])
@pytest.mark.parametrize("n_steps", [1, 3])
def test_arrays_there_and_back(n_steps: int, steps: int) -> None:
    """A buffer of 64 rows, part full, just full and gone round: from a file without pickles, the same samples, now and later."""
    model, other = (make_model(n_steps=n_steps) for _ in range(2))
    fill(model, seed=1, steps=steps)
    # as if some games had been cut short: the domino games never are
    model.replay_buffer.timeouts[:20:3] = 1.0
    fill(other, seed=2, steps=3)
    file = io.BytesIO()
    np.savez(file, **buffer_arrays(model.replay_buffer))
    file.seek(0)
    arrays = np.load(file, allow_pickle=False)
    assert len(arrays["rewards"]) == min(steps, 64)
    assert drawn(other.replay_buffer) != drawn(model.replay_buffer)
    restore_buffer(other.replay_buffer, arrays)
    assert drawn(other.replay_buffer) == drawn(model.replay_buffer)
    for one in (model, other):
        fill(one, seed=3, steps=10)
    assert drawn(other.replay_buffer) == drawn(model.replay_buffer)


def test_arrays_of_another_buffer_are_refused() -> None:
    model = make_model()
    fill(model, seed=1, steps=20)
    arrays = buffer_arrays(model.replay_buffer)
    before = drawn(model.replay_buffer)
    for change, words in [
        ({"rewards": arrays["rewards"][:5]}, r"rewards is float32 \(5, 4\), but this one keeps float32 \(20, 4\)"),
        ({"observations": arrays["observations"].astype(np.float32)}, "observations is float32"),
        ({"pos": np.array(64)}, "row 64, but this one has 64 rows"),
        ({"pos": np.array(-1)}, "row -1"),
        ({"full": np.array(True)}, r"keeps float16 \(64, 4"),
    ]:
        with pytest.raises(OptionsError, match=words):
            restore_buffer(model.replay_buffer, {**arrays, **change})
    with pytest.raises(OptionsError, match=r"without \['dones'\]"):
        restore_buffer(model.replay_buffer, {name: array for name, array in arrays.items() if name != "dones"})
    with pytest.raises(OptionsError, match=r"\(20, 4, "):
        restore_buffer(make_model(make_env(num_envs=8)).replay_buffer, arrays)
    assert drawn(model.replay_buffer) == before
    frugal = ReplayBuffer(64, model.observation_space, model.action_space, optimize_memory_usage=True, handle_timeout_termination=False)
    for use in (lambda: buffer_arrays(frugal), lambda: restore_buffer(frugal, arrays)):
        with pytest.raises(OptionsError, match="optimize_memory_usage"):
            use()
