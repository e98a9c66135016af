"""Reading a config from YAML, with ``key=value`` settings on top."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from training.config import ConfigError, RunConfig
from training.kinds import schema_of

__all__ = ["dump_config", "in_one_line", "load_config"]


def load_config(path: str | Path, settings: list[str] | None = None, schema: type[RunConfig] | None = None) -> Any:
    """Read a YAML file: a config of ``schema``; left out, a ``TrainingConfig``, or a ``ShoppingConfig`` where its variant is ``shopping``.

    ``settings`` are ``key=value`` texts (``ppo.n_epochs=4``) that replace what it says. Raises ``ConfigError``.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        values = yaml.load(text, _Loader)  # noqa: S506 -- a SafeLoader
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise ConfigError(f"config {path}: {' '.join(str(error).split())}") from None
    if not isinstance(values, dict):
        raise ConfigError(f"config {path}: {type(values).__name__}, but a config is a table of keys")
    for setting in settings or []:
        _apply(values, setting)
    try:
        return (schema or schema_of(values)).model_validate(values)
    except ValidationError as error:
        raise ConfigError(f"config {path}: {in_one_line(error)}") from None


class _Loader(yaml.SafeLoader):
    """Refuses a key that stands twice: YAML would drop the first without a word."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """A table."""
        values = super().construct_mapping(node, deep)
        if len(values) < len(node.value):
            raise yaml.constructor.ConstructorError(None, None, "a key stands twice", node.start_mark)
        return values


def dump_config(config: RunConfig) -> str:
    """The keys that a run was told, as YAML that ``load_config`` reads back."""
    return yaml.safe_dump(config.model_dump(exclude_unset=True), sort_keys=False)


def _apply(values: dict[str, Any], setting: str) -> None:
    key, sign, text = setting.partition("=")
    if not sign or not key:
        raise ConfigError(f"--set {setting!r}, but it is key=value, such as ppo.n_epochs=4")
    *tables, name = key.split(".")
    for table in tables:
        values = values.setdefault(table, {})
        if not isinstance(values, dict):
            raise ConfigError(f"--set {setting!r}, but {table} holds no keys of its own")
    try:
        values[name] = yaml.safe_load(text)
    except yaml.YAMLError:
        raise ConfigError(f"--set {setting!r}, but {text!r} is no YAML value") from None


def in_one_line(error: ValidationError) -> str:
    """What is wrong with a config, key by key."""
    faults = []
    for fault in error.errors():
        key = ".".join(map(str, fault["loc"]))
        message = fault["msg"].removeprefix("Value error, ")
        shown = f" (got {fault['input']!r})" if fault["type"] not in ("value_error", "missing") else ""
        faults.append(f"{key}: {message}{shown}" if key else message)
    return "; ".join(faults)
