"""Spans of time in words."""

from __future__ import annotations

from datetime import timedelta

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def in_words(span: timedelta) -> str:
    """The two largest units of a span: ``6 d 23 h``, ``5 min``."""
    left = max(0, int(span.total_seconds()))
    parts = []
    for seconds, unit in _UNITS:
        count, left = divmod(left, seconds)
        if count:
            parts.append(f"{count} {unit}")
        elif parts:
            break
    return " ".join(parts[:2]) or "0 s"
