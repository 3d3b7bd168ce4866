"""The one door to the wall clock, so that everything inside takes time as an argument (STYLE H14)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the wall-clock time."""

    def now(self) -> datetime:
        """The present instant, timezone-aware, in UTC."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """The present instant in UTC."""
        return datetime.now(UTC)
