"""Games to draw, and their pictures."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ET

import numpy as np
import numpy.typing as npt

from domino_env.notation.game import PlayedGame
from domino_env.variants import VARIANTS
from tests.test_rendering import play_on


def some_game(variant: str = "all_fives", seats: int = 2, moves: int = 12, seed: int = 5, one_round: bool = True) -> PlayedGame:
    game = PlayedGame(VARIANTS[variant], seats, one_round)
    game.start(seed)
    for _ in play_on(game, random.Random(seed), moves):
        pass
    return game


def frame(game: PlayedGame, seat: int | None = None, reveal: bool = False) -> npt.NDArray[np.uint8]:
    from domino_env.rendering.raster import rgb_frame

    return rgb_frame(game, seat, reveal)


SVG = "{http://www.w3.org/2000/svg}"


def faces(svg: str) -> list[str]:
    """Names of the tiles that are drawn, in order."""
    return [use.attrib["href"][1:] for use in ET.fromstring(svg).iter(f"{SVG}use")]
