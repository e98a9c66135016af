"""An observation is read back, by a decoder that knows only section names and scales, into just what a seat may know."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from domino_env.encoding import Encoding
from domino_env.encoding.kernels import observe_with_mask
from domino_env.errors import OptionsError
from domino_env.notation import ARM_NAMES
from domino_env.notation.game import PlayedGame
from domino_env.rule_terms import Doubles, DrawWhen, Scoring
from domino_env.rules import Rules
from domino_env.tiles import SUITS
from domino_env.variants import VARIANTS
from tests.oracle import Layout
from tests.strategies import preset_cases, preset_rules, whole_set

Tile = tuple[int, int]


def look(game: PlayedGame, encoding: Encoding, seat: int) -> np.ndarray:
    out, mask = np.empty(encoding.size, np.float32), np.empty(game.num_actions, np.int8)
    observe_with_mask(game.games, 0, game.packed, seat, out, mask)
    return out


class Decoder:
    """The numbers of an observation in natural units, by section."""

    def __init__(self, encoding: Encoding, observation: np.ndarray) -> None:
        self.encoding, self.values = encoding, observation.astype(np.float64)
        self.tiles = whole_set(encoding.rules.max_pip)
        self.pips = encoding.rules.max_pip + 1

    def has(self, name: str) -> bool:
        return any(section.name == name for section in self.encoding.sections)

    def numbers(self, name: str) -> list[float]:
        section = self.encoding.section(name)
        return [round(value, 4) for value in (self.values[section.slice] * section.scale).tolist()]

    def whole(self, name: str) -> list[int]:
        numbers = self.numbers(name)
        assert all(number == int(number) for number in numbers), (name, numbers)
        return [int(number) for number in numbers]

    def marked(self, flags: list[int]) -> list[int]:
        assert set(flags) <= {0, 1}
        return [index for index, flag in enumerate(flags) if flag]

    def hand(self, name: str = "hand") -> set[Tile]:
        return {self.tiles[index] for index in self.marked(self.whole(name))}

    def played(self, distance: int) -> set[Tile]:
        count = len(self.tiles)
        return {self.tiles[index] for index in self.marked(self.whole("table")[distance * count : (distance + 1) * count])}

    def arm(self, name: str) -> tuple[int, bool, int, bool] | None:
        """Open pip, whether a crosswise double ends it, what it counts, whether it is a free short side; None while closed."""
        values = self.numbers(f"arm_{name}")
        opened = self.marked([int(value) for value in values[: self.pips]])
        rest = values[self.pips :]
        if not opened:
            assert not any(rest)
            return None
        assert len(opened) == 1
        assert {rest[0], *rest[2:]} <= {0.0, 1.0}
        return opened[0], rest[0] == 1, round(rest[1] * 2 * (self.pips - 1)), rest[2:] == [1.0]

    def voids(self, distance: int) -> set[int]:
        first = (distance - 1) * self.pips
        return set(self.marked(self.whole("voids")[first : first + self.pips]))

    def points(self) -> dict[str, int]:
        """Points by move text, arm named, where they are not 0."""
        if not self.has("play_points"):
            return {}
        labels = self.encoding.section("play_points").labels
        return {label: number for label, number in zip(labels, self.whole("play_points"), strict=True) if number}


class Witness:
    """What everybody sees of the last round, followed in plain lists; and, to check voids, who holds what."""

    def __init__(self, game: PlayedGame) -> None:
        rules, log = game.rules, game.rounds[-1]
        self.rules, self.players, self.leader = rules, game.num_players, log.leader
        tiles, size = whole_set(rules.max_pip), rules.hand[game.num_players]
        dealt = size * self.players
        self.hands = [{tiles[tile] for tile in log.order[seat * size : (seat + 1) * size]} for seat in range(self.players)]
        self.played: list[set[Tile]] = [set() for _ in range(self.players)]
        self.layout = Layout(with_spinner=rules.arms == 4)
        self.boneyard = len(tiles) - dealt
        self.draws = self.passes = 0
        self.must_place: Tile | None = None
        self.empty: list[set[int]] = [set() for _ in range(self.players)]
        self.fresh: list[set[int]] = []
        self.drawer = -1
        for number, event in enumerate(log.events):
            self.see(event.seat, text_of(game, event.action, number == 0), tiles[event.tile] if event.tile >= 0 else None)
            last = number + 1 == len(log.events)
            hit = rules.lucky_draws and event.tile >= 0 and event.points == 0
            self.must_place = tiles[event.tile] if hit and last else None
            if event.tile < 0:
                self.settle(event.seat)
                # a round that is over still shows its last turn
                self.draws = self.draws if last and log.end else 0

    def open_pips(self) -> set[int]:
        return set(self.layout.open_pips().values())

    def see(self, seat: int, move: str, tile: Tile | None) -> None:
        if move == "pass" or (move == "draw" and self.rules.draw_when == DrawWhen.STUCK):
            self.empty[seat] |= self.open_pips()
            for kept in self.fresh:
                kept |= self.open_pips()
        if move == "pass":
            self.passes = self.passes + 1 if self.draws == 0 else 0
        elif move == "draw":
            assert tile is not None
            self.hands[seat].add(tile)
            self.fresh.append(set())
            self.drawer = seat
            self.draws, self.passes = self.draws + 1, 0
            self.boneyard -= 1
        else:
            where, _, how = move.partition(":")
            text, _, arm = where.partition("@")
            played = (int(text[0]), int(text[2]))
            # No tile of the older hand shows such a pip: it is a tile drawn in this turn.
            if self.fresh and (self.empty[seat] & set(played) or played == self.must_place):
                self.fresh.remove(next(kept for kept in reversed(self.fresh) if not kept & set(played)))
            self.layout.put(played, arm or None, how == "lengthwise")
            self.hands[seat].remove(played)
            self.played[seat].add(played)
            self.passes = 0

    def settle(self, seat: int) -> None:
        self.empty[seat] = self.voids(seat)
        self.fresh = []

    def voids(self, seat: int) -> set[int]:
        """Pips that are proven to be in no tile of a seat, which drew ``fresh`` if it is on turn."""
        return self.empty[seat].intersection(*(self.fresh if seat == self.drawer else []))

    def drawable(self) -> int:
        return 0 if self.rules.draw_when == DrawWhen.NEVER else max(0, self.boneyard - self.rules.reserve)


def text_of(game: PlayedGame, action: int, lead: bool) -> str:
    """Text of an action at an earlier moment."""
    text = game.copy().move_text(action)
    tile, at, rest = text.partition("@left")
    return tile + rest if lead and at else text


def points_by_playing(game: PlayedGame) -> dict[str, int]:
    """Points of each legal play, by making it on a copy; the point for going out while others play on is no part of them."""
    out = {}
    rules = game.rules
    for action in game.legal_actions():
        arm = int(game.packed["action_arm"][0, action])
        if arm < 0:
            continue
        after = game.copy()
        after.make_move(action)
        points = after.rounds[-1].events[-1].points
        if rules.play_on and game.row.first_out < 0 and after.row.first_out >= 0:
            points -= rules.out_points
        if points:
            where, colon, how = game.move_text(action).partition(":")
            out[(where if "@" in where else f"{where}@{ARM_NAMES[arm]}") + colon + how] = points
    return out


def check(game: PlayedGame, encoding: Encoding) -> None:
    """Read back what each seat sees, and compare it with what happened."""
    rules, players = game.rules, game.num_players
    witness = Witness(game)
    points = points_by_playing(game) if not game.over and rules.scoring != Scoring.NONE else {}
    for seat in range(players):
        observation = look(game, encoding, seat)
        assert observation.dtype == np.float32
        assert np.abs(observation).max() <= 1
        seen = Decoder(encoding, observation)
        around = [(seat + distance) % players for distance in range(players)]
        assert seen.hand() == witness.hands[seat]
        assert [seen.played(distance) for distance in range(players)] == [witness.played[other] for other in around]
        check_arms(seen, witness)
        assert seen.whole("hand_sizes") == [len(witness.hands[other]) for other in around]
        assert seen.has("drawable") == seen.has("draws") == (rules.draw_when != DrawWhen.NEVER)
        if seen.has("drawable"):
            assert seen.whole("drawable") == [witness.drawable()]
            assert seen.whole("draws") == [witness.draws]
        target = rules.target[players]
        assert seen.whole("scores") == [max(-target, min(target, game.scores()[other])) for other in around]
        for distance in range(1, players):
            assert seen.voids(distance) == witness.voids(around[distance])
            assert not any(seen.voids(distance) & set(tile) for tile in witness.hands[around[distance]])
        if seen.has("must_place"):
            assert seen.hand("must_place") == ({witness.must_place} if seat == game.seat and witness.must_place else set())
        assert seen.marked(seen.whole("leader")) == [(witness.leader - seat) % players]
        assert seen.marked(seen.whole("on_turn")) == [(game.seat - seat) % players]
        assert seen.whole("passes") == [witness.passes]
        assert seen.points() == (points if seat == game.seat else {})


def check_arms(seen: Decoder, witness: Witness) -> None:
    layout = witness.layout
    for name in ARM_NAMES[: witness.rules.arms]:
        if name not in layout.open_arms():
            assert seen.arm(name) is None
            continue
        free = name in ("up", "down") and not layout.branches[name]
        assert seen.arm(name) == (layout.end_pip(name), layout.crosswise_double_at(name), layout.end_value(name), free)
    assert seen.whole("ends_sum") == [layout.sum_of_ends()]


@pytest.mark.parametrize(("variant", "seats", "sides"), preset_cases())
def test_reads_back_what_a_seat_knows(variant: str, seats: int, sides: bool) -> None:
    rules = preset_rules(variant, sides)
    encoding = Encoding(rules, seats)
    rng = random.Random(f"{variant} {seats} {sides}")
    for seed in range(2):
        game = PlayedGame(rules, seats, False)
        game.start(seed)
        for _ in range(70):
            if rng.random() < 0.3:
                check(game, encoding)
            if game.over:
                break
            game.deal_if_due()
            game.make_move(rng.choice(game.legal_actions()))
        check(game, encoding)


def claims_that_hold(variant: str, seats: int, moves: int) -> int:
    """Random games; how often a pip was called proven absent. Each time, no tile of that hand shows it."""
    rules = VARIANTS[variant]
    encoding = Encoding(rules, seats)
    voids = encoding.section("voids")
    pips = rules.max_pip + 1
    rng = random.Random(seats)
    claimed = 0
    game = PlayedGame(rules, seats, True)
    game.start(seats)
    for _ in range(moves):
        if game.over:
            game.start_again()
        game.make_move(rng.choice(game.legal_actions()))
        for seat in (0, 1):
            claims = look(game, encoding, seat)[voids.slice].reshape(seats - 1, pips)
            for distance, pip in np.argwhere(claims).tolist():
                hand = int(game.games["hands"][0, (seat + 1 + distance) % seats])
                claimed += 1
                assert hand & int(SUITS[pip]) == 0
    return claimed


EVERY_TABLE = [(name, seats) for name, rules in VARIANTS.items() for seats in rules.players]


@pytest.mark.parametrize(("variant", "seats"), EVERY_TABLE)
def test_voids_never_claim_what_a_hand_holds(variant: str, seats: int) -> None:
    assert claims_that_hold(variant, seats, 600) > 50


@pytest.mark.slow
@pytest.mark.parametrize(("variant", "seats"), EVERY_TABLE)
def test_voids_never_claim_what_a_hand_holds_in_thousands_of_games(variant: str, seats: int) -> None:
    assert claims_that_hold(variant, seats, 40_000) > 5000


def small(rules: Rules, seats: int, max_pip: int) -> Rules:
    """The rules on another set, with as many tiles a hand as there are."""
    tiles = (max_pip + 1) * (max_pip + 2) // 2
    return rules.replace(players=seats, max_pip=max_pip, hand={seats: min(rules.hand[seats], tiles // seats)})


@pytest.mark.parametrize("max_pip", range(2, 10))
def test_sizes_and_labels(max_pip: int) -> None:
    for base in VARIANTS.values():
        for seats in base.players:
            rules = small(base, seats, max_pip)
            encoding = Encoding(rules, seats)
            tiles, pips, arms = rules.num_tiles, max_pip + 1, rules.arms
            draws, lucky = rules.draw_when != DrawWhen.NEVER, rules.lucky_draws
            places = arms * (tiles + (pips if rules.doubles == Doubles.CHOICE else 0)) if rules.scoring != Scoring.NONE else 0
            size = tiles + seats * tiles + arms * (pips + 2 + (arms == 4)) + 1 + places
            size += 4 * seats + draws + (seats - 1) * pips + draws + (tiles if lucky else 0) + 1
            assert encoding.size == len(encoding.labels) == len(set(encoding.labels)) == size
            ends = [0]
            for section in encoding.sections:
                assert section.slice.start == ends[-1]
                assert section.size == len(section.labels) > 0
                ends.append(section.slice.stop)
            assert ends[-1] == size


@pytest.mark.parametrize("max_pip", [2, 3, 7, 9])
@pytest.mark.parametrize("variant", VARIANTS)
def test_reads_back_other_sets(variant: str, max_pip: int) -> None:
    seats = VARIANTS[variant].players[-1]
    rules = small(VARIANTS[variant], seats, max_pip)
    encoding = Encoding(rules, seats)
    rng = random.Random(max_pip)
    game = PlayedGame(rules, seats, True)
    game.start(3)
    while not game.over:
        game.make_move(rng.choice(game.legal_actions()))
        if rng.random() < 0.2 or game.over:
            check(game, encoding)


@pytest.mark.engine
@pytest.mark.parametrize("variant", VARIANTS)
def test_describe_names_every_number(variant: str) -> None:
    rules = VARIANTS[variant]
    encoding = Encoding(rules, 2)
    game = PlayedGame(rules, 2, True)
    game.start(1)
    rng = random.Random(2)
    for _ in range(5):
        game.make_move(rng.choice(game.legal_actions()))
    observation = look(game, encoding, 1)
    named = encoding.describe(observation)
    witness = Witness(game)
    assert list(named) == list(encoding.labels)
    assert {label[5:-1] for label, value in named.items() if label.startswith("hand[") and value == 1} == {
        f"{low}-{high}" for low, high in witness.hands[1]
    }
    for who, seat in (("self", 1), ("left1", 0)):
        on_table = {label for label, value in named.items() if label.startswith(f"table[{who} ") and value}
        assert on_table == {f"table[{who} {low}-{high}]" for low, high in witness.played[seat]}
        assert named[f"hand_sizes[{who}]"] == len(witness.hands[seat])
        assert named[f"scores[{who}]"] == game.scores()[seat]
    assert named[f"arm_left[open {witness.layout.end_pip('left')}]"] == 1
    assert named["ends_sum[sum]"] == witness.layout.sum_of_ends()


def test_scores_are_clipped_to_the_target() -> None:
    encoding = Encoding(VARIANTS["bergen"], 2)
    game = PlayedGame(VARIANTS["bergen"], 2, True)
    game.set_up(list(range(28)), -1, [40, -31])
    assert Decoder(encoding, look(game, encoding, 0)).whole("scores") == [15, -15]
    assert Decoder(encoding, look(game, encoding, 1)).whole("scores") == [-15, 15]


@pytest.mark.parametrize("shape", [(0,), (3,), (1, 300)])
def test_describe_refuses_another_shape(shape: tuple[int, ...]) -> None:
    with pytest.raises(OptionsError, match="observation of shape"):
        Encoding(VARIANTS["bergen"], 2).describe(np.zeros(shape))


def test_unknown_section() -> None:
    with pytest.raises(OptionsError, match="section='must_place'"):
        Encoding(VARIANTS["bergen"], 2).section("must_place")


def voids_along(rules: Rules, hands: list[str], boneyard: str, moves: list[tuple[str, Any]]) -> None:
    """Play ``moves`` and compare, after each, the pips that seat 0 sees proven absent from seat 1's hand."""
    encoding = Encoding(rules, 2)
    tiles = whole_set(rules.max_pip)
    given = [tiles.index((int(word[0]), int(word[2]))) for word in " ".join([*hands, boneyard]).split()]
    game = PlayedGame(rules, 2, True)
    game.set_up([*given, *(tile for tile in range(rules.num_tiles) if tile not in given)], -1, [0, 0])
    for number, (move, right) in enumerate(moves):
        game.make_move(game.move_index(move))
        assert Decoder(encoding, look(game, encoding, 0)).voids(1) == right, (number, move)


