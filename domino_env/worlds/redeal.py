"""Dealing the hidden tiles of a game anew, so that one seat cannot tell the difference."""

from __future__ import annotations

import numpy as np

from domino_env.engine.packed import LEAD_LEFT
from domino_env.engine.state import PLAYING
from domino_env.errors import IllegalMoveError, OptionsError
from domino_env.notation.game import PlayedGame
from domino_env.rule_terms import NextLeader, Opening
from domino_env.worlds.assignments import Assignments
from domino_env.worlds.seen import possible_places

__all__ = ["resample"]


def resample(game: PlayedGame, seat: int, seed: int, skip_forced: bool) -> PlayedGame:
    """A copy of ``game`` whose open round was dealt otherwise, with every move and its points the same.

    The deal (the hand of every seat and the order of the boneyard) is drawn from ``seed`` (0 to 2**64-1), uniformly among
    all that agree with what ``seat`` has seen: its own tiles, who moved, the tiles played, points, draws, passes, the lead
    that the opening forced, that the round went on, and with ``skip_forced`` that the seat on turn has a decision. Earlier
    rounds stay; of a finished round the hands lie face up, so only what was drawn when, and the rest of the boneyard, differ.
    Later deals of the copy come from ``seed`` too, and it has no seed of its own.

    Raises ``OptionsError`` for a seat or a seed out of range and for a game without a deal.
    """
    _check(game, seat, seed)
    rng = np.random.default_rng(int(seed))
    key = rng.integers(0, 2**64, dtype=np.uint64)
    before = _before_deal(game)
    cases = possible_places(game, int(seat), _deal(game, before, game.rounds[-1].order))
    choices = [Assignments(case) for case in cases]
    total = sum(choice.total for choice in choices)
    while True:
        number = _below(rng, total)
        for choice in choices:
            if number < choice.total:
                break
            number -= choice.total
        other = _deal(game, before, choice.way(number))
        if _shows_the_same(game, other, int(seat), skip_forced):
            other.games["key"] = key
            other.games["gain"] = game.games["gain"]
            return other


def _check(game: PlayedGame, seat: int, seed: int) -> None:
    if not game.started:
        raise OptionsError("resample: no game yet, nothing was dealt")
    for name, value, most in (("seat", seat, game.num_players - 1), ("seed", seed, 2**64 - 1)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value <= most:
            raise OptionsError(f"resample: {name}={value!r}, but it is a whole number from 0 to {most}")


def _before_deal(game: PlayedGame) -> PlayedGame:
    """The game as it stood before its open round was dealt."""
    log = game.rounds[-1]
    before = game.copy()
    before.rounds = game.rounds[:-1]
    before.seed = None
    row = before.games[0]
    row["round_index"] = len(before.rounds)
    row["winners"] = 0
    row["deals"] -= 1
    row["moves"] -= len(log.events)
    row["score"][: game.num_players] = log.start_scores
    for event in log.events:
        if event.tile >= 0 and event.points < 0:
            row["penalties"][event.seat] += event.points
            if game.rules.sides:
                row["penalties"][(event.seat + 2) % 4] += event.points
    return before


def _deal(game: PlayedGame, before: PlayedGame, order: list[int]) -> PlayedGame:
    """The open round of ``game`` dealt in another order, led by the same seat."""
    rules = game.rules
    other = before.copy()
    if rules.opening == Opening.ANY or (before.rounds and rules.next_leader != NextLeader.OPENING):
        # The leader is public and hangs on earlier rounds or on a lot: name it, whoever it was by the rules.
        other.packed = game.packed.copy()
        other.packed["next_leader"] = LEAD_LEFT
        other.games["round_index"] = 1
        other.games["leader"] = (game.rounds[-1].leader - 1) % game.num_players
    other.deal_next(order)
    other.packed = game.packed
    other.games["round_index"] = len(before.rounds)
    return other


def _shows_the_same(game: PlayedGame, other: PlayedGame, seat: int, skip_forced: bool) -> bool:
    """Play the moves of ``game`` in ``other``; whether they are legal and ``seat`` sees the same."""
    log = game.rounds[-1]
    if other.seat != log.leader:
        return False
    for event in log.events:
        if other.phase != PLAYING or other.seat != event.seat:
            return False
        try:
            other.make_move(event.action)
        except IllegalMoveError:
            return False
        done = other.rounds[-1].events[-1]
        if done.points != event.points or (event.seat == seat and done.tile != event.tile):
            return False
    decides = not skip_forced or game.num_legal < 2 or other.num_legal > 1
    new = other.rounds[-1]
    return (other.phase, other.seat, new.end, new.bonus) == (game.phase, game.seat, log.end, log.bonus) and decides


def _below(rng: np.random.Generator, bound: int) -> int:
    """A uniform number from 0 to ``bound - 1``, of any size."""
    bits = bound.bit_length()
    size = (bits + 7) // 8
    while True:
        number = int.from_bytes(rng.bytes(size), "little") >> (8 * size - bits)
        if number < bound:
            return number
