"""Every variant as a Gymnasium environment: one learner, policies in the other seats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from domino_env.encoding.kernels import observe_with_mask
from domino_env.engine.batch import MOST_SKIPPED, NO_DECISION
from domino_env.envs.aec import DominoAECEnv
from domino_env.envs.kernels import NO_TURN, VIEW, seat_learner
from domino_env.envs.learner import PolicySpec, load_pool
from domino_env.envs.options import as_action, check_seat
from domino_env.envs.pictures import RENDER_FPS, RENDER_MODES, Frame
from domino_env.errors import IllegalMoveError, OptionsError, RulesError
from domino_env.policies import Batch, decide, reset_policy
from domino_env.rules import Rules

__all__ = ["DominoGymEnv"]


class DominoGymEnv(gymnasium.Env[npt.NDArray[np.float32], np.int64]):
    """One learner against ``opponents``: a spec of ``load_policy`` or a list of them, drawn for each seat and game.

    Observation (D,) float32 in [-1, 1]; action ``Discrete(A)``. ``action_masks()`` and ``info["action_mask"]`` are (A,) int8: 1
    where the action is legal. ``illegal="raise"`` raises ``IllegalMoveError``; ``illegal="lose"`` ends the game with reward -1 and
    ``info["illegal_move"]``. ``learner_seat`` fixes the seat; None draws it for each game from the seed.

    Points made before the learner's first decision join its first reward. A game that ends before the learner had any is
    replaced by the next deal and counted in info (``skipped_games``, ``skipped_return``). Other arguments as ``DominoAECEnv``.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": RENDER_FPS}

    def __init__(
        self,
        variant: str,
        num_players: int = 2,
        opponents: PolicySpec | Sequence[PolicySpec] = "random",
        episode: str = "round",
        reward: str = "points",
        render_mode: str | None = None,
        rules: Rules | Mapping[str, Any] | None = None,
        skip_forced: bool = False,
        learner_seat: int | None = None,
        illegal: str = "raise",
    ) -> None:
        if illegal not in ("raise", "lose"):
            raise OptionsError(f"illegal={illegal!r}, but it is 'raise' or 'lose'")
        self.table = DominoAECEnv(variant, num_players, episode, reward, render_mode, rules, skip_forced)
        self.metadata = {**self.metadata, "name": f"{variant}_v0"}
        self.render_mode = render_mode
        self._illegal = illegal
        num_players = self.table.game.num_players
        self._fixed_seat = check_seat(learner_seat, num_players)
        self.pool = load_pool(opponents, self.table.rules, num_players)
        self.observation_space = spaces.Box(-1.0, 1.0, (self.table.encoding.size,), np.float32)
        self.action_space = spaces.Discrete(self.table.game.num_actions)
        self._views = np.zeros(1, VIEW)
        self._before = 0.0
        self._lost = False

    def set_opponents(self, opponents: PolicySpec | Sequence[PolicySpec], weights: Sequence[float] | None = None) -> None:
        """Seat other policies from now on, each as likely as its weight says (None: all alike); a game under way keeps its places in
        the list.
        """
        self.pool = load_pool(opponents, self.table.rules, self.table.game.num_players, weights)
        seated = self._views["seated"]
        seated[seated >= len(self.pool)] = 0

    @property
    def learner_seat(self) -> int:
        """Seat of the learner in this game."""
        return int(self._views["learner"][0])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[npt.NDArray[np.float32], dict[str, Any]]:
        """Start a new game; ``seed`` and ``options`` as ``DominoAECEnv.reset``. Raises ``OptionsError``."""
        super().reset(seed=seed)
        self._lost = False
        skipped, lost_return = 0, 0.0
        self._open(seed, options)
        while self.table.game.over:
            skipped += 1
            if skipped > MOST_SKIPPED:
                raise RulesError(NO_DECISION)
            lost_return += self._reward()
            self._open(None, None)
        self._before = self._reward()
        info = self._info()
        if skipped:
            info.update(skipped_games=skipped, skipped_return=lost_return)
        return self._observe(), info

    def _open(self, seed: int | None, options: dict[str, Any] | None) -> None:
        table = self.table
        table.open_game(seed, options)
        seat_learner(table.game.games, 0, table.game.packed, table.game.first_deal, self.pool.tickets, self._fixed_seat, self._views)
        table.onlooker = self.learner_seat
        table.show_start()
        for policy in self.pool.remembering:
            reset_policy(policy, np.zeros(1, np.int64))
        self._play_others()

    def _play_others(self) -> None:
        """Policies move until the learner decides or the game is over."""
        table = self.table
        for _ in range(MOST_SKIPPED):
            if table.game.over or table.game.seat == self.learner_seat:
                return
            game = table.game
            policy = self.pool.policies[int(self._views["seated"][0, game.seat])]
            table.step(int(decide(policy, Batch.of_game(game, table.encoding))[0]))
        raise RulesError(NO_TURN)

    def step(self, action: Any) -> tuple[npt.NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """The learner's move, and all that follows until it decides again."""
        if self._lost or self.table.game.over or not self.table.game.started:
            raise IllegalMoveError(f"action {action!r}, but no game is under way: call reset")
        if self.table.game.seat != self.learner_seat:
            raise OptionsError("a step was broken off while an opponent moved: call reset")
        chosen = as_action(action)
        if self._illegal == "lose" and not (0 <= chosen < self.table.game.num_actions and self.action_masks()[chosen]):
            self._lost = True
            return self._observe(), -1.0, True, False, {**self._info(), "illegal_move": chosen}
        self.table.step(chosen)
        self._play_others()
        reward, self._before = self._before + self._reward(), 0.0
        over = self.table.game.over
        return self._observe(), reward, over, False, self._info()

    def _reward(self) -> float:
        return float(self.table._cumulative_rewards[self.table.possible_agents[self.learner_seat]])

    def _observe(self) -> npt.NDArray[np.float32]:
        return self.table.observe(self.table.possible_agents[self.learner_seat])["observation"]

    def action_masks(self) -> npt.NDArray[np.int8]:
        """(A,) int8: 1 where the learner may take the action; all zero once the game is over."""
        game = self.table.game
        mask = np.zeros(game.num_actions, np.int8)
        observe_with_mask(game.games, 0, game.packed, self.learner_seat, np.empty(self.table.encoding.size, np.float32), mask)
        return mask

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {"action_mask": self.action_masks()}
        if self.table.game.over:
            seats = range(self.table.game.num_players)
            seated = self._views["seated"][0]
            info["scores"] = self.table.scores
            info["winners"] = self.table.winners
            info["seat"] = self.learner_seat
            info["opponents"] = [-1 if seat == self.learner_seat else int(seated[seat]) for seat in seats]
        return info

    def render(self) -> Frame:
        """As ``DominoAECEnv.render``, seen from the learner's seat."""
        return self.table.render()

    def _repr_svg_(self) -> str | None:
        """What a notebook shows: the learner's view."""
        return self.table._repr_svg_()

    def close(self) -> None:
        """Close the window where there is one; more than once is fine."""
        self.table.close()

    def __getattr__(self, name: str) -> Any:
        # rules, scores, record(), legal_moves(), describe() and the rest are the table's
        if name.startswith("_") or name == "table":
            raise AttributeError(name)
        return getattr(self.table, name)
