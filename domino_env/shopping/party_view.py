"""What an environment tells of the game behind it, in the words of the game."""

from __future__ import annotations

from typing import Any

from domino_env.envs.options import as_action
from domino_env.errors import OptionsError
from domino_env.shopping.loading import SpeakerSpec, load_speaker
from domino_env.shopping.party import Party
from domino_env.shopping.records import to_record
from domino_env.shopping.rules import ShoppingRules
from domino_env.shopping.table import answer_of

__all__ = ["PartyView"]


class PartyView:
    """Words, moves and record of ``party``."""

    party: Party
    rules: ShoppingRules

    @property
    def winners(self) -> list[int]:
        """Seats that won; empty until the game is over."""
        return self.party.winners()

    @property
    def words(self) -> list[str]:
        """The list so far: for whoever watches, no agent observes it."""
        return self.party.words()

    @property
    def theme(self) -> str | None:
        """The theme of this game."""
        return self.party.theme

    def legal_moves(self) -> list[str]:
        """Texts of all that may be said now; empty when the game is over."""
        return [] if self.party.over or not self.party.started else [self.move_text(k) for k in range(self.rules.num_actions)]

    def move_text(self, action: int) -> str:
        """The word of the letter that is due, or ``"give up"``; ``NotationError`` outside the action space."""
        return self.rules.move_text(self.party.due, as_action(action))

    def move_index(self, text: str) -> int:
        """The action of a word of the letter that is due, or of ``"give up"``; ``NotationError`` where it is none."""
        return self.rules.move_index(self.party.due, text)

    def choose(self, policy: SpeakerSpec) -> int:
        """The action of a policy, or of what ``load_speaker`` takes, for the seat on turn, once it has heard this game from its start.

        A policy that is already made hears the whole game again. Raises ``PolicyError`` or ``CheckpointError`` for one that cannot
        play here, ``OptionsError`` where nobody is on turn.
        """
        if not self.party.started or self.party.over:
            raise OptionsError("choose: nobody is on turn, call reset")
        return answer_of(load_speaker(policy, self.rules), self.party)

    def record(self) -> dict[str, Any]:
        """The game so far as a record (format 1); one that is not over has no ``end`` yet."""
        return to_record(self.party)
