"""Networks of the memory game beside torch: the same logits over whole games, in any batch."""

from __future__ import annotations

import itertools
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from domino_env.errors import PolicyError
from domino_env.policies import save_checkpoint
from domino_env.shopping import ShoppingEncoding, ShoppingRules, load_speaker
from domino_env.shopping.checkpoint import ShoppingCheckpoint, ShoppingMeta
from domino_env.shopping.learned import LearnedSpeaker
from domino_env.shopping.policies import RememberingSpeaker
from tests.shopping_play import Room, random_checkpoint, random_weights

RULES = ShoppingRules(3, 7, new_words="drawn")


class TorchNetwork(nn.Module):
    """Hidden layers, an LSTM where it has units, and logits; hears a whole game at once."""

    def __init__(self, inputs: int, layers: list[int], lstm: int, activation: str, actions: int) -> None:
        super().__init__()
        sizes = [inputs, *layers]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in itertools.pairwise(sizes))
        self.lstm = nn.LSTM(sizes[-1], lstm) if lstm else None
        self.activation = {"relu": torch.relu, "tanh": torch.tanh}[activation]
        self.logits = nn.Linear(lstm or sizes[-1], actions)

    def forward(self, heard: torch.Tensor) -> torch.Tensor:
        """(T, D) to (T, A)."""
        for layer in self.layers:
            heard = self.activation(layer(heard))
        if self.lstm is not None:
            heard, _ = self.lstm(heard)
        out: torch.Tensor = self.logits(heard)
        return out

    def arrays(self) -> dict[str, Any]:
        """The weights under the names of a checkpoint."""
        return {name.replace("_l0", ""): array.numpy() for name, array in self.state_dict().items()}


NETWORKS: dict[str, dict[str, Any]] = {
    "lstm": {"layers": [], "lstm": 16, "activation": "relu"},
    "layers and lstm": {"layers": [20, 12], "lstm": 8, "activation": "tanh"},
    "relu and lstm": {"layers": [24], "lstm": 16, "activation": "relu"},
    "no memory": {"layers": [16, 12], "lstm": 0, "activation": "relu"},
}


@pytest.mark.parametrize("theme", [None, "drawn"])
@pytest.mark.parametrize("network", NETWORKS)
def test_logits_of_whole_games_are_those_of_torch(network: str, theme: str | None, tmp_path: Path) -> None:
    """Two games one after another in each row, players dropping out: the memory starts anew with each game."""
    torch.manual_seed(1)
    rules = ShoppingRules(3, 9, 2, theme, "drawn")
    parts = NETWORKS[network]
    model = TorchNetwork(ShoppingEncoding(rules).size, **parts, actions=rules.num_actions)
    with torch.no_grad():
        for weights in model.parameters():
            weights.mul_(4.0)  # gates far from the middle
    save_checkpoint(tmp_path / "a.safetensors", model.arrays(), ShoppingMeta.of(rules, algorithm="none", **parts))
    speaker: Any = load_speaker(tmp_path / "a.safetensors", rules)
    room = Room(rules, range(6))
    for _ in range(2):
        heard: dict[tuple[int, int], list[Any]] = defaultdict(list)
        found: dict[tuple[int, int], list[Any]] = defaultdict(list)
        for batch, _ in room.play(RememberingSpeaker(forget=0.02)):
            logits = speaker.logits(batch)
            for k, listener in enumerate(zip(batch.rows.tolist(), batch.seats.tolist(), strict=True)):
                heard[listener].append(batch.observation[k])
                found[listener].append(logits[k])
        assert len(heard) == 18
        for listener, observations in heard.items():
            with torch.no_grad():
                wanted = model(torch.from_numpy(np.stack(observations))).numpy()
            np.testing.assert_allclose(np.stack(found[listener]), wanted, rtol=0, atol=1e-5)
        room.open()


@pytest.mark.engine
@pytest.mark.parametrize("lstm", [0, 6])
def test_logits_do_not_depend_on_the_batch(lstm: int) -> None:
    """To the last bit: in one batch, alone, and in other rows."""
    meta = ShoppingMeta.of(RULES, algorithm="none", layers=[9], lstm=lstm)
    checkpoint = ShoppingCheckpoint(meta, random_weights(meta))
    found: list[dict[Any, bytes]] = []
    for seeds, rows in ((range(7), None), ([4, 2, 6, 0, 1, 5, 3], [9, 1, 4, 0, 7, 3, 6]), *(([k], [k % 2]) for k in range(7))):
        room, speaker = Room(RULES, list(seeds), rows), LearnedSpeaker(checkpoint)
        one: dict[Any, bytes] = {}
        for batch in room.recite():
            one.update(zip(room.keys(batch), (row.tobytes() for row in speaker.logits(batch)), strict=True))
        found.append(one)
    assert found[0] == found[1]
    assert found[0] == {key: row for one in found[2:] for key, row in one.items()}
    assert len(set(found[0].values())) > 100


def test_the_highest_logit_is_said_or_one_is_drawn(tmp_path: Path) -> None:
    path = random_checkpoint(tmp_path / "a.safetensors", RULES)
    steady, drawing, logits = load_speaker(path), load_speaker(f"{path}?sample=1"), load_speaker(path)
    expected, drawn, variance = np.zeros(5), np.zeros(5), np.zeros(5)
    for batch in Room(RULES, range(60)).recite():
        values = logits.logits(batch).astype(np.float64)  # type: ignore[attr-defined]
        assert (steady.act(batch) == values.argmax(axis=1)).all()
        chance = np.exp(values) / np.exp(values).sum(axis=1, keepdims=True)
        expected += chance.sum(axis=0)
        variance += (chance * (1 - chance)).sum(axis=0)
        drawn += np.bincount(drawing.act(batch), minlength=5)
    assert (np.abs(drawn - expected) <= 4 * np.sqrt(variance)).all()


def test_a_state_of_another_network_is_refused(tmp_path: Path) -> None:
    small: Any = load_speaker(random_checkpoint(tmp_path / "a.safetensors", RULES))
    large: Any = load_speaker(random_checkpoint(tmp_path / "b.safetensors", RULES, lstm=7))
    with pytest.raises(PolicyError, match=r"7\).*6\)"):
        small.set_state(large.get_state())
