"""A game as a film: GIF or MP4, one picture for each deal and each move. Needs the extra ``render``."""

from __future__ import annotations

import functools
import importlib.util
import itertools
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from domino_env.errors import OptionsError, RenderModeError
from domino_env.files import replacing
from domino_env.notation.game import PlayedGame
from domino_env.notation.records import replay, replay_moves, to_record
from domino_env.rendering.onlooker import Onlooker
from domino_env.rendering.scene import COLOURS, HEIGHT, WIDTH

__all__ = ["FILM_SUFFIXES", "check_film", "save_film"]

FILM_SUFFIXES = {".gif": "PIL", ".mp4": "av"}
"""What a film's name may end in, and the module that writes it."""
LAST = 3.0
"""Seconds for which the last picture stays at least."""
LEAST_FPS, MOST_FPS = 0.1, 30.0
LEAST_RATE = 10
"""Pictures a second in an MP4, at least: players stumble over fewer, so each is repeated."""
LEAST_WIDTH, MOST_WIDTH = 240, 1920
SHADES = 10
KEPT = 2
"""Lower bits of a colour that do not choose its shade."""
MEETING = (
    "face-pip face-edge face-last face-table edge-table edge-panel edge-black edge-last edge-back back-last text-room text-panel "
    "faint-room faint-panel last-room last-panel last-table last-pip end-table room-table room-panel table-black panel-black"
)
"""Colours that meet in a picture; a GIF has their shades and no other, the same in every frame."""

Frame = npt.NDArray[np.uint8]


def check_film(path: str | os.PathLike[str], fps: float = 1.5, width: int = 720) -> None:
    """``OptionsError`` where no film can be written under such a name, or of such a pace or size; ``RenderModeError`` where a
    library is missing.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in FILM_SUFFIXES:
        raise OptionsError(f"film {os.fspath(path)!r}, but its name ends in {' or '.join(FILM_SUFFIXES)}")
    if not LEAST_FPS <= fps <= MOST_FPS:
        raise OptionsError(f"fps={fps!r}, but it is from {LEAST_FPS:g} to {MOST_FPS:g} moves a second")
    if not LEAST_WIDTH <= width <= MOST_WIDTH:
        raise OptionsError(f"width={width!r}, but it is {LEAST_WIDTH} to {MOST_WIDTH} pixels")
    missing = [module for module in ("pygame", FILM_SUFFIXES[suffix]) if importlib.util.find_spec(module) is None]
    if missing:
        raise RenderModeError(f'a film in {suffix} needs {" and ".join(missing)}: pip install "domino-env[render]"')


def save_film(
    game: PlayedGame | Mapping[str, Any],
    path: str | os.PathLike[str],
    seat: int | None = None,
    reveal: bool = False,
    fps: float = 1.5,
    width: int = 720,
) -> None:
    """Write the film of a game or of a record, as ``seat`` sees it (None: a spectator); with ``reveal`` all of it.

    ``path`` ends in ``.gif`` or ``.mp4``; ``fps`` are moves a second, ``width`` is in pixels. The file appears whole or not at all.
    Raises ``OptionsError`` or ``RenderModeError`` (``check_film``), ``RecordError`` for a record that breaks a rule, ``OSError``.
    """
    check_film(path, fps, width)
    record = to_record(game) if isinstance(game, PlayedGame) else game
    Onlooker(replay(record), seat, reveal)  # a seat or a record that cannot be shown is refused before anything is written
    frames = _frames(record, seat, reveal, width)
    with replacing(path) as beside:
        if Path(path).suffix.lower() == ".gif":
            _write_gif(beside, frames, fps)
        else:
            _write_mp4(beside, frames, fps)


def _frames(record: Mapping[str, Any], seat: int | None, reveal: bool, width: int) -> Iterator[Frame]:
    """(H, W, 3) uint8 after each deal and each move; both sides even, as video has it."""
    import pygame

    from domino_env.rendering.raster import draw, pixels_of
    from domino_env.rendering.scene import picture

    width = width // 2 * 2
    size = (width, round(width * HEIGHT / WIDTH / 2) * 2)
    for game in replay_moves(record):
        yield pixels_of(pygame.transform.smoothscale(draw(picture(game, seat, reveal)), size))


def _write_gif(path: Path, frames: Iterator[Frame], fps: float) -> None:
    from PIL import Image

    palette, index = _palette()
    images = []
    for frame in frames:
        small = frame.astype(np.int64) >> KEPT
        image = Image.fromarray(index[small[..., 0], small[..., 1], small[..., 2]])
        image.putpalette(palette.tobytes())
        images.append(image)
    pause = round(1000 / fps)
    durations = [pause] * (len(images) - 1) + [max(pause, round(1000 * LAST))]
    images[0].save(path, format="GIF", save_all=True, append_images=images[1:], duration=durations, loop=0, optimize=True)


@functools.cache
def _palette() -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """(K, 3) the shades between all colours that meet, and (64, 64, 64) the nearest of them to every colour, by its upper six bits."""
    known = {role: np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) for role, colour in COLOURS.items()}
    known["black"] = np.zeros(3)
    steps = np.linspace(0, 1, SHADES)[:, None]
    shades = [known[a] + steps * (known[b] - known[a]) for a, b in (pair.split("-") for pair in MEETING.split())]
    palette = np.unique(np.concatenate(shades).round().astype(np.uint8), axis=0)
    levels = (np.arange(256 >> KEPT) << KEPT) + (1 << KEPT) // 2
    index = np.empty((len(levels),) * 3, np.uint8)
    for red, level in enumerate(levels):
        colours = np.stack(np.meshgrid([level], levels, levels, indexing="ij"), axis=-1).reshape(-1, 1, 3)
        index[red] = ((colours - palette.astype(np.int64)) ** 2).sum(-1).argmin(1).reshape(index[red].shape)
    for colour in known.values():  # plain grounds keep their very colour
        index[tuple(colour.astype(np.int64) >> KEPT)] = (palette == colour).all(1).argmax()
    return palette, index


def _write_mp4(path: Path, frames: Iterator[Frame], fps: float) -> None:
    import av

    rate = max(LEAST_RATE, round(fps))
    times = max(1, round(rate / fps))
    with av.open(str(path), "w", format="mp4") as container:
        stream = None
        for frame, following in itertools.pairwise(itertools.chain(frames, [None])):
            assert frame is not None
            if stream is None:
                stream = container.add_stream("libx264", rate=rate, options={"crf": "20"})
                stream.height, stream.width = frame.shape[:2]
                stream.pix_fmt = "yuv420p"
            repeats = times if following is not None else max(times, round(rate * LAST))
            image = av.VideoFrame.from_ndarray(frame, format="rgb24")
            for _ in range(repeats):
                container.mux(stream.encode(image))
        if stream is not None:
            container.mux(stream.encode())
