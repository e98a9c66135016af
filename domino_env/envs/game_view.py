"""What an environment tells of the game behind it, in domino words."""

from __future__ import annotations

from typing import Any

from domino_env.encoding import Encoding
from domino_env.envs.options import as_action
from domino_env.errors import OptionsError
from domino_env.notation.game import PlayedGame
from domino_env.notation.records import to_record
from domino_env.policies import Batch, Policy, decide, load_policy

__all__ = ["GameView"]


class GameView:
    """Scores, moves and record of ``game``."""

    game: PlayedGame
    encoding: Encoding

    @property
    def scores(self) -> list[int]:
        """Score by seat."""
        return self.game.scores()

    @property
    def round_index(self) -> int:
        """Number of the round, from 0."""
        return len(self.game.rounds) - 1

    @property
    def leader(self) -> int:
        """Seat that leads this round."""
        return int(self.game.games["leader"][0])

    @property
    def winners(self) -> list[int]:
        """Seats that won; empty until the game is over."""
        return self.game.winners()

    def legal_moves(self) -> list[str]:
        """Texts of the moves that the seat on turn may make; empty when the game is over."""
        return self.game.legal_moves()

    def move_text(self, action: int) -> str:
        """Text of an action id; ``NotationError`` outside the action space."""
        return self.game.move_text(as_action(action))

    def move_index(self, text: str) -> int:
        """Action id of a text; ``NotationError`` where it is none."""
        return self.game.move_index(text)

    def choose(self, policy: str | Policy) -> int:
        """The action of a policy, or of what ``load_policy`` takes, for the seat on turn; it sees what that seat may see.

        Raises ``PolicyError`` or ``CheckpointError`` for a policy that cannot play here, ``OptionsError`` where nobody is on turn.
        """
        game = self.game
        if not game.started or game.over:
            raise OptionsError("choose: nobody is on turn, call reset")
        player = load_policy(policy, game.rules, game.num_players)
        return int(decide(player, Batch.of_game(game, self.encoding))[0])

    def record(self) -> dict[str, Any]:
        """The game so far as a record (format 1); the open round has no ``end`` yet."""
        return to_record(self.game)
