"""How statuses, moments and texts of others stand in the cells of a table."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from toolkit.ledger.errors import moment
from toolkit.printable import on_one_line

NOTHING = "-"
"""Stands where there is nothing, so that columns can be counted."""

STATUS_STYLES: Mapping[str, str] = {
    "waiting": "dim",
    "ready": "cyan",
    "running": "cyan",
    "succeeded": "green",
    "failed": "bold red",
    "killed": "red",
    "timed_out": "red",
    "suspended": "yellow",
    "skipped": "yellow",
}
"""Styles of statuses, on a terminal."""


def cell(text: object) -> str:
    """A value; what is not printable in it must not forge a line or move the cursor."""
    return NOTHING if text is None or text == "" else on_one_line(str(text))


def moment_cell(instant: datetime | None) -> str:
    """A moment, to the second."""
    return NOTHING if instant is None else moment(instant)


def moment_value(instant: datetime | None) -> str | None:
    """A moment in a JSON document, to the second."""
    return None if instant is None else moment(instant)
