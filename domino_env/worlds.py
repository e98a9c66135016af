"""placeholder"""
from typing import Any
def resample(game: Any, seat: int, seed: int, skip_forced: bool) -> Any:
    raise NotImplementedError
