"""How files are written: beside their place, then renamed, so that a file appears whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from domino_env.errors import OptionsError

__all__ = ["check_writable", "replacing", "write_file"]


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A file to write in the place of ``path``, which it takes when the block ends well; a block that fails leaves nothing behind."""
    target = Path(path)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=target.suffix)
    os.close(handle)
    beside = Path(name)
    try:
        yield beside
        with beside.open("rb") as file:
            os.fsync(file.fileno())
        beside.chmod(0o644)
        beside.replace(target)
    except BaseException as error:
        if isinstance(error, OSError) and error.errno is not None and error.filename is None:
            error.filename = str(target)  # a full disk names no file
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


def write_file(path: str | os.PathLike[str], data: str | bytes) -> None:
    """Write a whole file, texts as UTF-8. Raises ``OSError`` where it cannot be."""
    with replacing(path) as beside:
        beside.write_bytes(data.encode() if isinstance(data, str) else data)


def check_writable(path: Path | None, suffix: str = "") -> None:
    """``OptionsError`` where a file could not be written beside ``path`` and renamed; found out before the work is done.

    ``suffix``: what the name must end in, such as ``".csv"``.
    """
    if path is None:
        return
    name, folder = repr(str(path)), path.absolute().parent
    if path.is_dir():
        raise OptionsError(f"file {name} is a folder")
    if suffix and path.suffix.lower() != suffix:
        raise OptionsError(f"file {name}, but its name ends in {suffix}")
    if not folder.is_dir():
        raise OptionsError(f"file {name}: there is no folder {str(folder)!r}")
    if path.exists() and not path.is_file():
        raise OptionsError(f"file {name} is no plain file")
    try:
        # the rights alone do not tell: the place may be full or mounted for reading
        with tempfile.NamedTemporaryFile(dir=folder, prefix=f".{path.name}."):
            pass
    except OSError as error:
        raise OptionsError(f"file {name}: cannot be written ({error.strerror})") from None
