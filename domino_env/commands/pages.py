"""The replay page as an option of ``domino watch`` and ``domino replay``."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from domino_env.commands.common import progress
from domino_env.errors import OptionsError
from domino_env.files import check_writable

if TYPE_CHECKING:
    from domino_env.pages import Judge
    from domino_env.policies import Policy

__all__ = ["PageWish"]


@dataclass(frozen=True)
class PageWish:
    """Where a page is wanted (``html``; None: nowhere), and what it shall tell.

    ``think``: policies whose thoughts are shown, as ``load_policy`` takes them. ``search``: what marks blunders, or ``"none"``.
    ``blunder``: points that one loses at least (None: a part of the target).
    """

    html: Path | None = None
    think: Sequence[str] = ()
    search: str | None = None
    blunder: float | None = None

    def check(self) -> Judge | None:
        """The judge that was wished for. Raises ``OptionsError`` for options without a page, and for a file that cannot be written."""
        if self.html is None:
            for name, given in (("--think", self.think), ("--search", self.search is not None), ("--blunder", self.blunder is not None)):
                if given:
                    raise OptionsError(f"{name} is for the page: add --html FILE.html")
            return None
        from domino_env.pages import SEARCH, check_judge
        from domino_env.policies import load_policy

        check_writable(self.html, ".html")
        search = SEARCH if self.search is None else self.search
        return check_judge(None if search == "none" else load_policy(search), self.blunder)

    def write(self, record: Mapping[str, Any], judge: Judge | None, thinkers: Sequence[Policy | Sequence[Policy]], **more: Any) -> None:
        """Write the page of a record, where one is wanted, and say where it is; ``more`` goes to ``replay_page``."""
        if self.html is None:
            return
        from domino_env.pages import save_replay_page

        with progress("thoughts") as tell:
            save_replay_page(self.html, record, thinkers=thinkers, judge_by=judge, tell=tell, **more)
        sys.stderr.write(f"page saved in {self.html}\n")
