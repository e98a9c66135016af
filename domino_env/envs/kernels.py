"""Compiled loops of the batched front ends: a batch of games, and a batch of games with one learner in each."""

from __future__ import annotations

from typing import Any

import numpy as np

from domino_env.encoding.writers import write_observation
from domino_env.engine._jit import jit, kernel
from domino_env.engine.batch import MOST_SKIPPED, NO_DECISION, advance, go_on, start_deciding
from domino_env.engine.deal import start_game
from domino_env.engine.legal import write_mask
from domino_env.engine.rng import below, decision_bits, mix64, seat_bits
from domino_env.engine.state import GAME_OVER, SEATS
from domino_env.envs.rewards import write_rewards
from domino_env.errors import RulesError
from domino_env.policies.scripted import greedy_action, random_action

__all__ = ["DECIDES", "GREEDY", "LEARNED", "NO_TURN", "RANDOM", "VIEW", "WAITS", "open_games", "play_learner", "seat_learner", "step_games"]

MOST_WAITED = 1_000_000
"""Moves of others after which a learner's next turn is no longer waited for."""
NO_TURN = "the learner gets no turn: these rules let the others play on for ever"

# who sits in a seat
RANDOM, GREEDY, LEARNED = 0, 1, 2
# what a game with a learner waits for: the learner's action, or that of the policy on turn
DECIDES, WAITS = 0, 1

VIEW = np.dtype(
    [
        ("learner", np.int32),  # seat of the learner in the game that is played
        ("seated", np.int32, SEATS),  # opponents by seat, as indices of the pool
        ("opened", np.int32),  # 1: a game began since policies were last told
        ("fresh", np.int32),  # 1 until the learner's first decision
        ("waits", np.int32),  # DECIDES or WAITS
        ("skipped", np.int32),  # games since the last decision that left the learner none
        ("skipped_return", np.float64),  # and their rewards
        ("reward", np.float64),  # since the last decision; where done, of the finished game
        ("done", np.int32),  # 1: a game ended; the rest tells of it
        ("seat", np.int32),  # the learner's seat in it
        ("opponents", np.int32, SEATS),
        ("winners", np.int32),  # bit per seat
        ("score", np.int32, SEATS),
    ],
    align=True,
)
"""What a learner's side of one game is told: one row a game."""


@jit
def _write_game(game: Any, rules: Any, score: Any, observation: Any, mask: Any) -> Any:
    for k in range(rules.num_players):
        score[k] = game.score[k]
    write_observation(game, rules, game.seat, observation)
    write_mask(game, rules, mask)
    return game.seat


@kernel
def open_games(games: Any, rules: Any, skip_forced: Any, seat: Any, score: Any, observation: Any, mask: Any) -> None:
    """Bring games just started to their first decision, and write what ``step_games`` writes of a position."""
    for i in range(len(games)):
        go_on(games[i], rules[0], skip_forced)
        if games[i].phase == GAME_OVER:
            start_deciding(games[i], rules[0], skip_forced)
        seat[i] = _write_game(games[i], rules[0], score[i], observation[i], mask[i])


@kernel
def step_games(
    games: Any,
    rules: Any,
    actions: Any,
    skip_forced: Any,
    by_win: Any,
    seat: Any,
    score: Any,
    observation: Any,
    mask: Any,
    reward: Any,
    done: Any,
    winners: Any,
    final_score: Any,
    final_observation: Any,
) -> None:
    """One legal move in every game; games that are over start anew. See ``Games`` for the arrays."""
    table = rules[0]
    for i in range(len(games)):
        game = games[i]
        mover = game.seat
        advance(game, table, np.int64(actions[i]), skip_forced)
        write_rewards(game, table, by_win, reward[i])
        done[i] = game.phase == GAME_OVER
        if done[i]:
            for k in range(table.num_players):
                final_score[i, k] = game.score[k]
                winners[i, k] = game.winners >> k & 1 == 1
            write_observation(game, table, mover, final_observation[i])
        if game.phase == GAME_OVER:
            start_deciding(game, table, skip_forced)
        seat[i] = _write_game(game, table, score[i], observation[i], mask[i])


