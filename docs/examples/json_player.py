"""A whole player in a process of its own, for ``domino bench-policy "cmd:python docs/examples/json_player.py"``. Standard library only.

It reads one JSON object a line from stdin and writes one a line to stdout; ``docs/benchmark.md`` tells what they hold. Whatever it wants to
say besides goes to stderr. Its play is plain: of the tiles that fit it lays the one that leaves its hand the most pips to answer
with, among equals the heaviest; it passes rather than draws where it may.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def pips(tile: str) -> tuple[int, int]:
    """``"1-4"`` -> (1, 4)."""
    low, high = tile.split("-")
    return int(low), int(high)


def worth(move: str, hand: list[str]) -> tuple[int, int]:
    """How good a move looks: the more, the better."""
    if move in ("draw", "pass"):
        return (-1, 1 if move == "pass" else 0)
    tile = move.split("@")[0].split(":")[0]
    left = {pip for other in hand if other != tile for pip in pips(other)}
    return (len(left), sum(pips(tile)))


def choose(request: dict[str, Any]) -> str:
    """The text of a legal move."""
    return max((legal["move"] for legal in request["legal"]), key=lambda move: worth(move, request["hand"]))


def say(message: dict[str, Any]) -> None:
    """One line, at once: output that waits in a buffer is an answer that does not come."""
    print(json.dumps(message), flush=True)


def main() -> None:
    """Answer until the input ends."""
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            say({"type": "ready", "protocol": 1, "name": "plain player"})
        elif message["type"] == "move":
            say({"id": message["id"], "move": choose(message)})


if __name__ == "__main__":
    main()
