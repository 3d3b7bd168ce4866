"""Messages about alerts, before a channel gives them their form; pure (issue 32)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from toolkit.ledger.vocabulary import AlertKind, AlertLevel
from toolkit.notify.message import Message, MessageEvent, MessageSeverity

if TYPE_CHECKING:
    from toolkit.ledger.alert_rows import Alert
    from toolkit.monitoring.grouping import AlertGroup

LISTED = 20
"""Alerts that a message lists; of further ones it has the number."""
OPERATION = "ALERT"
LABELS = {
    AlertKind.SLA: "late",
    AlertKind.SLA_START: "not started in time",
    AlertKind.SLA_END: "not ended in time",
    AlertKind.EMPTY: "too little data",
    AlertKind.UNKNOWN: "state unknown",
    AlertKind.FAILED: "failed",
    AlertKind.LEASE_LOST: "killed, lease lost",
    AlertKind.LIMIT: "refused by a safety limit",
    AlertKind.QUALITY: "blocked by quality checks",
    AlertKind.REPLICATION_BEHIND: "replication behind",
    AlertKind.RETENTION_OVERDUE: "retention overdue",
    AlertKind.LEDGER: "ledger not usable",
    AlertKind.DOCTOR: "problem of the installation",
}
"""Words for the kinds of alerts."""
_PREFIXES = {
    MessageEvent.ALERT_ESCALATED: "worse: ",
    MessageEvent.ALERT_REMINDED: "still: ",
    MessageEvent.ALERT_CLOSED: "over: ",
}


def moment(at: datetime) -> str:
    """Return the canonical text of a time, to the minute."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%MZ}"


def subject_of(alert: Alert) -> str:
    """Return what an alert is about: entity, instance and cluster, as far as it has them."""
    key = alert.key
    return " ".join(filter(None, (key.entity, key.instance_key, f"on {key.cluster}" if key.cluster else "")))


def group_message(group: AlertGroup, entity_type: str, still_open: int) -> Message:
    """Return the message of a group.

    Args:
        group: of alerts.
        entity_type: ``FEED``, ``PROCESS`` or ``DATASET``, if all alerts are of one entity; else empty.
        still_open: alerts of its thread that are open; 0 means that an incident is over.
    """
    first, is_over = group.alerts[0], group.event is MessageEvent.ALERT_CLOSED
    entities = {each.key.entity for each in group.alerts}
    instances = {each.key.instance_key for each in group.alerts}
    is_high = any(each.level is AlertLevel.HIGH for each in group.alerts)
    return Message(
        message_id=_message_id(group),
        event=group.event,
        severity=_severity(is_over=is_over, is_high=is_high),
        subject=_PREFIXES.get(group.event, "") + _subject(group),
        text="\n".join(_lines(group)),
        time=moment(max(_time(group.event, each) for each in group.alerts)),
        status="CLOSED" if is_over else "OPEN",
        operation=OPERATION,
        entity=first.key.entity if len(entities) == 1 else "",
        entity_type=entity_type,
        cluster=first.key.cluster,
        instance_key=first.key.instance_key if len(instances) == 1 else "",
        thread=group.thread,
        facts=_facts(group, still_open),
    )


def digest_message(recipient: str, alerts: list[Alert], day: datetime) -> Message:
    """Return the message of a day with all alerts that are open.

    Args:
        recipient: who gets it.
        alerts: at least one.
        day: its beginning.
    """
    name = f"digest/{day:%Y-%m-%d}"
    count = len(alerts)
    return Message(
        message_id=f"{name}/{_digest(recipient)}",
        event=MessageEvent.DIGEST,
        severity=MessageSeverity.WARNING,
        subject=f"{count} open alert{'s' * (count > 1)} on {day:%Y-%m-%d}",
        text="\n".join([f"Alerts that were opened before {moment(day)} and are still open:", "", *_list(alerts)]),
        time=moment(day),
        status="OPEN",
        operation=OPERATION,
        thread=name,
        facts={"alerts": count},
    )


def _severity(*, is_over: bool, is_high: bool) -> MessageSeverity:
    if is_over:
        return MessageSeverity.INFO
    return MessageSeverity.CRITICAL if is_high else MessageSeverity.WARNING


