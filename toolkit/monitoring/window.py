"""Windows of series: which instances are expected for the first time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from toolkit.el import ElError, format_instant, parse_instant
from toolkit.ledger.sla import ExpectedInstance, SlaWindow
from toolkit.ledger.vocabulary import SlaState
from toolkit.monitoring.series import UNMEASURED, DatasetSeries, SlaSeries
from toolkit.planning.sla import SlaMoments, moment_after

if TYPE_CHECKING:
    from toolkit.monitoring.exemptions import Exemptions

_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class WindowMove:
    """Result of looking at the window of a series.

    Attributes:
        window: None: it stays as it is.
        new: instances that are expected for the first time.
        is_changed: the exemption of the series has begun or ended, or the config repo has other instances of it now, so
            that all its instances are decided anew.
    """

    window: SlaWindow | None = None
    new: tuple[ExpectedInstance, ...] = ()
    is_changed: bool = False


def move_window(
    series: SlaSeries,
    known: SlaWindow | None,
    exemptions: Exemptions,
    now: datetime,
    last_update: Callable[[str], datetime | None],
) -> WindowMove:
    """Return which instances of a series are expected by now and were not before.

    Args:
        series: the series.
        known: its window; None: it had no SLA before, so that it begins with the first instance whose SLA is not over.
        exemptions: of the present.
        now: time of the pass.
        last_update: returns when a dataset was updated last.
    """
    reason = exemptions.reason(series.key)
    if isinstance(series, DatasetSeries):
        if known is not None:
            is_same = known.series == series.description
            return WindowMove() if is_same else WindowMove(window=_dataset_window(series), is_changed=True)
        return _new_dataset(series, now, last_update(series.key.entity))
    description = "; ".join([series.description, *exemptions.holds_of(series.key)])
    is_other = known is not None and known.series != description
    is_changed = is_other or (known is not None and (known.exempt is None) is not (reason is None))
    if known is not None and not is_other and (not known.next_key or known.next_key > format_instant(now)):
        if known.exempt == reason:
            return WindowMove()
        return WindowMove(window=replace(known, exempt=reason), is_changed=is_changed)
    first = _first(series, known, now, is_other=is_other)
    new = () if first is None else tuple(_expected(series, first, now))
    following = None if first is None else series.sequence.at_or_after(max(now + _MINUTE, first))
    next_key = "" if following is None else format_instant(following)
    window = SlaWindow(**series.key._asdict(), next_key=next_key, exempt=reason, series=description)
    return WindowMove(window=window, new=new, is_changed=is_changed)


def expected_row(series: SlaSeries, instant: datetime) -> ExpectedInstance | None:
    """Return the row of an instance that is expected for the first time; None: it is not expected.

    Those on days off, or without a moment, are not.
    """
    if series.is_day_off(instant):
        return None
    try:
        moments = series.moments(instant)
    except UNMEASURED:
        return None
    return _row(series, format_instant(instant), instant, moments, "nothing is known of it yet")


def expected_again(series: SlaSeries, instance_key: str, since: datetime) -> ExpectedInstance | None:
    """Return the row of an instance that was there and was retracted; None: it is not expected.

    Args:
        series: its series.
        instance_key: of an instance that was expected before.
        since: a time at which it was there.
    """
    try:
        instant = parse_instant(instance_key)
    except ElError:  # events from outside may name what they like
        return None
    row = expected_row(series, instant) if instant in series.sequence else None
    return None if row is None else replace(row, since=since, evidence="events of the ledger")


def _first(series: SlaSeries, known: SlaWindow | None, now: datetime, *, is_other: bool) -> datetime | None:
    """Return the first instance that may be expected for the first time; None: none comes any more."""
    following = None if known is None or not known.next_key else parse_instant(known.next_key)
    if known is not None and not is_other:
        return following
    return min((each for each in (series.first_open(now), following) if each is not None), default=None)


def _expected(series: SlaSeries, first: datetime, now: datetime) -> Iterator[ExpectedInstance]:
    """Yield the instances of [first, now] that are expected."""
    for instant in series.sequence.between(first, now + _MINUTE):
        row = expected_row(series, instant)
        if row is not None:
            yield row


def _new_dataset(series: DatasetSeries, now: datetime, updated_at: datetime | None) -> WindowMove:
    """Return the one instance of a dataset; one that was never updated counts as updated now."""
    since = now if updated_at is None else updated_at
    moments = SlaMoments(high_at=moment_after(since, series.updated_every))
    text = "no update is known" if updated_at is None else "events of the ledger"
    return WindowMove(window=_dataset_window(series), new=(_row(series, "", since, moments, text),))


def _dataset_window(series: DatasetSeries) -> SlaWindow:
    return SlaWindow(**series.key._asdict(), next_key="", series=series.description)


def _row(series: SlaSeries, key: str, since: datetime, moments: SlaMoments, text: str) -> ExpectedInstance:
    subject, entity, cluster = series.key
    return ExpectedInstance(
        subject=subject,
        entity=entity,
        cluster=cluster,
        instance_key=key,
        low_at=moments.low_at,
        high_at=moments.high_at,
        state=SlaState.FRESH,
        since=since,
        evidence=text,
        next_at=min((each for each in (moments.low_at, moments.high_at) if each is not None), default=None),
    )
