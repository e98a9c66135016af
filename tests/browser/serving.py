"""The server of ``domino play --web`` in a thread of the test, so that it can be stopped and started again."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import uvicorn

from domino_env.web.app import make_app
from domino_env.web.journal import Journal
from domino_env.web.room import Room
from domino_env.web.server import HOST, _bound
from domino_env.web.setup import Setup
from domino_env.web.table import Table


class Serving:
    """A server on a free port, which stays the same when it starts again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = 0
        self.start()

    def start(self) -> None:
        self._listening = _bound(self.port)
        self.port = self._listening.getsockname()[1]
        self.url = f"http://{HOST}:{self.port}"
        self.room = Room(Journal(self.folder))
        app = make_app(self.room, [f"{HOST}:{self.port}"])
        self._server = uvicorn.Server(uvicorn.Config(app, lifespan="off", ws="none", log_level="warning", timeout_graceful_shutdown=1))
        self._thread = threading.Thread(target=self._server.run, args=([self._listening],), daemon=True)
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        assert not self._thread.is_alive()
        self._listening.close()
        self.room.close()

    def table(self, **setup: Any) -> Table:
        """A new table; ``address`` tells where its page is."""
        return self.room.new_table(Setup.from_json(setup))

    def address(self, table: Table) -> str:
        return f"{self.url}/game/{table.name}"
