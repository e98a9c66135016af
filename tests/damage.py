"""Damaging records: a copy with one thing changed, and the refusal that must follow."""

from __future__ import annotations

from typing import Any

import pytest

from domino_env.errors import RecordError
from domino_env.notation import replay
from tests.golden import golden_names

Record = dict[str, Any]
MISSING = object()
MATCHES = [name for name in golden_names() if not name.endswith("_book")]


def changed(record: Any, *path: Any, to: Any) -> Any:
    """A copy with the value at ``path`` set, or taken away where ``to`` is MISSING; what lies beside the path is shared."""
    if not path:
        return to
    out = record.copy()
    if len(path) == 1 and to is MISSING:
        del out[path[0]]
    elif isinstance(out, dict) and len(path) == 1:
        out[path[0]] = to
    else:
        out[path[0]] = changed(record[path[0]], *path[1:], to=to)
    return out


def refused(record: Any, *words: str) -> str:
    """The message of the RecordError, which holds all the words."""
    with pytest.raises(RecordError) as caught:
        replay(record)
    for word in words:
        assert word in str(caught.value)
    return str(caught.value)
