"""The tables of training, each a list of Markdown lines: the keys of a config, from its schema; the shipped agents, from their files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from docs.source_docs import told
from docs.tables import ROOT, table
from domino_env.policies import CheckpointMeta, load_checkpoint
from domino_env.variants import VARIANTS
from training.config import TrainingConfig
from training.config_file import load_config
from training.ship import agent_name

__all__ = ["agents", "best_agents", "config_keys", "key_rows", "key_tables"]

CONFIGS = ROOT / "configs"
CHECKPOINTS = ROOT / "checkpoints"

NOBODY = "No agent has been measured yet."

_KINDS: dict[Any, str] = {
    int: "whole number",
    float: "number",
    str | None: "text, or `null`",
    str: "text",
    bool: "`true` or `false`",
    list[int]: "list of whole numbers",
    list[str]: "list of texts",
    dict[str, Any]: "table",
}


# --------------------------------------------------------------------------------------------------------------- keys


def key_tables() -> dict[str, type[BaseModel]]:
    """Key -> schema of each key that holds keys of its own; ``""`` is the config itself."""
    fields = TrainingConfig.model_fields.items()
    inner = {name: item.annotation for name, item in fields if isinstance(item.annotation, type) and issubclass(item.annotation, BaseModel)}
    return {"": TrainingConfig, **inner}


def config_keys(holder: str = "") -> list[str]:
    """Every key of a config that stands in ``holder``: default, values, meaning."""
    schemas = key_tables()
    return table(["key", "default", "values", "meaning"], key_rows(holder, schemas[holder], set(schemas)))


def key_rows(holder: str, schema: type[BaseModel], holders: set[str]) -> list[list[str]]:
    """A row for each key of ``schema``, which stands in ``holder``; keys that are ``holders`` themselves are left out."""
    prefix = f"{holder}." if holder else ""
    # its own keys before those that all schemas share
    fields = sorted(schema.model_fields.items(), key=lambda field: field[0] not in schema.__annotations__)
    return [
        [f"`{prefix}{name}`", _default(item), _values(item), _meaning(name, item)] for name, item in fields if holder or name not in holders
    ]


def _meaning(name: str, item: FieldInfo) -> str:
    if not item.description:
        raise ValueError(f"key {name} of a config has no description")
    return told(item.description)


def _default(item: FieldInfo) -> str:
    if item.is_required():
        return "has none"
    text = yaml.safe_dump(item.get_default(call_default_factory=True), default_flow_style=True)
    return f"`{text.removesuffix('...' + chr(10)).strip()}`"


def _values(item: FieldInfo) -> str:
    if get_origin(item.annotation) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(item.annotation))
    return ", ".join([_KINDS[item.annotation], *_bounds(item)])


def _bounds(item: FieldInfo) -> list[str]:
    """What the schema says of the size of a value, in words."""
    words = {"gt": "above {}", "ge": "{} or more", "le": "at most {}", "lt": "below {}", "min_length": "{} or more of them"}
    found = {name: getattr(rule, name) for rule in item.metadata for name in words if getattr(rule, name, None) is not None}
    if "ge" in found and "le" in found:
        return [f"{found['ge']} to {found['le']}"]
    return [words[name].format(_number(value)) for name, value in found.items()]


def _number(value: float) -> str:
    return {2**31: "2^31", 2**32: "2^32"}.get(value, str(value))


# ------------------------------------------------------------------------------------------------------------- agents


@dataclass(frozen=True)
class Agent:
    """A shipped agent: the header of its checkpoint, and its table."""

    name: str
    meta: CheckpointMeta
    measured: Mapping[str, Any]
    """``Comparison.to_json()``, as ``training.ship.measure`` writes it."""

    def against(self, other: str) -> Mapping[str, Any]:
        """The pair of this agent and ``other``."""
        for pair in self.measured["pairs"]:
            if (pair["first"], pair["second"]) == (self.name, other):
                return dict(pair)
        raise ValueError(f"checkpoints/{self.name}.json: no pair {self.name}, {other}")


def _read_agents() -> list[Agent]:
    """All agents of dominoes that have a checkpoint and a table, in the order of their variants."""
    found = []
    for path in CHECKPOINTS.glob("*/*.json"):
        checkpoint = path.with_suffix(".safetensors")
        if not checkpoint.exists() or path.parent.name not in VARIANTS:
            continue
        measured, meta = json.loads(path.read_text(encoding="utf-8")), load_checkpoint(checkpoint).meta
        name = path.relative_to(CHECKPOINTS).with_suffix("").as_posix()
        if (measured["rules_fingerprint"], measured["num_players"]) != (meta.rules_fingerprint, meta.num_players):
            raise ValueError(f"checkpoints/{name}.json: measured in another game than its checkpoint was made for")
        found.append(Agent(name, meta, measured))
    order = list(VARIANTS)
    return sorted(found, key=lambda agent: (order.index(agent.meta.variant), agent.meta.num_players, agent.meta.algorithm == "dqn"))


def _not_yet(made: list[Agent]) -> list[str]:
    """A line that names the agents of dominoes in ``configs/`` that are not among those ``made``."""
    configs = [load_config(path) for path in sorted(CONFIGS.glob("*.yaml"))]
    names = [agent_name(config) for config in configs if config.variant in VARIANTS]
    missing = [f"`{name}`" for name in names if name not in {agent.name for agent in made}]
    return ["", f"Not made yet, or not measured: {', '.join(missing)}."] if missing else []


def agents() -> list[str]:
    """All shipped agents: how strong each is, then how it was made."""
    made = _read_agents()
    if not made:
        return [NOBODY, *_not_yet(made)]
    strength = [
        [
            *(f"`{agent.name}`", str(agent.meta.num_players), f"{agent.meta.steps_trained:,}"),
            *(_points(agent.against(other)) for other in ("greedy", "random")),
            _share(agent.against("greedy")),
        ]
        for agent in made
    ]
    origin = [[f"`{agent.name}`", _network(agent.meta), str(agent.meta.seed), f"`{agent.meta.command}`"] for agent in made]
    head = ["agent", "seats", "decisions", "points per round against greedy", "against random", "rounds won against greedy"]
    return [
        f"{_deals(made)} in every seating, 95 % intervals. One of them again, on the same deals:",
        "`python -m training evaluate --variant bergen bergen/ppo random greedy --players 2 --deals 10000 --seed 1`.",
        "",
        *table(head, strength),
        "",
        *table(["agent", "layers", "seed", "made by"], origin),
        *_not_yet(made),
    ]


def best_agents() -> list[str]:
    """For each variant and number of seats the agent that makes most points against greedy."""
    made = _read_agents()
    best: dict[tuple[str, int], Agent] = {}
    for agent in made:
        game = (agent.meta.variant, agent.meta.num_players)
        if game not in best or _mean_points(agent) > _mean_points(best[game]):
            best[game] = agent
    if not best:
        return [NOBODY]
    rows = [
        [f"`{agent.name}`", str(agent.meta.num_players), _points(agent.against("greedy")), _share(agent.against("greedy"))]
        for agent in best.values()
    ]
    return table(["agent", "seats", "points per round against greedy", "rounds won"], rows)


def _deals(made: list[Agent]) -> str:
    return " or ".join(f"{deals:,} deals" for deals in sorted({agent.measured["deals"] for agent in made}))


def _mean_points(agent: Agent) -> float:
    return float(agent.against("greedy")["points"]["mean"])


def _points(pair: Mapping[str, Any]) -> str:
    points = pair["points"]
    return f"{points['mean']:+.3f} [{points['low']:+.3f}, {points['high']:+.3f}]"


def _share(pair: Mapping[str, Any]) -> str:
    mean, low, high = (100 * pair["won"][end] for end in ("mean", "low", "high"))
    return f"{mean:.1f} % [{low:.1f}, {high:.1f}]"


def _network(meta: CheckpointMeta) -> str:
    widths = ", ".join(map(str, meta.layers))
    return f"{widths}{' (residual)' if meta.residual else ''}"
