"""The examples of ``docs/integrations.md``, shown as they stand in their files, so that the page and the tests have one text."""

from __future__ import annotations

from docs.tables import ROOT

__all__ = ["EXAMPLES", "integration"]

EXAMPLES = ROOT / "docs" / "examples" / "integrations"
_FUTURE = "from __future__ import annotations\n"
_SCRIPT = '\n\nif __name__ == "__main__":'


def integration(name: str) -> list[str]:
    """The code of an example. Its fence is ``py``: the page's other blocks run with the core alone, this one needs its library."""
    text = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    body = text.partition(_FUTURE)[2].partition(_SCRIPT)[0].replace("  # noqa: F401 - ", "  # ")
    return ["", "```py", *body.strip().splitlines(), "```", ""]
