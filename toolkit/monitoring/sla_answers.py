"""Answers about SLAs: instances that were not available in time, also in times long past."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from toolkit.el import format_instant, parse_instant
from toolkit.ledger import alerts, sla_evidence
from toolkit.ledger.sla import SlaKey
from toolkit.ledger.vocabulary import AlertKind, AlertLevel
from toolkit.monitoring.evidence import feed_evidence, look_text, seen
from toolkit.monitoring.series import FeedSeries
from toolkit.monitoring.window import expected_row
from toolkit.planning.sla import SlaMoments, presence_spans, sla_episodes
from toolkit.planning.sla_vocabulary import DataPresence

if TYPE_CHECKING:
    from toolkit.ledger.alert_rows import Alert
    from toolkit.ledger.database import Transaction
    from toolkit.monitoring.evidence import Looks
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
        is_unknown: its store cannot be read now, so that it may be there.
    """

    key: SlaKey
    instance_key: str
    is_high: bool
    missed_at: datetime
    came_at: datetime | None
    evidence: str
    is_unknown: bool = False


def instances_to_look_at(
    tx: Transaction, watched: WatchedSeries, period: tuple[datetime, datetime], now: datetime
) -> list[tuple[FeedSeries, list[datetime]]]:
    """Return the instances of a period that only storage can tell about: late by now, and without an alert.

    An instance that is older than the retention limit is left out: it may have been there and gone.

    Args:
        tx: the transaction.
        watched: the feeds.
        period: the first instance time, and the end, which does not count.
        now: what comes later does not count.
    """
    found: list[tuple[FeedSeries, list[datetime]]] = []
    for key, series in sorted(watched.by_key.items()):
        if not isinstance(series, FeedSeries) or not series.is_looked_at:
            continue
        known = {each.key.instance_key for each in _alerts_of(tx, key, period, now)}
        instants = [
            instant
            for instant in series.sequence.between(*period)
            if _is_late(series, instant, now) and format_instant(instant) not in known
        ]
        if instants:
            found.append((series, instants))
    return found


def _is_late(series: FeedSeries, instant: datetime, now: datetime) -> bool:
    row, over_at = expected_row(series, instant), series.over_at(instant)
    return row is not None and row.next_at is not None and row.next_at <= now and (over_at is None or now < over_at)


def missed_instances(
    tx: Transaction, watched: WatchedSeries, period: tuple[datetime, datetime], now: datetime, looks: Looks
) -> Iterator[MissedInstance]:
    """Yield the instances of feeds in a period that were not available in time, by feed and time.

    Of feeds that the config repo writes they are computed from the events, whenever a monitor ran; of others they are
    the alerts that were recorded, and instances that are not in storage now.

    Args:
        tx: the transaction.
        watched: the feeds.
        period: the first instance time, and the end, which does not count.
        now: what comes later does not count.
        looks: at the storage of `instances_to_look_at`.
    """
    for key, series in sorted(watched.by_key.items()):
        if not isinstance(series, FeedSeries):
            continue
        if series.is_looked_at:
            found = [*_recorded(tx, key, period, now), *_absent(key, series, looks, now)]
            yield from sorted(found, key=lambda each: (each.instance_key, each.missed_at))
        else:
            yield from _computed(tx, key, series, period, now)


def _absent(key: SlaKey, series: FeedSeries, looks: Looks, now: datetime) -> Iterator[MissedInstance]:
    for (of_series, instance_key), look in looks.items():
        row = expected_row(series, parse_instant(instance_key)) if of_series == key else None
        if row is None or row.next_at is None:
            continue
        if look.problem or seen(series.sla, look) is not DataPresence.PRESENT:
            yield MissedInstance(
                key=key,
                instance_key=instance_key,
                is_high=row.high_at is not None and row.high_at <= now,
                missed_at=row.next_at,
                came_at=None,
                evidence=look.problem or look_text(series.sla, look, now),
                is_unknown=bool(look.problem),
            )


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
    tx: Transaction, key: SlaKey, period: tuple[datetime, datetime], now: datetime
) -> Iterator[MissedInstance]:
    for each in _alerts_of(tx, key, period, now):
        yield MissedInstance(
            key=key,
            instance_key=each.key.instance_key,
            is_high=each.level is AlertLevel.HIGH,
            missed_at=each.opened_at,
            came_at=each.closed_at,
            evidence="storage, as passes of the monitor saw it",
        )


def _alerts_of(tx: Transaction, key: SlaKey, period: tuple[datetime, datetime], now: datetime) -> list[Alert]:
    """Return the alerts of a feed about instances of a period."""
    first, end = (format_instant(each) for each in period)
    kinds = (AlertKind.SLA, AlertKind.EMPTY)
    found = alerts.history(
        tx, start=period[0], end=now + _MINUTE, entities=[key.entity], cluster=key.cluster, kinds=kinds, limit=10_000
    )
    return [each for each in found if first <= each.key.instance_key < end]
