"""How files are written: beside their place, then renamed, so that a file appears whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

__all__ = ["replacing", "write_file"]


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
