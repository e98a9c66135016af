"""Pages that stand in one file: a game to look at in a browser, without a network."""

from __future__ import annotations

from domino_env.pages.judging import SEARCH, Judge, check_judge
from domino_env.pages.replay import check_record, replay_page, save_replay_page

__all__ = ["SEARCH", "Judge", "check_judge", "check_record", "replay_page", "save_replay_page"]
