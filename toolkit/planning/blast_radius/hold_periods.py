"""The periods of holds, and what other holds leave of them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from toolkit.entities import Hold
from toolkit.planning.blast_radius.effects import day_or_instant

Period = tuple[datetime, datetime]
"""From the first instant (included) to the second (excluded)."""

_BEGINNING, _END = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def hold_order(hold: Hold) -> tuple[Period, str]:
    """Sorts holds by their periods."""
    return period_of(hold), hold.reason


def period_of(hold: Hold) -> Period:
    """The period of a hold; an open end is the end of the calendar."""
    return hold.start or _BEGINNING, hold.end or _END


def covered(hold: Hold, others: tuple[Hold, ...]) -> Iterator[Period]:
    """The parts of a hold's period that other holds cover, merged, oldest first."""
    start, end = period_of(hold)
    run: Period | None = None
    for first, last in sorted(map(period_of, others)):
        part = max(first, start), min(last, end)
        if part[0] >= part[1]:
            continue
        if run is not None and part[0] > run[1]:
            yield run
            run = None
        run = part if run is None else (run[0], max(run[1], part[1]))
    if run is not None:
        yield run


def period_text(period: Period) -> str:
    """The period in words."""
    start, end = period
    if end == _END:
        return "all instances" if start == _BEGINNING else f"{day_or_instant(start)} and later"
    return (
        f"before {day_or_instant(end)}" if start == _BEGINNING else f"{day_or_instant(start)} to {day_or_instant(end)}"
    )


def hold_text(hold: Hold) -> str:
    """A hold in words: ``clicks on primary, 2026-01-01 to 2026-02-01 (audit)``."""
    where = f" on {hold.cluster}" if hold.cluster else ""
    return f"{hold.feed}{where}, {period_text(period_of(hold))} ({hold.reason})"
