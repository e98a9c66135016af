"""How an AEC environment shows its game: as text, as pixels, in a window, and as SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from domino_env.errors import RenderModeError
from domino_env.notation.game import PlayedGame
from domino_env.rendering.ansi import render_game
from domino_env.rendering.svg import to_svg

if TYPE_CHECKING:
    from domino_env.rendering.window import Window

__all__ = ["RENDER_FPS", "RENDER_MODES", "Frame", "ShowsPictures", "check_render_mode"]

RENDER_MODES = ("ansi", "rgb_array", "human")
RENDER_FPS = 2
Frame = str | npt.NDArray[np.uint8] | None
"""What ``render`` gives."""


def check_render_mode(mode: str | None, modes: tuple[str, ...] = RENDER_MODES) -> str | None:
    """``mode``. Raises ``RenderModeError`` where there is no such mode, or where pygame is missing."""
    if mode is None:
        return None
    if not isinstance(mode, str) or mode not in modes:
        names = [repr(known) for known in (None, *modes)]
        raise RenderModeError(f"render_mode={mode!r}, but it is {', '.join(names[:-1])} or {names[-1]}")
    if mode != "ansi":
        try:
            import pygame  # noqa: F401
        except ImportError as error:
            raise RenderModeError(f"render_mode={mode!r} needs pygame: pip install \"domino-env[render]\"; 'ansi' needs nothing") from error
    return mode


class ShowsPictures:
    """The rendering of an environment that plays ``game``; seats see their own hand, and nobody sees a hidden tile."""

    game: PlayedGame
    metadata: dict[str, Any]
    render_mode: str | None
    onlooker: int | None = None
    """The seat whose view is rendered; None: that of the seat on turn, a spectator's once the game is over."""
    _window: Window | None = None

    def render(self) -> Frame:
        """The table as the seat on turn sees it: text, or (620, 960, 3) uint8, or None where it is in a window (``"human"``) or there
        is no ``render_mode``. ``"human"`` shows every move by itself. Raises ``OptionsError`` before the first ``reset``.
        """
        return self.render_for(self._eyes())

    def render_for(self, seat: int | None) -> Frame:
        """As ``render``, as ``seat`` sees it (None: as a spectator does)."""
        if self.render_mode is None:
            return None
        if self.render_mode == "ansi":
            return render_game(self.game, seat)
        if self.render_mode == "rgb_array":
            from domino_env.rendering.raster import rgb_frame

            return rgb_frame(self.game, seat)
        self._show(seat, 0)
        return None

    def to_svg(self, seat: int | None = None, reveal: bool = False) -> str:
        """The whole picture as SVG, as ``seat`` sees it (None: as a spectator does); with ``reveal`` all of it. Needs no pygame.

        Raises ``OptionsError`` before the first ``reset`` and for a seat that there is not.
        """
        return to_svg(self.game, seat, reveal)

    def _repr_svg_(self) -> str | None:
        """What a notebook shows: the view of the seat on turn."""
        return to_svg(self.game, self._eyes()) if self.game.started else None

    def _eyes(self) -> int | None:
        if self.onlooker is not None or self.game.over:
            return self.onlooker
        return self.game.seat

    def show_move(self) -> None:
        """With ``render_mode="human"``: the game as it stands, in the window, for as long as ``metadata["render_fps"]`` says."""
        if self.render_mode == "human":
            self._show(self._eyes(), self.metadata["render_fps"])

    def show_start(self) -> None:
        """As ``show_move``, for a game that begins: a window that the user closed opens again."""
        if self._window is not None:
            self._window.reopen()
        self.show_move()

    def _show(self, seat: int | None, fps: float) -> None:
        from domino_env.rendering.scene import picture
        from domino_env.rendering.window import Window

        scene = picture(self.game, seat)
        if self._window is None:
            self._window = Window(str(self.metadata["name"]))
        self._window.show(scene, fps)

    def close(self) -> None:
        """Close the window where there is one; more than once is fine."""
        if self._window is not None:
            self._window.close()
            self._window = None
