"""Alerts and silences: as rows of a table, as lines, and as JSON documents."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from toolkit.ledger.alert_rows import Alert
from toolkit.ledger.errors import moment
from toolkit.ledger.silences import AlertSilence

ALERT_COLUMNS = ("alert", "level", "kind", "entity", "instance", "cluster", "since", "until", "acked-by")
SILENCE_COLUMNS = ("silence", "match", "until", "ended-at", "reason", "by")


def alert_rows(found: list[Alert]) -> Iterator[tuple[str, ...]]:
    """Yield alerts as rows of `ALERT_COLUMNS`."""
    for each in found:
        key = each.key
        numbers = (str(each.alert_id), str(each.level), str(key.kind))
        times = (moment(each.opened_at), _time(each.closed_at) or "")
        yield (*numbers, key.entity, key.instance_key, key.cluster, *times, each.acked_by or "")


def alert_lines(alert: Alert) -> Iterator[str]:
    """Yield an alert in full."""
    yield alert.message
    for name, value in alert_document(alert).items():
        if value is not None and name not in {"message", "facts"}:
            yield f"{name}: {value}"
    for name, value in sorted(alert.facts.items()):
        if value not in {None, ""}:
            yield f"{name}: {value}"


def alert_document(alert: Alert) -> dict[str, object]:
    """Return an alert as JSON."""
    key = alert.key
    return {
        "alert": alert.alert_id,
        "kind": str(key.kind),
        "level": str(alert.level),
        "entity": key.entity or None,
        "cluster": key.cluster or None,
        "instance": key.instance_key or None,
        "opened_at": moment(alert.opened_at),
        "escalated_at": _time(alert.escalated_at),
        "closed_at": _time(alert.closed_at),
        "closed_because": alert.closed_because,
        "message": alert.message,
        "notified_at": _time(alert.notified_at),
        "remind_at": _time(alert.remind_at),
        "acked_by": alert.acked_by,
        "acked_at": _time(alert.acked_at),
        "ack_reason": alert.ack_reason,
        "facts": dict(alert.facts),
    }


def silence_rows(found: list[AlertSilence]) -> Iterator[tuple[str, ...]]:
    """Yield silences as rows of `SILENCE_COLUMNS`."""
    for each in found:
        match = " ".join(f"{name}={pattern}" for name, pattern in each.match.items())
        until = (moment(each.until), _time(each.ended_at) or "")
        yield (str(each.silence_id), match, *until, each.reason, each.created_by)


def silence_document(silence: AlertSilence) -> dict[str, object]:
    """Return a silence as JSON."""
    return {
        "silence": silence.silence_id,
        "match": dict(silence.match),
        "until": moment(silence.until),
        "reason": silence.reason,
        "created_by": silence.created_by,
        "created_at": moment(silence.created_at),
        "ended_at": _time(silence.ended_at),
    }


def _time(at: datetime | None) -> str | None:
    return None if at is None else moment(at)
