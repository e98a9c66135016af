"""What a game of OpenSpiel is made from: its parameters, read into rules, and the bounds that OpenSpiel asks for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from domino_env.encoding import Encoding
from domino_env.engine.packed import numbers
from domino_env.envs.rewards import Reward
from domino_env.errors import OptionsError
from domino_env.notation.game import PlayedGame
from domino_env.rule_terms import EndCount, Opening, Scoring
from domino_env.rules import Rules
from domino_env.tiles import WEIGHT
from domino_env.variants import get_rules

__all__ = ["PARAMETERS", "Setting"]

PARAMETERS: dict[str, Any] = {
    "players": 2,
    "max_pip": -1,
    "hand": -1,
    "reserve": -1,
    "sides": False,
    "leader": -1,
    "reward": "points",
    "rules": "",
}
"""Parameters of every game and their defaults; -1 leaves the variant's own number, or the leader to the rules."""


class Setting:
    """Rules, seats, leader and reward of one game, and its bounds.

    ``players`` seats; ``max_pip`` the set; ``hand`` tiles dealt to each; ``reserve`` tiles never drawn; ``sides`` seats 0 and 2
    against 1 and 3; ``leader`` the seat that leads, or -1 for a lot, where the rules leave that open; ``reward`` ``"points"``
    or ``"win"``; ``rules`` more fields of ``Rules``, as ``"field:value;field:value"`` with ``+`` between divisors.

    Raises ``RulesError`` or ``OptionsError`` for what cannot be used.
    """

    def __init__(self, variant: str, given: Mapping[str, Any]) -> None:
        values = {**PARAMETERS, **given}
        self.variant = variant
        self.given = {name: values[name] for name, default in PARAMETERS.items() if values[name] != default}
        self.num_players = int(values["players"])
        self.rules = _rules(variant, values)
        self.leader = _leader(self.rules, self.num_players, values["leader"])
        self.by_win = Reward.parse(values["reward"]) == Reward.WIN
        self.start = PlayedGame(self.rules, self.num_players, one_round=True)
        """A game not dealt yet, to be copied."""
        self.packed = numbers(self.start.packed)
        self.encoding = Encoding(self.rules, self.num_players)

        self.hand_size = self.rules.hand[self.num_players]
        self.num_dealt = self.num_players * self.hand_size
        self.num_drawable = int(self.packed.first_reserved) - self.num_dealt
        self.lots = self.leader < 0 and self.rules.opening == Opening.ANY
        """Whether a lot says who leads."""

    @property
    def max_chance_nodes(self) -> int:
        """Most chance nodes of a round: tiles dealt, the lot, tiles drawn."""
        return self.num_dealt + int(self.lots) + self.num_drawable

    @property
    def max_moves(self) -> int:
        """Most moves of a round, draws and passes included."""
        plays, draws = self.num_dealt + self.num_drawable, self.num_drawable
        if self.rules.must_draw:
            # a pass follows a draw of its turn, or nothing can be drawn and somebody to the left can play
            passes = draws + (self.num_players - 1) * (plays - 1)
        else:
            passes = draws + self.num_players * (plays + draws)
        return plays + draws + passes

    @property
    def most_points(self) -> int:
        """No single move makes or costs more points."""
        return max(1, int(self.packed.most_points) + self.rules.out_points, self.rules.lucky_miss_points)

    @property
    def max_utility(self) -> float:
        """No seat wins or loses more in a round; natural points, or 1 for ``reward="win"``."""
        if self.by_win:
            return 1.0
        rules = self.rules
        own = (2 if rules.sides else 1) * self.hand_size
        by_plays = (own + self.num_drawable) * int(self.packed.most_points) if rules.scoring != Scoring.NONE else 0
        by_misses = self.num_drawable * rules.lucky_miss_points
        by_end = max(rules.out_points, rules.blocked_points)
        if EndCount.PIPS in (rules.out_count, rules.blocked_count):
            heaviest = sorted(WEIGHT[: rules.num_tiles].tolist(), reverse=True)[: self.num_dealt - own + self.num_drawable]
            by_end = max(by_end, sum(heaviest) + rules.lone_blank_pips + rules.round_to // 2)
        return float(by_plays + by_misses + by_end)


def _rules(variant: str, values: Mapping[str, Any]) -> Rules:
    overrides: dict[str, Any] = {"players": values["players"]}
    overrides |= {name: values[name] for name in ("max_pip", "hand", "reserve") if values[name] != -1}
    if values["sides"]:
        overrides["sides"] = True
    for name, value in _fields(values["rules"]).items():
        if name in PARAMETERS:
            raise OptionsError(f"rules: {name!r} is a parameter of its own: {name}={value}")
        if name == "variant":
            raise OptionsError(f"rules: the variant is that of the game: domino_{value}, not variant:{value}")
        overrides[name] = value
    rules = Rules.from_overrides(get_rules(variant), overrides)
    rules.check_players(values["players"])
    return rules


def _fields(text: str) -> dict[str, Any]:
    """``"play_on:true;divisors:5+3"`` as a dict."""
    out: dict[str, Any] = {}
    for part in filter(None, text.split(";")):
        name, colon, value = part.partition(":")
        if not colon or name in out:
            raise OptionsError(
                f"rules={text!r}, but it is 'field:value;field:value', each field once, such as 'draw_limit:2;must_draw:false'"
            )
        out[name] = [_value(word) for word in value.split("+") if word] if name == "divisors" else _value(value)
    return out


def _value(word: str) -> Any:
    """A whole number, true or false, or else the word itself."""
    try:
        value = json.loads(word)
    except ValueError:
        return word
    return value if isinstance(value, (bool, int)) else word


def _leader(rules: Rules, num_players: int, leader: int) -> int:
    if leader != -1 and not 0 <= leader < num_players:
        raise OptionsError(f"leader={leader!r}, but it is a seat from 0 to {num_players - 1}, or -1 for what the rules say")
    if leader != -1 and rules.opening != Opening.ANY:
        raise OptionsError(f"leader={leader!r}, but these rules say who leads (opening={rules.opening.value!r})")
    return leader
