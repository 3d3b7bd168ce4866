"""Output of `feedctl monitor`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from toolkit.el import format_instant
from toolkit.rendering.tables import moment_value
from toolkit.result import ExitCode

if TYPE_CHECKING:
    from toolkit.ledger.alert_rows import Alert
    from toolkit.monitoring.monitor import MonitorReport

_NAMED = 20


def monitor_document(found: MonitorReport) -> dict[str, object]:
    """The JSON form."""
    result, sent = found.result, found.delivered
    return {
        "action": "monitor",
        "time": format_instant(result.time),
        "later_pass": None if result.later is None else format_instant(result.later),
        "status": "partial" if monitor_exit(found) else "succeeded",
        "counts": {
            "series": result.series,
            "expected": result.new,
            "came": result.came,
            "unknown": result.unknown,
            "opened": len(result.recorded.opened),
            "escalated": len(result.recorded.escalated),
            "closed": len(result.recorded.closed),
            "silenced": result.news.silenced,
            "messages": result.news.messages + result.digests,
            "sent": None if sent is None else sent.sent,
            "refused": None if sent is None else sent.refused,
            "expired": None if sent is None else sent.expired,
        },
        "opened": [_alert(each) for each in result.recorded.opened],
        "escalated": [_alert(each) for each in result.recorded.escalated],
        "closed": [_alert(each) for each in result.recorded.closed],
        "undelivered": {} if sent is None else dict(sorted(sent.failures.items())),
        "problems": list(result.problems),
        "notes": list(result.notes),
    }


def monitor_lines(found: MonitorReport) -> Iterator[str]:
    """Yield the form for people: what has changed, and what could not be done."""
    result, sent = found.result, found.delivered
    if result.later is not None:
        yield f"a pass for {format_instant(result.later)} was there already; this one decided nothing"
    changes = (
        ("opened", result.recorded.opened),
        ("now high", result.recorded.escalated),
        ("closed", result.recorded.closed),
    )
    for what, alerts in changes:
        yield from (_line(what, each) for each in alerts[:_NAMED])
        if len(alerts) > _NAMED:
            yield f"{what}: and {len(alerts) - _NAMED} more; `feedctl alert list` has them"
    yield f"series with an SLA: {result.series}; newly expected: {result.new}; came: {result.came}"
    if result.unknown:
        yield f"instances of which nothing is known: {result.unknown}"
    if sent is not None:
        yield f"messages put: {result.news.messages + result.digests}; sent: {sent.sent}"
        yield from (f"not delivered through {name}: {why}" for name, why in sorted(sent.failures.items()))
    yield from result.problems
    yield from result.notes


def monitor_exit(found: MonitorReport) -> ExitCode:
    """Return the exit code: 4 if something is unknown, not watched or not delivered."""
    sent = found.delivered
    is_partial = found.result.unknown or found.result.problems or (sent is not None and sent.failures)
    return ExitCode.PARTIAL if is_partial else ExitCode.DONE


def _line(what: str, alert: Alert) -> str:
    because = f" ({alert.closed_because})" if alert.closed_because else ""
    return f"{what}: #{alert.alert_id} {alert.key.kind} {alert.level}: {alert.message}{because}"


def _alert(alert: Alert) -> dict[str, object]:
    key = alert.key
    return {
        "alert": alert.alert_id,
        "kind": str(key.kind),
        "entity": key.entity,
        "cluster": key.cluster,
        "instance": key.instance_key,
        "level": str(alert.level),
        "opened_at": moment_value(alert.opened_at),
        "escalated_at": moment_value(alert.escalated_at),
        "closed_at": moment_value(alert.closed_at),
        "closed_because": alert.closed_because,
        "message": alert.message,
    }
