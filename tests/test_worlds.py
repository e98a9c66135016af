"""Redealt worlds: uniform over every deal that agrees with what a seat has seen, against brute force on small sets."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from domino_env.encoding import Encoding
from domino_env.encoding.kernels import observe_with_mask
from domino_env.engine import batch
from domino_env.engine.state import GAME
from domino_env.envs.aec import raw_env
from domino_env.errors import OptionsError
from domino_env.notation.game import PlayedGame
from domino_env.notation.records import replay, replay_moves, to_record
from domino_env.rule_terms import DrawWhen
from domino_env.rules import Rules
from domino_env.tiles import HIGH, LOW, double_id
from domino_env.variants import VARIANTS
from domino_env.worlds import redeal, resample
from domino_env.worlds.assignments import Assignments
from tests.strategies import preset_cases, preset_rules

World = tuple[Any, ...]


def start(rules: Rules, seats: int, seed: int, one_round: bool = True) -> PlayedGame:
    game = PlayedGame(rules, seats, one_round)
    game.start(seed)
    return game


def play_on(game: PlayedGame, moves: int, rng: random.Random) -> PlayedGame:
    """Random moves, dealing what is due, up to the end of the game."""
    for _ in range(moves):
        if game.over:
            break
        game.deal_if_due()
        game.make_move(rng.choice(game.legal_actions()))
    return game


def world(rules: Rules, seats: int, order: list[int]) -> World:
    """A deal, whatever the order within a hand."""
    size = rules.hand[seats]
    return (*(frozenset(order[seat * size : (seat + 1) * size]) for seat in range(seats)), *order[seats * size :])


def sight(game: PlayedGame, encoding: Encoding, seat: int) -> bytes:
    """Observation and mask of a seat."""
    observation, mask = np.empty(encoding.size, np.float32), np.empty(game.num_actions, np.int8)
    observe_with_mask(game.games, 0, game.packed, seat, observation, mask)
    return observation.tobytes() + mask.tobytes()


class Replays:
    """What ``seat`` sees, thing by thing, while the moves of a one-round game are played on any deal."""

    def __init__(self, game: PlayedGame, seat: int) -> None:
        self.game, self.seat, self.log = game, seat, game.rounds[0]
        self.encoding = Encoding(game.rules, game.num_players)
        self.other = game.copy()
        self.scores = np.zeros(game.num_players, np.int64)

    def views(self, order: list[int]) -> Iterator[Any]:
        other, seat, log = self.other, self.seat, self.log
        games, packed = other.games, other.packed
        status = batch.set_up(games, 0, packed, np.array(order, np.int8), log.leader, self.scores)
        lead = int(games["lead_tile"][0])
        yield lead < 0 or bool(games["hands"][0, log.leader] >> lead & 1)
        yield sight(other, self.encoding, seat)
        for event in log.events:
            yield status[:2]
            status = batch.make_move(games, 0, packed, event.action)
            yield status[3], status[4] if event.seat == seat else status[4] >= 0
            yield sight(other, self.encoding, seat)
        yield status[:2], int(games["end"][0]), games["bonus"].tolist()
        # hands are counted at the end of a round
        yield status[0] == 0 or games["hands"].tolist()


def brute_force(game: PlayedGame, seat: int, skip_forced: bool) -> set[World]:
    """All deals that agree, found by trying every deal."""
    rules, seats = game.rules, game.num_players
    size = rules.hand[seats]
    replays = Replays(game, seat)
    true = list(replays.views(game.rounds[0].order))
    own = game.rounds[0].order[seat * size : (seat + 1) * size]
    rest = [tile for tile in range(rules.num_tiles) if tile not in own]
    out = set()
    for order in all_deals(rest, [size] * (seats - 1)):
        deal = [*order[: seat * size], *own, *order[seat * size :]]
        if all(mine == right for mine, right in zip(replays.views(deal), true, strict=False)):
            if not skip_forced or game.num_legal < 2 or replays.other.games["num_legal"][0] > 1:
                out.add(world(rules, seats, deal))
    return out


def all_deals(tiles: list[int], sizes: list[int]) -> Iterator[list[int]]:
    """Every choice of hands of these sizes, and every order of what is left."""
    if not sizes:
        yield from (list(order) for order in itertools.permutations(tiles))
        return
    for hand in itertools.combinations(tiles, sizes[0]):
        for order in all_deals([tile for tile in tiles if tile not in hand], sizes[1:]):
            yield [*hand, *order]


def test_every_way_is_numbered_once() -> None:
    rng = random.Random(5)
    for _ in range(200):
        count = rng.randint(1, 6)
        fits = [rng.getrandbits(count) | rng.choice([0, 1 << rng.randrange(count)]) for _ in range(count)]
        right = {order for order in itertools.permutations(range(count)) if all(fits[place] >> t & 1 for place, t in enumerate(order))}
        ways = Assignments(fits)
        assert ways.total == len(right)
        assert {tuple(ways.way(number)) for number in range(ways.total)} == right


def small_rules(variant: str, seats: int) -> Rules:
    """The variant on a set small enough to try every deal."""
    base = VARIANTS[variant]
    rules = base.replace(players=seats, max_pip=3, hand={2: 3, 3: 2}[seats], reserve=min(base.reserve, 1))
    # Where nobody draws, every order of the boneyard agrees: leave it few tiles.
    few = {2: 2, 3: 1}[seats]
    return rules.replace(max_pip=2, hand=few) if base.draw_when == DrawWhen.NEVER else rules


def small_positions(variant: str, seats: int) -> Iterator[tuple[PlayedGame, int, bool]]:
    """Positions of a small game, early and late, on turn and off, with and without forced moves."""
    rules = small_rules(variant, seats)
    rng = random.Random(f"{variant} {seats}")
    for number in range(60):
        game = start(rules, seats, rng.getrandbits(40))
        play_on(game, rng.choice([0, 1, 2, 3, 4, 6, 8, 30] if seats == 2 or rules.max_pip == 2 else [4, 5, 6, 8, 30]), rng)
        yield game, rng.randrange(seats), number % 2 == 1


@pytest.mark.parametrize("seats", [2, 3])
@pytest.mark.parametrize("variant", VARIANTS)
def test_uniform_over_every_agreeing_deal(variant: str, seats: int) -> None:
    checked = 0
    spread = freedom = 0.0
    for game, seat, skip_forced in small_positions(variant, seats):
        right = brute_force(game, seat, skip_forced)
        if not 2 <= len(right) <= 24:
            if len(right) == 1:
                assert world(game.rules, seats, resample(game, seat, 0, skip_forced).rounds[0].order) in right
            continue
        draws = 12 * len(right)
        found = Counter(world(game.rules, seats, resample(game, seat, seed, skip_forced).rounds[0].order) for seed in range(draws))
        assert set(found) == right, (game.rounds[0], seat, skip_forced)
        spread += sum((found[deal] - 12) ** 2 / 12 for deal in right)
        freedom += len(right) - 1
        checked += 1
        if checked == 3:
            break
    assert checked >= 2
    # The squares of uniform counts add up to about ``freedom``, give or take its root.
    assert abs(spread - freedom) < 4 * (2 * freedom) ** 0.5


@pytest.mark.parametrize(("variant", "seats", "sides"), preset_cases())
def test_world_is_legal_and_looks_the_same(variant: str, seats: int, sides: bool) -> None:
    rules = preset_rules(variant, sides)
    encoding = Encoding(rules, seats)
    rng = random.Random(f"{variant} {seats} {sides}")
    for number in range(5):
        game = play_on(start(rules, seats, number, one_round=False), rng.randrange(80), rng)
        before = game.to_bytes()
        for seat in range(seats):
            other = resample(game, seat, number, False)
            assert game.to_bytes() == before
            assert sight(other, encoding, seat) == sight(game, encoding, seat)
            assert to_record(other)["rounds"][:-1] == to_record(game)["rounds"][:-1]
            again = replay(to_record(other))
            assert again.games["hands"].tolist() == other.games["hands"].tolist()
            size = rules.hand[seats]
            own = slice(seat * size, (seat + 1) * size)
            assert other.rounds[-1].order[own] == game.rounds[-1].order[own]
            for mine, theirs in zip(game.rounds[-1].events, other.rounds[-1].events, strict=True):
                assert mine[:2] == theirs[:2]
                assert mine.points == theirs.points
                assert mine.tile == theirs.tile or mine.seat != seat
            check_stuck_hands(other)


def check_stuck_hands(game: PlayedGame) -> None:
    """Follow the hands of the last round by hand: nobody who passed, or drew because stuck, held a tile that fits."""
    rules, log, packed = game.rules, game.rounds[-1], game.packed
    size = rules.hand[game.num_players]
    hands = [set(log.order[seat * size : (seat + 1) * size]) for seat in range(game.num_players)]
    tables = [state.row.arm_pip.tolist() for state in replay_moves(to_record(game))][-len(log.events) - 1 :]
    for pips, event in zip(tables, log.events, strict=False):
        passed = event.action == packed["pass_action"][0]
        if passed or (event.tile >= 0 and rules.draw_when == DrawWhen.STUCK):
            assert not any(pip in (LOW[tile], HIGH[tile]) for pip in pips[: rules.arms] for tile in hands[event.seat])
        if event.tile >= 0:
            hands[event.seat].add(event.tile)
        elif not passed:
            hands[event.seat].remove(int(packed["action_tile"][0, event.action]))


def some_swap_agrees(game: PlayedGame, seat: int) -> bool:
    """Whether two hidden tiles of a one-round game can change places, one of them out of a hand, and ``seat`` sees no difference."""
    replays = Replays(game, seat)
    order = game.rounds[0].order
    true = list(replays.views(order))
    dealt = game.rules.hand[game.num_players] * game.num_players
    for a, b in itertools.combinations(range(game.rules.num_tiles), 2):
        deal = list(order)
        deal[a], deal[b] = deal[b], deal[a]
        if a < dealt <= b and all(mine == right for mine, right in zip(replays.views(deal), true, strict=False)):
            return True
    return False


@pytest.mark.parametrize("variant", VARIANTS)
def test_worlds_differ_where_more_than_one_is_possible(variant: str) -> None:
    rules = VARIANTS[variant]
    seats = rules.players[0]
    rng = random.Random(variant)
    several = 0
    for seed in range(12):
        game = play_on(start(rules, seats, seed), rng.randrange(9), rng)
        seat = rng.randrange(seats)
        if some_swap_agrees(game, seat):
            several += 1
            others = (resample(game, seat, number, False).rounds[0].order for number in range(60))
            mine = world(rules, seats, game.rounds[0].order)[:seats]
            assert any(world(rules, seats, order)[:seats] != mine for order in others)
    assert several >= 6


@pytest.mark.parametrize("variant", ["bergen", "lucky_threes", "block", "fives_and_threes"])
def test_everything_public_stays(variant: str) -> None:
    """The row of a redealt game differs only in what is hidden, in the middle of a match too."""
    rng = random.Random(variant)
    for seed in range(6):
        game = play_on(start(VARIANTS[variant], 3, seed, one_round=False), 30 + 10 * seed, rng)
        other = resample(game, 1, seed, False)
        hidden = {"key", "order", "hands"}
        if game.seat != 1:
            hidden |= {"plays", "flats", "may_draw", "may_pass", "num_legal", "lead_tile", "last_tile", "drawn_tile"}
        for name in GAME.names or ():
            if name not in hidden:
                assert other.games[name].tolist() == game.games[name].tolist(), name


def test_same_seed_same_world_and_no_global_generator() -> None:
    game = play_on(start(VARIANTS["draw"], 3, 4), 25, random.Random(4))
    first = resample(game, 0, 7, False)
    np.random.seed(1)  # noqa: NPY002
    random.seed(1)
    assert resample(game, 0, 7, False).to_bytes() == first.to_bytes()
    assert np.random.random() == np.random.RandomState(1).random_sample()  # noqa: NPY002
    assert len({tuple(resample(game, 0, seed, False).rounds[0].order) for seed in range(20)}) == 20


def test_a_world_tells_nothing_of_deals_to_come() -> None:
    rng = random.Random(3)
    game = start(VARIANTS["bergen"], 2, 11, one_round=False)
    other = resample(game, 0, 5, False)
    assert to_record(other)["seed"] is None
    assert other.games["key"][0] != game.games["key"][0]
    for one in (game, other):
        while len(one.rounds) == 1:
            play_on(one, 1, rng)
            one.deal_if_due()
    assert game.rounds[1].order != other.rounds[1].order


def test_world_plays_on_alone() -> None:
    game = play_on(start(VARIANTS["all_fives"], 2, 8), 9, random.Random(8))
    before = game.to_bytes()
    other = resample(game, 1, 3, False)
    end = play_on(other, 500, random.Random(9))
    assert end.over
    assert game.to_bytes() == before
    assert replay(to_record(end)).winners() == end.winners()


def test_finished_round_lies_face_up() -> None:
    game = play_on(start(VARIANTS["draw"], 3, 5), 500, random.Random(5))
    assert game.over
    worlds = [resample(game, 0, seed, False) for seed in range(10)]
    for other in worlds:
        assert other.winners() == game.winners()
        assert other.games["hands"].tolist() == game.games["hands"].tolist()
        assert to_record(other)["rounds"][0]["bonus"] == to_record(game)["rounds"][0]["bonus"]
    assert any(world(game.rules, 3, other.rounds[0].order) != world(game.rules, 3, game.rounds[0].order) for other in worlds)


def test_who_leads_tells_of_the_lowest_double() -> None:
    """Seen from a seat that does not lead, before the lead: no hand holds a lower double than the leader's lowest."""
    games = (start(VARIANTS["fives"], 3, seed) for seed in range(200))
    low_doubles = 1 << double_id(0) | 1 << double_id(1) | 1 << double_id(2)
    game = next(game for game in games if game.row.leader == 1 and not game.row.hands[0] & low_doubles)
    leads = set()
    for seed in range(60):
        other = resample(game, 0, seed, True)
        assert other.row.leader == 1
        assert other.num_legal == 2  # a double, crosswise or lengthwise: with forced moves skipped, the lead is a decision
        leads.add(int(other.row.lead_tile))
    assert len(leads) > 1


