"""The variants as ``pyspiel.Game`` and ``pyspiel.State``; what they do stands in ``rounds.py``, what they tell in ``observer.py``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyspiel

from domino_env.errors import OptionsError
from domino_env.integrations.openspiel.observer import DominoObserver
from domino_env.integrations.openspiel.rounds import Round
from domino_env.integrations.openspiel.setting import PARAMETERS, Setting
from domino_env.variants import VARIANTS

__all__ = ["DominoGame", "DominoState", "game_name", "register_games"]


def game_name(variant: str) -> str:
    """Short name of a variant in OpenSpiel: ``domino_bergen`` for ``bergen``."""
    return f"domino_{variant}"


class DominoGame(pyspiel.Game):
    """One round of a variant, a subclass for each. ``params`` are those of ``PARAMETERS``; see ``Setting``, also for what it raises."""

    variant: str

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        self.setting = setting = Setting(self.variant, params or {})
        info = pyspiel.GameInfo(
            num_distinct_actions=setting.start.num_actions,
            max_chance_outcomes=setting.rules.num_tiles,
            num_players=setting.num_players,
            min_utility=-setting.max_utility,
            max_utility=setting.max_utility,
            utility_sum=0.0,
            max_game_length=setting.max_moves,
        )
        super().__init__(_game_type(self.variant), info, setting.given)

    def new_initial_state(self, text: str | None = None) -> DominoState:
        """A round with nothing dealt. ``OptionsError`` for a state as text, which these games have not."""
        if text is not None:
            raise OptionsError(f"new_initial_state({text!r}), but these games start from a deal only: deserialize_state reads a state")
        return DominoState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> DominoObserver:
        """The observer of a kind of information; by default what is seen now, without recall."""
        return DominoObserver(self.setting, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False), params)

    def __reduce__(self) -> Any:
        # as text: finding this function in a fresh process registers the games
        return _loaded, (str(self),)

    def max_chance_nodes_in_history(self) -> int:
        """Most chance nodes of a round: tiles dealt, the lot, tiles drawn."""
        return self.setting.max_chance_nodes


class DominoState(pyspiel.State):
    """A position of a round, chance included. ``round`` is all of it: OpenSpiel copies and pickles that attribute."""

    def __init__(self, game: DominoGame) -> None:
        super().__init__(game)
        self.round = Round(game.setting)

    def current_player(self) -> int:
        """Seat on turn, or OpenSpiel's number for chance and for the end."""
        return self.round.player

    def _legal_actions(self, player: int) -> list[int]:
        return self.round.legal_actions() if player == self.round.player else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Outcome and probability of what chance may do now."""
        return self.round.chance_outcomes()

    def _apply_action(self, action: int) -> None:
        self.round.apply(int(action))

    def _action_to_string(self, player: int, action: int) -> str:  # noqa: ARG002  the position knows who is on turn
        return self.round.action_text(action)

    def is_terminal(self) -> bool:
        """Whether the round is over."""
        return self.round.game is not None and self.round.game.over

    def returns(self) -> list[float]:
        """What each seat won; zeros until the round is over. The sum is 0."""
        return self.round.returns()

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> DominoState:
        """A state that ``player`` cannot tell from this one, uniform among all that agree with what it has seen.

        ``sampler`` gives numbers from 0 to 1. Raises ``OptionsError`` where chance is on turn.
        """
        seed = int(sampler() * 2**32) % 2**32 << 32 | int(sampler() * 2**32) % 2**32
        other: DominoState = self.get_game().new_initial_state()
        for action in self.round.resampled(player, seed):
            other.apply_action(action)
        return other

    def __str__(self) -> str:
        round_ = self.round
        if round_.game is None:
            return f"dealing {round_.actions}"
        words = [own for _, own in round_.texts()] + (["drawing"] if round_.drawing else [])
        hands = [f"{seat}{round_.dealt(seat)}" for seat in range(round_.setting.num_players)]
        return f"dealt {' '.join(hands)} leader:{round_.game.rounds[-1].leader} {' '.join(words)}".rstrip()


def _game_type(variant: str) -> Any:
    kinds = pyspiel.GameType
    return kinds(
        short_name=game_name(variant),
        long_name=f"Dominoes: {variant.replace('_', ' ')}",
        dynamics=kinds.Dynamics.SEQUENTIAL,
        chance_mode=kinds.ChanceMode.EXPLICIT_STOCHASTIC,
        information=kinds.Information.IMPERFECT_INFORMATION,
        utility=kinds.Utility.ZERO_SUM,
        reward_model=kinds.RewardModel.TERMINAL,
        max_num_players=max(VARIANTS[variant].players),
        min_num_players=min(VARIANTS[variant].players),
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=True,
        parameter_specification=PARAMETERS,
    )


def register_games() -> None:
    """Make every variant known to ``pyspiel.load_game``, under ``game_name``. Twice does no harm."""
    known = set(pyspiel.registered_names())
    for variant in VARIANTS:
        if game_name(variant) not in known:
            # OpenSpiel lets go of what it was given when Python has ended: a class outlives that, a function ends the process with a fault
            made = type(f"Domino{variant.title().replace('_', '')}Game", (DominoGame,), {"variant": variant, "__doc__": DominoGame.__doc__})
            pyspiel.register_game(_game_type(variant), made)


def _loaded(text: str) -> Any:
    """The game that ``__reduce__`` took apart."""
    return pyspiel.load_game(text)
