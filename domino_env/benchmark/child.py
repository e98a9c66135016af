"""A process that answers lines with lines, each within a time; it never outlives its use. For systems with POSIX pipes."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shlex
import signal
import subprocess
import sys
import threading
import time
from typing import Any

from domino_env.benchmark.messages import read_object
from domino_env.errors import PolicyError

__all__ = ["Child", "ChildFault", "split_command"]

_LONGEST_LINE = 1 << 16
_GRACE_SECONDS = 1.0
_TAIL = 2000


class ChildFault(Exception):  # noqa: N818 -- it is caught where it becomes a fault of the round
    """A process that did not answer as it should; ``reason`` is one of ``FAULTS``."""

    def __init__(self, reason: str, why: str) -> None:
        super().__init__(why)
        self.reason = reason


def split_command(text: str) -> list[str]:
    """The words of a command as a POSIX shell splits them; no shell runs. Raises ``PolicyError``."""
    if os.name != "posix":
        raise PolicyError(f"policy 'cmd:{text}': players in a process of their own need Linux or macOS")
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise PolicyError(f"policy 'cmd:{text}': {error}") from None
    if not words:
        raise PolicyError("policy 'cmd:', but it is cmd: and a command, such as 'cmd:python player.py'")
    return words


class Child:
    """A running command, in a process group of its own: Ctrl-C reaches this process alone, and closing ends the whole group.

    Raises ``PolicyError`` where the command cannot be started at all.
    """

    def __init__(self, command: list[str], show_stderr: bool = False) -> None:
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0, start_new_session=True
            )
        except (OSError, ValueError) as error:
            raise PolicyError(f"policy 'cmd:{shlex.join(command)}': cannot be started ({error})") from None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._in, self._out, self._err = self._process.stdin, self._process.stdout, self._process.stderr
        os.set_blocking(self._in.fileno(), False)
        self._read = bytearray()
        self._tail = b""
        self._show = show_stderr
        # a player that writes much there must not block on it
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def ask(self, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The JSON object that answers ``message``. Raises ``ChildFault``; the child is of no use after that."""
        deadline = time.monotonic() + seconds
        self._send(json.dumps(message, separators=(",", ":")).encode() + b"\n", deadline)
        answer = read_object(self._read_line(deadline))
        if answer is None:
            raise ChildFault("rubbish", "a line that is no JSON object")
        return answer

    def _send(self, data: bytes, deadline: float) -> None:
        while data:
            _wait([], [self._in], deadline)
            try:
                data = data[os.write(self._in.fileno(), data) :]
            except BlockingIOError:
                continue
            except OSError:
                raise ChildFault("crash", "it ended, or closed its input") from None

    def _read_line(self, deadline: float) -> bytes:
        start = 0
        while (end := self._read.find(b"\n", start)) < 0 and len(self._read) <= _LONGEST_LINE:
            start = len(self._read)
            _wait([self._out], [], deadline)
            more = os.read(self._out.fileno(), _LONGEST_LINE)
            if not more:
                raise ChildFault("crash", "it ended, or closed its output")
            self._read += more
        if not 0 <= end <= _LONGEST_LINE:
            raise ChildFault("rubbish", f"a line of more than {_LONGEST_LINE} bytes")
        line = bytes(self._read[:end])
        del self._read[: end + 1]
        return line

    def _listen(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while more := os.read(self._err.fileno(), _LONGEST_LINE):
                self._tail = (self._tail + more)[-_TAIL:]
                if self._show:
                    sys.stderr.write(more.decode(errors="replace"))
                    sys.stderr.flush()

    def last_words(self) -> str:
        """The end of what it wrote to stderr, after ``close``: its last line that is not blank."""
        lines = self._tail.decode(errors="replace").strip().splitlines()
        return lines[-1].strip() if lines else ""

    def close(self, grace: float = _GRACE_SECONDS) -> None:
        """End it: its input ends, and whatever of its group is still there after ``grace`` seconds is killed. May be called twice."""
        if self._process.returncode is not None:
            return
        try:
            self._wait_for_end(grace)
        finally:
            # its own process has not been waited for yet, so the number of the group is still its own
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._listener.join(_GRACE_SECONDS)
            for pipe in (self._in, self._out, self._err):
                with contextlib.suppress(OSError):
                    pipe.close()

    def _wait_for_end(self, grace: float) -> None:
        """Close its input, and read its output to the end."""
        with contextlib.suppress(OSError):
            self._in.close()
        deadline = time.monotonic() + grace
        with contextlib.suppress(ChildFault):
            while True:
                _wait([self._out], [], deadline)
                if not os.read(self._out.fileno(), _LONGEST_LINE):
                    return


def _wait(readers: list[Any], writers: list[Any], deadline: float) -> None:
    """Until one is ready. Raises ``ChildFault`` at the deadline."""
    left = deadline - time.monotonic()
    if left <= 0 or select.select(readers, writers, [], left) == ([], [], []):
        raise ChildFault("timeout", "no answer in time")
