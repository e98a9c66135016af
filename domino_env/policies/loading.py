"""From what a user writes to a policy: ``"greedy"``, a path, or the name of a bundled checkpoint."""

from __future__ import annotations

import os
from pathlib import Path

from domino_env.errors import PolicyError
from domino_env.policies.checkpoint import load_checkpoint
from domino_env.policies.learned import LearnedPolicy
from domino_env.policies.parameters import read_parameters
from domino_env.policies.protocol import Policy, check_policy
from domino_env.policies.scripted import GreedyPolicy, RandomPolicy
from domino_env.policies.search_spec import SEARCHES, search_policy
from domino_env.rules import Rules

__all__ = ["bundled_checkpoints", "load_policy"]

_SUFFIX = ".safetensors"
_SCRIPTED: dict[str, type[Policy]] = {"random": RandomPolicy, "greedy": GreedyPolicy}
_PACKAGE = Path(__file__).resolve().parent.parent


def load_policy(spec: str | os.PathLike[str] | Policy, rules: Rules | None = None, num_players: int | None = None) -> Policy:
    """The policy that ``spec`` names.

    ``"random"``; ``"greedy"``; a search, ``"search:pimc?worlds=64"`` or ``"search:ismcts?simulations=1000"``; the path of a
    ``.safetensors`` checkpoint; or a bundled one such as ``"bergen/ppo"``. A checkpoint takes parameters:
    ``"bergen/ppo?sample=1&temperature=0.5"`` draws its moves; without ``sample=1`` it plays the likeliest one. A policy that is already
    made passes through. With ``rules`` and ``num_players`` it is also checked to fit that game.

    Raises ``PolicyError`` for what is none, ``CheckpointError`` for a file that cannot be used or does not fit.
    """
    policy = _from_text(os.fspath(spec)) if isinstance(spec, (str, os.PathLike)) else spec
    if isinstance(policy, type) or not isinstance(policy, Policy):
        raise PolicyError(f"policy {policy!r}, but a policy is a name, a path, or an object with act(batch)")
    if rules is not None and num_players is not None:
        check_policy(policy, rules, num_players)
    return policy


def bundled_checkpoints() -> dict[str, Path]:
    """Name -> file of the checkpoints in the package, then of those in the clone's ``checkpoints/``."""
    found: dict[str, Path] = {}
    for folder in (_PACKAGE / "checkpoints", _PACKAGE.parent / "checkpoints"):
        for file in sorted(folder.rglob(f"[!.]*{_SUFFIX}")):
            found.setdefault(file.relative_to(folder).with_suffix("").as_posix(), file)
    return found


def _from_text(spec: str) -> Policy:
    name, _, query = spec.partition("?")
    if name == "search" or name.startswith("search:"):
        return search_policy(spec)
    if name in _SCRIPTED:
        if query:
            raise PolicyError(f"policy {spec!r}: {name} takes no parameters")
        return _SCRIPTED[name]()
    bundled = bundled_checkpoints()
    path = bundled.get(name, Path(name))
    if not (_is_file(path) or name.endswith((_SUFFIX, ".zip", ".pt", ".pth"))):
        shipped = ", ".join(bundled) or "none is bundled"
        names = ", ".join([*_SCRIPTED, *(f"search:{search}" for search in SEARCHES)])
        known = f"{names}, the path of a {_SUFFIX} file, and checkpoints by name ({shipped})"
        raise PolicyError(f"policy {spec!r}, but known are {known}")
    sample, temperature = _parameters(spec, query)
    return LearnedPolicy(load_checkpoint(path), sample=sample, temperature=temperature, name=spec)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # no name that a file can have
        return False


def _parameters(spec: str, query: str) -> tuple[bool, float]:
    """``sample`` and ``temperature`` of a checkpoint."""
    given = read_parameters(spec, query, ("sample", "temperature"))
    if given.get("sample", "0") not in ("0", "1"):
        raise PolicyError(f"policy {spec!r}: sample={given['sample']}, but it is 0 or 1")
    sample = given.get("sample") == "1"
    if "temperature" in given and not sample:
        raise PolicyError(f"policy {spec!r}: a temperature needs sample=1")
    try:
        return sample, float(given.get("temperature", "1"))
    except ValueError:
        raise PolicyError(f"policy {spec!r}: temperature={given['temperature']}, but it is a number above 0") from None
