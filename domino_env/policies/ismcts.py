"""Information-set Monte Carlo tree search (single observer; Cowling, Powley and Whitehouse 2012): one tree over what the seat can see,
grown through a new world at each simulation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from domino_env.engine._jit import jit, kernel
from domino_env.engine.legal import nth_legal
from domino_env.engine.rng import below, mix64
from domino_env.engine.state import PLAYING, SEATS, new_games
from domino_env.engine.step import step
from domino_env.engine.worlds import fill_worlds, prepare_worlds, scratch
from domino_env.errors import PolicyError
from domino_env.policies.lookahead import MOST_PLAYOUT, margin
from domino_env.policies.scripted import greedy_action
from domino_env.policies.thoughts import POINTS, Thoughts, one_hot

if TYPE_CHECKING:
    from domino_env.policies.protocol import Batch
    from domino_env.rules import Rules

__all__ = ["ISMCTSPolicy"]

MOST_SIMULATIONS = 1 << 20
_CHUNK = 64
"""Worlds that are drawn at a time."""

NODE = np.dtype(
    [
        ("move", np.int64),  # that led here: the action, and the tile of a draw that the observer saw
        ("child", np.int64),  # first child, or 0
        ("sibling", np.int64),  # next child of the same parent, or 0
        ("visits", np.int64),
        ("chances", np.int64),  # simulations that could have come here
        ("total", np.float64),  # sum of the margins of the seat that made the move
    ]
)


class ISMCTSPolicy:
    """Plays the move that was looked at most often in ``simulations`` simulations.

    Each simulation walks a world down the tree, choosing by UCB1 among the moves that are legal there (``exploration`` is its
    constant, for margins scaled to 0..1), adds a node, and plays the round out by greedy. Every seat maximises its own margin. It sees
    what its seat sees, and the random bits of the decision make a move the same every time. Raises ``PolicyError`` for numbers out of
    range.
    """

    def __init__(self, simulations: int = 1000, exploration: float = 0.7) -> None:
        if isinstance(simulations, bool) or not isinstance(simulations, (int, np.integer)) or not 1 <= simulations <= MOST_SIMULATIONS:
            raise PolicyError(f"search:ismcts: simulations={simulations!r}, but it is a whole number from 1 to {MOST_SIMULATIONS}")
        number = isinstance(exploration, (int, float, np.integer, np.floating)) and not isinstance(exploration, bool)
        if not number or not 0.0 <= exploration <= 100.0:
            raise PolicyError(f"search:ismcts: exploration={exploration!r}, but it is a number from 0 to 100")
        self.simulations, self.exploration = int(simulations), float(exploration)
        self.name = f"search:ismcts?simulations={simulations}" + (f"&exploration={exploration:g}" if exploration != 0.7 else "")

    def act(self, batch: Batch) -> npt.NDArray[np.int64]:
        """(N,) int64 action ids."""
        return self._look(batch)[0]

    def think(self, batch: Batch) -> Thoughts:
        """The share of the visits and the mean margin of each move, and that of the move it makes; forced moves are not looked into."""
        actions, visits, totals = self._look(batch)
        with np.errstate(invalid="ignore"):  # 0 / 0: a move that was never tried
            means = totals / visits
        value = np.take_along_axis(means, actions[:, None], axis=1)[:, 0]
        looked = visits.sum(axis=1) > 0
        probabilities = one_hot(actions, visits.shape[1])
        probabilities[looked] = visits[looked] / visits[looked].sum(axis=1, keepdims=True)
        return Thoughts(probabilities, actions, False, value, means, None, POINTS)

    def _look(self, batch: Batch) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Actions (N,), visits of each move (N, A) and the sums of their margins (N, A); 0 where there was no choice."""
        actions = np.empty(len(batch), np.int64)
        visits, totals = (np.zeros(batch.action_mask.shape) for _ in range(2))
        tree, worlds = np.zeros(self.simulations + 2, NODE), new_games(_CHUNK)
        _decide(batch.seen, batch.packed, batch.random, self.exploration, tree, worlds, *scratch(), actions, visits, totals)
        return actions, visits, totals

    def check(self, rules: Rules, num_players: int) -> None:
        """Fits every game."""


