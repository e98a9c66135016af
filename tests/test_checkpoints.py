"""Checkpoint files: what is written comes back, and whatever else lies in the path is refused with a reason."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from safetensors import safe_open
from safetensors.numpy import save_file

from domino_env.encoding import ENCODING_VERSION
from domino_env.errors import CheckpointError, PolicyError
from domino_env.policies import Checkpoint, CheckpointMeta, LearnedPolicy, decide, load_checkpoint, load_policy, loading, save_checkpoint
from domino_env.variants import VARIANTS
from tests.policy_cases import positions, random_checkpoint, random_meta, random_weights
from training.network import Trunk, as_arrays

# -------------------------------------------------------------------------------------------------------- round trip


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    meta = random_meta("fives", 3, layers=[8, 4], value_layers=[5], activation="tanh", steps_trained=77, seed=3, command="make demo")
    weights = random_weights(meta)
    save_checkpoint(tmp_path / "new folder" / "a.safetensors", weights, meta)
    back = load_checkpoint(tmp_path / "new folder" / "a.safetensors")
    assert back.meta == meta
    assert back.meta.read_rules() == VARIANTS["fives"]
    assert {"numpy", "numba"} <= set(back.meta.versions)
    assert set(back.weights) == set(weights)
    for name, array in weights.items():
        assert back.weights[name].tobytes() == array.tobytes(), name
    assert [file.name for file in (tmp_path / "new folder").iterdir()] == ["a.safetensors"]


def test_transposed_and_double_arrays_keep_their_numbers(tmp_path: Path) -> None:
    meta = random_meta()
    weights = random_weights(meta)
    turned = {name: np.asfortranarray(array.astype(np.float64)) for name, array in weights.items()}
    save_checkpoint(tmp_path / "a.safetensors", turned, meta)
    for name, array in load_checkpoint(tmp_path / "a.safetensors").weights.items():
        assert (array == weights[name]).all(), name


def test_header_is_text_that_other_tools_can_read(tmp_path: Path) -> None:
    path = random_checkpoint(tmp_path / "a.safetensors", steps_trained=12)
    with safe_open(str(path), framework="numpy") as file:
        header = file.metadata()
    assert json.loads(header["format"]) == 2
    assert json.loads(header["variant"]) == "bergen"
    assert json.loads(header["rules"]) == {}
    assert json.loads(header["layers"]) == [24, 16]
    assert json.loads(header["steps_trained"]) == 12


def test_overrides_and_own_rules_are_kept(tmp_path: Path) -> None:
    for rules in (VARIANTS["bergen"].replace(target={2: 21}), VARIANTS["draw"].replace(variant="mine", reserve=3, players=2)):
        path = random_checkpoint(tmp_path / "a.safetensors", rules)
        checkpoint = load_checkpoint(path)
        assert checkpoint.meta.read_rules() == rules
        checkpoint.check(rules, 2)
        with pytest.raises(CheckpointError, match=VARIANTS[("bergen", "draw")[rules.variant == "mine"]].fingerprint()):
            checkpoint.check(VARIANTS["bergen" if rules.variant == "bergen" else "draw"], 2)


def naive_forward(weights: dict[str, Any], prefix: str, head: str, activation: Callable[[Any], Any], x: Any) -> Any:
    k = 0
    while f"{prefix}.{k}.weight" in weights:
        x = activation(x @ weights[f"{prefix}.{k}.weight"].astype(np.float64).T + weights[f"{prefix}.{k}.bias"])
        k += 1
    return x @ weights[f"{head}.weight"].astype(np.float64).T + weights[f"{head}.bias"]


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_network_computes_what_it_says(tmp_path: Path, activation: str) -> None:
    functions: dict[str, Callable[[Any], Any]] = {"relu": lambda v: np.maximum(v, 0), "tanh": np.tanh}
    x = positions("bergen", 2, 50).batch().observation
    for value_layers in ([7], []):
        path = random_checkpoint(tmp_path / "a.safetensors", activation=activation, value_layers=value_layers)
        weights = dict(load_checkpoint(path).weights)
        policy = LearnedPolicy(load_checkpoint(path))
        expected = naive_forward(weights, "layers", "logits", functions[activation], x)
        assert np.abs(policy.logits(x) - expected).max() < 1e-5
        trunk = "value_layers" if value_layers else "layers"
        values = naive_forward(weights, trunk, "value", functions[activation], x)[:, 0]
        assert np.abs(policy.values(x) - values).max() < 1e-5


@pytest.mark.parametrize(
    "layers", [[24, 24, 24, 16, 16, 24], [random_meta().observation_size] * 2], ids=["narrow", "as wide as what is observed"]
)
@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_residual_layers_are_those_of_the_trained_network(tmp_path: Path, activation: str, residual: bool, layers: list[int]) -> None:
    """Layers as wide as the one before add their input; the first never does, nor one of another width."""
    path = random_checkpoint(tmp_path / "a.safetensors", layers=layers, value_layers=[], activation=activation, residual=residual)
    policy = LearnedPolicy(load_checkpoint(path))
    meta, kept = policy.checkpoint.meta, policy.checkpoint.weights
    assert meta.residual is residual
    x = torch.from_numpy(positions("bergen", 2, 60).batch().observation)
    trunk = Trunk(spaces.Box(-1.0, 1.0, (meta.observation_size,)), layers, activation, residual)
    heads = {"logits": torch.nn.Linear(layers[-1], meta.num_actions), "value": torch.nn.Linear(layers[-1], 1)}
    with torch.no_grad():
        for name, array in kept.items():
            head, _, part = name.rpartition(".")
            layer = heads[head] if head in heads else trunk.layers[int(head.removeprefix("layers."))]
            getattr(layer, part).copy_(torch.from_numpy(array.copy()))
        features = trunk(x)
        assert np.abs(policy.logits(x) - heads["logits"](features).numpy()).max() < 1e-5
        assert np.abs(policy.values(x) - heads["value"](features).numpy()[:, 0]).max() < 1e-5
    written = as_arrays(trunk, heads)
    assert {name: array.tobytes() for name, array in written.items()} == {name: array.tobytes() for name, array in kept.items()}
    plain = LearnedPolicy(Checkpoint(dataclasses.replace(meta, residual=not residual), kept))
    assert np.abs(policy.logits(x) - plain.logits(x)).max() > 0.1


def test_a_file_of_the_first_format_is_still_read(tmp_path: Path) -> None:
    """PAINS 27: it knew no residual layers, so it has none."""
    path = random_checkpoint(tmp_path / "new.safetensors", layers=[16, 16], value_layers=[])
    old = of_format_1(path, tmp_path / "old.safetensors")
    with safe_open(str(old), framework="numpy") as file:
        assert (file.metadata()["format"], "residual" in file.metadata()) == ("1", False)
    found, expected = load_checkpoint(old), load_checkpoint(path)
    assert found.meta == expected.meta
    assert found.meta.residual is False
    x = positions("bergen", 2, 20).batch().observation
    assert LearnedPolicy(found).logits(x).tobytes() == LearnedPolicy(expected).logits(x).tobytes()
    save_checkpoint(tmp_path / "again.safetensors", found.weights, found.meta)
    assert load_checkpoint(tmp_path / "again.safetensors").meta == expected.meta
    with pytest.raises(CheckpointError, match="altered"):
        load_checkpoint(of_format_1(path, tmp_path / "other.safetensors", steps_trained="9"))
    for wrong in ("1", "2"):
        # a field that the format does not have, or lacks
        both = {"format": wrong, **({} if wrong == "2" else {"residual": "true"})}
        damaged = altered(random_checkpoint(tmp_path / "b.safetensors"), both, drop="residual" if wrong == "2" else "")
        with pytest.raises(CheckpointError, match=r"header fields|altered|residual"):
            load_checkpoint(damaged)


def of_format_1(path: Path, target: Path, **late: str) -> Path:
    """The checkpoint as version 0.1 wrote it; ``late``: fields that are changed behind the digest's back."""
    with safe_open(str(path), framework="numpy") as file:
        header = {name: text for name, text in file.metadata().items() if name not in ("digest", "residual")} | {"format": "1"}
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 -- not a mapping
    digest = hashlib.sha256(repr(sorted(header.items())).encode())
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].shape}".encode() + arrays[name].tobytes())
    save_file(arrays, str(target), metadata={**header, "digest": digest.hexdigest()[:32], **late})
    return target


