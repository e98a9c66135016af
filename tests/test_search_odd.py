"""Odd rules, odd positions: worlds told from the moves by going backwards, and alpha-beta beside trying everything."""

from __future__ import annotations

import itertools
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from domino_env.encoding import Encoding
from domino_env.engine.packed import DRAW, PASS, numbers
from domino_env.engine.state import GAME, PLAYING, ROUND_OVER
from domino_env.engine.worlds import list_worlds, scratch
from domino_env.errors import RulesError
from domino_env.notation.game import PlayedGame
from domino_env.notation.moves import move_text, parse_tile
from domino_env.policies import Batch
from domino_env.policies.pimc import PIMCPolicy
from domino_env.policies.thoughts import think
from domino_env.rule_terms import DrawWhen, MatchWinner
from domino_env.rules import Rules
from domino_env.tiles import tiles_in
from tests.oracle.game import OracleGame
from tests.strategies import opening_decides, random_options, random_rules, whole_set
from tests.test_search_worlds import hidden_of, seen_by_mover, worlds_of

MOST_SPLITS = 200
MOST_TRIED = 4_000
TILES = whole_set(9)


def odd_games(fit: Callable[[Rules], bool]) -> Iterator[tuple[PlayedGame, random.Random]]:
    """Games of random small rules that ``fit``, rounds and matches, dealt or set up with scores near the target."""
    for number in itertools.count():
        rng = random.Random(number)
        try:
            rules, seats = random_rules(rng.choice)
            rules = rules.replace(max_pip=rng.choice([2, 3, 3]), hand={seats: rng.choice([1, 2, 3])}, target={seats: rng.choice([2, 9])})
        except RulesError:
            continue
        if not fit(rules):
            continue
        game = PlayedGame(rules, seats, rng.random() < 0.5)
        if rng.random() < 0.5:
            game.start(number)
        else:
            options = random_options(rules, seats, rng)
            order = [int(parse_tile(text, rules.max_pip)) for text in itertools.chain(*options["hands"], options["boneyard"])]
            game.set_up(order, options.get("leader", -1), options["scores"])
        yield game, rng


def choices(game: PlayedGame, rng: random.Random) -> Iterator[PlayedGame]:
    """Play at random, fond of drawing, and stop where there is a choice."""
    drawing = int(numbers(game.packed).draw_action)
    for _ in range(80):
        if game.phase == ROUND_OVER:
            game.deal_if_due()
        if game.over:
            return
        if game.num_legal > 1:
            yield game
        legal = game.legal_actions()
        game.make_move(drawing if drawing in legal and rng.random() < 0.5 else rng.choice(legal))


@dataclass(frozen=True)
class Shown:
    """A move as the others see it; ``fits`` and ``scores`` are the tiles that could be laid, and laid for a sum that scores."""

    seat: int
    kind: str
    tile: int
    fits: set[int]
    scores: set[int]
    hit: bool


def shown_moves(game: PlayedGame) -> list[Shown]:
    """The moves of the open round, watched at the oracle's table."""
    rules, seats, log, table = game.rules, game.num_players, game.rounds[-1], numbers(game.packed)
    size, order = rules.hand[seats], [TILES[tile] for tile in log.order]
    oracle = OracleGame(rules, seats, "round")
    hands = [order[seat * size : (seat + 1) * size] for seat in range(seats)]
    oracle.start(hands, order[size * seats :], log.leader, first_round=len(game.rounds) == 1)
    out = []
    for event in log.events:
        arm, tile = int(table.action_arm[event.action]), int(table.action_tile[event.action])
        led = oracle.layout.lead is not None
        fits = {number for number in range(rules.num_tiles) if led and oracle.layout.fits(TILES[number])}
        scores = {number for number in fits if rules.lucky_draws and oracle.scoring_placements(TILES[number])}
        kind = {DRAW: "draw", PASS: "pass"}.get(arm, "play")
        out.append(Shown(event.seat, kind, tile, fits, scores, event.tile in scores))
        oracle.play(move_text(game.packed, event.action, not led))
    return out


def barred_by_lead(game: PlayedGame) -> set[int]:
    """Tiles that would have been led in place of the one that the opening forced."""
    if not opening_decides(game.rules, len(game.rounds) == 1):
        return set()
    log = game.rounds[-1]
    lead = int(numbers(game.packed).action_tile[log.events[0].action]) if log.events else int(game.row.lead_tile)
    ranks = [(low != high, low + high, high) for low, high in TILES[: game.rules.num_tiles]]
    return {tile for tile, rank in enumerate(ranks) if rank < ranks[lead]}


def moves_of(seat: int, moves: list[Shown]) -> list[Shown]:
    """Of a lucky draw that hit, the tile laid next is the only one that it may have been."""
    mine = [move for move in moves if move.seat == seat]
    return [replace(move, scores={mine[k + 1].tile}) if move.hit else move for k, move in enumerate(mine)]


def ways_to(rules: Rules, moves: list[Shown], hand: frozenset[int], barred: set[int]) -> int:
    """In how many ways a seat with these moves may have come to hold ``hand``: from the last move back to the deal."""
    if not moves:
        return not hand & barred
    move, before = moves[-1], moves[:-1]
    if move.kind == "play":
        return ways_to(rules, before, hand | {move.tile}, barred)
    if move.kind == "pass":
        return 0 if hand & move.fits else ways_to(rules, before, hand, barred)
    return sum(
        ways_to(rules, before, hand - {tile}, barred)
        for tile in hand
        if not (rules.lucky_draws and (tile in move.scores) != move.hit)
        and not (rules.draw_when == DrawWhen.STUCK and (hand - {tile}) & move.fits)
    )


