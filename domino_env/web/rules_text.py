"""Rules in sentences for the player at the table, made from the fields of ``Rules``: whatever the fields say, the text says."""

from __future__ import annotations

from domino_env.rule_terms import DoubleHit, Doubles, DrawWhen, EndCount, LowestHand, MatchWinner, NextLeader, Opening, Scoring
from domino_env.rules import Rules

__all__ = ["rules_line", "rules_text"]

_PIPS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_SUMS = (Scoring.QUOTIENT, Scoring.SUM, Scoring.FLAT)
_LINES = {
    Scoring.NONE: "no points for plays",
    Scoring.EQUAL_ENDS: "points for making both ends equal",
    Scoring.QUOTIENT: "points for a sum of the ends that {} divides, by the quotient",
    Scoring.SUM: "the sum of the ends counts in full where {} divides it",
    Scoring.FLAT: "fixed points for a sum of the ends that {} divides",
}
_OPENING = {
    Opening.ANY: "A seat drawn by lot leads the first round, with any tile.",
    Opening.LOWEST_DOUBLE: "The holder of the lowest double must lead it; if nobody holds a double, the tile with the fewest pips.",
}
_NEXT = {
    NextLeader.OPENING: "Every round opens in this way.",
    NextLeader.LEFT_OF_LEADER: "Later rounds are led by the seat to the left of the last leader, with any tile.",
    NextLeader.WINNER: "Later rounds are led by whoever won the last one, with any tile; "
    "without one winner, by the seat to the left of the last leader.",
}
_LOWEST = {
    LowestHand.FEWEST_PIPS: "The hand with the fewest pips wins",
    LowestHand.FEWEST_DOUBLES: "Of the hands without a double the one with the fewest pips wins; if every hand has a double, "
    "the one with the fewest doubles, and between equals the one with the lowest double; it",
    LowestHand.LOWEST_DOUBLE: "Of the hands without a double the one with the fewest pips wins; if every hand has a double, "
    "the one with the lowest double; it",
}


def rules_line(rules: Rules) -> str:
    """One line that tells a variant from the others."""
    seats = " or ".join(part for part in (", ".join(map(str, rules.players[:-1])), str(rules.players[-1])) if part)
    drawing = {
        DrawWhen.NEVER: "nobody draws",
        DrawWhen.STUCK: "a stuck player draws",
        DrawWhen.ANYTIME: "on turn one may draw",
    }[rules.draw_when]
    parts = [f"{seats} players", _LINES[rules.scoring].format(_numbers(rules.divisors)), drawing]
    parts += ["four arms about a spinner"] if rules.arms == 4 else []
    parts += ["lucky draws win, others cost"] if rules.lucky_draws else []
    parts += ["the lowest total wins"] if rules.match_winner == MatchWinner.LOWEST else []
    return f"{'; '.join(parts)}."


def rules_text(rules: Rules, num_players: int, one_round: bool) -> list[tuple[str, list[str]]]:
    """Headings, each with its sentences, for so many seats; ``one_round``: the game is one round, which the target does not end."""
    parts = [
        ("Deal and lead", _deal(rules, num_players)),
        ("On the table", _table(rules)),
        ("Drawing", _drawing(rules)),
        ("Points", _points(rules)),
        ("End of a round", _end(rules)),
        ("End of the game", _match(rules, num_players, one_round)),
    ]
    return [(heading, [line for line in lines if line]) for heading, lines in parts]


def _deal(rules: Rules, num_players: int) -> list[str]:
    return [
        f"{_tiles(rules.hand[num_players])} each, from the double-{_PIPS[rules.max_pip]} set of {rules.num_tiles}.",
        "Seats 0 and 2 play together against seats 1 and 3: points are the side's, and where hands are counted both are added."
        if rules.sides
        else "",
        _OPENING[rules.opening],
        _NEXT[rules.next_leader],
        "The turn passes to the left: to the next higher seat.",
    ]


def _table(rules: Rules) -> list[str]:
    sums = rules.scoring in _SUMS
    arms = "The tiles lie in one line with two ends."
    if rules.arms == 4:
        arms = "The first double is the spinner: it lies crosswise, and once both its long sides are covered its short sides open too."
    doubles = "Doubles lie crosswise"
    if rules.doubles == Doubles.CHOICE:
        doubles = "Doubles lie crosswise or lengthwise, as their player likes"
    counting = "An end counts its pips, a crosswise double there both halves" if sums else ""
    if sums and rules.doubles == Doubles.CHOICE:
        counting += ", a lengthwise one only one half"
    if sums and rules.arms == 4:
        counting += "; a short side of the spinner without a tile counts nothing"
    alone = "A tile that is alone on the table counts its pips once, a double both halves however it lies." if sums else ""
    return [arms, f"{doubles}.", counting and f"{counting}.", alone, "Who can play a tile may not pass."]