def test_argmax_stays_inside_the_mask(tmp_path: Path) -> None:
    where = positions("fives", 2, 300)
    policy = load_policy(random_checkpoint(tmp_path / "a.safetensors", "fives"))
    assert isinstance(policy, LearnedPolicy)
    batch = where.batch()
    logits = np.where(batch.action_mask == 1, policy.logits(batch.observation), -np.inf)
    assert decide(policy, batch).tolist() == logits.argmax(axis=1).tolist()


def test_without_a_value_head_there_are_no_values(tmp_path: Path) -> None:
    policy = LearnedPolicy(load_checkpoint(random_checkpoint(tmp_path / "a.safetensors")))
    with pytest.raises(PolicyError, match="no value head"):
        policy.values(np.zeros((1, policy.checkpoint.meta.observation_size)))
    with pytest.raises(PolicyError, match=r"shape \(2, 3\)"):
        policy.logits(np.zeros((2, 3)))


def test_bundled_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "_PACKAGE", tmp_path / "package")
    with pytest.raises(PolicyError, match="none is bundled"):
        load_policy("bergen/ppo")
    random_checkpoint(tmp_path / "checkpoints" / "bergen" / "ppo.safetensors", steps_trained=1)
    random_checkpoint(tmp_path / "checkpoints" / "bergen" / "other.safetensors", steps_trained=2)
    assert load_policy("bergen/ppo").checkpoint.meta.steps_trained == 1  # type: ignore[attr-defined]
    random_checkpoint(tmp_path / "package" / "checkpoints" / "bergen" / "ppo.safetensors", steps_trained=3)
    policy = load_policy("bergen/ppo?sample=1")
    assert policy.checkpoint.meta.steps_trained == 3  # type: ignore[attr-defined]
    assert policy.name == "bergen/ppo?sample=1"  # type: ignore[attr-defined]
    with pytest.raises(PolicyError, match="ppo, bergen/other"):
        load_policy("bergen/pro")


