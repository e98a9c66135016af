"""What stands before every request: this server is for one browser on this machine, and pages of others must not reach it."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["HEADERS", "MOST_BYTES", "Guard"]

MOST_BYTES = 64 * 1024
"""Bytes that the body of a request may have."""

# style attributes are what the pictures of tiles are coloured with; they can load nothing, for images come from here alone
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""Headers of every answer."""


class Guard:
    """Refuses requests that a page of this server cannot have made, and gives every answer the same headers.

    A name that was made to lead here (DNS rebinding) does not pass as ``Host``; a foreign page (CSRF) cannot send JSON with our ``Origin``.
    ``hosts``: the values of ``Host`` that are ours, such as ``127.0.0.1:8477``.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str]) -> None:
        self.app, self.hosts = app, tuple(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        refusal = self._refusal(scope["method"], Headers(scope=scope))
        if refusal is None:
            await self.app(scope, receive, send_guarded)
        else:
            status, text = refusal
            await JSONResponse({"error": text}, status)(scope, receive, send_guarded)

    def _refusal(self, method: str, headers: Headers) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if host not in self.hosts:
            return 421, f"host {host!r}, but this server is {self.hosts[0]}"
        if method in ("GET", "HEAD"):
            return None
        if method != "POST":
            return 405, f"method {method}, but it is GET or POST"
        origin = headers.get("origin")
        if origin != f"http://{host}":
            return 403, f"origin {origin!r}, but only pages of this server may post to it"
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            return 415, f"content type {kind!r}, but it is application/json"
        return _size_refusal(headers.get("content-length"))


def _size_refusal(length: str | None) -> tuple[int, str] | None:
    if length is None or not (length.isascii() and length.isdecimal()):
        return 411, "a body needs its length"
    if len(length) > 9 or int(length) > MOST_BYTES:
        return 413, f"a body of {length[:20]} bytes, but at most {MOST_BYTES}"
    return None
