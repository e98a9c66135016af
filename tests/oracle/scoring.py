"""What a play counts (RULES.md sections 3.1 to 3.9, "points for a tile")."""

from __future__ import annotations

from domino_env.rule_terms import DoubleHit, Scoring
from domino_env.rules import Rules

from .layout import Layout, Tile


def is_double(tile: Tile) -> bool:
    """Both halves show the same pip (RULES.md section 1)."""
    return tile[0] == tile[1]


def makes_the_sum(rules: Rules, layout: Layout) -> bool:
    """A divisor divides the sum of the ends, which is not 0 (RULES.md 3.1, 3.6)."""
    total = layout.sum_of_ends()
    return total != 0 and any(total % divisor == 0 for divisor in rules.divisors)


def play_points(rules: Rules, layout: Layout, tile: Tile) -> int:
    """Points for ``tile``, which was just laid onto ``layout`` (RULES.md section 3, "points for a tile")."""
    if rules.scoring == Scoring.EQUAL_ENDS:
        return equal_ends_points(rules, layout, tile)
    if rules.scoring == Scoring.FLAT and layout.is_lone() and is_double(tile):
        return rules.lead_double_points  # RULES.md 3.6: whatever its sum, 0-0 too
    if rules.scoring == Scoring.NONE or not makes_the_sum(rules, layout):
        return 0
    total = layout.sum_of_ends()
    if rules.scoring == Scoring.QUOTIENT:
        return sum(total // divisor for divisor in rules.divisors if total % divisor == 0)
    if rules.scoring == Scoring.SUM:
        return total
    return rules.double_points if is_double(tile) else rules.hit_points


def equal_ends_points(rules: Rules, layout: Layout, tile: Tile) -> int:
    """Both ends equal after the play (RULES.md 3.2; 3.3 for the standing double)."""
    if layout.is_lone():
        return rules.lead_double_points if is_double(tile) else 0
    if layout.end_pip("left") != layout.end_pip("right"):
        return 0
    if rules.double_hit == DoubleHit.PLAYED:
        counts_more = is_double(tile)
    else:
        counts_more = layout.crosswise_double_at("left") or layout.crosswise_double_at("right")
    return rules.double_points if counts_more else rules.hit_points
