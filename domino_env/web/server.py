"""``serve``: the tables on a port of this machine, for nobody but its own browser."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import webbrowser
from collections.abc import Callable
from pathlib import Path

import platformdirs
import uvicorn

from domino_env.errors import OptionsError
from domino_env.web.app import make_app
from domino_env.web.journal import Journal
from domino_env.web.room import Room
from domino_env.web.setup import Setup

__all__ = ["HOST", "PORT", "default_folder", "serve"]

HOST = "127.0.0.1"
PORT = 8477


def default_folder() -> Path:
    """Where games are kept unless a folder is named."""
    return platformdirs.user_state_path("domino-env") / "games"


def serve(
    setup: Setup | None,
    *,
    port: int = PORT,
    folder: Path | None = None,
    record: Path | None = None,
    browser: bool,
    say: Callable[[str], None],
) -> None:
    """Serve until interrupted. ``setup``: a table to open at; None: the start page. ``port`` 0: any that is free.

    ``say`` is told where the page is. The ``record`` of the table is written when its game ends, and as far as it went when the server
    does. Raises ``OptionsError`` for a port or a folder that cannot be used, ``FieldError`` for a setup.
    """
    with contextlib.closing(_bound(port)) as listening:
        port = listening.getsockname()[1]
        room = Room(Journal(folder or default_folder()))
        table = None if setup is None else room.new_table(setup, record)
        address = f"http://{HOST}:{port}/" + (f"game/{table.name}" if table else "")
        say(f"the table is at {address} (Ctrl-C stops the server; games are kept in {room.journal.folder})")
        if browser:
            webbrowser.open(address)
        _stop_on_sigterm()
        try:
            app = make_app(room, [f"{HOST}:{port}", f"localhost:{port}"])
            uvicorn.Server(uvicorn.Config(app, lifespan="off", ws="none", log_level="warning", server_header=False)).run([listening])
        except KeyboardInterrupt:
            say("stopped")
        finally:
            room.close()
            if table is not None:
                table.save_record()


def _stop_on_sigterm() -> None:
    """As Ctrl-C does: uvicorn passes the signal on when it has ended, and then nobody would be left to write the record."""
    with contextlib.suppress(ValueError):  # not the main thread: nobody sends it signals
        signal.signal(signal.SIGTERM, signal.default_int_handler)


def _bound(port: int) -> socket.socket:
    if not 0 <= port < 2**16:
        raise OptionsError(f"port={port}, but it is from 0 (any that is free) to {2**16 - 1}")
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # elsewhere it would let two servers share a port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen()  # so that a browser that is quicker than the server waits
    except OSError as error:
        listening.close()
        raise OptionsError(f"port={port} cannot be used ({error.strerror}): name another with --port, 0 for any that is free") from None
    return listening
