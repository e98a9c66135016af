"""One self-contained HTML file from a template, its style, its script and data; a policy in it forbids every network request."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from importlib import resources
from typing import Any

__all__ = ["assemble", "page_file"]


def page_file(name: str) -> str:
    """Text of a file of this package."""
    return resources.files("domino_env.pages").joinpath(name).read_text(encoding="utf-8")


def assemble(name: str, *, title: str, data: dict[str, Any], symbols: str) -> str:
    """The page ``name``: its ``.html`` with styles (``common.css``, ``NAME.css``), scripts (``common.js``, ``NAME_*.js``, ``NAME.js``), the
    symbols of the tiles, and ``data`` as JSON.
    """
    style = f"\n{page_file('common.css')}\n{page_file(f'{name}.css')}"
    script = "\n" + "\n".join(page_file(file) for file in ("common.js", *_scripts(name), f"{name}.js"))
    parts = {
        "title": html.escape(title),
        "policy": _policy(style, script),
        "style": style,
        "script": script,
        "symbols": symbols,
        "data": _json_text(data),
    }
    page = page_file(f"{name}.html")
    # by pieces, so that nothing in one part is ever taken for the place of another
    pieces = page.split("{{")
    out = [pieces[0]]
    for piece in pieces[1:]:
        place, _, rest = piece.partition("}}")
        out += [parts[place], rest]
    return "".join(out)


def _scripts(name: str) -> list[str]:
    return sorted(file.name for file in resources.files("domino_env.pages").iterdir() if re.fullmatch(rf"{name}_\w+\.js", file.name))


def _policy(style: str, script: str) -> str:
    """What the page may load: its own style and script, known by their hashes, and nothing else."""
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; style-src-attr 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _json_text(data: dict[str, Any]) -> str:
    """JSON that neither ends the script element that holds it nor opens a comment in it."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("</", "<\\/").replace("<!--", "\\u003c!--")
