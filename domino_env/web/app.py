"""The server's addresses: pages, what they ask, and what they may do. It answers in JSON; errors say ``{"error": text}``."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from importlib import resources
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from domino_env.errors import DominoError
from domino_env.web.guard import HEADERS, Guard
from domino_env.web.journal import ForkedError, JournalError, KeepingError
from domino_env.web.room import Room, variants
from domino_env.web.setup import FieldError, Setup
from domino_env.web.table import LateError, RefusedError

__all__ = ["make_app"]

Body = dict[str, Any]
Endpoint = Callable[[Request], Awaitable[Response]]

# file of a page: where it stands, and what it is
_FILES = {
    "common.css": ("domino_env.pages", "common.css", "text/css"),
    "web.css": ("domino_env.web", "static/web.css", "text/css"),
    "start.js": ("domino_env.web", "static/start.js", "text/javascript"),
    **{f"table{part}.js": ("domino_env.web", f"static/table{part}.js", "text/javascript") for part in ("", "_hand", "_state", "_view")},
    "shared.js": ("domino_env.web", "static/shared.js", "text/javascript"),
    "icon.svg": ("domino_env.web", "static/icon.svg", "image/svg+xml"),
}
_STATUS: tuple[tuple[type[DominoError], int], ...] = (
    (LateError, 409),
    (ForkedError, 409),
    (RefusedError, 403),
    (KeepingError, 503),
    (JournalError, 404),
    (DominoError, 400),
)


class Json(JSONResponse):
    """In ASCII alone: what a request held may be no text that UTF-8 can write."""

    def render(self, content: Any) -> bytes:
        """The bytes of the answer."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def make_app(room: Room, hosts: Sequence[str]) -> Starlette:
    """The ASGI application for the tables of ``room``; it answers to the ``hosts`` alone (values of the header ``Host``)."""
    routes = [
        Route("/", _page("start.html")),
        Route("/game/{name}", _page("table.html")),
        Route("/files/{file}", _file),
        Route("/api/start", _asked(lambda _: {"variants": variants(), "games": room.games()})),
        Route("/api/games", _posted(lambda _, body: {"id": room.new_table(Setup.from_json(body)).name}, status=201), methods=["POST"]),
        Route("/api/games/{name}", _asked(lambda request: room.table(_name(request)).view(_since(request)))),
        Route("/api/games/{name}/about", _asked(lambda request: room.about(_name(request)))),
        Route("/api/games/{name}/record", _asked(lambda request: room.table(_name(request)).record(), save_as="game.json")),
        Route("/api/games/{name}/move", _posted(lambda request, body: _move(room, request, body)), methods=["POST"]),
        Route("/api/games/{name}/hint", _posted(lambda request, body: _hint(room, request, body)), methods=["POST"]),
        Route("/api/games/{name}/again", _posted(lambda request, _: _again(room, request)), methods=["POST"]),
        Route("/api/games/{name}/rematch", _posted(lambda request, _: _rematch(room, request), status=201), methods=["POST"]),
        Route("/api/games/{name}/remove", _posted(lambda request, _: _remove(room, request)), methods=["POST"]),
    ]
    handlers: dict[Any, Any] = {HTTPException: _http_error, DominoError: _domino_error, Exception: _unexpected}
    return Starlette(routes=routes, middleware=[Middleware(Guard, hosts=hosts)], exception_handlers=handlers)


# What the addresses do


def _move(room: Room, request: Request, body: Body) -> Body:
    table = room.table(_name(request))
    number, step, since = _whole(body, "number"), _text(body, "move"), _whole({"since": 0, **body}, "since")
    try:
        table.move(number, step)
    except ForkedError:
        room.forget(table.name)  # so that the next to ask gets the game as it stands on disk
        raise
    return table.view(since)


def _hint(room: Room, request: Request, body: Body) -> Body:
    return room.table(_name(request)).hint(_whole(body, "number"), _text(body, "policy"))


def _again(room: Room, request: Request) -> Body:
    table = room.table(_name(request))
    table.play_on()
    return table.view(-1)


def _rematch(room: Room, request: Request) -> Body:
    return {"id": room.new_table(room.table(_name(request)).setup.again()).name}


def _remove(room: Room, request: Request) -> Body:
    room.remove(_name(request))
    return {}


# How they are asked


def _page(name: str) -> Endpoint:
    async def answer(_: Request) -> Response:
        return Response(_read("domino_env.web", f"static/{name}"), media_type="text/html")

    return answer


async def _file(request: Request) -> Response:
    if request.path_params["file"] not in _FILES:
        raise HTTPException(404)
    package, path, kind = _FILES[request.path_params["file"]]
    return Response(_read(package, path), media_type=kind)


def _read(package: str, path: str) -> bytes:
    return resources.files(package).joinpath(path).read_bytes()


def _asked(tell: Callable[[Request], Any], save_as: str = "") -> Endpoint:
    """Asked by GET; in a thread, so that others need not wait."""

    async def answer(request: Request) -> Response:
        value = await run_in_threadpool(tell, request)
        headers = {"content-disposition": f'attachment; filename="{save_as}"'} if save_as else None
        return Json(value, headers=headers)

    return answer


def _posted(do: Callable[[Request, Body], Any], status: int = 200) -> Endpoint:
    """Told by POST, with a JSON object."""

    async def answer(request: Request) -> Response:
        try:
            body = json.loads(await request.body())
        except (ValueError, RecursionError) as error:
            raise HTTPException(400, f"the body is no JSON: {error}") from None
        if not isinstance(body, dict):
            raise HTTPException(400, f"the body is JSON of {type(body).__name__}, but it is an object")
        return Json(await run_in_threadpool(do, request, body), status)

    return answer


def _name(request: Request) -> str:
    name: str = request.path_params["name"]
    return name


def _since(request: Request) -> int:
    text = request.query_params.get("since", "-1")
    if not (text.removeprefix("-").isascii() and text.removeprefix("-").isdecimal() and len(text) < 10):
        raise HTTPException(400, f"since={text[:40]!r}, but it is the number of a step")
    return int(text)


def _whole(body: Body, field: str) -> int:
    value = body.get(field)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 10**9:
        raise HTTPException(400, f"{field}={value!r:.80}, but it is the number of a step")
    return value


def _text(body: Body, field: str) -> str:
    value = body.get(field)
    if not isinstance(value, str):
        raise HTTPException(400, f"{field}={value!r:.80}, but it is a text")
    return value


# What goes wrong


async def _http_error(_: Request, error: HTTPException) -> Response:
    return Json({"error": error.detail}, error.status_code, headers=error.headers)


async def _domino_error(_: Request, error: DominoError) -> Response:
    status = next(status for kind, status in _STATUS if isinstance(error, kind))
    body = {"error": str(error), **({"field": error.field} if isinstance(error, FieldError) else {})}
    return Json(body, status)


async def _unexpected(*_: object) -> Response:
    """The traceback goes to the terminal by itself; this answer does not pass the guard."""
    return Json({"error": "the server failed: its terminal says more"}, 500, headers=HEADERS)
