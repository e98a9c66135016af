"""What the outside calls: kernels over rows of games, ``rules`` as PACKED (1,)."""

from __future__ import annotations

from typing import Any

from domino_env.engine._jit import kernel
from domino_env.engine.rng import below, decision_bits, mix64, seat_bits, seed_key
from domino_env.shopping.encoding import write_observation
from domino_env.shopping.game import is_in, say, start_game, write_rewards

__all__ = ["observe", "open_games", "say_one", "say_words", "seat_learners", "seed_rows", "start_one", "still_in", "write_batch"]


@kernel
def seed_rows(games: Any, rows: Any, seeds: Any) -> None:
    """Seed the games ``rows`` (K,) int64 from ``seeds`` (K,) uint64, without starting them."""
    for k in range(len(rows)):
        game = games[rows[k]]
        game.key = seed_key(seeds[k])
        game.deals = 0
        game.moves = 0


@kernel
def open_games(games: Any, rows: Any, rules: Any) -> None:
    """Start the games ``rows`` (K,) int64 where their generators stand."""
    for k in range(len(rows)):
        start_game(games[rows[k]], rules[0])


@kernel
def start_one(games: Any, i: Any, rules: Any, words: Any, speaker: Any, in_game: Any, theme: Any) -> None:
    """Start game ``i`` with a list (L,) int64, a first speaker, a mask of who is in (-1: all) and a theme (-1: as the rules have it)."""
    game = games[i]
    start_game(game, rules[0])
    for letter in range(len(words)):
        game.words[letter] = words[letter]
    game.length = len(words)
    game.seat = speaker
    if in_game >= 0:
        game.in_game = in_game
    if theme >= 0:
        game.theme = theme


@kernel
def say_one(games: Any, i: Any, rules: Any, action: Any, drawn: Any, reward: Any) -> None:
    """One word in game ``i``; writes ``reward`` (P,)."""
    say(games[i], rules[0], action, drawn)
    write_rewards(games[i], rules[0], reward)


@kernel
def say_words(games: Any, rules: Any, actions: Any, rewards: Any) -> None:
    """One word in every game, none of which is over: ``actions`` (N,) int64; writes ``rewards`` (N, P)."""
    for i in range(len(games)):
        say(games[i], rules[0], actions[i], -1)
        write_rewards(games[i], rules[0], rewards[i])


@kernel
def observe(games: Any, i: Any, rules: Any, seat: Any, out: Any) -> None:
    """Write what ``seat`` of game ``i`` observes to ``out`` (D,)."""
    write_observation(games[i], rules[0], seat, out)


@kernel
def write_batch(games: Any, rows: Any, rules: Any, seats: Any, observation: Any, random: Any, on_turn: Any) -> None:
    """For K seats of games ``rows``: what each observes (K, D), random bits for its answer (K,) and whether it is on turn (K,)."""
    for k in range(len(rows)):
        game = games[rows[k]]
        write_observation(game, rules[0], seats[k], observation[k])
        # listeners get bits of their own, so that nobody's chance tells of another's
        random[k] = mix64(decision_bits(game.key, game.moves), seats[k])
        on_turn[k] = game.winners == 0 and game.seat == seats[k]


@kernel
def seat_learners(games: Any, rows: Any, rules: Any, tickets: Any, fixed: Any, learners: Any, seated: Any) -> None:
    """Draw for the games ``rows``, just started, the learner's seat (``fixed``, or by lot where that is -1) and who sits in the others.

    ``tickets``: places in the pool, each as often as it is likely; ``seated`` (N, P) gets a place for every seat.
    """
    for k in range(len(rows)):
        i = rows[k]
        game = games[i]
        bits = seat_bits(game.key, game.deals)
        learners[i] = fixed if fixed >= 0 else below(bits, rules[0].num_players)
        for seat in range(rules[0].num_players):
            seated[i, seat] = tickets[below(mix64(bits, seat + 1), len(tickets))]


@kernel
def still_in(games: Any, rows: Any, seats: Any, out: Any) -> None:
    """Whether each seat of the games ``rows`` is in the game, to ``out`` (K,) bool."""
    for k in range(len(rows)):
        out[k] = is_in(games[rows[k]], seats[k])
