"""Names in a message: all of a few, the first of many."""

from __future__ import annotations

from collections.abc import Iterable

_MOST = 20


def listed(names: Iterable[str]) -> str:
    """The names, each once, joined; of many the first, and how many more there are."""
    every = list(dict.fromkeys(names))
    rest = f" and {len(every) - _MOST:,} more" if len(every) > _MOST else ""
    return ", ".join(every[:_MOST]) + rest