def _subject(group: AlertGroup) -> str:
    first, count = group.alerts[0], len(group.alerts)
    if count == 1:
        return f"{LABELS[first.key.kind]}: {subject_of(first) or first.message}"
    kinds = Counter(LABELS[each.key.kind] for each in group.alerts)
    what = ", ".join(f"{number} {label}" for label, number in kinds.most_common(3))
    entities = {each.key.entity for each in group.alerts}
    where = f" on {first.key.cluster}" if len({each.key.cluster for each in group.alerts}) == 1 else ""
    of_entity = f" of {first.key.entity}" if len(entities) == 1 and first.key.entity else ""
    return f"{count} alerts{of_entity}{where}: {what}"


def _lines(group: AlertGroup) -> Iterator[str]:
    first, count = group.alerts[0], len(group.alerts)
    if count > 1:
        if group.is_storm:
            share = "" if count == group.of else f" It has the {count} that concern you."
            yield f"{group.of} alerts{_on(first)} came in one pass, so this is one message.{share}"
            yield ""
        yield from _list(group.alerts)
        return
    if first.closed_at is not None:
        yield f"over since {moment(first.closed_at)}: {first.closed_because}"
        yield ""
    yield first.message
    yield ""
    yield f"wrong since: {moment(first.opened_at)}"
    if first.escalated_at is not None:
        yield f"high since: {moment(first.escalated_at)}"
    if first.facts.get("log"):
        yield f"log: {first.facts['log']}"
    if first.closed_at is None:
        yield ""
        yield f"feedctl alert show {first.alert_id}"
        yield f"feedctl alert ack {first.alert_id} --reason TEXT   # no more reminders"


def _on(alert: Alert) -> str:
    return f" on {alert.key.cluster}" if alert.key.cluster else ""


def _list(alerts: tuple[Alert, ...] | list[Alert]) -> Iterator[str]:
    for each in alerts[:LISTED]:
        until = f" until {moment(each.closed_at)}, {each.closed_because}" if each.closed_at is not None else ""
        label = LABELS[each.key.kind]
        yield f"#{each.alert_id} {label}: {subject_of(each) or each.message} since {moment(each.opened_at)}{until}"
    if len(alerts) > LISTED:
        yield f"and {len(alerts) - LISTED} more; `feedctl alert list` shows all that are open"


def _facts(group: AlertGroup, still_open: int) -> dict[str, object]:
    """Return facts for programs; those of a single alert have what its source gave as well."""
    first = group.alerts[0]
    kinds = {str(each.key.kind) for each in group.alerts}
    common: dict[str, object] = {
        "alerts": len(group.alerts),
        "kind": kinds.pop() if len(kinds) == 1 else "several",
        "openInThread": still_open,
    }
    if len(group.alerts) > 1:
        return common | {"alertIds": ",".join(str(each.alert_id) for each in group.alerts[:1000])}
    times = {"openedAt": first.opened_at, "escalatedAt": first.escalated_at, "closedAt": first.closed_at}
    return {
        **{_camel_case(name): value for name, value in first.facts.items()},
        **common,
        "alertId": first.alert_id,
        "level": str(first.level),
        **{name: moment(value) for name, value in times.items() if value is not None},
        **({"closedBecause": first.closed_because} if first.closed_because else {}),
    }


def _camel_case(name: str) -> str:
    """Return the name of a fact as messages write names: as Falcon's."""
    head, *others = name.split("_")
    return head + "".join(each.capitalize() for each in others)


def _time(event: MessageEvent, alert: Alert) -> datetime:
    if event is MessageEvent.ALERT_CLOSED and alert.closed_at is not None:
        return alert.closed_at
    return alert.escalated_at or alert.opened_at


def _message_id(group: AlertGroup) -> str:
    """Return an id that no other message has: a second one of the same alert and event has another time."""
    parts = [f"{each.alert_id} {each.recorded_at} {each.notified_at} {each.closed_at}" for each in group.alerts]
    return f"alert-{_digest('|'.join([group.event, group.thread, *parts]))}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
