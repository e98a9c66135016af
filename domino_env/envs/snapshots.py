"""Copies of an AEC environment in the middle of a game: as an object, and as bytes that hold no code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domino_env.envs.agents import agents_state, check_agents_state, copy_agents, set_agents
from domino_env.errors import OptionsError
from domino_env.notation.state_bytes import open_bytes, seal

if TYPE_CHECKING:
    from domino_env.envs.aec import DominoAECEnv

__all__ = ["copy_of", "restore", "state_of"]


def copy_of(env: DominoAECEnv) -> DominoAECEnv:
    """The same game, generator included, that can be played on by itself; rules and spaces are shared."""
    other: DominoAECEnv = object.__new__(type(env))
    other.__dict__.update(env.__dict__)
    other.game = env.game.copy()
    other._reward_buffer = env._reward_buffer.copy()
    copy_agents(env, other)
    return other


def state_of(env: DominoAECEnv) -> bytes:
    """The game and what PettingZoo keeps of it. Raises ``OptionsError`` before the first ``reset``."""
    if not env.game.started:
        raise OptionsError("get_state: no game yet, call reset")
    return seal(agents_state(env), env.game.to_bytes())


def restore(env: DominoAECEnv, state: object) -> None:
    """Make ``env`` the game of ``state_of``. Raises ``OptionsError``, and changes nothing, for any other bytes."""
    kept, body = open_bytes(state)
    check_agents_state(kept)
    game = env.game.copy()
    game.from_bytes(body)
    env.game = game
    set_agents(env, kept)
    env._rewarded = True
