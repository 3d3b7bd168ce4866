"""Decision which alerts open, rise and close, from what is wrong at a time; pure (issue 32).

Times come from what was found, and not from the moment of the pass: passes by the minute and one pass for a month give
the same alerts with the same times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby

from toolkit.ledger.alert_rows import Alert, AlertChanges, AlertClosing, AlertEscalation, AlertKey, NewAlert
from toolkit.ledger.vocabulary import AlertKind, AlertLevel


@dataclass(frozen=True, kw_only=True, slots=True)
class AlertCondition:
    """Something that is wrong at the time of a pass, or was wrong for a while before it.

    Attributes:
        kind: what is wrong.
        entity: with which entity; empty: none.
        cluster: where; empty: nowhere in particular.
        instance_key: with which instance; empty: none.
        level: how bad it is at the time of the pass, or was at its end.
        since: from when on it is wrong.
        escalated_at: from when on its level is high; None: it never changed.
        ended_at: until when it was wrong; None: it still is.
        ended_because: what ended it.
        message: what is wrong, for people, and what to do.
        facts: the same for programs; values that JSON can have.
    """

    kind: AlertKind
    entity: str = ""
    cluster: str = ""
    instance_key: str = ""
    level: AlertLevel = AlertLevel.HIGH
    since: datetime
    escalated_at: datetime | None = None
    ended_at: datetime | None = None
    ended_because: str = ""
    message: str
    facts: Mapping[str, object] = field(default_factory=dict)

    @property
    def key(self) -> AlertKey:
        """The key of its alert."""
        return AlertKey(kind=self.kind, entity=self.entity, cluster=self.cluster, instance_key=self.instance_key)

    @property
    def high_since(self) -> datetime:
        """The time from which its level is high; only of one whose level is high."""
        return self.escalated_at or self.since


def alert_changes(
    found: Iterable[Alert],
    conditions: Iterable[AlertCondition],
    at: datetime,
    *,
    tell: AlertLevel = AlertLevel.HIGH,
    gone_because: str = "it is not found any more",
) -> AlertChanges:
    """Return what has to change of alerts.

    Args:
        found: the open alerts that the conditions are complete for: one without a condition is closed. An alert about
            which nothing is known now, since a store cannot be read, must not be among them.
        conditions: what is wrong at the time, and what was wrong since the last pass and is over.
        at: the time of the pass.
        tell: the lowest level of which messages are sent.
        gone_because: why alerts without a condition are closed.
    """
    open_now = {each.key: each for each in found}
    opened: list[NewAlert] = []
    escalated: list[AlertEscalation] = []
    closed: list[AlertClosing] = []
    gone: list[Alert] = []
    seen: set[AlertKey] = set()
    by_key = groupby(sorted(conditions, key=lambda each: (each.key, each.since)), key=lambda each: each.key)
    for key, of_key in by_key:
        seen.add(key)
        episodes = list(_episodes(of_key))
        alert = open_now.get(key)
        if alert is not None:
            current = next((each for each in episodes if not _ended_by(each, alert.opened_at)), None)
            if current is None:
                gone.append(alert)
            else:
                episodes.remove(current)
                escalated += _escalations(alert, current)
                closed += _closings(alert, current)
        opened += [_new_alert(each, tell) for each in episodes]
    gone += [each for key, each in open_now.items() if key not in seen]
    closed += [
        AlertClosing(alert_id=each.alert_id, closed_at=max(at, each.opened_at), because=gone_because) for each in gone
    ]
    return AlertChanges(opened=tuple(opened), escalated=tuple(escalated), closed=tuple(closed))


def _episodes(conditions: Iterable[AlertCondition]) -> Iterator[AlertCondition]:
    """Return conditions of one key, oldest first, up to the one that is not over: nothing can begin anew after it."""
    for each in conditions:
        yield each
        if each.ended_at is None:
            return


def _ended_by(condition: AlertCondition, at: datetime) -> bool:
    """Return whether it was over by a time, so that an alert that was opened then is about a later one."""
    return condition.ended_at is not None and condition.ended_at <= at and condition.since < at


def _escalations(alert: Alert, condition: AlertCondition) -> Iterator[AlertEscalation]:
    if alert.level is AlertLevel.LOW and condition.level is AlertLevel.HIGH:
        since = max(condition.high_since, alert.opened_at)
        yield AlertEscalation(
            alert_id=alert.alert_id,
            escalated_at=since,
            message=condition.message,
            facts=condition.facts,
            remind_at=since,
        )


def _closings(alert: Alert, condition: AlertCondition) -> Iterator[AlertClosing]:
    if condition.ended_at is not None:
        ended_at = max(condition.ended_at, alert.opened_at)
        yield AlertClosing(alert_id=alert.alert_id, closed_at=ended_at, because=condition.ended_because)


def _new_alert(condition: AlertCondition, tell: AlertLevel) -> NewAlert:
    is_high = condition.level is AlertLevel.HIGH
    is_due = condition.ended_at is None and (is_high or tell is AlertLevel.LOW)
    return NewAlert(
        key=condition.key,
        level=condition.level,
        opened_at=condition.since,
        escalated_at=condition.escalated_at if is_high else None,
        closed_at=condition.ended_at,
        closed_because=condition.ended_because if condition.ended_at is not None else None,
        message=condition.message,
        facts=condition.facts,
        remind_at=(condition.high_since if is_high else condition.since) if is_due else None,
    )
