"""What the site adds to the pages of ``docs/``: pages that stand elsewhere in the clone, and links between them. Called by mkdocs.

On GitHub a page links to files of the clone (``../CHANGELOG.md``). The site publishes some of these as pages of its own, and each link is
turned to where its target is; a link to a file that the site has not is left with its text alone.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["ELSEWHERE", "on_files", "on_page_markdown", "relink"]

ROOT = Path(__file__).resolve().parent.parent


def _as_it_is(text: str) -> str:
    return text


def _as_source(text: str) -> str:
    return f"# ppo.py\n\nMasked PPO in one file; [what it takes, prints and lets you change](README.md).\n\n```python\n{text}```\n"


ELSEWHERE: dict[str, tuple[str, Callable[[str], str]]] = {
    "CHANGELOG.md": ("changelog.md", _as_it_is),
    "checkpoints/README.md": ("checkpoints.md", _as_it_is),
    "docs/examples/ppo.py": ("examples/ppo.md", _as_source),
}
"""File of the clone -> the page that the site makes of it, and how."""

_HOME = {page: file for file, (page, _) in ELSEWHERE.items() if file.endswith(".md")}
_LINK = re.compile(r"\[([^\]\n]*)\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """Add the pages that stand elsewhere."""
    from mkdocs.structure.files import File

    for file, (page, made) in ELSEWHERE.items():
        files.append(File.generated(config, page, content=made((ROOT / file).read_text(encoding="utf-8"))))
    return files


def on_page_markdown(markdown: str, page: Any, files: Any, **_: Any) -> str:
    """Turn the links of a page to where their targets are on the site."""
    return relink(markdown, page.file.src_uri, {file.src_uri for file in files})


def relink(markdown: str, page: str, published: set[str]) -> str:
    """``markdown`` of the page, with links as the site has them; code blocks stay as they are. ``published``: all files of the site."""
    home = posixpath.dirname(_HOME.get(page, f"docs/{page}"))

    def turned(match: re.Match[str]) -> str:
        text, target = match.groups()
        file, sign, anchor = target.partition("#")
        if not file or ":" in file:
            return match[0]
        found = posixpath.normpath(posixpath.join(home, file))
        found = ELSEWHERE[found][0] if found in ELSEWHERE else found.removeprefix("docs/")
        if found not in published and (ROOT / home / file).exists():
            return text
        return f"[{text}]({posixpath.relpath(found, posixpath.dirname(page) or '.')}{sign}{anchor})"

    parts, end = [], 0
    for fence in _FENCE.finditer(markdown):
        parts += [_LINK.sub(turned, markdown[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, _LINK.sub(turned, markdown[end:])])
