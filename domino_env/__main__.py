"""``python -m domino_env`` is the ``domino`` command."""

from __future__ import annotations

from domino_env.cli import main

if __name__ == "__main__":
    main()
