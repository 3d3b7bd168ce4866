"""Answers about SLAs: instances that were not available in time, also in times long past."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from toolkit.el import format_instant
from toolkit.ledger import alerts, sla_evidence
from toolkit.ledger.sla import SlaKey
from toolkit.ledger.vocabulary import AlertKind, AlertLevel
from toolkit.monitoring.evidence import feed_evidence
from toolkit.monitoring.series import FeedSeries
from toolkit.monitoring.window import expected_row
from toolkit.planning.sla import SlaMoments, presence_spans, sla_episodes
from toolkit.planning.sla_vocabulary import DataPresence

if TYPE_CHECKING:
    from toolkit.ledger.database import Transaction
    from toolkit.monitoring.series import WatchedSeries

_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class MissedInstance:
    """An instance of a feed that was not available in time.

    Attributes:
        key: the feed on its cluster.
        instance_key: the instance.
        is_high: it missed its high limit too.
        missed_at: the first limit that it missed.
        came_at: when it was available; None: it is not.
        evidence: what that is known from.
    """

    key: SlaKey
    instance_key: str
    is_high: bool
    missed_at: datetime
    came_at: datetime | None
    evidence: str


def missed_instances(
    tx: Transaction, watched: WatchedSeries, period: tuple[datetime, datetime], now: datetime
) -> Iterator[MissedInstance]:
    """Yield the instances of feeds in a period that were not available in time, by feed and time.

    Of feeds that the config repo writes they are computed from the events, whenever a monitor ran; of others they are
    the alerts that were recorded.

    Args:
        tx: the transaction.
        watched: the feeds.
        period: the first instance time, and the end, which does not count.
        now: what comes later does not count.
    """
    for key, series in sorted(watched.by_key.items()):
        if isinstance(series, FeedSeries):
            yield from (_recorded if series.is_looked_at else _computed)(tx, key, series, period, now)


def _computed(
    tx: Transaction, key: SlaKey, series: FeedSeries, period: tuple[datetime, datetime], now: datetime
) -> Iterator[MissedInstance]:
    instants = list(series.sequence.between(*period))
    if not instants:
        return
    ends = format_instant(instants[0]), format_instant(instants[-1])
    events = sla_evidence.events_between(tx, key.entity, key.cluster, ends, now)
    for instant in instants:
        row = expected_row(series, instant)
        if row is None:
            continue
        found = feed_evidence(series, row, events.get(row.instance_key, ()), None, now, is_due=False, has_alert=False)
        moments = SlaMoments(low_at=row.low_at, high_at=row.high_at)
        spans = presence_spans(DataPresence.ABSENT, instant, found.changes)
        for each in sla_episodes(moments, spans, now):
            yield MissedInstance(
                key=key,
                instance_key=row.instance_key,
                is_high=each.is_high,
                missed_at=each.opened_at,
                came_at=each.closed_at,
                evidence=found.source,
            )


def _recorded(
    tx: Transaction, key: SlaKey, series: FeedSeries, period: tuple[datetime, datetime], now: datetime
) -> Iterator[MissedInstance]:
    del series
    first, end = (format_instant(each) for each in period)
    kinds = (AlertKind.SLA, AlertKind.EMPTY)
    found = alerts.history(
        tx, start=period[0], end=now + _MINUTE, entities=[key.entity], cluster=key.cluster, kinds=kinds, limit=10_000
    )
    for each in sorted(found, key=lambda alert: (alert.key.instance_key, alert.opened_at)):
        if first <= each.key.instance_key < end:
            yield MissedInstance(
                key=key,
                instance_key=each.key.instance_key,
                is_high=each.level is AlertLevel.HIGH,
                missed_at=each.opened_at,
                came_at=each.closed_at,
                evidence="storage, as passes of the monitor saw it",
            )
