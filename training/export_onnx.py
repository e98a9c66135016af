"""``python -m training export-onnx``: the network of a checkpoint as an ONNX file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["export_onnx"]


def export_onnx(
    checkpoint: Annotated[str, typer.Argument(metavar="CHECKPOINT", help="A checkpoint file or a bundled name.", show_default=False)],
    output: Annotated[Path, typer.Argument(metavar="FILE.onnx", help="ONNX file to write.", show_default=False)],
) -> None:
    """Write the network of a checkpoint as an ONNX file, for any ONNX runtime and for 'domino bench-policy'.

    Example: python -m training export-onnx bergen/ppo bergen_ppo.onnx
    """
    from domino_env.benchmark import export_onnx as start
    from domino_env.files import check_writable

    check_writable(output, ".onnx")
    print(f"network {start(checkpoint, output)}")
