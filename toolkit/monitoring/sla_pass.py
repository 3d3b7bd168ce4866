"""Pass over all SLAs: expects new instances, reads what happened, decides states, and finds what was missed.

A pass at a time sees the events and runs that were recorded by then. What it finds of the past has the times of the
moments and events, so that passes by the minute and one pass for a month find the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from toolkit.el import parse_instant
from toolkit.ledger import alerts, sla_evidence
from toolkit.ledger import sla as rows
from toolkit.ledger.alert_rows import Alert, AlertChanges, AlertKey
from toolkit.ledger.events import UPDATES
from toolkit.ledger.sla import ExpectedInstance, SlaKey, SlaPosition, SlaWindow
from toolkit.ledger.sla_evidence import SlaEvent
from toolkit.ledger.vocabulary import AlertKind, AlertLevel, EventKind, SlaState, SlaSubject
from toolkit.monitoring.alert_changes import alert_changes
from toolkit.monitoring.evidence import RunEvidence, feed_evidence, run_evidence
from toolkit.monitoring.exemptions import Exemptions
from toolkit.monitoring.instance_states import (
    DecidedInstance,
    Exemption,
    decide_dataset,
    decide_feed,
    decide_process,
    presence_of,
)
from toolkit.monitoring.series import DatasetSeries, FeedSeries, ProcessSeries, WatchedSeries
from toolkit.monitoring.sla_conditions import KINDS, unknown_condition
from toolkit.monitoring.window import expected_again, move_window
from toolkit.planning.sla_vocabulary import DataPresence

if TYPE_CHECKING:
    from toolkit.ledger.database import Transaction
    from toolkit.monitoring.alert_changes import AlertCondition
    from toolkit.monitoring.evidence import Looks

_RowKey = tuple[SlaKey, str]
_KINDS_OF = {
    SlaSubject.FEED: (AlertKind.SLA, AlertKind.EMPTY),
    SlaSubject.PROCESS: (AlertKind.SLA_START, AlertKind.SLA_END),
    SlaSubject.DATASET: (AlertKind.SLA,),
}
NOT_EXPECTED = "its SLA does not expect it any more"
"""Reason for which alerts are closed whose instance is neither there nor missing."""

READABLE = "its store can be read again, or nothing there is expected"
"""Reason for which an alert about a store that could not be read is closed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SlaChanges:
    """Decision of a pass.

    Attributes:
        position: where the pass began to read.
        sequence: the newest event that it has read.
        windows: new and changed.
        dropped: series without an SLA now.
        put: instances that are expected; new and changed ones.
        gone: instances that are there, or are not expected any more.
        alerts: open alerts that the conditions are complete for.
        conditions: what was missed, also what is over.
        looks: instances that storage has to be asked for, by feed.
        new: number of instances that are expected for the first time.
        unknown: number of instances of which nothing is known.
        problems: series that nobody watches, and why.
    """

    position: SlaPosition
    sequence: int
    windows: Sequence[SlaWindow] = ()
    dropped: Sequence[SlaKey] = ()
    put: Sequence[ExpectedInstance] = ()
    gone: Sequence[ExpectedInstance] = ()
    alerts: Sequence[Alert] = ()
    conditions: Sequence[AlertCondition] = ()
    looks: Sequence[tuple[FeedSeries, Sequence[datetime]]] = ()
    new: int = 0
    unknown: int = 0
    problems: Sequence[str] = ()


def decide_slas(tx: Transaction, watched: WatchedSeries, now: datetime, looks: Looks) -> SlaChanges:
    """Return what a pass changes; nothing is written.

    Args:
        tx: the transaction; once it has called `lock_position`, no other pass decides meanwhile.
        watched: the series.
        now: time of the pass.
        looks: at storage, as an earlier decision wanted them.
    """
    return _SlaPass(tx, watched, now, looks).changes()


def sla_alert_changes(changes: SlaChanges, now: datetime, tell: AlertLevel = AlertLevel.HIGH) -> AlertChanges:
    """Return what a pass changes of alerts.

    Args:
        changes: its decision.
        now: its time.
        tell: the lowest level of which messages are sent.
    """
    found = AlertChanges()
    for is_dark, because in ((False, NOT_EXPECTED), (True, READABLE)):
        of_kind = [each for each in changes.alerts if (each.key.kind is AlertKind.UNKNOWN) is is_dark]
        conditions = [each for each in changes.conditions if (each.kind is AlertKind.UNKNOWN) is is_dark]
        found += alert_changes(of_kind, conditions, now, tell=tell, gone_because=because)
    return found


def record_slas(tx: Transaction, changes: SlaChanges, now: datetime) -> None:
    """Write the decision of a pass."""
    rows.drop_windows(tx, changes.dropped)
    rows.put_windows(tx, changes.windows)
    rows.drop_instances(tx, changes.gone)
    rows.put_instances(tx, changes.put)
    rows.move(tx, changes.sequence, now)


