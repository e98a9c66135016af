"""One round with its chance laid open: tiles are dealt and drawn one by one, where the engine takes the whole order at once.

A hand is dealt in ascending order of tile ids, so that each deal is one path, not one for every order of its hands; the
probabilities are those that make all deals equally likely. The boneyard has no order until a tile is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any

from domino_env.engine.state import NONE
from domino_env.errors import IllegalMoveError, OptionsError
from domino_env.integrations.openspiel.setting import Setting
from domino_env.notation.game import Event, PlayedGame
from domino_env.notation.moves import move_text, tile_text
from domino_env.rule_terms import MatchWinner
from domino_env.worlds import resample

__all__ = ["CHANCE", "TERMINAL", "Round"]

CHANCE, TERMINAL = -1, -4
"""Who is on turn where no seat is; OpenSpiel's numbers."""


class Round:
    """A round of ``setting`` after ``actions``: outcomes of chance and moves, in order.

    An outcome is a tile id while tiles are dealt or drawn, and a seat where a lot says who leads.
    """

    def __init__(self, setting: Setting, actions: Sequence[int] = ()) -> None:
        self.setting = setting
        self.actions: list[int] = []
        self.game: PlayedGame | None = None
        """The game, once it is dealt."""
        self.drawing = False
        """Whether the seat on turn has asked for a tile that chance has not given yet."""
        self._texts: list[tuple[str, str]] = []
        for action in actions:
            self.apply(action)

    def __deepcopy__(self, memo: dict[int, Any]) -> Round:
        other: Round = object.__new__(Round)
        other.__dict__.update(self.__dict__)
        other.actions = list(self.actions)
        other.game = self.game.copy() if self.game is not None else None
        other._texts = list(self._texts)
        return other

    def __reduce__(self) -> Any:
        # a round is a function of its actions
        return _rebuilt, (self.setting.variant, self.setting.given, tuple(self.actions))

    @property
    def player(self) -> int:
        """Seat on turn, ``CHANCE`` or ``TERMINAL``."""
        if self.game is None or self.drawing:
            return CHANCE
        return TERMINAL if self.game.over else self.game.seat

    @property
    def events(self) -> list[Event]:
        """The moves made; empty until the round is dealt."""
        return self.game.rounds[-1].events if self.game is not None else []

    def dealt(self, seat: int) -> list[int]:
        """Tiles dealt to a seat so far, ascending."""
        size = self.setting.hand_size
        return self.actions[: self.setting.num_dealt][seat * size : (seat + 1) * size]

    def legal_actions(self) -> list[int]:
        """Action ids of the seat on turn, ascending; empty where chance is on turn or the round is over."""
        return self.game.legal_actions() if self.game is not None and not self.drawing else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Outcome and probability of what chance may do now, ascending; empty where it is not on turn."""
        setting = self.setting
        if self.drawing:
            undrawn = self._undrawn()
            return [(tile, 1.0 / len(undrawn)) for tile in undrawn]
        if self.game is not None:
            return []
        if len(self.actions) == setting.num_dealt:
            return [(seat, 1.0 / setting.num_players) for seat in range(setting.num_players)]
        return self._deals()

    def _deals(self) -> list[tuple[int, float]]:
        """The next tile of a hand, in a hand chosen uniformly and laid out in ascending order."""
        have = len(self.actions) % self.setting.hand_size
        gone = set(self.actions)
        above = self.actions[-1] if have else NONE
        left = [tile for tile in range(above + 1, self.setting.rules.num_tiles) if tile not in gone]
        need = self.setting.hand_size - have
        ways = comb(len(left), need)
        return [(tile, comb(len(left) - place - 1, need - 1) / ways) for place, tile in enumerate(left[: len(left) - need + 1])]

    def _undrawn(self) -> list[int]:
        """Tiles of the boneyard, the reserve included, ascending."""
        assert self.game is not None
        return sorted(self.game.rounds[-1].order[int(self.game.games["next_tile"][0]) :])

    def apply(self, action: int) -> None:
        """One outcome of chance or one move. ``IllegalMoveError`` leaves the round as it was."""
        if self.player == CHANCE:
            self._let_happen(action)
        elif self.game is not None and action == int(self.setting.packed.draw_action) and self.game.games["may_draw"][0]:
            self.drawing = True
        elif self.game is not None:
            self.game.make_move(action)
        self.actions.append(action)

    def _let_happen(self, outcome: int) -> None:
        possible = [known for known, _ in self.chance_outcomes()]
        if outcome not in possible:
            raise IllegalMoveError(f"outcome {outcome!r} of chance, but it is one of {', '.join(map(str, possible))}")
        setting, dealt = self.setting, len(self.actions)
        if self.drawing and self.game is not None:
            _lay_on_top(self.game, outcome)
            self.game.make_move(int(setting.packed.draw_action))
            self.drawing = False
        elif dealt == setting.num_dealt:
            self._set_up(self.actions, outcome)
        elif dealt + 1 == setting.num_dealt and not setting.lots:
            self._set_up([*self.actions, outcome], setting.leader)

    def _set_up(self, dealt: list[int], leader: int) -> None:
        game = self.setting.start.copy()
        rest = [tile for tile in range(self.setting.rules.num_tiles) if tile not in dealt]
        game.set_up([*dealt, *rest], leader, [0] * self.setting.num_players)
        self.game = game

    def returns(self) -> list[float]:
        """What each seat won; zeros until the round is over. The sum is 0."""
        seats = self.setting.num_players
        if self.game is None or not self.game.over:
            return [0.0] * seats
        if self.setting.by_win:
            winners = self.game.winners()
            shares = {True: 1.0 / len(winners), False: -1.0 / max(1, seats - len(winners))}
            return [0.0 if len(winners) == seats else shares[seat in winners] for seat in range(seats)]
        points, rules = self.game.scores(), self.setting.rules
        sign = -1 if rules.match_winner == MatchWinner.LOWEST else 1
        if rules.sides:
            return [float(sign * (points[seat] - points[(seat + 1) % 4])) for seat in range(seats)]
        total = sum(points)
        return [sign * (own - (total - own) / (seats - 1)) for own in points]

    def texts(self) -> list[tuple[str, str]]:
        """Each move as all see it, and as its own seat does: ``0:1-1(+2)``, ``1:draw`` and ``1:draw 2-3``."""
        for number, event in enumerate(self.events[len(self._texts) :], len(self._texts)):
            shown = f"{event.seat}:{move_text(self.setting.start.packed, event.action, number == 0)}"
            points = f"({event.points:+d})" if event.points else ""
            own = f" {tile_text(event.tile)}" if event.tile >= 0 else ""
            self._texts.append((shown + points, shown + own + points))
        return self._texts

    def action_text(self, action: int) -> str:
        """Text of an action or of an outcome of chance, in this position."""
        if self.player != CHANCE:
            return move_text(self.setting.start.packed, action, not self.events)
        if self.drawing:
            return f"drawn {tile_text(action)}"
        if len(self.actions) == self.setting.num_dealt:
            return f"leader {action}"
        return f"dealt {tile_text(action)} to {len(self.actions) // self.setting.hand_size}"

    def resampled(self, seat: int, seed: int) -> list[int]:
        """The actions of a round that ``seat`` (0..num_players-1) cannot tell from this one; ``seed`` is 0 to 2**64-1.

        Uniform among all deals and draws that agree with what it has seen. Raises ``OptionsError`` where chance is on turn.
        """
        if self.game is None or self.drawing:
            raise OptionsError("resample_from_infostate: chance is on turn; it takes a state where a seat is, or the end")
        log = resample(self.game, seat, seed, skip_forced=False).rounds[-1]
        size = self.setting.hand_size
        actions = [tile for first in range(0, self.setting.num_dealt, size) for tile in sorted(log.order[first : first + size])]
        if self.setting.lots:
            actions.append(log.leader)
        for event in log.events:
            actions += [event.action] if event.tile < 0 else [event.action, event.tile]
        return actions


def _lay_on_top(game: PlayedGame, tile: int) -> None:
    """Put an undrawn tile where the engine draws next; nothing it has told anybody depends on that order."""
    log, top = game.rounds[-1], int(game.games["next_tile"][0])
    at = log.order.index(tile)
    order = list(log.order)  # copies of the game share the log's list
    order[top], order[at] = order[at], order[top]
    log.order = order
    game.games["order"][0, : len(order)] = order


def _rebuilt(variant: str, given: dict[str, Any], actions: tuple[int, ...]) -> Round:
    """The round that ``__reduce__`` took apart."""
    return Round(Setting(variant, given), actions)
