"""From what a user writes to the policy under test.

``cmd:COMMAND`` is a player in another process; ``NAME.onnx`` an ONNX file; ``MODULE:ATTRIBUTE`` or ``FILE.py:ATTRIBUTE`` Python code: a
function, a policy, or a class that makes one; anything else is what ``load_policy`` takes. ``{variant}`` and ``{players}`` in a text stand
for those of the setting. A command and Python code are run: they are the user's own choice. Nothing is ever unpickled.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from domino_env.benchmark.entrants import Called, Entrant, InProcess, users_code
from domino_env.benchmark.external import CommandEntrant
from domino_env.benchmark.onnx_policy import OnnxPolicy
from domino_env.benchmark.protocol import LIMITS, Limits, Setting, file_digest
from domino_env.errors import PolicyError
from domino_env.policies import LearnedPolicy, Policy, check_policy, load_policy, policy_name

__all__ = ["EntrantSpec", "kind_of", "open_entrant", "spec_text"]

EntrantSpec = Any
"""A text, a path, a policy, or a function ``(observation, action_mask) -> actions``."""

_COMMAND = "cmd:"
_PYTHON = re.compile(r"(?!search:)([^:?]+):([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")


def spec_text(spec: EntrantSpec) -> str:
    """The text of a spec; of an object the name of its kind."""
    if isinstance(spec, (str, os.PathLike)):
        return os.fspath(spec)
    if isinstance(spec, Policy) and not isinstance(spec, type):
        return policy_name(spec)
    return str(getattr(spec, "__qualname__", type(spec).__name__))


def kind_of(spec: EntrantSpec) -> str:
    """``"command"``, ``"onnx"``, ``"python"`` or ``"policy"``: how a spec is plugged in."""
    if not isinstance(spec, (str, os.PathLike)):
        return "python"
    text = os.fspath(spec)
    if text.startswith(_COMMAND):
        return "command"
    if text.lower().endswith(".onnx"):
        return "onnx"
    return "python" if _PYTHON.fullmatch(text) else "policy"


def open_entrant(spec: EntrantSpec, setting: Setting, limits: Limits = LIMITS, show_stderr: bool = False) -> Entrant:
    """The policy under test for one setting, fresh; whoever opens it closes it.

    Raises ``PolicyError`` for what is none, ``CheckpointError`` for one that is not made for this setting.
    """
    kind = kind_of(spec)
    text = _filled(spec_text(spec), setting)
    if kind == "command":
        return CommandEntrant(setting, text.removeprefix(_COMMAND), limits, show_stderr)
    if kind == "onnx":
        onnx = OnnxPolicy(text)
        onnx.check(setting.rules, setting.num_players)
        return InProcess(onnx, kind, file_digest(text))
    if kind == "policy":
        if text.endswith(".py"):
            raise PolicyError(f"policy {text!r}: name a function or class in it too, such as '{text}:act'")
        policy = load_policy(text, setting.rules, setting.num_players)
        digest = file_digest(policy.checkpoint.source) if isinstance(policy, LearnedPolicy) else None
        return InProcess(policy, "checkpoint" if digest else "builtin", digest)
    if not isinstance(spec, (str, os.PathLike)):
        return _python(spec, text, setting, None)
    found, digest = _find(text)
    return _python(found, text, setting, digest)


def _filled(text: str, setting: Setting) -> str:
    return text.replace("{variant}", setting.variant).replace("{players}", str(setting.num_players))


def _python(found: Any, name: str, setting: Setting, digest: str | None) -> Entrant:
    """A class is called without arguments; what has ``act`` is a policy, and another callable a function of arrays."""
    with users_code(f"policy {name!r}"):
        if isinstance(found, type):
            found = found()
        if isinstance(found, Policy):
            check_policy(found, setting.rules, setting.num_players)
            own = getattr(found, "name", None)
            return InProcess(found, "python", digest, own if isinstance(own, str) and own.isprintable() and own.strip() else name)
    if not callable(found):
        raise PolicyError(f"policy {name!r} is {found!r}, but it is a function of observations and masks, or has act(batch)")
    return InProcess(Called(found, name), "python", digest)


def _find(text: str) -> tuple[Any, str | None]:
    """The attribute of a module or a file, and the digest of its source."""
    match = _PYTHON.fullmatch(text)
    assert match is not None
    module = _module(match[1], text)
    found: Any = module
    with users_code(f"policy {text!r}"):
        for part in match[2].split("."):
            if not hasattr(found, part):
                raise PolicyError(f"policy {text!r}: {match[1]} has no {match[2]}")
            found = getattr(found, part)
    source = inspect.getsourcefile(module)
    return found, file_digest(source) if source and Path(source).is_file() else None


def _module(name: str, text: str) -> ModuleType:
    """Import a module, the current folder among the places where it may be, or a file of that name."""
    try:
        if name.endswith(".py"):
            return _module_of_file(Path(name))
        sys.path.insert(0, str(Path.cwd()))
        try:
            return importlib.import_module(name)
        finally:
            sys.path.remove(str(Path.cwd()))
    except (Exception, SystemExit) as error:  # whatever the user's code raises is told with its name
        raise PolicyError(f"policy {text!r}: {name} cannot be imported ({type(error).__name__}: {error})") from error


def _module_of_file(path: Path) -> ModuleType:
    name = f"domino_entrant_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"there is no file {str(path)!r}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses and pickles of its own look for it
    spec.loader.exec_module(module)
    return module
