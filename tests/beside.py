"""One environment and one oracle at the same game, move by move."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from domino_env.envs.aec import raw_env
from domino_env.rules import Rules
from tests.oracle import OracleGame
from tests.strategies import Tile, opening_decides, whole_set

EPISODES = ("round", "match")
MOST_MOVES = 500

TEMPERS: dict[str, Callable[[str], bool]] = {
    "any": lambda move: True,
    "draws": lambda move: move == "draw",
    "plays": lambda move: move not in ("draw", "pass"),
    "passes": lambda move: move == "pass",
    "blanks": lambda move: move.startswith("0-"),
    "doubles": lambda move: move[0] == move[2:3],
    "short sides": lambda move: "@up" in move or "@down" in move,
}
"""What a player likes best; it moves at random among those moves, or among all where there is none."""


def choose(moves: list[str], temper: str, rng: random.Random) -> str:
    """A legal move, nine times in ten of the kind that the temper likes."""
    liked = [move for move in moves if TEMPERS[temper](move)]
    return rng.choice(liked if liked and rng.random() < 0.9 else moves)


def tiles_of(texts: list[str]) -> list[Tile]:
    """Tiles of a record."""
    return [(int(text[0]), int(text[2])) for text in texts]


class Beside:
    """One environment and one oracle at the same game."""

    def __init__(self, env: Any, rules: Rules, num_players: int, episode: str) -> None:
        self.env, self.rules, self.num_players, self.episode = env, rules, num_players, episode

    def play(self, seed: int, temper: str, most_rounds: int, options: dict[str, Any] | None = None) -> int:
        """Reset with the seed, play until it is over or so many rounds are done; returns the finished rounds."""
        rng = random.Random(seed)
        self.trail: list[str] = [f"{self.rules.variant} {self.num_players} {self.episode} seed={seed} options={options}"]
        self.env.reset(seed=seed, options=options)
        self.oracle = OracleGame(self.rules, self.num_players, self.episode)
        self.start_round(0, self.env.record()["rounds"], None if options is None else options.get("scores"))
        finished = 0
        while True:
            self.play_round(temper, rng)
            finished += 1
            record = self.env.record()["rounds"]
            self.check_finished_round(record[finished - 1])
            if self.oracle.match_over:
                self.agree("legal moves when all is over", list(self.env.legal_moves()), [])
                self.agree("winners", sorted(self.env.winners), self.oracle.winners)
                return finished
            self.agree("winners", list(self.env.winners), [])
            due = self.oracle.next_leader
            self.start_round(finished, record, None)
            if due is not None:
                self.agree("leader of the next round", self.env.leader, due)
            if finished >= most_rounds:
                return finished

    def agree(self, what: str, engine: object, oracle: object) -> None:
        """Fail with the whole story where the two differ."""
        if engine != oracle:
            changed = self.rules.to_json()
            pytest.fail(f"{what}: engine {engine!r}, oracle {oracle!r}\n{changed}\n" + "\n".join(self.trail))

    def start_round(self, number: int, record: list[dict[str, Any]], scores: list[int] | None) -> None:
        """Give the oracle the deal that the environment made, and look at the deal itself."""
        self.agree("rounds in the record", len(record), number + 1)
        hands, boneyard = [tiles_of(hand) for hand in record[number]["hands"]], tiles_of(record[number]["boneyard"])
        self.trail.append(f"round {number}: hands={record[number]['hands']} boneyard={record[number]['boneyard']}")
        self.agree("tiles dealt", sorted(sum(hands, boneyard)), sorted(whole_set(self.rules.max_pip)))
        self.agree("hand sizes", [len(hand) for hand in hands], [self.rules.hand[self.num_players]] * self.num_players)
        self.agree("an open round has no end", "end" in record[number], False)
        leader = None if opening_decides(self.rules, number == 0) else self.env.leader
        self.oracle.start(hands, boneyard, leader=leader, scores=scores, first_round=number == 0)
        self.agree("leader", self.env.leader, self.oracle.leader)
        self.agree("leader in the record", record[number]["leader"], self.oracle.leader)
        self.agree("scores", list(self.env.scores), self.oracle.scores)
        self.agree("round", self.env.round_index, number)

    def play_round(self, temper: str, rng: random.Random) -> None:
        """Random moves to the end of the round."""
        for _ in range(MOST_MOVES):
            moves = sorted(self.oracle.legal_moves())
            self.agree("seat on turn", self.env.agent_selection, f"player_{self.oracle.turn}")
            self.agree("legal moves", sorted(self.env.legal_moves()), moves)
            move = choose(moves, temper, rng)
            self.trail.append(f"  seat {self.oracle.turn} {move}")
            self.env.step(self.env.move_index(move))
            self.oracle.play(move)
            self.agree("scores", list(self.env.scores), self.oracle.scores)
            if self.oracle.end is not None:
                return
        pytest.fail(f"no end after {MOST_MOVES} moves\n" + "\n".join(self.trail))

    def check_finished_round(self, record: dict[str, Any]) -> None:
        """The record of the round: every event, the end, the bonus, the scores."""
        self.agree("end", record.get("end"), self.oracle.end)
        self.agree("bonus", list(record["bonus"]), self.oracle.bonus)
        self.agree("scores in the record", list(record["scores"]), self.oracle.scores)
        self.agree("events", record["events"], self.oracle.events)


def make(rules: Rules, num_players: int, episode: str) -> Beside:
    """The environment of these rules beside a fresh oracle."""
    return Beside(raw_env(rules.variant, num_players=num_players, episode=episode, rules=rules), rules, num_players, episode)
