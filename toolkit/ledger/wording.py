"""How messages about the ledger name things."""

from __future__ import annotations

from datetime import UTC, datetime


def moment(instant: datetime | None) -> str:
    """An instant to the second, for people: ``2026-03-20T12:00:05Z``."""
    return "?" if instant is None else instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
