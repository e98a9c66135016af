from typing import Any
def render_game(game: Any, seat: Any) -> str:
    return ""
