"""Copies of an AEC environment in the middle of a game: as an object, and as bytes that hold no code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domino_env.errors import OptionsError
from domino_env.notation.state_bytes import open_bytes, seal

if TYPE_CHECKING:
    from domino_env.envs.aec import DominoAECEnv

__all__ = ["copy_of", "restore", "state_of"]

_BY_AGENT = ("rewards", "terminations", "truncations", "infos", "_cumulative_rewards")
_OTHERS = ("agents", "agent_selection", "_skip_agent_selection")


def copy_of(env: DominoAECEnv) -> DominoAECEnv:
    """The same game, generator included, that can be played on by itself; rules and spaces are shared."""
    other: DominoAECEnv = object.__new__(type(env))
    other.__dict__.update(env.__dict__)
    other.game = env.game.copy()
    other.agents = list(env.agents)
    other._reward_buffer = env._reward_buffer.copy()
    for name in _BY_AGENT:
        if name in env.__dict__:
            setattr(other, name, dict(getattr(env, name)))
    return other


def state_of(env: DominoAECEnv) -> bytes:
    """The game and what PettingZoo keeps of it. Raises ``OptionsError`` before the first ``reset``."""
    if not env.game.started:
        raise OptionsError("get_state: no game yet, call reset")
    return seal({name: getattr(env, name) for name in (*_BY_AGENT, *_OTHERS)}, env.game.to_bytes())


def restore(env: DominoAECEnv, state: object) -> None:
    """Make ``env`` the game of ``state_of``. Raises ``OptionsError``, and changes nothing, for any other bytes."""
    kept, body = open_bytes(state)
    if set(kept) != {*_BY_AGENT, *_OTHERS}:
        raise OptionsError("state: these bytes are the state of a game, but not of an environment")
    game = env.game.copy()
    game.from_bytes(body)
    env.game = game
    for name, value in kept.items():
        setattr(env, name, value)
    env._rewarded = True