@kernel
def _decide(
    seen: Any,
    rules: Any,
    bits: Any,
    exploration: Any,
    tree: Any,
    worlds: Any,
    table: Any,
    classes: Any,
    out: Any,
    visits: Any,
    totals: Any,
) -> None:
    simulations = len(tree) - 2
    path = np.zeros(MOST_PLAYOUT, np.int64)
    seats = np.zeros(MOST_PLAYOUT, np.int64)
    for k in range(len(seen)):
        if seen[k].num_legal == 1:
            out[k] = nth_legal(seen[k], rules[0], 0)
            continue
        tree[0] = tree[simulations + 1]  # an empty node
        count = 1
        bounds = np.array([np.inf, -np.inf])
        certain = np.zeros(SEATS + 1, np.int64)
        kinds, tiles, ways, _ = prepare_worlds(seen[k], rules[0], table, classes, certain)
        for simulation in range(simulations):
            at = simulation % _CHUNK
            if at == 0:
                fill_worlds(seen[k], rules[0], mix64(bits[k], simulation), worlds, classes, kinds, tiles, ways, certain)
            key = mix64(bits[k], simulation + (1 << 32))
            count = _simulate(worlds[at], rules[0], seen[k].seat, tree, count, exploration, bounds, key, path, seats)
        out[k] = _most_visited(tree, visits[k], totals[k])


@jit
def _simulate(
    game: Any, rules: Any, observer: Any, tree: Any, count: Any, exploration: Any, bounds: Any, key: Any, path: Any, seats: Any
) -> Any:
    """Walk ``game`` down the tree, add a node, play out, and write the margins back. Returns the number of nodes."""
    depth = 0
    node = np.int64(0)
    before = count
    while game.phase == PLAYING and count == before and depth < MOST_PLAYOUT:
        seats[depth] = game.seat
        seen_by = game.seat == observer
        action = _choose(game, rules, tree, node, exploration, bounds, mix64(key, depth))
        step(game, rules, action)
        move = action + (game.last_tile + 1) * 1024 if seen_by and game.last_tile >= 0 else action
        node, count = _child(tree, count, node, move)
        path[depth] = node
        depth += 1
    for _ in range(MOST_PLAYOUT):
        if game.phase != PLAYING:
            break
        step(game, rules, greedy_action(game, rules))
    for d in range(depth):
        value = margin(game, rules, seats[d])
        tree[path[d]].visits += 1
        tree[path[d]].total += value
        bounds[0] = min(bounds[0], value)
        bounds[1] = max(bounds[1], value)
    return count


@jit
def _choose(game: Any, rules: Any, tree: Any, node: Any, exploration: Any, bounds: Any, key: Any) -> Any:
    """A legal move that was never tried, at random, or else the one of the highest upper bound. Counts the chance of each."""
    untried = 0
    chosen, best = np.int64(-1), -np.inf
    width = max(bounds[1] - bounds[0], 1e-9)
    for n in range(game.num_legal):
        action = nth_legal(game, rules, n)
        visits, chances, total = _tried(tree, node, action)
        if visits == 0:
            untried += 1
            if below(mix64(key, n), untried) == 0:
                chosen = action
        elif untried == 0:
            bound = (total / visits - bounds[0]) / width + exploration * np.sqrt(np.log(chances) / visits)
            if bound > best:
                chosen, best = action, bound
    return np.int64(chosen)


@jit
def _tried(tree: Any, node: Any, action: Any) -> Any:
    """Visits, chances and margins of a move, over all tiles that it may have drawn; counts one more chance.

    A draw has a chance for each tile that it has drawn: it is explored more than UCB1 says, which brings two points a round in ``threes``.
    """
    visits, chances, total = np.int64(0), np.int64(0), 0.0
    child = tree[node].child
    while child != 0:
        if tree[child].move & 1023 == action:
            tree[child].chances += 1
            visits += tree[child].visits
            chances += tree[child].chances
            total += tree[child].total
        child = tree[child].sibling
    return visits, chances, total


@jit
def _child(tree: Any, count: Any, node: Any, move: Any) -> Any:
    """The child that ``move`` leads to, added where there is none; returns it and the number of nodes."""
    child = tree[node].child
    while child != 0:
        if tree[child].move == move:
            return child, count
        child = tree[child].sibling
    added = tree[count]
    added.move = move
    added.child = 0
    added.sibling = tree[node].child
    added.visits = 0
    added.chances = 1
    added.total = 0.0
    tree[node].child = count
    return np.int64(count), count + 1


@jit
def _most_visited(tree: Any, visits: Any, totals: Any) -> Any:
    """The move of the root that was made most often, among equals the lowest id; adds up visits and margins (A,) by action."""
    child = tree[0].child
    while child != 0:
        action = tree[child].move & 1023
        visits[action] += tree[child].visits
        totals[action] += tree[child].total
        child = tree[child].sibling
    return np.int64(np.argmax(visits))
