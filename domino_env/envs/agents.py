"""What PettingZoo keeps of the agents of an AEC environment beside its game: opened, copied, saved and restored in one place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from domino_env.errors import OptionsError

__all__ = ["KeepsAgents", "agents_state", "check_agents_state", "copy_agents", "open_agents", "set_agents"]

_BY_AGENT = ("rewards", "terminations", "truncations", "infos", "_cumulative_rewards")
_OTHERS = ("agents", "agent_selection", "_skip_agent_selection")


class KeepsAgents:
    """The attributes that PettingZoo asks for; set by ``open_agents``."""

    rewards: dict[str, float]
    terminations: dict[str, bool]
    truncations: dict[str, bool]
    infos: dict[str, dict[str, Any]]
    _cumulative_rewards: dict[str, float]
    _skip_agent_selection: str | None


def open_agents(env: Any, agents: list[str], first: str) -> None:
    """Begin a game with ``agents``, of whom ``first`` is on turn: no rewards, nobody done, empty infos."""
    env.agents = list(agents)
    env.rewards = dict.fromkeys(agents, 0.0)
    env._cumulative_rewards = dict.fromkeys(agents, 0.0)
    env.terminations = dict.fromkeys(agents, False)
    env.truncations = dict.fromkeys(agents, False)
    env.infos = {agent: {} for agent in agents}
    env._skip_agent_selection = None
    env.agent_selection = first


def copy_agents(env: Any, other: Any) -> None:
    """Give ``other``, which shares all attributes with ``env``, dicts and lists of its own."""
    other.agents = list(env.agents)
    for name in _BY_AGENT:
        if name in env.__dict__:
            setattr(other, name, dict(getattr(env, name)))


def agents_state(env: Any) -> dict[str, Any]:
    """What ``set_agents`` needs, as JSON values."""
    return {name: getattr(env, name) for name in (*_BY_AGENT, *_OTHERS)}


def check_agents_state(state: Mapping[str, Any]) -> None:
    """``OptionsError`` where ``state`` is none of ``agents_state``."""
    if set(state) != {*_BY_AGENT, *_OTHERS}:
        raise OptionsError("state: these bytes are the state of a game, but not of an environment")


def set_agents(env: Any, state: Mapping[str, Any]) -> None:
    """Go on from ``agents_state``."""
    for name, value in state.items():
        setattr(env, name, value)
