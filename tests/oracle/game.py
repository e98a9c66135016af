"""The course of a round and of a match (RULES.md section 2), on plain lists."""

from __future__ import annotations

from domino_env.rule_terms import MatchWinner

from . import round_end, scoring
from .layout import Tile, tile_text
from .position import Position, parse


class OracleGame(Position):
    """One match, or one round of it: ``start`` a round, ``play`` its moves, read the attributes after each."""

    def play(self, move: str) -> None:
        """Make one move of the seat on turn; ``ValueError`` if it is not legal (RULES.md section 2)."""
        if move not in self.legal_moves():
            raise ValueError(f"{move!r} is not legal for seat {self.turn}: {sorted(self.legal_moves())}")
        if move == "draw":
            self._draw()
        elif move == "pass":
            self._pass()
        else:
            self._place(move)

    def _draw(self) -> None:
        """Take the next tile; in a lucky game it hits or costs points (RULES.md 3.6)."""
        tile = self.boneyard.pop(0)
        self.hands[self.turn].append(tile)
        self.drawn_this_turn += 1
        self.idle_passes = 0
        self.last_drawable_taken = self.last_drawable_taken or self.drawable() == 0
        points = 0
        if self.rules.lucky_draws:
            if self.scoring_placements(tile):
                self.must_place = tile
            else:
                points = -self.rules.lucky_miss_points
        self._write(self.turn, "draw", points, tile)
        if self._target_reached() or self._nobody_can_go_on():
            self._finish(seat_out=None)

    def _pass(self) -> None:
        """Pass; in a row they block a round where a pass without a draw is free (RULES.md section 2.5)."""
        self.idle_passes = self.idle_passes + 1 if self.drawn_this_turn == 0 else 0
        self._write(self.turn, "pass", 0)
        self._end_turn()

    def _place(self, move: str) -> None:
        """Lay a tile: its points, then going out, then the rest (RULES.md section 2.4)."""
        seat = self.turn
        tile, arm, lengthwise = parse(move)
        self.layout.put(tile, arm, lengthwise)
        self.hands[seat].remove(tile)
        self.idle_passes = 0
        points = scoring.play_points(self.rules, self.layout, tile)
        if self.must_place is not None:
            points, self.must_place = self.rules.lucky_hit_points, None  # RULES.md 3.6: 10, whatever the tile
        goes_out = self._went_out(seat)
        if goes_out and self.rules.play_on:
            self.first_out = seat
            points += self.rules.out_points  # RULES.md 3.1: in mid-round
        self._write(seat, move, points)
        if goes_out and not self.rules.play_on:
            self._finish(seat_out=seat)
        else:
            self._end_turn()

    def _went_out(self, seat: int) -> bool:
        """This play brings the going out that counts (RULES.md 3.1 "going out"; section 5: both hands of the side)."""
        if not self.rules.play_on:
            return not self.hands[seat]
        team = next(team for team in self.teams if seat in team)
        return self.first_out is None and not any(self.hands[partner] for partner in team)

    def _write(self, seat: int, move: str, points: int, tile: Tile | None = None) -> None:
        """Write the points of an event down at once, for the side (RULES.md section 2.4, 5)."""
        event = {"seat": seat, "move": move, "points": points}
        if tile is not None:
            event["tile"] = tile_text(tile)
        self.events.append(event)
        for team in self.teams:
            if seat in team:
                for partner in team:
                    self.scores[partner] += points

    def _end_turn(self) -> None:
        """The turn is over: does the round end, and if not who is next (RULES.md section 2.2, 2.5)."""
        if self._target_reached() or self._nobody_can_go_on() or self._all_passed() or self._exhausted():
            self._finish(seat_out=None)
            return
        self.drawn_this_turn = 0
        self.turn = (self.turn + 1) % self.num_players
        while not self.hands[self.turn]:
            self.turn = (self.turn + 1) % self.num_players

    def _nobody_can_go_on(self) -> bool:
        """Nobody can play and nobody may draw, or all hands are empty (RULES.md section 1 "blocked", 2.5, 3.1)."""
        nobody_can_play = not any(self.can_play(seat) for seat in range(self.num_players))
        return not any(self.hands) or (nobody_can_play and self.drawable() == 0)

    def _all_passed(self) -> bool:
        """As many passes in a row, nothing drawn, as there are players (RULES.md section 2.5).

        Reading: players who still hold tiles; those who are out do not pass.
        """
        playing = [seat for seat in range(self.num_players) if self.hands[seat]]
        return not self.rules.must_draw and self.idle_passes >= max(1, len(playing))

    def _exhausted(self) -> bool:
        """The last drawable tile was drawn, in rules that stop there (RULES.md 3.4, end of round and the field below)."""
        return self.rules.stop_when_boneyard_exhausted and self.last_drawable_taken

    def _target_reached(self, at_round_end: bool = False) -> bool:
        """Someone has reached the target of the match, where it is looked at now (RULES.md section 2.4, 3.8)."""
        if self.episode != "match" or (self.rules.target_at_round_end and not at_round_end):
            return False
        return max(self.scores) >= self.rules.target[self.num_players]

    def _finish(self, seat_out: int | None) -> None:
        """End the round: bonus, end, next leader, end of the match (RULES.md section 2.4 to 2.6, section 4)."""
        winners: list[int] = []
        if seat_out is not None:
            winners = [t for t, team in enumerate(self.teams) if seat_out in team]
            self._add_bonus(round_end.out_bonus(self.rules, self.hands, self.teams, winners[0]))
            self.end = "out"
        elif self._target_reached():
            self.end = "target"  # RULES.md section 4: nothing after that is counted
        else:
            self.end = self._end_with_tiles_left()
            # Reading: after someone went out in a game that plays on, no lowest hand is looked for (RULES.md 3.1, 3.4).
            if self.first_out is None:
                winners = round_end.lowest_teams(self.rules, self.hands, self.teams)
                self._add_bonus(round_end.lowest_bonus(self.rules, self.hands, self.teams, winners))
        if self.episode == "round":
            self.match_over = True
            gained = [after - before for after, before in zip(self.scores, self.scores_before, strict=True)]
            self.winners = self._best(gained)
            # Reading: where plays make no points, a round that was won for 0 points (the other hand is just 0-0) is no tie.
            won = winners if self.first_out is None else [t for t, team in enumerate(self.teams) if self.first_out in team]
            if self.rules.scoring == "none" and len(won) == 1 and self.teams[won[0]][0] in self.winners:
                self.winners = list(self.teams[won[0]])
        elif self._target_reached(at_round_end=True):
            self.end, self.match_over = "target", True
            self.winners = self._best(self.scores)
        else:
            # Reading: where play goes on, the seat that brought the going-out point is the winner of the round.
            out = seat_out if seat_out is not None else self.first_out
            self.next_leader = round_end.leader_after(self.rules, self.num_players, self.teams, self.leader, out, winners)

    def _end_with_tiles_left(self) -> str:
        """Out before blocked, blocked before exhausted (RULES.md section 2.6)."""
        if not any(self.hands):
            return "out"
        return "blocked" if self._nobody_can_go_on() or self._all_passed() else "exhausted"

    def _add_bonus(self, by_team: list[int]) -> None:
        """Write the bonus down for every seat of each team (RULES.md section 5)."""
        for points, team in zip(by_team, self.teams, strict=True):
            for seat in team:
                self.bonus[seat] = points
                self.scores[seat] += points

    def _best(self, values: list[int]) -> list[int]:
        """Seats with the best value: the highest, or the lowest where points are penalties (RULES.md 3.8, section 4)."""
        best = min(values) if self.rules.match_winner == MatchWinner.LOWEST else max(values)
        return [seat for seat in range(self.num_players) if values[seat] == best]
