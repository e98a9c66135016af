"""What must hold of every game at every moment: each broken invariant of a row, as a flag.

``broken_in(games, i, packed)`` looks at one game; kernels call ``broken``. Play itself calls neither: they are for tests, and for whoever
writes rows by hand. Each answer is worked out anew from hands, table and deal, not asked of the code that wrote the row.
"""

from __future__ import annotations

from typing import Any

from domino_env.engine import invariant_flags as flag
from domino_env.engine._jit import count_bits, jit, kernel, lowest_bit
from domino_env.engine.boneyard import may_lie_flat
from domino_env.engine.invariant_flags import INVARIANTS, broken_names
from domino_env.engine.knowledge import known_voids
from domino_env.engine.layout import BITS, ends_sum
from domino_env.engine.packed import DRAW_ANYTIME, DRAW_NEVER, SCORE_NONE, Packed, numbers
from domino_env.engine.state import ARMS, BLOCKED, EXHAUSTED, GAME_OVER, NONE, OUT, PLAYING, SEATS, TARGET
from domino_env.tiles import DOUBLES, HIGH, LOW, SUITS, WEIGHT

__all__ = ["INVARIANTS", "broken", "broken_in", "broken_names", "most_moves"]


def most_moves(packed: Packed) -> int:
    """No round of these rules has more moves (plays, draws and passes).

    Every tile in a hand is played once at most and every drawable tile drawn once at most. A play or a draw is followed by at most one
    pass of each seat, and one more of whoever drew: then all were stuck one after another, which blocks the round.
    """
    table = numbers(packed)
    dealt = int(table.num_players * table.hand_size)
    drawn = int(table.first_reserved) - dealt
    return (dealt + 2 * drawn) * (int(table.num_players) + 2)


@kernel
def broken_in(games: Any, i: Any, rules: Any) -> Any:
    """Flags (int) of what is broken in game ``i``; 0 where all holds."""
    return broken(games[i], rules[0])


@jit
def broken(game: Any, rules: Any) -> Any:
    """Flags of the broken invariants of a game in any phase, once it was dealt."""
    flags = _range(game, rules)
    if flags == 0:
        flags = _tiles(game, rules) | _owners(game, rules) | _ends(game, rules) | _spinner(game, rules) | _turn(game, rules)
        flags |= _moves(game, rules) | _course(game, rules) | _scores(game, rules)
    return flags


@jit
def _off(bit: Any, holds: Any) -> Any:
    return 0 if holds else bit


@jit
def _range(game: Any, rules: Any) -> Any:
    seats, tiles = rules.num_players, rules.num_tiles
    fine = 0 <= game.seat < seats and 0 <= game.leader < seats and NONE <= game.first_out < seats
    fine = fine and PLAYING <= game.phase <= GAME_OVER and NONE <= game.drawn_tile < tiles and NONE <= game.lead_tile < tiles
    fine = fine and NONE <= game.spinner <= rules.max_pip and 0 <= game.next_tile <= tiles
    for arm in range(ARMS):
        fine = fine and NONE <= game.arm_pip[arm] <= rules.max_pip
    for k in range(tiles):
        fine = fine and 0 <= game.order[k] < tiles
    return _off(flag.RANGE, fine)


@jit
def _tiles(game: Any, rules: Any) -> Any:
    """The set is whole."""
    dealt, boneyard, twice = 0, 0, False
    for k in range(rules.num_tiles):
        bit = BITS[game.order[k]]
        twice = twice or dealt & bit != 0
        dealt |= bit
        if k >= game.next_tile:
            boneyard |= bit
    flags = _off(flag.ORDER, not twice)
    seen, pips, overlap = 0, 0, False
    for k in range(SEATS + 2):
        mask = game.table if k == SEATS else boneyard if k > SEATS else game.hands[k]
        overlap = overlap or seen & mask != 0
        seen |= mask
        while mask > 0:
            tile = lowest_bit(mask)
            pips += LOW[tile] + HIGH[tile]
            mask &= mask - 1
    flags |= _off(flag.TILES, not overlap and seen == BITS[rules.num_tiles] - 1)
    return flags | _off(flag.PIPS, 2 * pips == (rules.max_pip + 2) * rules.max_pip * (rules.max_pip + 1))


