"""Rows of an instance by its delta column: those of its time, or those above the last high-water mark."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from toolkit.el import format_instant, load_zone, parse_instant, shift, to_local
from toolkit.exchange.rows import NotExchanged
from toolkit.jdbc.port import Value, ValueRange

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from toolkit.exchange.import_targets import ImportMarks, ImportTarget

BAD_DELTA = "bad_delta_column"
_NUMBERS = ("smallint", "int", "bigint", "decimal")
_MOST_DIGITS = 100
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class DeltaRange:
    """Range of an instance.

    Attributes:
        column: the delta column; empty: all rows.
        ranges: conditions of the rows; none: all.
        low: lower end as text; None: from the first row.
        high: upper end as text; None: it is not known yet, or to the last row.
        is_open: the upper end is the greatest number that the table has now.
        is_skipped: a later instance has the rows.
    """

    column: str = ""
    ranges: tuple[ValueRange, ...] = ()
    low: str | None = None
    high: str | None = None
    is_open: bool = False
    is_skipped: bool = False

    def up_to(self, high: Value) -> DeltaRange:
        """Return the range of numbers up to a value; None: there is no row, so that the mark stays."""
        text = self.low if high is None else str(high)
        ranges = _numbers(self.column, self.low, text) if self.ranges else ()
        return replace(self, high=text, ranges=ranges, is_open=False)


def delta_range(target: ImportTarget, marks: ImportMarks, kind: str, column: str) -> DeltaRange:
    """Return the range of an instance; of numbers without an end, unless it was imported before.

    Args:
        target: the instance.
        marks: that the ledger has.
        kind: Spark's type of the delta column.
        column: its name.

    Raises:
        NotExchanged: the column tells no rows of an instance.
    """
    if kind.startswith(_NUMBERS):
        return _number_range(target, marks, column)
    low, high = _time_range(target, marks)
    limits = [None if each is None else _local(each, kind, target, column) for each in (low, high)]
    if limits[0] is not None and limits[0] == limits[1]:
        return DeltaRange(column=column, is_skipped=True)
    limit = ValueRange(column=column, low=limits[0], high=limits[1])
    return DeltaRange(
        column=column,
        ranges=() if low is None else (limit,),  # all rows are also those after its time, and those without a value
        low=None if low is None else format_instant(low),
        high=format_instant(high),
    )


def _time_range(target: ImportTarget, marks: ImportMarks) -> tuple[datetime | None, datetime]:
    extract = target.settings.source.extract
    if not extract.is_merge:
        return target.instant, target.until
    if not target.merges or (marks.before is None and target.follows is None):
        return None, target.until
    low = target.instant
    if marks.before is not None and marks.before.high is not None and target.follows is None:
        low = min(low, parse_instant(marks.before.high))  # instances between them were never imported
    if extract.delta_lag is not None:
        low = shift(low, extract.delta_lag, -1, target.feed.timezone)
    return low, target.until


def _local(instant: datetime, kind: str, target: ImportTarget, column: str) -> Value:
    if kind == "timestamp":
        return instant
    local = _local_begin(instant, load_zone(target.feed.timezone))
    if kind == "timestamp_ntz":
        return local
    if kind != "date":
        why = f"{column} is {kind}, and tells no new rows; use a column of dates, times or growing numbers"
        raise NotExchanged(code=BAD_DELTA, why=why)
    if local != datetime.combine(local, datetime.min.time()):
        why = f"{column} is a date, and instances do not begin at midnight in {target.feed.timezone}; use a time"
        raise NotExchanged(code=BAD_DELTA, why=why)
    return local.date()


def _local_begin(instant: datetime, zone: ZoneInfo) -> datetime:
    """Return the local time at which rows of an instance begin: those of an hour that comes twice are its second's."""
    aware, begin = instant.astimezone(zone), to_local(instant, zone)
    while aware.fold == 0 and aware.utcoffset() != aware.replace(fold=1).utcoffset():
        begin = aware.replace(tzinfo=None)
        aware -= _MINUTE
    return begin


def _number_range(target: ImportTarget, marks: ImportMarks, column: str) -> DeltaRange:
    own, before, newest = marks.own, marks.before, marks.newest
    if target.settings.source.extract.delta_lag is not None:
        raise NotExchanged(code=BAD_DELTA, why=f"{column} is a number, and delta_lag goes with times; remove delta_lag")
    found = DeltaRange(column=column, is_open=own is None)
    if own is None and newest is not None and newest.instance_key > target.instance_key:
        return replace(found, is_skipped=True)
    if not target.is_last and not target.is_named:
        return replace(found, is_skipped=True)
    low = own.low if own is not None else None if before is None else before.high
    if target.is_whole:
        low = None
    high = None if own is None else own.high
    has_all = low is None and target.settings.source.extract.is_merge
    return replace(
        found, low=low, high=high, ranges=() if has_all else _numbers(column, low, high, is_open=own is None)
    )


def _numbers(column: str, low: str | None, high: str | None, *, is_open: bool = False) -> tuple[ValueRange, ...]:
    first, last = _number(low), _number(high)
    if first is None and last is None and not is_open:  # the table was empty: rows that came since are the next one's
        first = last = Decimal(0)
    return (ValueRange(column=column, low=first, high=last, includes_low=False, includes_high=True),)


def _number(mark: str | None) -> Decimal | None:
    """Return the number of a mark.

    Raises:
        NotExchanged: somebody else wrote it.
    """
    try:
        found = None if mark is None else Decimal(mark)
    except InvalidOperation:
        found = Decimal("NaN")
    if found is not None and not (found.is_finite() and abs(found.adjusted()) < _MOST_DIGITS):
        raise NotExchanged(code=BAD_DELTA, why=f"the ledger has {mark!r} as a mark, which is no number of a column")
    return found