class _SlaPass:
    """One pass."""

    def __init__(self, tx: Transaction, watched: WatchedSeries, now: datetime, looks: Looks) -> None:
        self._tx, self._watched, self._now, self._looks = tx, watched, now, looks
        self._position = rows.position(tx, now)
        self._sequence = self._position.sequence
        self._windows = rows.windows(tx)
        self._exemptions = Exemptions.read(tx, now, watched.holds)
        self._rows: dict[_RowKey, ExpectedInstance] = {}
        self._new: dict[_RowKey, ExpectedInstance] = {}
        self._came: set[_RowKey] = set()
        self._events: dict[_RowKey, list[SlaEvent]] = {}
        self._wanted: dict[SlaKey, tuple[FeedSeries, list[datetime]]] = {}
        self._unknown: dict[SlaKey, list[str]] = {}

    def changes(self) -> SlaChanges:
        """Return the decision."""
        dropped = sorted(key for key in self._windows.keys() - self._watched.by_key.keys() if self._is_own(key))
        windows, changed = self._move_windows()
        self._take(rows.due_instances(self._tx, self._now))
        self._take(rows.instances_of(self._tx, changed))
        self._new = {name: each for name, each in self._new.items() if name not in self._rows}
        self._read_events()
        self._read_events_of_new()
        gone = [each for each in self._rows.values() if not self._is_expected(each)]
        touched = {key: each for key, each in (self._rows | self._new).items() if self._is_expected(each)}
        found = self._alerts([*touched, *((each.key, each.instance_key) for each in gone)])
        alerted = {(each.key.entity, each.key.cluster, each.key.instance_key) for each in found}
        runs = self._runs(touched)
        decided = {key: self._decided(key, each, runs, alerted) for key, each in touched.items()}
        conditions = [found for each in decided.values() for found in each.conditions]
        dark = {(key.entity, key.cluster, instance) for (key, instance), each in decided.items() if each.unknown}
        return SlaChanges(
            position=self._position,
            sequence=self._sequence,
            windows=windows,
            dropped=dropped,
            put=[each.row for key, each in decided.items() if each.row is not None and each.row != self._rows.get(key)],
            gone=[*gone, *(self._rows[key] for key, each in decided.items() if each.row is None and key in self._rows)],
            alerts=[
                *(each for each in found if (each.key.entity, each.key.cluster, each.key.instance_key) not in dark),
                *self._other_alerts(dropped),
            ],
            conditions=[*conditions, *self._unknown_conditions()],
            looks=[(series, sorted(instants)) for series, instants in self._wanted.values()],
            new=len(self._new),
            unknown=len(dark),
            problems=self._watched.problems,
        )

    def _move_windows(self) -> tuple[list[SlaWindow], list[SlaKey]]:
        """Return the windows that move, and the series whose exemption has begun or ended."""
        moved: list[SlaWindow] = []
        changed: list[SlaKey] = []
        for key, series in self._watched.by_key.items():
            move = move_window(series, self._windows.get(key), self._exemptions, self._now, self._last_update)
            if move.window is not None:
                moved.append(move.window)
            if move.is_changed:
                changed.append(key)
            self._new |= {(key, each.instance_key): each for each in move.new}
        return moved, changed

    def _last_update(self, dataset: str) -> datetime | None:
        return sla_evidence.last_update(self._tx, dataset, UPDATES, self._now)

    def _is_own(self, key: SlaKey) -> bool:
        return key.subject is SlaSubject.DATASET or self._watched.allows(key.cluster)

    def _is_expected(self, row: ExpectedInstance) -> bool:
        """Return whether a series has an instance now: its validity or frequency may have changed."""
        series = self._watched.by_key[row.key]
        return isinstance(series, DatasetSeries) or parse_instant(row.instance_key) in series.sequence

    def _take(self, found: Iterable[ExpectedInstance]) -> None:
        """Add rows of the ledger to those that are decided anew."""
        self._rows |= {(each.key, each.instance_key): each for each in found if each.key in self._watched.by_key}

    def _read_events(self) -> None:
        """Read the events since the last pass, and take the rows of their instances."""
        for each in sla_evidence.events_after(self._tx, self._position.sequence, self._now):
            self._sequence = each.sequence
            key = SlaKey(SlaSubject.FEED, each.feed, each.cluster)
            if not each.feed:
                key = SlaKey(SlaSubject.DATASET, each.dataset, "")
            if key in self._watched.by_key:
                self._events.setdefault((key, each.instance_key if each.feed else ""), []).append(each)
        self._take(rows.named_instances(self._tx, self._events.keys() - self._rows.keys() - self._new.keys()))
        for name in self._events.keys() - self._rows.keys() - self._new.keys():
            self._take_retracted(name)

    def _take_retracted(self, key: _RowKey) -> None:
        """Take an instance that was there and is so no longer: it is expected again."""
        window, series, first = self._windows.get(key[0]), self._watched.by_key[key[0]], self._events[key][0]
        if window is None or isinstance(series, DatasetSeries):
            return
        is_later = bool(window.next_key) and key[1] >= window.next_key
        if is_later or all(each.kind is not EventKind.RETRACTED for each in self._events[key]):
            return
        row = expected_again(series, key[1], first.recorded_at)
        if row is not None:
            self._new[key] = row
            self._came.add(key)

    def _read_events_of_new(self) -> None:
        """Read the events of instances that are expected for the first time, since data may come before its time."""
        names = {
            (key.entity, key.cluster, instance)
            for key, instance in self._new.keys() - self._came
            if key.subject is SlaSubject.FEED
        }
        for name, found in sla_evidence.events_of(self._tx, names, self._sequence, self._now).items():
            self._events[SlaKey(SlaSubject.FEED, *name[:2]), name[2]] = found

    def _alerts(self, names: Iterable[_RowKey]) -> list[Alert]:
        """Return the open alerts of instances that have passed a limit; others have none."""
        keys = [
            AlertKey(kind=kind, entity=key.entity, cluster=key.cluster, instance_key=instance)
            for key, instance in names
            if self._may_have_alert(self._rows.get((key, instance)))
            for kind in _KINDS_OF[key.subject]
        ]
        return alerts.open_among(self._tx, keys)

    def _may_have_alert(self, row: ExpectedInstance | None) -> bool:
        """Return whether an earlier pass may have opened an alert: a limit has passed that was not decided yet, too."""
        return row is not None and any(each is not None and each <= self._now for each in (row.low_at, row.high_at))

    def _other_alerts(self, dropped: Sequence[SlaKey]) -> list[Alert]:
        """Return the open alerts of series that are not watched any more, and of stores that could not be read."""
        names = {(each.entity, each.cluster) for each in dropped}
        found = alerts.open_alerts(self._tx, self._now, kinds=KINDS if dropped else (AlertKind.UNKNOWN,))
        return [
            each
            for each in found
            if (each.key.entity, each.key.cluster) in names
            or (each.key.kind is AlertKind.UNKNOWN and self._watched.allows(each.key.cluster))
        ]

    def _unknown_conditions(self) -> Iterator[AlertCondition]:
        for key, problems in self._unknown.items():
            yield unknown_condition(key, problems[0], len(problems), self._now)

    def _runs(self, touched: Mapping[_RowKey, ExpectedInstance]) -> Mapping[_RowKey, RunEvidence]:
        """Return what is known of the instances of processes whose time has come."""
        names = {
            (key.entity, key.cluster, instance)
            for (key, instance), each in touched.items()
            if key.subject is SlaSubject.PROCESS and self._is_due(each)
        }
        found = sla_evidence.runs_of(self._tx, names, self._now)
        evidence: dict[_RowKey, RunEvidence] = {}
        for entity, cluster, instance in names:
            key = SlaKey(SlaSubject.PROCESS, entity, cluster)
            series = self._watched.by_key[key]
            if isinstance(series, ProcessSeries):
                evidence[key, instance] = run_evidence(series, found.get((entity, cluster, instance), ()), self._now)
        return evidence

    def _is_due(self, row: ExpectedInstance) -> bool:
        """Return whether it is to be decided now; one that nothing was awaited of is, after a change, as well."""
        return self._may_have_alert(row) if row.next_at is None else row.next_at <= self._now

    def _decided(
        self,
        key: _RowKey,
        row: ExpectedInstance,
        runs: Mapping[_RowKey, RunEvidence],
        alerted: Collection[tuple[str, str, str]],
    ) -> DecidedInstance:
        series, events = self._watched.by_key[key[0]], self._events.get(key, [])
        if isinstance(series, DatasetSeries):
            return decide_dataset(row, series, events, self._now)
        instant = parse_instant(row.instance_key)
        exemption = self._exemption(row, instant)
        if not isinstance(series, FeedSeries):
            return decide_process(row, runs.get(key, RunEvidence()), exemption, self._now)
        is_due = self._is_due(row) and not exemption.reason
        has_alert = (*key[0][1:], key[1]) in alerted
        evidence = feed_evidence(
            series, row, events, self._looks.get(key), self._now, is_due=is_due, has_alert=has_alert
        )
        if evidence.wants_look and key not in self._looks:
            self._wanted.setdefault(key[0], (series, []))[1].append(instant)
        presence = DataPresence.PRESENT if key in self._came else presence_of(row)
        found = decide_feed(
            row,
            presence,
            evidence,
            exemption,
            self._now,
            is_looked_at=series.is_looked_at,
            over_at=series.over_at(instant),
        )
        if found.unknown:
            self._unknown.setdefault(key[0], []).append(found.unknown)
        return found

    def _exemption(self, row: ExpectedInstance, instant: datetime) -> Exemption:
        reason, was = self._exemptions.reason(row.key), row.state is SlaState.EXEMPT
        if reason is not None:
            suspension = self._exemptions.suspension(row.key)
            since = self._now if suspension is None else suspension.changed_at
            return Exemption(reason=reason, changed_at=since, is_lasting=True)
        hold = self._exemptions.hold(row.key, instant) if row.subject is SlaSubject.FEED else ""
        at = self._exemptions.ended_at(row.key, self._now) if was and not hold else self._now
        return Exemption(reason=hold, changed_at=at)
