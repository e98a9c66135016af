"""The tables of the memory game, each a list of Markdown lines: made from the code, its vocabulary and the files of the shipped agents."""

from __future__ import annotations

import json
from typing import Any

from docs.tables import ROOT, table
from docs.training_tables import key_rows
from domino_env.shopping import ShoppingEncoding, ShoppingRules
from domino_env.shopping.checkpoint import load_shopping_checkpoint
from domino_env.shopping.encoding import SHOPPING_ENCODING_VERSION
from domino_env.shopping.survival import memoryless_ceiling
from domino_env.shopping.words import themes, words_of
from training.shopping_config import ShoppingConfig, ShoppingEvaluationConfig, ShoppingPPOConfig

__all__ = ["shopping_agents", "shopping_keys", "shopping_observation", "shopping_survival", "shopping_words"]

AGENTS = ("shopping/recurrent_ppo", "shopping/ppo")
_SCRIPTED = ("perfect", "forgetful?p=0.05", "random")


def shopping_observation() -> list[str]:
    """Sections of the observation, for two and three players without a theme and three with one."""
    many = [ShoppingEncoding(rules) for rules in (ShoppingRules(2), ShoppingRules(3), ShoppingRules(3, theme="drawn"))]
    names = [section.name for section in many[-1].sections]
    rows = []
    for name in names:
        found = [next((s for s in encoding.sections if s.name == name), None) for encoding in many]
        places = ["" if s is None else f"{s.start}" if s.size == 1 else f"{s.start} to {s.start + s.size - 1}" for s in found]
        rows.append([f"`{name}`", *places, many[-1].section(name).meaning])
    rows.append(["all", *(str(encoding.size) for encoding in many), f"encoding version {SHOPPING_ENCODING_VERSION}"])
    return table(["section", "2 players", "3 players", "3 players, with a theme", "meaning"], rows)


def shopping_words() -> list[str]:
    """The first words of some letters in every theme."""
    return table(
        ["theme", "a", "m", "x"], [[f"`{theme}`", *(", ".join(words_of(theme, k)[:4]) for k in (0, 12, 23))] for theme in themes()]
    )


def shopping_keys() -> list[str]:
    """Every key of a config of this game."""
    schemas = {"": ShoppingConfig, "evaluation": ShoppingEvaluationConfig, "ppo": ShoppingPPOConfig}
    rows = [row for holder, schema in schemas.items() for row in key_rows(holder, schema, set(schemas))]
    return table(["key", "default", "values", "meaning"], rows)


def _measured() -> dict[str, Any]:
    return {name: json.loads((ROOT / "checkpoints" / f"{name}.json").read_text(encoding="utf-8")) for name in AGENTS}


def shopping_survival() -> list[str]:
    """The longest list recited, by number of letters: the agents, the scripted speakers, and what is possible without a memory."""
    measured = _measured()
    first = measured[AGENTS[0]]
    letters = sorted({one["letters"] for one in first["results"]})
    sources = [(name, measured[name]) for name in AGENTS] + [(name, first) for name in _SCRIPTED]
    rows = []
    for name, found in sources:
        by_letters = {one["letters"]: one for one in found["results"] if one["policy"] == name}
        rows.append([f"`{name}`", *(_length(by_letters[count]) for count in letters)])
    game = {"num_players": first["num_players"], "words_per_letter": first["words_per_letter"], "new_words": "drawn"}
    rows.insert(
        2, ["most without a memory, exact", *(f"{float(memoryless_ceiling(ShoppingRules(num_letters=k, **game))):.3f}" for k in letters)]
    )
    head = ["policy", *(f"{count} letters" for count in letters)]
    return [
        f"{first['num_players']} players, {first['words_per_letter']} words a letter, {first['games']:,} games each.",
        "",
        *table(head, rows),
    ]


def _length(found: dict[str, Any]) -> str:
    if found["low"] == found["high"]:
        return f"{found['recited']:.3f}"
    return f"{found['recited']:.3f} [{found['low']:.3f}, {found['high']:.3f}]"


def shopping_agents() -> list[str]:
    """How the shipped agents were made, and how far they came."""
    rows = []
    for name, found in _measured().items():
        meta = load_shopping_checkpoint(ROOT / "checkpoints" / f"{name}.safetensors").meta
        last = next(one for one in found["results"] if one["policy"] == name and one["letters"] == 26)
        network = f"{', '.join(map(str, meta.layers))} units" if meta.layers else f"LSTM of {meta.lstm} units"
        rows.append([f"`{name}`", network, f"{meta.steps_trained:,}", f"{last['longest']}", f"{last['survived']:.1%}", f"`{meta.command}`"])
    return table(["agent", "network", "words heard", "longest list, 26 letters", "games survived, 26 letters", "made by"], rows)
