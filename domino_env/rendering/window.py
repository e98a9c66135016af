"""A window that shows a game while it is played. Needs the extra ``render``."""

from __future__ import annotations

import weakref

import pygame

from domino_env.errors import RenderModeError
from domino_env.rendering.raster import draw
from domino_env.rendering.scene import HEIGHT, WIDTH, Scene

__all__ = ["Window"]

_shown: weakref.ref[Window] | None = None  # pygame has one window: whose picture it holds now


class Window:
    """Opens with the first picture; a user who closes it is left in peace until ``reopen``. Several share the one that pygame has."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.closed = False
        self._clock = pygame.time.Clock()

    def show(self, scene: Scene, fps: float = 0) -> None:
        """Draw ``scene`` and hear what the user did; with ``fps``, wait until that much of a second has gone by since the last picture.

        Raises ``RenderModeError`` where no window can be opened.
        """
        if self.closed:
            return
        surface = self._surface()
        surface.blit(draw(scene), (0, 0))
        pygame.display.flip()
        if pygame.event.get(pygame.QUIT):
            self.close()
            return
        pygame.event.pump()
        if fps:
            self._clock.tick(fps)

    def _surface(self) -> pygame.Surface:
        global _shown
        mine = _shown is not None and _shown() is self
        surface = pygame.display.get_surface() if mine and pygame.display.get_init() else None
        if surface is not None:
            return surface
        try:
            pygame.display.init()
            surface = pygame.display.set_mode((WIDTH, HEIGHT))
        except pygame.error as error:
            raise RenderModeError(f"render_mode='human' needs a display ({error}); 'ansi' and 'rgb_array' need none") from None
        pygame.display.set_caption(self.title)
        _shown = weakref.ref(self)
        return surface

    def reopen(self) -> None:
        """The next picture opens the window again."""
        self.closed = False

    def close(self) -> None:
        """Close the window if it holds the picture of this one; more than once is fine."""
        global _shown
        self.closed = True
        if _shown is not None and _shown() is self:
            _shown = None
            pygame.display.quit()