def tile_mask(tiles: frozenset[int]) -> int:
    return sum(1 << tile for tile in tiles)


def told_worlds(game: PlayedGame) -> Counter[tuple[int, ...]] | None:
    """Every split of the hidden tiles that explains all moves, with the number of deals behind it; None where there are too many."""
    rules, row, moves, barred = game.rules, game.games[0], shown_moves(game), barred_by_lead(game)
    others = [seat for seat in range(game.num_players) if seat != game.seat]
    splits: list[tuple[dict[int, frozenset[int]], int]] = [({}, 1)]
    gone = int(row["table"]) | int(row["hands"][game.seat])
    hidden = frozenset(range(rules.num_tiles)) - set(tiles_in(gone))
    for seat in others:
        mine = moves_of(seat, moves)
        if sum(move.kind == "draw" for move in mine) > 4:
            return None
        grown = []
        for held, ways in splits:
            for tiles in itertools.combinations(sorted(hidden.difference(*held.values())), int(row["hand_sizes"][seat])):
                here = ways_to(rules, mine, frozenset(tiles), barred)
                if here:
                    grown.append(({**held, seat: frozenset(tiles)}, ways * here))
            if len(grown) > MOST_SPLITS:
                return None
        splits = grown
    out: Counter[tuple[int, ...]] = Counter()
    for held, ways in splits:
        hands = [tile_mask(held[seat]) if seat in held else int(row["hands"][seat]) for seat in range(game.num_players)]
        out[(*hands, tile_mask(hidden.difference(*held.values())))] = ways
    return out


@pytest.mark.parametrize("kind", ["never", "stuck", "lucky"])
def test_worlds_of_odd_rules_are_those_that_explain_every_move(kind: str) -> None:
    """All of them, with the right weights; drawn ones are among them."""
    tested = several = 0
    for game, rng in odd_games(lambda rules: kind == ("lucky" if rules.lucky_draws else rules.draw_when)):
        for position in choices(game, rng):
            told = told_worlds(position) if rng.random() < 0.4 else None
            if told is None:
                continue
            assert hidden_of(position.games[0], position) in told
            worlds, exact = worlds_of(position, 8, tested)
            assert exact == 1
            assert {hidden_of(world, position) for world in worlds} <= set(told)
            found, all_there = listed(position, 4 * MOST_SPLITS)
            if all_there:
                assert found == pytest.approx({key: ways / sum(told.values()) for key, ways in told.items()})
                several += len(told) > 1
            tested += 1
        if tested > 60:
            break
    assert several > 20


def listed(game: PlayedGame, room: int) -> tuple[dict[tuple[int, ...], float], bool]:
    """The share of each world that ``list_worlds`` writes, and whether these are all."""
    worlds, weights = np.zeros(room, GAME), np.full(room, np.nan)
    count = list_worlds(seen_by_mover(game), 0, game.packed, np.uint64(3), worlds, weights, *scratch())
    found: dict[tuple[int, ...], float] = defaultdict(float)
    for world, weight in zip(worlds[:count], weights[:count], strict=True):
        found[hidden_of(world, game)] += weight / weights[:count].sum()
    return dict(found), count < room or bool((weights != 1.0).any())


def best_margin(game: PlayedGame, seat: int, before: list[int], left: list[int]) -> int:
    """The points that ``seat`` is ahead by from ``before`` on, under best play of both, by trying every move."""
    left[0] -= 1
    if left[0] < 0:
        raise TimeoutError
    if game.phase != PLAYING:
        made = [after - old for after, old in zip(game.scores(), before, strict=True)]
        return (made[seat] - made[1 - seat]) * (-1 if game.rules.match_winner == MatchWinner.LOWEST else 1)
    found = []
    for action in game.legal_actions():
        other = game.copy()
        other.make_move(action)
        found.append(best_margin(other, seat, before, left))
    return max(found) if game.seat == seat else min(found)


def test_alpha_beta_finds_what_trying_everything_finds() -> None:
    """Rounds, matches near the target, boneyards that are drawn from: the value of every move, in the world that was looked at."""
    policy = PIMCPolicy(worlds=1, endgame=12)
    tested = spread = 0
    for game, rng in odd_games(lambda rules: rules.players == (2,) and not rules.lucky_draws):
        for position in choices(game, rng):
            values = in_its_world(position)
            if values is None:
                break
            thought: Any = think(policy, Batch.of_game(position, Encoding(position.rules, 2)))
            assert {action: thought.action_values[0, action] for action in values} == values
            assert values[int(thought.actions[0])] == max(values.values())
            tested += 1
            spread += len(set(values.values())) > 1
        if tested > 80:
            break
    assert spread > 20


def in_its_world(game: PlayedGame) -> dict[int, int] | None:
    """What each move brings in the one world that a search with these bits draws; None where that takes too long."""
    worlds, weights = np.zeros(1, GAME), np.zeros(1)
    bits = Batch.of_game(game, Encoding(game.rules, 2)).random[0]
    list_worlds(seen_by_mover(game), 0, game.packed, bits, worlds, weights, *scratch())
    world, left, out = game.copy(), [MOST_TRIED], {}
    world.games[:] = worlds
    for action in world.legal_actions():
        other = world.copy()
        other.make_move(action)
        try:
            out[action] = best_margin(other, game.seat, world.scores(), left)
        except TimeoutError:
            return None
    return out
