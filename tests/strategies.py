"""Random rules, deals and seat counts, for Hypothesis and for plain seeded loops alike.

``pick(options)`` chooses one of a list: Hypothesis' ``sampled_from`` or a seeded generator. The first option is the plainest.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

from domino_env.errors import RulesError
from domino_env.rule_terms import DoubleHit, Doubles, DrawWhen, EndCount, LowestHand, MatchWinner, NextLeader, Opening, Scoring
from domino_env.rules import Rules
from domino_env.variants import VARIANTS

T = TypeVar("T")
Pick = Callable[[Sequence[Any]], Any]
Tile = tuple[int, int]
SUMS = (Scoring.QUOTIENT, Scoring.SUM, Scoring.FLAT)


def whole_set(max_pip: int) -> list[Tile]:
    """All tiles of the double-``max_pip`` set."""
    return [(low, high) for high in range(max_pip + 1) for low in range(high + 1)]


def deal(rng: random.Random, rules: Rules, num_players: int) -> tuple[list[list[Tile]], list[Tile]]:
    """Hands and boneyard from a shuffled set."""
    tiles = whole_set(rules.max_pip)
    rng.shuffle(tiles)
    size = rules.hand[num_players]
    return [tiles[seat * size : (seat + 1) * size] for seat in range(num_players)], tiles[num_players * size :]


def opening(pick: Pick) -> dict[str, Any]:
    """Who leads, and with what."""
    return {"opening": pick(list(Opening)), "next_leader": pick(list(NextLeader))}


def table(pick: Pick) -> dict[str, Any]:
    """Arms and doubles."""
    return {"arms": pick([2, 4]), "doubles": pick(list(Doubles))}


def drawing(pick: Pick) -> dict[str, Any]:
    """The boneyard and all that belongs to it."""
    when = pick(list(DrawWhen))
    if when == DrawWhen.NEVER:
        return {"draw_when": when, "draw_limit": 0, "reserve": 0, "must_draw": pick([True, False]), "stop_when_boneyard_exhausted": False}
    return {
        "draw_when": when,
        "draw_limit": pick([0, 1, 2, 5]),
        "must_draw": pick([True, False]),
        "reserve": pick([0, 1, 2, 7, 55]),
        "stop_when_boneyard_exhausted": pick([False, True]),
    }


def lucky(pick: Pick) -> dict[str, Any]:
    """Drawn tiles that win or cost at once."""
    if not pick([False, True, True]):
        return {"lucky_draws": False, "lucky_hit_points": 0, "lucky_miss_points": 0}
    return {"lucky_draws": True, "lucky_hit_points": pick([0, 1, 10]), "lucky_miss_points": pick([0, 1, 5])}


def scoring(pick: Pick) -> dict[str, Any]:
    """What a play counts."""
    kind = pick(list(Scoring))
    flat = kind in (Scoring.EQUAL_ENDS, Scoring.FLAT)
    out: dict[str, Any] = {
        "scoring": kind,
        "divisors": pick([(5,), (3,), (5, 3), (2,), (4, 6), (7, 2, 3)]) if kind in SUMS else (),
        "hit_points": pick([1, 0, 2]) if flat else 0,
        "double_points": pick([3, 0, 1]) if flat else 0,
        "lead_double_points": pick([2, 0, 8]) if flat else 0,
        "double_hit": pick(list(DoubleHit)),
    }
    if kind not in SUMS:
        out.update(lucky_draws=False, lucky_hit_points=0, lucky_miss_points=0)
    if kind == Scoring.EQUAL_ENDS:
        out["arms"] = 2
    return out


def ending(pick: Pick) -> dict[str, Any]:
    """What the end of a round counts, and who wins."""
    if pick(list(MatchWinner)) == MatchWinner.LOWEST:
        return {
            "match_winner": MatchWinner.LOWEST,
            "out_count": EndCount.PIPS,
            "out_points": 0,
            "blocked_count": EndCount.PIPS,
            "blocked_points": 0,
            "target_at_round_end": True,
            "play_on": False,
            "scoring": Scoring.NONE,
            "divisors": (),
            "hit_points": 0,
            "double_points": 0,
            "lead_double_points": 0,
            "lucky_draws": False,
            "lucky_hit_points": 0,
            "lucky_miss_points": 0,
            "lowest_hand": pick([kind for kind in LowestHand if kind != LowestHand.NOBODY]),
        }
    play_on = pick([False, True])
    out_count = EndCount.FLAT if play_on else pick(list(EndCount))
    lowest = pick(list(LowestHand))
    blocked_count = EndCount.FLAT if lowest == LowestHand.NOBODY else pick(list(EndCount))
    return {
        "match_winner": MatchWinner.HIGHEST,
        "play_on": play_on,
        "out_count": out_count,
        "out_points": pick([2, 0, 1, 10]) if out_count == EndCount.FLAT else 0,
        "lowest_hand": lowest,
        "blocked_count": blocked_count,
        "blocked_points": 0 if lowest == LowestHand.NOBODY or blocked_count == EndCount.PIPS else pick([1, 0, 2]),
        "target_at_round_end": pick([False, True]),
    }


def counting(pick: Pick) -> dict[str, Any]:
    """Ties, rounding and the lone double blank."""
    return {
        "lowest_tie_wins": pick([False, True]),
        "round_to": pick([1, 2, 3, 4, 5, 10]),
        "lone_blank_pips": pick([0, 25, 1]),
    }


BUNDLES = (opening, table, scoring, ending, drawing, lucky, counting)


def random_rules(pick: Pick) -> tuple[Rules, int]:
    """Valid rules for one number of seats, and that number. Changes that contradict the rest are left out."""
    rules = VARIANTS[pick(list(VARIANTS))]
    num_players = pick([2, 3, 4, 5])
    max_pip = pick([6, 2, 3, 4, 5, 7, 8, 9])
    most = len(whole_set(max_pip)) // num_players
    size = min(most, pick([5, 1, 2, 3, 4, 6, 7, 9, 55]))
    target = pick([15, 1, 2, 5, 40, 100])
    rules = rules.replace(players=[num_players], max_pip=max_pip, hand={num_players: size}, target={num_players: target})
    if num_players == 4 and pick([False, True]):
        rules = rules.replace(sides=True)
    for bundle in BUNDLES:
        if pick([False, True, True]):
            try:
                rules = rules.replace(**bundle(pick))
            except RulesError:
                continue
    return rules, num_players


@st.composite
def rules_and_seats(draw: st.DrawFn) -> tuple[Rules, int]:
    """A strategy: random valid rules and a number of seats that they are for."""
    return random_rules(lambda options: draw(st.sampled_from(list(options))))


def opening_decides(rules: Rules, first_round: bool) -> bool:
    """The hands say who leads this round."""
    return rules.opening == Opening.LOWEST_DOUBLE and (first_round or rules.next_leader == NextLeader.OPENING)


def texts(tiles: list[Tile]) -> list[str]:
    """Tiles as ``reset`` takes them."""
    return [f"{low}-{high}" for low, high in tiles]


def random_options(rules: Rules, num_players: int, rng: random.Random) -> dict[str, Any]:
    """A deal for ``reset`` (one in two rich in doubles), a leader who may lead, and scores below the target."""
    hands, boneyard = deal(rng, rules, num_players)
    if rng.random() < 0.5:
        ordered = sorted(sum(hands, boneyard), key=lambda tile: tile[0] != tile[1])
        hands = [ordered[seat : num_players * len(hands[0]) : num_players] for seat in range(num_players)]
        boneyard = ordered[num_players * len(hands[0]) :]
    options: dict[str, Any] = {"hands": [texts(hand) for hand in hands], "boneyard": texts(boneyard)}
    if not opening_decides(rules, first_round=True):
        options["leader"] = rng.randrange(num_players)
    scores = [rng.randrange(rules.target[num_players]) for _ in range(num_players)]
    options["scores"] = scores[:2] * 2 if rules.sides else scores
    return options


NO_DRAWING = {
    "draw_when": DrawWhen.NEVER,
    "draw_limit": 0,
    "reserve": 0,
    "stop_when_boneyard_exhausted": False,
    "lucky_draws": False,
    "lucky_hit_points": 0,
    "lucky_miss_points": 0,
}


def blocked_at_once(rules: Rules, num_players: int, rng: random.Random) -> tuple[Rules, dict[str, Any]] | None:
    """These rules without drawing, and a deal in which 0-0 led blocks the round; None where there is no such deal.

    All that is left to compare is the end: lowest hands, ties, bonus, winners and the next leader.
    """
    others = [tile for tile in whole_set(rules.max_pip) if tile[0] > 0]
    size = min(rng.randint(2, 3), (len(others) + 1) // num_players)
    try:
        rules = rules.replace(**NO_DRAWING, hand={num_players: size})
    except RulesError:
        return None
    if size < 2:
        return None
    wish = rng.choice(["any", "doubles", "tie", "tie"])
    for _ in range(40):
        rng.shuffle(others)
        if wish == "doubles":
            others.sort(key=lambda tile: tile[0] != tile[1])
        dealt, rest = [(0, 0), *others[: size * num_players - 1]], others[size * num_players - 1 :]
        hands = [dealt[seat::num_players] for seat in range(num_players)]
        pips = [sum(low + high for low, high in hand) for hand in hands]
        pips = sorted([pips[0] + pips[2], pips[1] + pips[3]] if rules.sides else pips)
        if wish != "tie" or pips[0] == pips[1]:
            break
    leader = rng.randrange(num_players)
    hands = hands[-leader:] + hands[:-leader] if leader else hands
    options = random_options(rules, num_players, rng)
    boneyard = rest + [(0, high) for high in range(1, rules.max_pip + 1)]
    options.update(hands=[texts(hand) for hand in hands], boneyard=texts(boneyard), leader=leader)
    return rules, options


def preset_cases() -> list[tuple[str, int, bool]]:
    """Every variant, seat count, and with four seats also sides: (variant, num_players, sides)."""
    return [
        (name, seats, sides)
        for name, rules in VARIANTS.items()
        for seats in rules.players
        for sides in ((False, True) if seats == 4 else (False,))
    ]


def preset_rules(variant: str, sides: bool) -> Rules:
    """The preset, with sides switched on where asked."""
    return VARIANTS[variant].replace(sides=True) if sides else VARIANTS[variant]