def _drawing(rules: Rules) -> list[str]:
    if rules.draw_when == DrawWhen.NEVER:
        return ["Nobody draws: a player without a tile that fits passes."]
    many = {0: "any number of tiles", 1: "one tile"}.get(rules.draw_limit, f"up to {rules.draw_limit} tiles")
    must = f"may draw {many}, or pass"
    if rules.must_draw:
        tiles = {0: "tile by tile", 1: "one tile"}.get(rules.draw_limit, many)
        must = f"must draw {tiles}{'' if rules.draw_limit == 1 else ', until one fits'}"
    lines = [f"A player without a tile that fits {must}; who still cannot play then passes."]
    if rules.draw_when == DrawWhen.ANYTIME:
        lines.insert(0, f"On turn a player may draw {many} before playing, stuck or not.")
    if rules.reserve:
        lines.append(f"The last {_tiles(rules.reserve)} of the boneyard {'is' if rules.reserve == 1 else 'are'} never drawn.")
    if rules.lucky_draws:
        hit, miss = _points_of(rules.lucky_hit_points), _points_of(rules.lucky_miss_points)
        lines.append(f"A drawn tile that can be placed for a scoring sum must be, and wins {hit}; any other drawn tile costs {miss}.")
    return lines


def _points(rules: Rules) -> list[str]:
    numbers, hit, double = _numbers(rules.divisors), _points_of(rules.hit_points), _points_of(rules.double_points)
    played = "the tile just played is a double" if rules.double_hit == DoubleHit.PLAYED else "a crosswise double stands at one of them"
    line = {
        Scoring.NONE: "Plays make no points.",
        Scoring.EQUAL_ENDS: f"A play after which both ends are equal makes {hit}, or {double} if {played}.",
        Scoring.QUOTIENT: f"After each play the ends are added up; if {numbers} divides the sum, the play makes the quotient.",
        Scoring.SUM: f"After each play the ends are added up; if {numbers} divides the sum, the play makes the sum.",
        Scoring.FLAT: f"After each play the ends are added up; if {numbers} divides the sum, the play makes {hit}, with a double {double}.",
    }[rules.scoring]
    many = rules.scoring == Scoring.QUOTIENT and len(rules.divisors) > 1
    lead = rules.lead_double_points if rules.scoring in (Scoring.EQUAL_ENDS, Scoring.FLAT) else 0
    return [
        line,
        "Where more than one divides it, the quotients are added." if many else "",
        "A sum of 0 makes none." if rules.scoring in _SUMS else "",
        f"A double that is led makes {_points_of(lead)}{', whatever its sum' if rules.scoring == Scoring.FLAT else ''}." if lead else "",
    ]


def _end(rules: Rules) -> list[str]:
    penalties = rules.match_winner == MatchWinner.LOWEST
    if rules.out_count == EndCount.PIPS:
        out = "When a player goes out, " + (
            "all others add the pips in their hands." if penalties else "it scores the pips in the other hands."
        )
    elif rules.play_on:
        first = "side with both hands empty" if rules.sides else "player to go out"
        out = f"The first {first} makes {_points_of(rules.out_points)}; the others play on until nobody can play."
    else:
        out = f"Going out makes {_points_of(rules.out_points)} and ends the round."
    return [
        out,
        "The round also ends with the turn in which the last tile that may be drawn was drawn; hands count then as in a blocked round."
        if rules.stop_when_boneyard_exhausted
        else "",
        *_blocked(rules, penalties),
        f"A hand of nothing but 0-0 counts {rules.lone_blank_pips} pips." if rules.lone_blank_pips else "",
    ]


def _blocked(rules: Rules, penalties: bool) -> list[str]:
    if rules.lowest_hand == LowestHand.NOBODY:
        return ["A round that ends with nobody out brings nothing."]
    if rules.blocked_count == EndCount.FLAT:
        what = f" and makes {_points_of(rules.blocked_points)}"
    elif penalties:
        what = ", and all others add the pips in their hands"
    else:
        nearest = f", to the nearest {rules.round_to}" if rules.round_to > 1 else ""
        what = f" and scores the pips of the others less its own{nearest}"
    tie = "all who tie for it win" if rules.lowest_tie_wins else "a tie brings nothing"
    lowest = _LOWEST[rules.lowest_hand]
    what = what.removeprefix(" and") if lowest.endswith("; it") else what
    return [f"A round that nobody can play on is blocked. {lowest.removesuffix('; it') if penalties else lowest}{what}; {tie}."]


def _match(rules: Rules, num_players: int, one_round: bool) -> list[str]:
    lowest = rules.match_winner == MatchWinner.LOWEST
    if one_round:
        return [f"This game is one round: the {'lowest' if lowest else 'highest'} score wins."]
    target = rules.target[num_players]
    if lowest:
        return [f"The match ends when somebody has {target}; the lowest total wins.", _when(rules)]
    return [f"The first to reach {target} wins the match.", _when(rules)]


def _when(rules: Rules) -> str:
    return "That is looked at when a round is over." if rules.target_at_round_end else "That may be in the middle of a round."


def _numbers(divisors: tuple[int, ...]) -> str:
    return " or ".join(map(str, divisors))


def _tiles(number: int) -> str:
    return f"{number} tile{'' if number == 1 else 's'}"


def _points_of(number: int) -> str:
    return f"{number} point{'' if number == 1 else 's'}"
