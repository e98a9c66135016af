"""A player in a process of its own that misbehaves on demand; standard library only."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

FIFTH = 5
LONGEST_LINE = 65536


def write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def say(value: Any) -> None:
    write(json.dumps(value))


def misbehave(mode: str, request: dict[str, Any]) -> bool:
    """At the fifth request of a process; returns whether the request is answered properly after all."""
    if mode == "crash":
        raise RuntimeError("out of tiles")
    if mode == "exit":
        sys.exit(0)
    if mode == "hang":
        time.sleep(60)
    if mode == "rubbish":
        write("I think I shall lay the double six")
    if mode == "list":
        say([request["id"]])
    if mode == "float_id":
        say({"id": float(request["id"]), "action": request["legal"][0]["action"]})
    if mode == "wrong_id":
        say({"id": request["id"] + 1, "action": request["legal"][0]["action"]})
    if mode == "no_move":
        say({"id": request["id"]})
    if mode == "two_moves":
        say({"id": request["id"], **request["legal"][0]})
    if mode == "flood":
        while True:
            say({"id": 0, "noise": "x" * 100})
    if mode == "endless_line":
        while True:
            sys.stdout.write("x" * 1000)
    if mode in ("longest_line", "long_line"):
        size = LONGEST_LINE + (mode == "long_line")
        answer = json.dumps({"id": request["id"], "move": request["legal"][0]["move"], "thought": ""})
        write(answer.replace('""', f'"{"x" * (size - len(answer))}"'))
    if mode == "close_stdin":
        sys.stdin.close()
        os.close(0)
        say({"id": request["id"], "move": request["legal"][0]["move"]})
        time.sleep(60)
    if mode == "close_stdout":
        sys.stdout.close()
        os.close(1)
        time.sleep(60)
    if mode == "illegal":
        say({"id": request["id"], "move": "pass" if request["legal"][0]["move"] != "pass" else "draw"})
    if mode == "illegal_id":
        say({"id": request["id"], "action": 10**6})
    if mode == "no_such_move":
        say({"id": request["id"], "move": "7-9@left"})
    if mode == "deep":
        write("[" * 100_000)
    return mode in ("stderr", "good") or mode.startswith("start")


def start(mode: str, folder: Path) -> None:
    """What goes wrong before it is ready; ``start_later``: from the second start on."""
    if mode == "start_crash":
        raise RuntimeError("no table found")
    if mode == "start_exit":
        sys.exit(0)
    if mode == "start_hang":
        time.sleep(60)
    if mode == "start_rubbish":
        write("hello!")
    if mode == "start_other":
        say({"type": "ready", "protocol": 99})
    if mode == "start_unfit":
        say({"type": "unfit", "why": "two seats are too few"})
    if mode == "start_child":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        (folder / f"{child.pid}.pid").touch()
    if mode == "start_later" and len(list(folder.glob("*.pid"))) > 1:
        sys.exit(1)


def main() -> None:
    mode, folder = sys.argv[1], Path(sys.argv[2])
    (folder / f"{os.getpid()}.pid").touch()
    count = 0
    for line in iter(sys.stdin.readline, ""):
        message = json.loads(line)
        if message["type"] == "hello":
            (folder / "hello.json").write_text(line)
            start(mode, folder)
            say({"type": "ready", "protocol": 1, "name": f"{mode} player", "observation": True})
            continue
        count += 1
        if mode == "stderr":
            sys.stderr.write("thinking " * 20_000 + "\n")
        if count == FIFTH and mode == "start_later":
            sys.exit(1)
        if count == FIFTH and not misbehave(mode, message):
            continue
        with (folder / "requests.jsonl").open("a") as file:
            file.write(line)
        say({"id": message["id"], "action": message["legal"][0]["action"]})


if __name__ == "__main__":
    main()