@jit
def _seat_players(game: Any, rules: Any, tickets: Any, fixed_seat: Any, seated: Any) -> Any:
    """Draw the learner's seat and who sits in the others for the game that the next deal starts; returns the seat.

    ``tickets``: places in the pool; each ticket is as likely as another.
    """
    bits = seat_bits(game.key, game.deals)
    for seat in range(rules.num_players):
        seated[seat] = tickets[below(mix64(bits, seat), len(tickets))]
    return fixed_seat if fixed_seat >= 0 else below(bits, rules.num_players)


@kernel
def seat_learner(games: Any, i: Any, rules: Any, deal: Any, tickets: Any, fixed_seat: Any, views: Any) -> None:
    """Seats of the game ``i`` that began with deal number ``deal``, into ``views[i]``."""
    game = games[i]
    later = game.deals
    game.deals = deal
    views[i].learner = _seat_players(game, rules[0], tickets, fixed_seat, views[i].seated)
    game.deals = later


@kernel
def play_learner(
    games: Any,
    rows: Any,
    actions: Any,
    rules: Any,
    skip_forced: Any,
    by_win: Any,
    fixed_seat: Any,
    tickets: Any,
    kinds: Any,
    views: Any,
    observation: Any,
    mask: Any,
    final_observation: Any,
) -> None:
    """Play the games ``rows`` from ``actions`` (-1: a new game is due) until the learner, or a policy that is not compiled, decides.

    A game that is over leaves its result in ``views`` (VIEW) and starts anew; one in which the learner had no decision only
    counts in ``skipped``. Observation (N, D) and mask (N, A) are written where the learner decides.
    """
    table = rules[0]
    shares = np.zeros(table.num_players)
    for k in range(len(rows)):
        game, view = games[rows[k]], views[rows[k]]
        if actions[k] >= 0:
            advance(game, table, np.int64(actions[k]), skip_forced)
        else:
            _open_game(game, table, skip_forced, fixed_seat, tickets, view)
        skipped = view.skipped
        for _ in range(MOST_WAITED):
            if view.skipped - skipped > MOST_SKIPPED:
                raise RulesError(NO_DECISION)
            if game.phase == GAME_OVER:
                _close_game(game, table, by_win, shares, view, final_observation[rows[k]])
                _open_game(game, table, skip_forced, fixed_seat, tickets, view)
            elif game.seat == view.learner:
                _decide(game, table, by_win, shares, view, observation[rows[k]], mask[rows[k]])
                break
            elif kinds[view.seated[game.seat]] == LEARNED:
                view.waits = WAITS
                break
            elif kinds[view.seated[game.seat]] == RANDOM:
                advance(game, table, random_action(game, table, decision_bits(game.key, game.moves)), skip_forced)
            else:
                advance(game, table, greedy_action(game, table), skip_forced)
        else:
            raise RulesError(NO_TURN)


@jit
def _open_game(game: Any, rules: Any, skip_forced: Any, fixed_seat: Any, tickets: Any, view: Any) -> None:
    view.learner = _seat_players(game, rules, tickets, fixed_seat, view.seated)
    view.fresh = 1
    view.opened = 1
    start_game(game, rules)
    go_on(game, rules, skip_forced)


@jit
def _close_game(game: Any, rules: Any, by_win: Any, shares: Any, view: Any, final_observation: Any) -> None:
    write_rewards(game, rules, by_win, shares)
    if view.fresh:
        view.skipped += 1
        view.skipped_return += shares[view.learner]
        return
    view.done = 1
    view.reward = shares[view.learner]
    view.winners = game.winners
    view.seat = view.learner
    for seat in range(rules.num_players):
        view.score[seat] = game.score[seat]
        view.opponents[seat] = view.seated[seat]
    write_observation(game, rules, view.learner, final_observation)


@jit
def _decide(game: Any, rules: Any, by_win: Any, shares: Any, view: Any, observation: Any, mask: Any) -> None:
    """The learner decides. What was made before its first decision stays uncounted, so it joins the first reward."""
    if not view.fresh:
        write_rewards(game, rules, by_win, shares)
        view.reward = shares[view.learner]
    view.fresh = 0
    view.waits = DECIDES
    write_observation(game, rules, game.seat, observation)
    write_mask(game, rules, mask)
