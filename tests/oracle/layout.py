"""The tiles on the table: arms, open ends and their sum (RULES.md sections 1 and 3.7)."""

from __future__ import annotations

from typing import NamedTuple

Tile = tuple[int, int]


class Placed(NamedTuple):
    """One tile on the table: ``outer`` is the pip that looks away from the lead."""

    tile: Tile
    outer: int
    crosswise: bool


def tile_text(tile: Tile) -> str:
    """``"1-4"``, low first (DESIGN.md 3.2)."""
    return f"{tile[0]}-{tile[1]}"


class Layout:
    """A line of tiles, or a cross about the spinner where the rules have four arms (RULES.md 3.7)."""

    def __init__(self, with_spinner: bool) -> None:
        """An empty table (RULES.md section 2)."""
        self.with_spinner = with_spinner
        self.lead: Placed | None = None
        self.branches: dict[str, list[Placed]] = {"left": [], "right": [], "up": [], "down": []}
        self.spinner: Placed | None = None
        self.spinner_home = ""

    def copy(self) -> Layout:
        """The same table once more, to try a play on (RULES.md 3.6: can the drawn tile make the sum?)."""
        other = Layout(self.with_spinner)
        other.lead, other.spinner, other.spinner_home = self.lead, self.spinner, self.spinner_home
        other.branches = {arm: list(tiles) for arm, tiles in self.branches.items()}
        return other

    def tiles(self) -> list[Tile]:
        """Every tile on the table (RULES.md section 1, layout)."""
        lead = [self.lead.tile] if self.lead else []
        return lead + [placed.tile for branch in self.branches.values() for placed in branch]

    def is_lone(self) -> bool:
        """Only the lead lies (RULES.md section 1, "alone on the table")."""
        return self.lead is not None and not any(self.branches.values())

    def would_be_spinner(self, tile: Tile) -> bool:
        """The first double of the round in a game of four arms (RULES.md 3.7)."""
        return self.with_spinner and self.spinner is None and tile[0] == tile[1]

    def long_sides_covered(self) -> bool:
        """Both long sides of the spinner have a tile (RULES.md 3.7)."""
        if self.spinner is None:
            return False
        if self.spinner_home == "lead":
            return bool(self.branches["left"]) and bool(self.branches["right"])
        return self.branches[self.spinner_home][-1] is not self.spinner

    def open_arms(self) -> list[str]:
        """All arms a tile may join; a lone double offers left and right, free short sides up and down (RULES.md 2.3, 3.7)."""
        if self.lead is None:
            return []
        return ["left", "right", "up", "down"] if self.long_sides_covered() else ["left", "right"]

    def end_pip(self, arm: str) -> int:
        """The pip that a tile must show to join this arm (RULES.md section 1; DESIGN.md 3.2: left end of a-b is a)."""
        assert self.lead is not None
        if self.branches[arm]:
            return self.branches[arm][-1].outer
        if arm == "left":
            return self.lead.tile[0]
        if arm == "right":
            return self.lead.tile[1]
        assert self.spinner is not None
        return self.spinner.outer

    def crosswise_double_at(self, arm: str) -> bool:
        """The arm ends in a crosswise double (RULES.md section 1, crosswise)."""
        assert self.lead is not None
        if self.branches[arm]:
            return self.branches[arm][-1].crosswise
        return arm in ("left", "right") and self.lead.crosswise

    def end_value(self, arm: str) -> int:
        """What this end counts: v, 2v for a crosswise double, 0 for an empty short side (RULES.md section 1, 3.7)."""
        if arm in ("up", "down") and not self.branches[arm]:
            return 0
        return self.end_pip(arm) * (2 if self.crosswise_double_at(arm) else 1)

    def sum_of_ends(self) -> int:
        """Sum of the ends; a lone tile counts both its halves once, a double too (RULES.md section 1)."""
        if self.lead is None:
            return 0
        if self.is_lone():
            return self.lead.tile[0] + self.lead.tile[1]
        return sum(self.end_value(arm) for arm in self.open_arms())

    def open_pips(self) -> dict[str, int]:
        """The pip of each open arm (RULES.md section 1, end)."""
        return {arm: self.end_pip(arm) for arm in self.open_arms()}

    def fits(self, tile: Tile) -> bool:
        """The tile shows the pip of some open end (RULES.md section 1, stuck)."""
        return any(pip in tile for pip in self.open_pips().values())

    def put(self, tile: Tile, arm: str | None, lengthwise: bool) -> None:
        """Lay the lead (``arm`` None) or join an arm (RULES.md section 2.1, 2.3; spinner: 3.7)."""
        double = tile[0] == tile[1]
        becomes_spinner = self.would_be_spinner(tile)
        if arm is None:
            outer = tile[1]
        else:
            inner = self.end_pip(arm)
            outer = tile[1] if tile[0] == inner else tile[0]
        placed = Placed(tile, outer, double and not lengthwise)
        if arm is None:
            self.lead = placed
        else:
            self.branches[arm].append(placed)
        if becomes_spinner:
            self.spinner, self.spinner_home = placed, arm or "lead"
