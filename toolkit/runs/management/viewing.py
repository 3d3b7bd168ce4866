"""Which of the instances in a range are wanted, in which order (Falcon feature list, Instance operations)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from toolkit.ledger.runs.finding import RunFilter, RunOrder
from toolkit.ledger.vocabulary import RunStatus
from toolkit.runs.management.ranges import NEWEST
from toolkit.runs.management.rows import InstanceRow

_Key = str | datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """A selection of rows, and a page of it.

    Attributes:
        statuses: only these; empty: all.
        started_after: only what began then or later.
        order: what the rows are sorted by; those of one place by instance, cluster and attempt.
        is_descending: the largest first. None: the newest first when no start was asked for, else the oldest.
        offset: so many rows are passed over.
        limit: at most so many rows; None: all.
        all_attempts: not only the newest of each instance.
    """

    statuses: tuple[RunStatus, ...] = ()
    started_after: datetime | None = None
    order: RunOrder = RunOrder.INSTANCE
    is_descending: bool | None = None
    offset: int = 0
    limit: int | None = None
    all_attempts: bool = False

    @property
    def wants_all(self) -> bool:
        """Whether no row is left out for what it is."""
        return not self.statuses and self.started_after is None

    @property
    def count_of_newest(self) -> int:
        """So many of the newest instances a question is about that names no start."""
        return NEWEST if self.limit is None else self.offset + self.limit

    def narrowing(self, wanted: RunFilter, *, newest_first: bool) -> RunFilter:
        """A filter of the ledger, with what the view asks for; see `arranged`."""
        return replace(
            wanted,
            statuses=self.statuses,
            started_after=self.started_after,
            order_by=self.order,
            descending=newest_first if self.is_descending is None else self.is_descending,
            offset=self.offset,
            limit=self.limit,
        )

    def wants(self, row: InstanceRow) -> bool:
        """Whether a row is selected."""
        after = self.started_after
        has_status = not self.statuses or row.status in self.statuses
        return has_status and (after is None or (row.started_at is not None and row.started_at >= after))

    def arranged(self, rows: Iterable[InstanceRow], *, newest_first: bool) -> list[InstanceRow]:
        """The rows in order; what has not begun, or is not over, comes last when that is what they are sorted by.

        Args:
            rows: in any order.
            newest_first: unless the view says which way.
        """
        is_descending = newest_first if self.is_descending is None else self.is_descending
        key = _KEYS[self.order]
        natural = sorted(rows, key=_natural)
        known = [row for row in natural if key(row) is not None]
        known.sort(key=lambda row: key(row) or "", reverse=is_descending)
        return known + [row for row in natural if key(row) is None]

    def page(self, rows: list[InstanceRow]) -> tuple[InstanceRow, ...]:
        """The rows of the page."""
        return tuple(rows[self.offset : None if self.limit is None else self.offset + self.limit])


def _natural(row: InstanceRow) -> tuple[str, str, str, int]:
    return row.instance_key, row.cluster, row.counterpart, row.attempt


_KEYS: dict[RunOrder, Callable[[InstanceRow], _Key]] = {
    RunOrder.INSTANCE: lambda row: row.instance_key,
    RunOrder.STATUS: lambda row: row.status,
    RunOrder.START: lambda row: row.started_at,
    RunOrder.END: lambda row: row.ended_at,
    RunOrder.CLUSTER: lambda row: row.cluster,
}
