"""A round as it stands, and what the seat on turn may do (RULES.md sections 2.3, 3 "stuck" and "drawing")."""

from __future__ import annotations

from typing import Any

from domino_env.rule_terms import Doubles, DrawWhen, NextLeader, Opening
from domino_env.rules import Rules

from . import round_end, scoring
from .layout import Layout, Tile, tile_text


def parse(move: str) -> tuple[Tile, str | None, bool]:
    """Tile, arm (None for the lead) and whether lengthwise (DESIGN.md 3.2)."""
    where, _, how = move.partition(":")
    tile, _, arm = where.partition("@")
    low, high = tile.split("-")
    return (int(low), int(high)), arm or None, how == "lengthwise"


class Position:
    """Everything that is known about the round in play and the scores of the match."""

    def __init__(self, rules: Rules, num_players: int, episode: str) -> None:
        """An empty table with all scores at 0 (RULES.md section 1, match)."""
        self.rules, self.num_players, self.episode = rules, num_players, episode
        self.teams = round_end.make_teams(rules, num_players)
        self.scores = [0] * num_players
        self.match_over = False
        self.winners: list[int] = []

    def start(
        self,
        hands: list[list[Tile]],
        boneyard: list[Tile],
        leader: int | None = None,
        scores: list[int] | None = None,
        first_round: bool = True,
    ) -> None:
        """Deal a round; ``ValueError`` for a leader who may not lead (RULES.md section 2.1, 4, last line)."""
        self.hands = [list(hand) for hand in hands]
        self.boneyard = list(boneyard)
        self.layout = Layout(with_spinner=self.rules.arms == 4)
        self.scores = list(scores) if scores is not None else list(self.scores)
        self.scores_before = list(self.scores)
        self.events: list[dict[str, Any]] = []
        self.end: str | None = None
        self.bonus = [0] * self.num_players
        self.next_leader: int | None = None
        self.drawn_this_turn = 0
        self.must_place: Tile | None = None
        self.idle_passes = 0
        self.last_drawable_taken = False
        self.first_out: int | None = None
        self.forced: Tile | None = None
        if self.rules.opening == Opening.LOWEST_DOUBLE and (first_round or self.rules.next_leader == NextLeader.OPENING):
            holder, self.forced = round_end.forced_lead(self.hands)
            if leader is not None and leader != holder:
                raise ValueError(f"leader={leader}, but seat {holder} holds {tile_text(self.forced)}, which must be led")
            leader = holder
        if leader is None:
            raise ValueError("leader=None, but these rules leave the leader to the lot or to the last round")
        self.leader = self.turn = leader

    def drawable(self) -> int:
        """Tiles that may still be drawn (RULES.md section 1, drawable)."""
        return 0 if self.rules.draw_when == DrawWhen.NEVER else max(0, len(self.boneyard) - self.rules.reserve)

    def can_play(self, seat: int) -> bool:
        """Some tile of this hand fits an open end (RULES.md section 1, stuck)."""
        return any(self.layout.fits(tile) for tile in self.hands[seat])

    def may_draw(self) -> bool:
        """The seat on turn may draw a tile now (RULES.md 3.2 "stuck", 3.5, 3.6)."""
        if self.layout.lead is None or self.must_place is not None or self.drawable() == 0:
            return False
        if self.rules.draw_limit and self.drawn_this_turn >= self.rules.draw_limit:
            return False
        return self.rules.draw_when == DrawWhen.ANYTIME or not self.can_play(self.turn)

    def may_pass(self) -> bool:
        """Who can play may not pass, who must draw may not either (RULES.md section 2.3, 3.5, 3.6)."""
        if self.layout.lead is None or self.can_play(self.turn):
            return False
        return not (self.rules.must_draw and self.may_draw())

    def placements(self, tile: Tile) -> list[str]:
        """Every way to lay this tile (RULES.md section 2.3; doubles 3.4, 3.7; notation DESIGN.md 3.2)."""
        pips = self.layout.open_pips()
        places = [tile_text(tile)] if self.layout.lead is None else [f"{tile_text(tile)}@{arm}" for arm in pips if pips[arm] in tile]
        free_to_turn = scoring.is_double(tile) and self.rules.doubles == Doubles.CHOICE
        if free_to_turn and not self.layout.would_be_spinner(tile):
            places += [f"{place}:lengthwise" for place in places]
        return places

    def scoring_placements(self, tile: Tile) -> list[str]:
        """The ways to lay this tile that make the sum (RULES.md 3.6, a drawn tile)."""
        hits = []
        for move in self.placements(tile):
            table = self.layout.copy()
            table.put(*parse(move))
            if scoring.makes_the_sum(self.rules, table):
                hits.append(move)
        return hits

    def legal_moves(self) -> set[str]:
        """All moves of the seat on turn (RULES.md section 2.3); none once the round is over."""
        if self.end is not None:
            return set()
        if self.layout.lead is None and self.forced is not None:
            return set(self.placements(self.forced))
        if self.must_place is not None:
            return set(self.scoring_placements(self.must_place))
        moves = {move for tile in self.hands[self.turn] for move in self.placements(tile)}
        if self.may_draw():
            moves.add("draw")
        if self.may_pass():
            moves.add("pass")
        return moves
