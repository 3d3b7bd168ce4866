"""Conditions of missed SLAs: what the alert of an instance says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from toolkit.el import format_instant
from toolkit.ledger.vocabulary import AlertKind, AlertLevel, SlaSubject
from toolkit.monitoring.alert_changes import AlertCondition
from toolkit.planning.sla_vocabulary import DataPresence

if TYPE_CHECKING:
    from toolkit.ledger.sla import SlaKey
    from toolkit.planning.sla import SlaEpisode, SlaMoments

MISSED_LOW, MISSED_HIGH = "Missed-SLA-Low", "Missed-SLA-High"
"""Falcon's tags of instances (Falcon overview, Entity SLA Alert)."""
KINDS = (AlertKind.SLA, AlertKind.SLA_START, AlertKind.SLA_END, AlertKind.EMPTY, AlertKind.UNKNOWN)
"""Kinds of alerts that come from SLAs."""
_WHAT = {
    AlertKind.SLA: "is not available",
    AlertKind.EMPTY: "has less data than its SLA asks for",
    AlertKind.SLA_START: "has not started",
    AlertKind.SLA_END: "has not ended",
}


def conditions_of(
    key: SlaKey,
    instance_key: str,
    moments: SlaMoments,
    episodes: Iterable[SlaEpisode],
    source: str,
    kind: AlertKind | None = None,
) -> Iterator[AlertCondition]:
    """Yield the conditions of one instance, one for each time for which its SLA was missed.

    Args:
        key: the series.
        instance_key: the instance; empty for a dataset.
        moments: of the instance.
        episodes: as they were found.
        source: what they are known from.
        kind: None: as the data is absent or too small.
    """
    for each in episodes:
        of_kind = kind or (AlertKind.EMPTY if each.presence is DataPresence.SMALL else AlertKind.SLA)
        tag = MISSED_HIGH if each.is_high else MISSED_LOW
        yield AlertCondition(
            kind=of_kind,
            entity=key.entity,
            cluster=key.cluster,
            instance_key=instance_key,
            level=AlertLevel.HIGH if each.is_high else AlertLevel.LOW,
            since=each.opened_at,
            escalated_at=each.escalated_at,
            ended_at=each.closed_at,
            ended_because=each.why,
            message=_message(key, instance_key, of_kind, moments, is_high=each.is_high),
            facts={
                "tag": tag,
                "subject": str(key.subject),
                "low_at": _text(moments.low_at),
                "high_at": _text(moments.high_at),
                "evidence": source,
            },
        )


def unknown_condition(key: SlaKey, problem: str, instances: int, now: datetime) -> AlertCondition:
    """Return the condition that it is unknown which instances of a feed are there.

    Args:
        key: the feed on its cluster.
        problem: why.
        instances: number of instances that it concerns.
        now: time of the pass; only a look finds out.
    """
    todo = f"`feedctl doctor --cluster {key.cluster}` says what is reachable"
    return AlertCondition(
        kind=AlertKind.UNKNOWN,
        entity=key.entity,
        cluster=key.cluster,
        since=now,
        message=f"it is unknown which instances of feed {key.entity} are on {key.cluster}: {problem}; {todo}",
        facts={"problem": problem, "instances": instances, "evidence": "storage"},
    )


def explain_command(key: SlaKey, instance_key: str) -> str:
    """Return the command that says what is known of an instance."""
    place = f" --cluster {key.cluster}" if key.cluster else ""
    time = f" --time {instance_key}" if instance_key else ""
    return f"feedctl sla explain {key.entity}{place}{time}"


def _message(key: SlaKey, instance_key: str, kind: AlertKind, moments: SlaMoments, *, is_high: bool) -> str:
    todo = f"`{explain_command(key, instance_key)}` says what is known of it"
    limit = moments.high_at if is_high else moments.low_at
    due = "" if limit is None else f", due at {_text(limit)}"
    if key.subject is SlaSubject.DATASET:
        return f"dataset {key.entity} was not updated in time{due}; {todo}"
    level = "high" if is_high else "low"
    name = f"{instance_key} of {key.subject} {key.entity} on {key.cluster}"
    missed = "" if kind in (AlertKind.SLA_START, AlertKind.SLA_END) else f" (missed {level})"
    return f"instance {name} {_WHAT[kind]}{due}{missed}; {todo}"


def _text(instant: datetime | None) -> str | None:
    """Return an instant with the precision that it has: an update of a dataset has seconds."""
    if instant is None:
        return None
    is_whole = not (instant.second or instant.microsecond)
    return format_instant(instant) if is_whole else instant.isoformat(timespec="seconds").replace("+00:00", "Z")
