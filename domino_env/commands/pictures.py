"""Pictures of a game as options of ``domino replay``: one as SVG, or all of them as a film."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from domino_env.errors import OptionsError
from domino_env.files import check_writable, write_file
from domino_env.notation.game import PlayedGame

__all__ = ["PictureWish"]


@dataclass(frozen=True)
class PictureWish:
    """Where a film and an SVG picture are wanted; None: nowhere. ``fps``: moves a second of the film."""

    film: Path | None = None
    svg: Path | None = None
    fps: float | None = None

    @property
    def wanted(self) -> bool:
        """Whether there is anything to draw."""
        return self.film is not None or self.svg is not None

    def check(self) -> None:
        """Raises ``OptionsError`` or ``RenderModeError``, before anything is played, for what could not be written."""
        if self.film is not None:
            from domino_env.rendering.film import check_film

            check_film(self.film, *(() if self.fps is None else (self.fps,)))
            check_writable(self.film)
        elif self.fps is not None:
            raise OptionsError(f"--fps {self.fps} is for a film: add --film FILE.gif")
        check_writable(self.svg, ".svg")

    def draw(self, game: PlayedGame, seat: int | None, reveal: bool) -> None:
        """The film up to where ``game`` stands, and the picture of it, as ``seat`` sees it (None: a spectator)."""
        from domino_env.rendering.svg import to_svg

        if self.svg is not None:
            write_file(self.svg, to_svg(game, seat, reveal) + "\n")
            sys.stderr.write(f"picture saved in {self.svg}\n")
        if self.film is not None:
            from domino_env.rendering.film import save_film

            save_film(game, self.film, seat, reveal, *(() if self.fps is None else (self.fps,)))
            sys.stderr.write(f"film saved in {self.film}\n")
