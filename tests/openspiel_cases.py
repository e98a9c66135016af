"""Small games of OpenSpiel and ways through them, for the tests of that bridge."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pyspiel

import domino_env.integrations.openspiel as bridge
from domino_env.rule_terms import DrawWhen, Opening
from domino_env.rules import Rules
from domino_env.variants import VARIANTS

SEATS = [(variant, seats) for variant, rules in VARIANTS.items() for seats in rules.players if seats <= 4]


def load(variant: str, **parameters: Any) -> Any:
    """The game of a variant."""
    return pyspiel.load_game(bridge.game_name(variant), parameters)


def load_rules(rules: Rules, seats: int) -> Any:
    """The game of any rules, all that differs from their preset given as parameters."""
    changed = rules.overrides_from(VARIANTS[rules.variant])
    own = {name: changed[name] for name in ("max_pip", "reserve", "sides") if name in changed}
    fields = {name: value for name, value in changed.items() if name not in ("players", "hand", "target", *own)}
    words = {name: "+".join(map(str, value)) if name == "divisors" else json.dumps(value).strip('"') for name, value in fields.items()}
    texts = [f"{name}:{word}" for name, word in words.items()]
    texts.append(f"target:{rules.target[seats]}")
    return load(rules.variant, players=seats, hand=rules.hand[seats], rules=";".join(texts), **own)


def tiny(variant: str, seats: int = 2, **more: Any) -> Any:
    """A game whose tree can be walked: the double-two set, one tile to be drawn where anybody draws, seat 0 leading if it may."""
    rules = VARIANTS[variant]
    parameters: dict[str, Any] = {"players": seats, "max_pip": 2, "hand": 2 if seats == 2 else 1}
    if rules.draw_when != DrawWhen.NEVER:
        parameters["reserve"] = 5 - seats * parameters["hand"]
    if rules.opening == Opening.ANY:
        parameters["leader"] = 0
    return load(variant, **(parameters | more))


def play(state: Any, moves: int, rng: random.Random) -> Any:
    """Let chance and ``moves`` random moves happen, then chance until a seat is on turn or the end is reached."""
    while not state.is_terminal() and (moves or state.is_chance_node()):
        if state.is_chance_node():
            state.apply_action(rng.choices(*zip(*state.chance_outcomes(), strict=True))[0])
        else:
            moves -= 1
            state.apply_action(rng.choice(state.legal_actions()))
    return state


def positions(game: Any, count: int, rng: random.Random, most_moves: int = 20) -> Iterator[Any]:
    """States of random rounds, at decisions and at the end."""
    for _ in range(count):
        yield play(game.new_initial_state(), rng.randrange(most_moves), rng)


def walk(state: Any) -> Iterator[Any]:
    """A state and all that can follow it."""
    yield state
    for action in state.legal_actions():
        yield from walk(state.child(action))