@pytest.mark.engine
def test_voids_in_bergen() -> None:
    voids_along(
        VARIANTS["bergen"],
        ["0-0 0-5 0-6 0-1 0-2 0-3", "1-1 1-2 1-3 1-4 2-2 2-3"],
        "3-4 5-6 2-4",
        [
            ("0-0", set()),
            ("draw", set()),  # the tile just drawn may show anything
            ("pass", {0}),
            ("0-5@left", {0}),
            ("draw", set()),
            ("5-6@left", {0, 5}),  # no other tile could fit: the drawn one is gone again
            ("0-6@right", {0, 5}),
            ("draw", set()),
            ("pass", {6}),  # the tile kept takes back what was not open at that draw
        ],
    )


@pytest.mark.engine
def test_voids_in_draw() -> None:
    voids_along(
        VARIANTS["draw"],
        ["0-0 4-5 6-6 0-1 0-2 0-3 0-5", "1-2 1-3 1-4 2-2 2-3 2-4 3-3"],
        "1-1 3-4 0-4 5-6 4-4 0-6",
        [
            ("0-0", set()),
            ("draw", set()),
            ("draw", set()),
            ("draw", set()),
            ("0-4@left", {0}),  # two tiles kept, neither fitted
            ("4-5@left", {0}),
            ("draw", set()),
            ("5-6@left", {0, 5}),
            ("6-6@left", {0, 5}),
            ("draw", set()),
            ("draw", set()),
            ("0-6@right", {0, 6}),  # 5 was not open when 4-4 was drawn and kept
        ],
    )


