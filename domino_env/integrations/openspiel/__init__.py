"""Every variant as a game of OpenSpiel. Importing this module registers them: ``domino_bergen``, ``domino_block`` and so on.

``pyspiel.load_game("domino_bergen(players=2,max_pip=3,hand=3)")`` then makes one; ``docs/openspiel.md`` lists the parameters.
"""

from __future__ import annotations

try:
    import pyspiel  # noqa: F401
except ImportError:
    raise ImportError('domino_env.integrations.openspiel needs OpenSpiel: pip install "domino-env[openspiel]"') from None

from domino_env.integrations.openspiel.games import DominoGame, DominoState, game_name, register_games
from domino_env.integrations.openspiel.observer import DominoObserver
from domino_env.integrations.openspiel.rounds import Round
from domino_env.integrations.openspiel.setting import PARAMETERS, Setting

__all__ = ["PARAMETERS", "DominoGame", "DominoObserver", "DominoState", "Round", "Setting", "game_name", "register_games"]

register_games()