# ------------------------------------------------------------------------------------------------------ planted code


class Planted:
    """Makes a folder when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.mkdir, (self.path,)


def test_planted_code_does_not_run(tmp_path: Path) -> None:
    sign = tmp_path / "code ran"
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        data = pickle.dumps(Planted(sign), protocol=protocol)
        pickle.loads(data)
        assert sign.is_dir()  # the payload is live
        sign.rmdir()
        for name in ("model.safetensors", "model.pt", "model.zip"):
            (tmp_path / name).write_bytes(data)
            with pytest.raises(CheckpointError, match=r"pickle: reading one can run any code|damaged, or no \.safetensors file"):
                load_policy(tmp_path / name)
    for name in ("model.safetensors", "model.zip"):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("data", data)
            archive.writestr("policy.pth", data)
        with pytest.raises(CheckpointError, match="a zip archive, as SB3 and torch write them: it holds pickles"):
            load_policy(tmp_path / name)
    assert not sign.exists()


# ------------------------------------------------------------------------------------------ damaged, altered, foreign


def test_a_checkpoint_cut_anywhere_is_refused(tmp_path: Path) -> None:
    data = random_checkpoint(tmp_path / "a.safetensors").read_bytes()
    for size in [0, 1, 7, 8, 9, 200, len(data) // 2, len(data) - 4, len(data) - 1]:
        (tmp_path / "b.safetensors").write_bytes(data[:size])
        with pytest.raises(CheckpointError, match=r"b\.safetensors: damaged"):
            load_checkpoint(tmp_path / "b.safetensors")


def test_a_changed_byte_anywhere_is_refused(tmp_path: Path) -> None:
    data = random_checkpoint(tmp_path / "a.safetensors").read_bytes()
    generator = np.random.default_rng(4)
    header_end = data.rindex(b"}", 0, 8 + int.from_bytes(data[:8], "little"))  # spaces follow, which say nothing
    places = [*range(10), *generator.integers(0, header_end, 150), header_end, *generator.integers(header_end + 8, len(data), 50)]
    for at in map(int, places):
        changed = bytearray(data)
        changed[at] ^= int(generator.integers(1, 256))
        (tmp_path / "b.safetensors").write_bytes(bytes(changed))
        with pytest.raises(CheckpointError, match=r"\A[^\n]+\Z"):  # one line
            load_checkpoint(tmp_path / "b.safetensors")


def altered(path: Path, header: dict[str, str] | None = None, drop: str = "", **arrays: Any) -> Path:
    """The file with some header fields and tensors in the place of others."""
    with safe_open(str(path), framework="numpy") as file:
        metadata = {**file.metadata(), **(header or {})}
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 -- not a mapping
    tensors.update({name.replace("_", "."): array for name, array in arrays.items()})
    for store in (metadata, tensors):
        store.pop(drop, None)
    save_file(tensors, str(path), metadata=metadata)
    return path


ALTERED: list[tuple[dict[str, Any], str]] = [
    ({"header": {"format": "3"}}, "checkpoint format 3, but this version reads 1 to 2"),
    ({"header": {"encoding_version": str(ENCODING_VERSION + 1)}}, f"observation version {ENCODING_VERSION + 1}.*has {ENCODING_VERSION}"),
    ({"header": {"action_version": "0"}}, "action version 0.*has 1"),
    ({"header": {"rules": '{"target": {"2": 16}}'}}, "made for rules [0-9a-f]{16}, but here bergen with .* is rules [0-9a-f]{16}"),
    ({"header": {"rules": '{"targt": 3}'}}, "its rules cannot be played.*targt"),
    ({"header": {"variant": '"bergn"'}}, "its rules cannot be played.*variant='bergn'"),
    ({"header": {"variant": '"draw"'}}, "made for rules .* but here draw is"),
    ({"header": {"num_players": "3"}}, r"\d+ observed numbers and 58 actions, but bergen has \d+ and 58"),
    ({"header": {"num_players": "7"}}, "num_players=7"),
    ({"header": {"num_players": '"2"'}}, "damaged header: num_players='2'"),
    ({"header": {"layers": "[24, 0]"}}, r"damaged header: layers=\[24, 0\]"),
    ({"header": {"layers": "[24, 17]"}}, r"layers\.1\.\w+ is float32 .*asks for float32"),
    ({"header": {"layers": "[24]"}}, r"its header asks for \['layers.0.bias'"),
    ({"header": {"activation": '"gelu"'}}, "activation='gelu'"),
    ({"header": {"layers": "[24, 16"}}, "damaged header"),
    ({"header": {"extra": "1"}}, "header fields"),
    ({"header": {"steps_trained": "5"}}, "altered: its digest"),
    ({"drop": "seed"}, "header fields"),
    ({"drop": "format"}, "no domino_env checkpoint"),
    ({"drop": "digest"}, "altered: its digest is .* header says none"),
    ({"drop": "logits.bias"}, "tensors"),
    ({"logits_bias": np.full(58, np.nan, np.float32)}, "logits.bias holds numbers that are not finite"),
    ({"logits_bias": np.full(58, np.inf, np.float32)}, "not finite"),
    ({"logits_bias": np.ones(58, np.float32)}, "altered: its digest"),
    ({"logits_bias": np.ones(57, np.float32)}, r"logits.bias is float32 \(57,\), but its header asks for float32 \(58,\)"),
    ({"logits_bias": np.ones(58, np.float64)}, "logits.bias is float64"),
    ({"extra_bias": np.ones(58, np.float32)}, "tensors.*extra.bias"),
]


@pytest.mark.parametrize(("change", "message"), ALTERED)
def test_an_altered_checkpoint_is_refused_with_a_reason(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = altered(random_checkpoint(tmp_path / "a.safetensors"), **change)
    with pytest.raises(CheckpointError, match=message) as caught:
        load_checkpoint(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_an_unchanged_checkpoint_passes_the_same_way(tmp_path: Path) -> None:
    load_checkpoint(altered(random_checkpoint(tmp_path / "a.safetensors")))


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    save_file({"weight": np.ones(3, np.float32)}, str(tmp_path / "other.safetensors"), metadata={"format": "pt"})
    with pytest.raises(CheckpointError, match="no domino_env checkpoint"):
        load_checkpoint(tmp_path / "other.safetensors")
    np.save(tmp_path / "array.npy", np.ones(3))
    with pytest.raises(CheckpointError, match="a numpy array file"):
        load_checkpoint(tmp_path / "array.npy")
    (tmp_path / "text.safetensors").write_text("hello, this is no checkpoint at all")
    for missing, message in (("text", "damaged"), ("nowhere", "cannot be read")):
        with pytest.raises(CheckpointError, match=message):
            load_policy(str(tmp_path / f"{missing}.safetensors"))
    with pytest.raises(CheckpointError, match="cannot be read"):
        load_checkpoint(tmp_path)


def test_saving_refuses_what_could_not_be_loaded(tmp_path: Path) -> None:
    meta = random_meta()
    weights = random_weights(meta)
    path = tmp_path / "a.safetensors"
    for change, message in (
        ({"logits.bias": np.full(58, np.nan)}, "not finite"),
        ({"logits.bias": np.ones(3)}, r"logits.bias is float32 \(3,\)"),
        ({"more": np.ones(3)}, "tensors"),
    ):
        with pytest.raises(CheckpointError, match=message):
            save_checkpoint(path, {**weights, **change}, meta)
    with pytest.raises(CheckpointError, match=r"<name>\.safetensors"):
        save_checkpoint(tmp_path / "a.zip", weights, meta)
    with pytest.raises(CheckpointError, match="layers=\\[-3\\]"):
        CheckpointMeta.of(VARIANTS["bergen"], 2, algorithm="x", layers=[-3])
    assert list(tmp_path.iterdir()) == []


def test_a_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = random_checkpoint(tmp_path / "a.safetensors", seed=1)
    before = path.read_bytes()

    def fail(self: Path, target: Path) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        random_checkpoint(path, seed=2)
    monkeypatch.undo()
    assert [file.name for file in tmp_path.iterdir()] == ["a.safetensors"]
    assert path.read_bytes() == before
