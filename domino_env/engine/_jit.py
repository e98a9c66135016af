"""How kernels are compiled and where the machine code is kept.

Numba's own disk cache looks only at the file of the kernel itself, so it is stale when a helper's file changes. Here the
cache folder is named by a hash of all sources that hold kernels, numba's version and the switches that change the code.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import event, types
from numba.extending import intrinsic

__all__ = ["cache_folder", "count_bits", "direct", "jit", "kernel", "lowest_bit"]

F = TypeVar("F", bound=Callable[..., Any])

_PACKAGE = Path(__file__).resolve().parent.parent


@functools.cache
def cache_folder() -> Path:
    """Folder of this version's machine code: below ``DOMINO_ENV_CACHE`` or the user's cache folder, else one of this process alone."""
    digest = hashlib.sha256(f"{numba.__version__} {numba.config.BOUNDSCHECK} {sys.implementation.cache_tag}".encode())
    for file in [_PACKAGE / "tiles.py", _PACKAGE / "rule_terms.py", *sorted(_PACKAGE.glob("*/*.py"))]:
        source = file.read_bytes()
        if file.parent.name in ("domino_env", "engine") or b"engine._jit import" in source:
            digest.update(source)
    own = os.environ.get("DOMINO_ENV_CACHE") or os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
    folder = Path(own) / "domino_env" / digest.hexdigest()[:16]
    if not own.startswith("~"):  # a user without a home leaves the ~ as it was
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK):
                return folder
    return Path(tempfile.mkdtemp(prefix="domino_env-"))


_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


def kernel(function: F) -> F:
    """Compile what Python calls: on its first call, without the interpreter lock; its machine code is kept on disk.

    Rows are handed over as plain structured arrays: finding the type of a recarray costs 10 us a call.
    """
    if numba.config.DISABLE_JIT:
        return _interpreted(function)
    kept = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(cache_folder())
    try:
        return numba.njit(cache=True, **_OPTIONS)(function)  # type: ignore[no-any-return]
    finally:
        numba.config.CACHE_DIR = kept


def direct(function: Any, *examples: Any) -> Callable[..., Any]:
    """A kernel's machine code for arguments of the types of ``examples``, which saves finding their types at each call.

    Whoever calls it passes just those types: nothing checks them any more.
    """
    if numba.config.DISABLE_JIT:
        return function  # type: ignore[no-any-return]
    signature = tuple(numba.typeof(example) for example in examples)
    function.compile(signature)
    return function.overloads[signature].entry_point  # type: ignore[no-any-return]


def jit(function: F) -> F:
    """Compile what only kernels call: no entry from Python is made, which halves the time that compiling takes."""
    if numba.config.DISABLE_JIT:
        return function
    return numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS)(function)  # type: ignore[no-any-return]


def _interpreted(function: F) -> F:
    """The kernel without a compiler: rows become recarrays, so that ``game.field`` reads as in compiled code."""

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        answer = function(*[a.view(np.recarray) if isinstance(a, np.ndarray) and a.dtype.names else a for a in args])
        return tuple(map(int, answer)) if isinstance(answer, tuple) else answer

    return call  # type: ignore[return-value]


class _Announcer(event.Listener):
    """Says once that kernels are being compiled: the first run on a machine is silent for half a minute otherwise."""

    said = False

    def on_start(self, event: Any) -> None:
        name = getattr(event.data["dispatcher"].py_func, "__module__", "")
        if name.startswith("domino_env.") and not _Announcer.said:
            _Announcer.said = True
            print(f"domino_env: compiling kernels for their first use (up to half a minute; kept in {cache_folder()})", file=sys.stderr)

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _Announcer())


def _unary_i64(operation: str) -> Any:
    def typed(typingctx: Any, mask: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            wide = context.cast(builder, args[0], signature.args[0], types.int64)
            return builder.ctpop(wide) if operation == "ctpop" else builder.cttz(wide, context.get_constant(types.boolean, 0))

        return types.int64(types.int64), codegen

    return typed


if numba.config.DISABLE_JIT:

    def count_bits(mask: int) -> int:
        """Number of tiles in a mask."""
        return int(mask).bit_count()

    def lowest_bit(mask: int) -> int:
        """Lowest tile id in a mask that is not empty."""
        mask = int(mask)
        return (mask & -mask).bit_length() - 1

else:
    count_bits = intrinsic(_unary_i64("ctpop"))
    lowest_bit = intrinsic(_unary_i64("cttz"))
