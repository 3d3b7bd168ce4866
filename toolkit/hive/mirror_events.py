"""Notification events of a metastore: the tables that a mirror compares (ADR 0106).

A cursor saves work and decides nothing: what is copied or dropped is found by the compare of both sides. Without a
cursor that fits the events, all tables are compared.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from toolkit.catalog.model import TableName
    from toolkit.catalog.port import Metastore

_NUMBER, _TIME, _SCOPE = "EVENT", "EVENTTIME", "EVENTSCOPE"
_NO_SCOPE = 0
CURSOR = _NUMBER
"""The counter that only a run with a cursor has."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EventCursor:
    """Last event of a metastore that a mirror has dealt with.

    Attributes:
        number: of the event.
        time: of the event, which no event of another metastore has by chance; 0: unknown.
        scope: see `scope_of`.
    """

    number: int
    time: int
    scope: int

    @classmethod
    def of(cls, counters: Mapping[str, int]) -> Self | None:
        """Return the cursor among the counters of a run; None: there is none."""
        found = [counters.get(name) for name in (_NUMBER, _TIME, _SCOPE)]
        number, time, scope = found
        if number is None or time is None or scope is None:
            return None
        return cls(number=number, time=time, scope=scope)

    @property
    def counters(self) -> dict[str, int]:
        """The cursor as counters of a run."""
        return {_NUMBER: self.number, _TIME: self.time, _SCOPE: self.scope}


def scope_of(*texts: str) -> int:
    """Return a number for what a mirror is about: a cursor of another scope says nothing."""
    return int.from_bytes(hashlib.sha256(repr(texts).encode(errors="surrogateescape")).digest()[:6], "big")


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangedTables:
    """Tables that events name.

    Attributes:
        first: the first event of each table; None: every table is to be compared.
        cursor: of a run that deals with all of them; None: it keeps none.
        times: of the events, by number.
        count: so many events were read.
        note: for the user.
    """

    first: Mapping[TableName, int] | None
    cursor: EventCursor | None = None
    times: Mapping[int, int] = field(default_factory=dict)
    count: int = 0
    note: str = ""

    def reached(self, failed: Collection[TableName]) -> EventCursor | None:
        """Return the cursor of a run: before the first event of a table that failed; None: it gets no new one."""
        if self.first is None or self.cursor is None:
            return None if failed else self.cursor
        if not failed:
            return self.cursor
        if not self.first.keys() >= set(failed):  # no event leads back to one of them
            return replace(self.cursor, scope=_NO_SCOPE)
        begin = min(self.first[each] for each in failed)
        time = self.times.get(begin - 1)
        return None if time is None else EventCursor(number=begin - 1, time=time, scope=self.cursor.scope)


def changed_tables(metastore: Metastore, cursor: EventCursor | None, scope: int, most: int) -> ChangedTables:
    """Return the tables that events behind a cursor name.

    Args:
        metastore: of the source; it is asked before its tables are listed, so that no change is missed.
        cursor: of an earlier run; None: there is none.
        scope: of the mirror.
        most: so many events are read.

    Raises:
        CatalogError: the metastore does not answer, or refuses.
    """
    newest = metastore.last_event()
    if not newest:
        return ChangedTables(first=None, note="the source's metastore keeps no notification events: all is compared")
    why = _why_unfit(cursor, scope, newest)
    if cursor is None or why:
        return _everything(metastore, scope, newest, why)
    found = metastore.events(cursor.number - 1, most + 1)
    if not found and newest == cursor.number:  # all events were cleaned since, and none has come
        return ChangedTables(first={}, cursor=cursor)
    numbers = [each.number for each in found]
    if numbers != list(range(cursor.number, cursor.number + len(found))) or not found:
        return _everything(metastore, scope, newest, f"events behind number {cursor.number} are missing")
    if cursor.time not in {0, found[0].time}:
        return _everything(metastore, scope, newest, f"event {cursor.number} is another one than it was")
    first: dict[TableName, int] = {}
    for each in found[1:]:
        if each.table is not None:
            first.setdefault(each.table, each.number)
    last, times = found[-1], {each.number: each.time for each in found}
    reached = EventCursor(number=last.number, time=last.time, scope=scope)
    left = newest - last.number
    note = f"{left:,} events are left for the next run (max_events: {most:,})" if left > 0 else ""
    return ChangedTables(first=first, cursor=reached, times=times, count=len(found) - 1, note=note)


def _why_unfit(cursor: EventCursor | None, scope: int, newest: int) -> str:
    if cursor is None:
        return "no run of this mirror has read events before"
    if cursor.scope not in {scope, _NO_SCOPE}:
        return "the mirror has other databases, tables or clusters than before"
    if cursor.scope == _NO_SCOPE:
        return "a table failed that no event names"
    return f"the events of the source's metastore begin anew at {newest}" if newest < cursor.number else ""


def _everything(metastore: Metastore, scope: int, newest: int, why: str) -> ChangedTables:
    last = metastore.events(newest - 1, 1)
    is_there = bool(last) and last[0].number == newest
    cursor = EventCursor(number=newest, time=last[0].time if is_there else 0, scope=scope)
    return ChangedTables(first=None, cursor=cursor, note=f"{why}: all is compared")
