"""No leaks: hidden tiles are dealt anew, and everything that a seat is shown stays the same to the byte."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest

from domino_env.engine import batch
from domino_env.envs.aec import DominoAECEnv, raw_env
from domino_env.rendering.ansi import render_game
from domino_env.variants import VARIANTS
from tests.strategies import preset_cases

Shown = dict[str, Any]


def shown_to(env: DominoAECEnv, seat: int) -> Shown:
    """Every channel by which a seat learns anything."""
    agent = env.possible_agents[seat]
    observation = env.observe(agent)
    on_turn = bool(env.agents) and env.agent_selection == agent
    return {
        "observation": observation["observation"].tobytes(),
        "action_mask": observation["action_mask"].tobytes(),
        "info": dict(env.infos[agent]),
        "reward": (env.rewards[agent], env._cumulative_rewards[agent], env.terminations[agent], env.truncations[agent]),
        "describe": env.describe(observation),
        "render": render_game(env.game, seat),
        "spectator": render_game(env.game, None),
        "own render": env.render() if on_turn else None,
        "public": (env.scores, env.round_index, env.leader, env.winners, env.agent_selection, list(env.agents)),
        "legal moves": env.legal_moves() if on_turn else None,
        "state length": env.state().shape,
    }


def leaks(env: DominoAECEnv, other: DominoAECEnv, seat: int, look: Any = shown_to) -> list[str]:
    """Channels that tell ``other`` from ``env``."""
    mine, theirs = look(env, seat), look(other, seat)
    return [name for name in mine if mine[name] != theirs[name]]


def play(env: DominoAECEnv, moves: int, rng: random.Random) -> None:
    """Random moves; stops where the game is over."""
    for _ in range(moves):
        if env.game.over:
            return
        env.step(rng.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"]).tolist()))


def hidden_tiles(env: DominoAECEnv, seat: int) -> Any:
    """What a leak would tell: the hands of the others, and the boneyard."""
    game = env.game
    return [mask for other, mask in enumerate(game.games["hands"][0].tolist()) if other != seat], game.rounds[-1].order


@pytest.mark.parametrize("skip_forced", [False, True])
@pytest.mark.parametrize(("variant", "seats", "sides"), preset_cases())
def test_redealt_tiles_do_not_show(variant: str, seats: int, sides: bool, skip_forced: bool) -> None:
    env = raw_env(variant, num_players=seats, rules={"sides": True} if sides else None, skip_forced=skip_forced, render_mode="ansi")
    rng = random.Random(f"{variant} {seats} {sides} {skip_forced}")
    differ = 0
    for number in range(5):
        env.reset(seed=rng.getrandbits(60))
        play(env, rng.randrange(60), rng)
        for seat in range(seats):
            other = env.resample(seat, number)
            differ += hidden_tiles(env, seat) != hidden_tiles(other, seat)
            assert not leaks(env, other, seat)
    assert differ > 0


@pytest.mark.parametrize("variant", VARIANTS)
def test_drawn_tiles_of_others_do_not_show(variant: str) -> None:
    """Right after another seat drew, with the tile still in its hand."""
    if VARIANTS[variant].draw_when == "never":
        env = raw_env(variant)
        env.reset(seed=0)
        assert not env.observe("player_0")["action_mask"][-2]  # draw
        return
    env = raw_env(variant, render_mode="ansi")
    rng = random.Random(variant)
    draws = new = 0
    env.reset(seed=rng.getrandbits(60))
    while draws < 15:
        if env.game.over:
            env.reset(seed=rng.getrandbits(60))
        play(env, 1, rng)
        events = env.game.rounds[-1].events
        if not env.game.over and events and events[-1].tile >= 0:
            draws += 1
            seat = 1 - events[-1].seat
            other = env.resample(seat, draws)
            new += other.game.rounds[-1].events[-1].tile != events[-1].tile
            assert not leaks(env, other, seat)
    assert new > 0


def swapped(env: DominoAECEnv, seat: int, most: int) -> list[DominoAECEnv]:
    """The same one-round game with two hidden tiles exchanged, where every move, its points and the end come out alike."""
    log = env.game.rounds[0]
    size = env.rules.hand[env.game.num_players]
    own = {*log.order[seat * size : (seat + 1) * size], *(event.tile for event in log.events if event.seat == seat)}
    out = []
    dealt = size * env.game.num_players
    for a, b in itertools.combinations(range(len(log.order)), 2):
        # one of them out of a hand: the order of the boneyard alone is the lesser secret
        if a >= dealt or log.order[a] in own or log.order[b] in own or a // size == b // size < env.game.num_players:
            continue
        other = env.clone()
        order = np.array(log.order, np.int8)
        order[[a, b]] = order[[b, a]]
        games, packed = other.game.games, other.game.packed
        lead = batch.forced_lead_of(games.copy(), 0, packed, order)
        if packed["forced_lead"][0] and lead[0] != log.leader:
            continue
        status = batch.set_up(games, 0, packed, order, log.leader, np.zeros(env.game.num_players, np.int64))
        for event in log.events:
            alike = status[:2] == (0, event.seat)
            status = batch.make_move(games, 0, packed, event.action)
            if not alike or status[0] < 0 or status[3] != event.points:
                break
        else:
            end = (int(games["end"][0]), games["bonus"][0, : env.game.num_players].tolist())
            if status[:2] == (env.game.phase, env.game.seat) and (not log.end or end == (log.end, log.bonus)):
                other.game.games["key"] = env.game.games["key"]
                out.append(other)
                if len(out) == most:
                    break
    return out


@pytest.mark.parametrize("variant", VARIANTS)
def test_two_tiles_exchanged_do_not_show(variant: str) -> None:
    """By another way than ``resample``, and with games that are over: there the hands of the others stay hidden too."""
    rng = random.Random(variant)
    exchanged = at_end = 0
    for moves in (0, 4, 12, 500, 500, 500, 500):
        env = raw_env(variant, num_players=rng.choice(VARIANTS[variant].players), episode="round", render_mode="ansi")
        env.reset(seed=rng.getrandbits(60))
        play(env, moves, rng)
        for seat in range(env.game.num_players):
            for other in swapped(env, seat, most=4):
                look = shown_in_row if env.game.over else shown_to
                other_hands = hidden_tiles(other, seat)[0] != hidden_tiles(env, seat)[0]
                exchanged += other_hands
                at_end += other_hands and env.game.over
                assert not leaks(env, other, seat, look)
    assert exchanged > 10
    # In draw every loser's pips are on the score sheet, and the boneyard is mostly empty: hardly two tiles can change places.
    assert at_end > 0 or variant == "draw"


def shown_in_row(env: DominoAECEnv, seat: int) -> Shown:
    """The channels that are made from the row alone, as a game whose log was not rewritten has them."""
    shown = shown_to(env, seat)
    return {name: shown[name] for name in ("observation", "action_mask", "info", "describe", "public", "render", "spectator")}


def leak_in_observation(env: DominoAECEnv, seat: int) -> Shown:
    """A fault: one number of the observation follows the pips in the next hand."""
    shown = shown_to(env, seat)
    hand = int(env.game.games["hands"][0, (seat + 1) % env.game.num_players])
    return {**shown, "observation": shown["observation"] + hand.to_bytes(8, "little")}


def leak_in_mask(env: DominoAECEnv, seat: int) -> Shown:
    """A fault: a seat that is not on turn is shown the mask of the seat that is."""
    return {**shown_to(env, seat), "action_mask": env.observe(env.agent_selection)["action_mask"].tobytes()}


def leak_in_render(env: DominoAECEnv, seat: int) -> Shown:
    """A fault: the rendering turns all hands up."""
    return {**shown_to(env, seat), "render": render_game(env.game, seat, reveal=True)}


@pytest.mark.parametrize(
    ("fault", "channel"), [(leak_in_observation, "observation"), (leak_in_mask, "action_mask"), (leak_in_render, "render")]
)
def test_a_leak_is_caught(fault: Any, channel: str) -> None:
    env = raw_env("bergen", num_players=3, render_mode="ansi")
    env.reset(seed=1)
    play(env, 6, random.Random(1))
    seat = (env.game.seat + 1) % 3
    found = [leaks(env, env.resample(seat, seed), seat, fault) for seed in range(20)]
    assert [channel] in found
    assert all(names in ([], [channel]) for names in found)