@jit
def _owners(game: Any, rules: Any) -> Any:
    flags, played = 0, 0
    for seat in range(SEATS):
        own = game.hands[seat] | game.played[seat]
        flags |= _off(flag.HAND_SIZES, game.hand_sizes[seat] == count_bits(game.hands[seat]))
        flags |= _off(flag.TABLE, played & game.played[seat] == 0)
        played |= game.played[seat]
        if seat >= rules.num_players:
            flags |= _off(flag.STRANGERS, own == 0 and game.score[seat] == 0 and game.voids[seat] == 0 and game.winners >> seat & 1 == 0)
        else:
            for k in range(seat * rules.hand_size, (seat + 1) * rules.hand_size):
                flags |= _off(flag.OWNERS, own & BITS[game.order[k]] != 0)
    flags |= _off(flag.TABLE, played == game.table)
    dealt = rules.num_players * rules.hand_size
    flags |= _off(flag.UNDRAWN, dealt <= game.next_tile <= rules.first_reserved)
    for k in range(dealt, game.next_tile):
        owned = game.table
        for seat in range(rules.num_players):
            owned |= game.hands[seat]
        flags |= _off(flag.UNDRAWN, owned & BITS[game.order[k]] != 0)
    return flags


@jit
def _ends(game: Any, rules: Any) -> Any:
    flags, laid, total = 0, 0, 0
    for arm in range(ARMS):
        pip, cross, tiles = game.arm_pip[arm], game.arm_cross[arm], game.arm_tiles[arm]
        laid += tiles
        opened = pip >= 0
        flags |= _off(flag.ENDS, opened == (game.table != 0) if arm < 2 else not opened or rules.arms == ARMS)
        flags |= _off(flag.ENDS, tiles >= 0 and (opened or tiles == 0))
        flags |= _off(flag.ENDS, not opened or game.table & SUITS[pip] != 0)
        has_tile = opened and (arm < 2 or tiles > 0)
        count = pip * (1 + cross) if has_tile else 0
        total += count
        flags |= _off(flag.COUNTS, game.arm_count[arm] == count and cross >> 1 == 0)
        flags |= _off(flag.COUNTS, cross == 0 or (has_tile and game.table & BITS[pip * (pip + 3) // 2] != 0))
    flags |= _off(flag.ENDS, laid == max(0, count_bits(game.table) - 1))
    if count_bits(game.table) == 1:
        total = WEIGHT[lowest_bit(game.table)]
    flags |= _off(flag.COUNTS, ends_sum(game) == total)
    for pip in range(rules.max_pip + 1):
        halves = count_bits(game.table & SUITS[pip]) + count_bits(game.table & SUITS[pip] & DOUBLES)
        if game.spinner == pip and game.arm_pip[2] >= 0:
            halves += 2  # the short sides
        for arm in range(ARMS):
            halves -= 1 if game.arm_pip[arm] == pip else 0
        flags |= _off(flag.JOINS, halves >= 0 and halves % 2 == 0)
    return flags


@jit
def _spinner(game: Any, rules: Any) -> Any:
    free, pip = game.spinner_ends, game.spinner
    if rules.arms != ARMS or game.table & DOUBLES == 0:
        return _off(flag.SPINNER, pip == NONE and free == 0 and game.arm_pip[2] == NONE and game.arm_pip[3] == NONE)
    fine = pip >= 0 and game.table & BITS[pip * (pip + 3) // 2] != 0 and 0 <= free <= 3
    for arm in range(ARMS):
        if arm < 2:
            fine = fine and (free >> arm & 1 == 0 or (game.arm_pip[arm] == pip and game.arm_cross[arm] == 1))
        else:
            fine = fine and (game.arm_pip[arm] >= 0) == (free == 0)
    return _off(flag.SPINNER, fine)


@jit
def _turn(game: Any, rules: Any) -> Any:
    dealt = rules.num_players * rules.hand_size
    flags = _off(flag.DRAWS, 0 <= game.unresolved <= game.draws <= min(rules.draw_limit, game.next_tile - dealt))
    flags |= _off(flag.DRAWS, 0 <= game.passes <= rules.num_players)
    tile = game.drawn_tile
    flags |= _off(flag.DRAWN_TILE, tile == NONE or (rules.lucky and game.last_tile == tile and game.hands[game.seat] & BITS[tile] != 0))
    for seat in range(rules.num_players):
        for pip in range(rules.max_pip + 1):
            flags |= _off(flag.VOIDS, known_voids(game, seat) >> pip & 1 == 0 or game.hands[seat] & SUITS[pip] == 0)
    return flags


@jit
def _moves(game: Any, rules: Any) -> Any:
    """The moves, worked out anew. Which places of a lucky draw score is left to the scoring: here it has at least one."""
    count = game.may_draw + game.may_pass
    flags = 0
    for arm in range(ARMS):
        count += count_bits(game.plays[arm]) + count_bits(game.flats[arm])
    flags |= _off(flag.NUM_LEGAL, game.num_legal == count)
    flags |= _off(flag.CHOICE, (count > 0) == (game.phase == PLAYING))
    if game.phase != PLAYING:
        return flags
    hand, placing, stuck = game.hands[game.seat], game.drawn_tile != NONE, True
    for arm in range(ARMS):
        pip = game.arm_pip[arm]
        fitting = hand & SUITS[pip] if pip >= 0 else 0
        if game.table == 0 and arm == 0:
            fitting = hand if game.lead_tile == NONE else hand & BITS[game.lead_tile]
        if placing:
            fitting &= BITS[game.drawn_tile]
        flat = fitting & DOUBLES if may_lie_flat(game, rules) else 0
        if placing:
            flags |= _off(flag.LEGAL, game.plays[arm] & ~fitting == 0 and game.flats[arm] & ~flat == 0)
        else:
            flags |= _off(flag.LEGAL, game.plays[arm] == fitting and game.flats[arm] == flat)
        stuck = stuck and game.plays[arm] | game.flats[arm] == 0
    draw = not placing and rules.draw_when != DRAW_NEVER and game.table != 0 and (stuck or rules.draw_when == DRAW_ANYTIME)
    draw = draw and game.next_tile < rules.first_reserved and game.draws < rules.draw_limit
    flags |= _off(flag.LEGAL, game.may_draw == (1 if draw else 0))
    return flags | _off(flag.LEGAL, game.may_pass == (1 if stuck and not (draw and rules.must_draw) else 0))


@jit
def _course(game: Any, rules: Any) -> Any:
    """Whether somebody can go on."""
    fitting, holding, can_play = 0, 0, game.table == 0
    for arm in range(ARMS):
        fitting |= SUITS[game.arm_pip[arm]] if game.arm_pip[arm] >= 0 else 0
    for seat in range(rules.num_players):
        holding += 1 if game.hands[seat] != 0 else 0
        can_play = can_play or game.hands[seat] & fitting != 0
    left = rules.first_reserved - game.next_tile
    all_passed = not rules.must_draw and game.passes >= holding
    blocked = all_passed if left > 0 else not can_play
    out = holding == 0 or (not rules.play_on and game.hands[game.seat] == 0)
    exhausted = rules.stop_exhausted and left == 0 and rules.first_reserved > rules.num_players * rules.hand_size
    fine = game.first_out == NONE or (rules.play_on and game.hands[game.first_out] == 0)
    if game.phase == PLAYING:
        fine = fine and game.hands[game.seat] != 0 and (rules.play_on or holding == rules.num_players)
        return _off(flag.COURSE, fine and not blocked and (not exhausted or game.draws > 0))
    fine = fine and OUT <= game.end <= TARGET
    fine = fine and (game.end != OUT or out) and (game.end != BLOCKED or (blocked and not out)) and (game.end != EXHAUSTED or exhausted)
    return _off(flag.COURSE, fine and (game.phase == GAME_OVER or not rules.one_round))


@jit
def _same_side(rules: Any, seat: Any, other: Any) -> Any:
    return seat == other or (rules.sides and (seat + 2) % 4 == other)


@jit
def _scores(game: Any, rules: Any) -> Any:
    flags, reached, before = 0, False, False
    sign = -1 if rules.lowest_wins else 1
    for seat in range(rules.num_players):
        reached = reached or game.score[seat] >= rules.target
        before = before or game.start_score[seat] >= rules.target
        beaten = False
        for other in range(rules.num_players):
            lead = game.score[other] - game.score[seat]
            if rules.one_round:
                lead += game.start_score[seat] - game.start_score[other]
            beaten = beaten or sign * lead > 0
        # where plays make no points, a round won for 0 points is no tie
        if rules.one_round and rules.scoring == SCORE_NONE and game.round_winner != NONE:
            winner = game.round_winner
            level = game.score[seat] - game.start_score[seat] == game.score[winner] - game.start_score[winner]
            beaten = beaten or (level and not _same_side(rules, seat, winner))
        flags |= _off(flag.WINNERS, (game.winners >> seat & 1 == 1) == (game.phase == GAME_OVER and not beaten))
        partner = (seat + 2) % 4 if rules.sides else seat
        flags |= _off(flag.SIDES, game.score[seat] == game.score[partner] and game.start_score[seat] == game.start_score[partner])
    if rules.one_round:
        return flags | _off(flag.AT_TARGET, game.phase == PLAYING or game.end != TARGET)
    flags |= _off(flag.AT_TARGET, not before)
    if game.phase == PLAYING:
        return flags | _off(flag.AT_TARGET, rules.target_at_round_end or not reached)
    return flags | _off(flag.AT_TARGET, reached == (game.phase == GAME_OVER and game.end == TARGET))