@pytest.mark.engine
def test_voids_in_threes() -> None:
    voids_along(
        VARIANTS["threes"],
        ["0-0 0-5 5-5 0-1 0-2 0-3", "1-1 1-2 1-3 1-4 2-2 2-3"],
        "3-4 4-6 2-5 5-6",
        [
            ("0-0", set()),
            ("draw", set()),
            ("pass", {0}),  # drawing proves nothing here, passing does
            ("0-5@left", {0}),
            ("draw", set()),
            ("pass", {0, 5}),  # both open ends, whatever was drawn
            ("5-5@left", {0, 5}),
            ("draw", set()),
            ("2-5@left", {0, 5}),  # a 5 can only have been the tile just drawn
            ("0-2@right", {0, 5}),
            ("draw", set()),
            ("2-2@left", set()),  # played from the hand: the drawn tile may show anything
        ],
    )


@pytest.mark.engine
def test_voids_in_lucky_threes() -> None:
    voids_along(
        VARIANTS["lucky_threes"],
        ["0-0 0-5 0-4 0-1 0-2 0-3", "1-1 1-2 1-3 1-4 2-2 2-3"],
        "3-4 3-5 2-6 5-6",
        [
            ("0-0", set()),
            ("pass", {0}),
            ("0-5@left", {0}),
            ("pass", {0, 5}),  # nothing drawn: what was known stays
            ("0-4@right", {0, 5}),
            ("1-4@right", {0, 5}),
        ],
    )
