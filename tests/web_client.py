"""Ask the application of ``domino play --web`` without a socket, and let its policies move at once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any, NamedTuple

from domino_env.web.app import make_app
from domino_env.web.journal import Journal
from domino_env.web.room import Room
from domino_env.web.setup import Setup
from domino_env.web.table import Table

HOST = "127.0.0.1:8477"
TRUSTED = {"host": HOST, "origin": f"http://{HOST}", "content-type": "application/json"}


class AtOnce(Executor):
    """Does what it is given before it returns: no thread, and all moves of others within the request."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 -- as a pool does
            done.set_exception(error)
        return done


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """A room and its application; every answer is kept in ``answers``."""

    def __init__(self, folder: Path, workers: Executor | None = None) -> None:
        self.room = Room(Journal(folder), workers or AtOnce())
        self.app = make_app(self.room, [HOST])
        self.answers: list[Answer] = []

    def table(self, **setup: Any) -> Table:
        return self.room.new_table(Setup.from_json(setup))

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, b"", {"host": HOST, **headers})

    def post(self, path: str, body: Any, **headers: str | None) -> Answer:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        given = {"content-length": str(len(data)), **TRUSTED, **{name.replace("_", "-"): value for name, value in headers.items()}}
        return self.ask("POST", path, data, {name: value for name, value in given.items() if value is not None})

    def ask(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> Answer:
        where, _, query = path.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": where,
            "raw_path": where.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": ("127.0.0.1", 5),
            "server": ("127.0.0.1", 8477),
        }
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(dict(message))

        asyncio.run(self.app(scope, receive, send))
        start = next(message for message in sent if message["type"] == "http.response.start")
        told = {name.decode(): value.decode() for name, value in start["headers"]}
        answer = Answer(start["status"], told, b"".join(message.get("body", b"") for message in sent))
        self.answers.append(answer)
        return answer
