"""Output of `feedctl sla`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from toolkit.ledger.vocabulary import SlaState
from toolkit.monitoring.sla_conditions import MISSED_HIGH, MISSED_LOW
from toolkit.rendering.tables import cell, moment_cell, moment_value

if TYPE_CHECKING:
    from toolkit.ledger.sla import ExpectedInstance, SlaBacklog, SlaKey
    from toolkit.monitoring.sla_answers import MissedInstance
    from toolkit.monitoring.sla_explanation import SlaExplanation

UNKNOWN = "Unknown"
"""Tag of an instance whose store cannot be read: it may have been in time."""
STATUS_COLUMNS = ("entity", "cluster", "instance", "state", "low-at", "high-at", "known-from")
ALERT_COLUMNS = ("feed", "cluster", "instance", "tag", "missed-at", "came-at", "known-from")
BACKLOG_COLUMNS = ("entity", "cluster", "open", "late", "oldest-late", "minutes-behind")
STATE_STYLES = {
    str(SlaState.LATE): "yellow",
    str(SlaState.MISSING): "bold red",
    str(SlaState.EMPTY): "red",
    str(SlaState.UNKNOWN): "magenta",
    str(SlaState.EXEMPT): "dim",
}


def _names(key: SlaKey) -> dict[str, object]:
    return {"subject": str(key.subject), "entity": key.entity, "cluster": key.cluster}


def status_rows(found: Sequence[ExpectedInstance]) -> Iterator[tuple[str, ...]]:
    """Yield the expected instances as cells."""
    for each in found:
        limits = moment_cell(each.low_at), moment_cell(each.high_at)
        names = cell(each.entity), cell(each.cluster), each.instance_key
        yield (*names, str(each.state), *limits, cell(each.evidence))


def status_document(found: Sequence[ExpectedInstance], looked_at: datetime | None) -> dict[str, object]:
    """The JSON form of expected instances."""
    return {
        "looked_at": moment_value(looked_at),
        "instances": [
            {
                **_names(each.key),
                "instance": each.instance_key,
                "state": str(each.state),
                "low_at": moment_value(each.low_at),
                "high_at": moment_value(each.high_at),
                "since": moment_value(each.since),
                "evidence": each.evidence,
            }
            for each in found
        ],
    }


def missed_rows(found: Sequence[MissedInstance]) -> Iterator[tuple[str, ...]]:
    """Yield instances that were not available in time as cells."""
    for each in found:
        times = moment_cell(each.missed_at), moment_cell(each.came_at)
        names = cell(each.key.entity), cell(each.key.cluster), each.instance_key
        yield (*names, _tag(each), *times, cell(each.evidence))


def missed_document(found: Sequence[MissedInstance]) -> dict[str, object]:
    """The JSON form of instances that were not available in time."""
    return {
        "instances": [
            {
                **_names(each.key),
                "instance": each.instance_key,
                "tag": _tag(each),
                "missed_at": moment_value(each.missed_at),
                "came_at": moment_value(each.came_at),
                "evidence": each.evidence,
            }
            for each in found
        ]
    }


def backlog_rows(found: Sequence[SlaBacklog], now: datetime) -> Iterator[tuple[str, ...]]:
    """Yield backlogs as cells."""
    for each in found:
        counts = str(each.open), str(each.late), cell(each.oldest), str(minutes_behind(each, now))
        yield (cell(each.key.entity), cell(each.key.cluster), *counts)


def backlog_document(found: Sequence[SlaBacklog], now: datetime) -> dict[str, object]:
    """The JSON form of backlogs."""
    return {
        "backlog": [
            {
                **_names(each.key),
                "open": each.open,
                "late": each.late,
                "oldest_late": each.oldest or None,
                "minutes_behind": minutes_behind(each, now),
            }
            for each in found
        ]
    }


def minutes_behind(each: SlaBacklog, now: datetime) -> int:
    """Return the minutes since the first limit was missed by an instance that is still not there; 0: none was."""
    return 0 if each.behind_since is None else max(0, int((now - each.behind_since).total_seconds() // 60))


def explanation_lines(found: SlaExplanation) -> Iterator[str]:
    """Yield an explanation for people."""
    key = found.key
    place = f" on {key.cluster}" if key.cluster else ""
    yield f"{key.subject} {key.entity}{place} {found.instance_key}".rstrip()
    yield f"state: {found.state or 'not watched'}: {found.why}"
    yield f"low at: {moment_cell(found.moments.low_at)}; high at: {moment_cell(found.moments.high_at)}"
    yield f"known from: {found.source}"
    yield from (f"  {line}" for line in found.history)
    for each in found.alerts:
        closed = f"closed {moment_cell(each.closed_at)}: {each.closed_because}" if each.closed_at else "open"
        yield f"alert #{each.alert_id} {each.key.kind} {each.level} since {moment_cell(each.opened_at)}, {closed}"
    yield f"last pass of the monitor: {moment_cell(found.looked_at)}"


def explanation_document(found: SlaExplanation) -> dict[str, object]:
    """The JSON form of an explanation."""
    return {
        **_names(found.key),
        "instance": found.instance_key,
        "state": None if found.state is None else str(found.state),
        "why": found.why,
        "low_at": moment_value(found.moments.low_at),
        "high_at": moment_value(found.moments.high_at),
        "source": found.source,
        "history": list(found.history),
        "alerts": [each.alert_id for each in found.alerts],
        "looked_at": moment_value(found.looked_at),
    }


def _tag(each: MissedInstance) -> str:
    if each.is_unknown:
        return UNKNOWN
    return MISSED_HIGH if each.is_high else MISSED_LOW