@pytest.mark.parametrize(
    ("seat", "seed", "message"),
    [
        (2, 0, "seat=2"),
        (-1, 0, "seat=-1"),
        (True, 0, "seat=True"),
        (0.0, 0, r"seat=0\.0"),
        (0, -1, "seed=-1"),
        (0, 2**64, "seed="),
        (0, None, "seed=None"),
    ],
)
def test_bad_arguments(seat: Any, seed: Any, message: str) -> None:
    with pytest.raises(OptionsError, match=message):
        resample(start(VARIANTS["bergen"], 2, 0), seat, seed, False)


def test_game_without_a_deal() -> None:
    with pytest.raises(OptionsError, match="nothing was dealt"):
        resample(PlayedGame(VARIANTS["bergen"], 2, True), 0, 0, False)


def test_env_resample_keeps_a_decision_where_forced_moves_are_skipped() -> None:
    env = raw_env("draw", num_players=3, skip_forced=True)
    rng = random.Random(1)
    env.reset(seed=1)
    for number in range(60):
        if not env.agents:
            env.reset()
        other = env.resample(rng.randrange(3), number)
        assert other.agent_selection == env.agent_selection
        assert len(other.legal_moves()) > 1
        env.step(env.move_index(rng.choice(env.legal_moves())))
        if env.agents and env.terminations[env.agent_selection]:
            env.reset()


@pytest.mark.parametrize("variant", VARIANTS)
def test_few_deals_are_thrown_away(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known of single tiles goes into the count, not into trial and error, so that a late position is no slower."""
    tried = []
    compare = redeal._shows_the_same
    monkeypatch.setattr(redeal, "_shows_the_same", lambda *args: tried.append(1) or compare(*args))
    rng = random.Random(variant)
    calls = 0
    for seed in range(4):
        game = start(VARIANTS[variant], VARIANTS[variant].players[-1], seed)
        while not game.over:
            if rng.random() < 0.2:
                resample(game, rng.randrange(game.num_players), seed, False)
                calls += 1
            play_on(game, 1, rng)
    assert calls > 3
    assert len(tried) <= 2 * calls
