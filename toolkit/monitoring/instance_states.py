"""State of one expected instance, decided anew from what is known of it: pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from toolkit.ledger.events import UPDATES
from toolkit.ledger.vocabulary import AlertKind, SlaState
from toolkit.monitoring.sla_conditions import conditions_of
from toolkit.planning.sla import (
    PresenceChange,
    PresenceSpan,
    SlaMoments,
    moment_after,
    presence_spans,
    sla_episodes,
    state_of,
)
from toolkit.planning.sla_vocabulary import DataPresence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolkit.ledger.sla import ExpectedInstance
    from toolkit.ledger.sla_evidence import SlaEvent
    from toolkit.monitoring.alert_changes import AlertCondition
    from toolkit.monitoring.evidence import RunEvidence, SlaEvidence
    from toolkit.monitoring.series import DatasetSeries

_PRESENCE = {SlaState.EMPTY: DataPresence.SMALL, SlaState.EXEMPT: DataPresence.EXEMPT}

OVER = "it is older than the retention limit: it would be removed at once"
"""Reason for which an alert is closed whose instance never came."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Exemption:
    """Exemption of an instance.

    Attributes:
        reason: why nothing is expected; empty: it is.
        changed_at: since when that is so.
        is_lasting: it ends by a command that the monitor sees, so that the instance need not be looked at meanwhile.
    """

    reason: str = ""
    changed_at: datetime
    is_lasting: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class DecidedInstance:
    """Decision about an instance.

    Attributes:
        row: what is expected from now on; None: nothing.
        conditions: what was missed, also what is over.
        unknown: why its state is not known; empty: it is.
    """

    row: ExpectedInstance | None
    conditions: Sequence[AlertCondition] = ()
    unknown: str = ""


def presence_of(row: ExpectedInstance) -> DataPresence:
    """Return what is there of an instance by its row."""
    return _PRESENCE.get(row.state, DataPresence.ABSENT)


def decide_feed(
    row: ExpectedInstance,
    presence: DataPresence,
    evidence: SlaEvidence,
    exemption: Exemption,
    now: datetime,
    *,
    is_looked_at: bool,
    over_at: datetime | None = None,
) -> DecidedInstance:
    """Return the state of an instance of a feed.

    Args:
        row: as it was expected.
        presence: what was there of it at `row.since`.
        evidence: what is known since.
        exemption: whether it is expected now.
        now: time of the pass.
        is_looked_at: storage is asked again in each pass, once a limit has passed.
        over_at: it is not expected any more from then on; None: it always is.
    """
    is_over = over_at is not None and over_at <= now
    if evidence.unknown and not is_over:
        due = row.next_at if row.next_at is not None and row.next_at <= now else now
        unknown = replace(row, state=SlaState.UNKNOWN, evidence=evidence.unknown, next_at=due)
        return DecidedInstance(row=unknown, unknown=evidence.unknown)
    moments = SlaMoments(low_at=row.low_at, high_at=row.high_at)
    changes = _with_exemption(presence, evidence.changes, exemption)
    if is_over and over_at is not None:
        over = PresenceChange(at=over_at, presence=DataPresence.PRESENT, why=OVER)
        changes = [*(each for each in changes if each.at < over_at), over]
    spans = presence_spans(presence, row.since, changes)
    last = spans[-1]
    episodes = list(sla_episodes(moments, spans, now))
    conditions = tuple(conditions_of(row.key, row.instance_key, moments, episodes, evidence.source))
    if last.presence is DataPresence.PRESENT:
        return DecidedInstance(row=None, conditions=conditions)
    text = exemption.reason or (changes[-1].why if changes else row.evidence)
    next_at = _next_at(row, moments, now, is_polled=is_looked_at) or over_at
    if last.presence is DataPresence.EXEMPT:
        next_at = None if exemption.is_lasting else _still_due(row, now)
    state = state_of(moments, last.presence, now)
    after = replace(row, state=state, since=last.start, evidence=text, next_at=next_at)
    return DecidedInstance(row=after, conditions=conditions)


def decide_process(
    row: ExpectedInstance, evidence: RunEvidence, exemption: Exemption, now: datetime
) -> DecidedInstance:
    """Return the state of an instance of a process; it has two limits, which are missed one by one."""
    presence = presence_of(row)
    tracks = (
        (AlertKind.SLA_START, SlaMoments(low_at=row.low_at), evidence.started_at, evidence.start),
        (AlertKind.SLA_END, SlaMoments(high_at=row.high_at), evidence.ended_at, evidence.end),
    )
    conditions: list[AlertCondition] = []
    last: PresenceSpan = PresenceSpan(presence=presence, start=row.since)
    for kind, moments, came_at, why in tracks:
        came = () if came_at is None else (PresenceChange(at=came_at, presence=DataPresence.PRESENT, why=why),)
        spans = presence_spans(presence, row.since, _with_exemption(presence, came, exemption))
        last = spans[-1]
        found = sla_episodes(moments, spans, now)
        conditions += conditions_of(row.key, row.instance_key, moments, found, "runs of the ledger", kind)
    low_at = row.low_at if evidence.started_at is None else None
    if evidence.ended_at is not None or (low_at is None and row.high_at is None):
        return DecidedInstance(row=None, conditions=conditions)
    moments = SlaMoments(low_at=low_at, high_at=row.high_at)
    next_at = _next_at(row, moments, now, is_polled=True)
    if last.presence is DataPresence.EXEMPT:
        next_at = None if exemption.is_lasting else _still_due(row, now)
    after = replace(
        row,
        low_at=low_at,
        state=state_of(moments, last.presence, now),
        since=last.start,
        evidence=exemption.reason or evidence.start or "no run has begun",
        next_at=next_at,
    )
    return DecidedInstance(row=after, conditions=conditions)


def decide_dataset(
    row: ExpectedInstance, series: DatasetSeries, events: Iterable[SlaEvent], now: datetime
) -> DecidedInstance:
    """Return the state of a dataset: each update begins a new time in which the next one is expected.

    What the config repo asks for now counts, since the update that is awaited may never come.
    """
    conditions: list[AlertCondition] = []
    since, high_at, why = row.since, moment_after(row.since, series.updated_every), row.evidence
    for each in events:
        if each.kind not in UPDATES:
            continue
        at, text = max(each.recorded_at, since), f"event {each.sequence}: {each.kind}"
        moments = SlaMoments(high_at=high_at)
        span = PresenceSpan(presence=DataPresence.ABSENT, start=since, end=at, why=text)
        conditions += conditions_of(row.key, "", moments, sla_episodes(moments, [span], now), why)
        since, high_at, why = at, moment_after(at, series.updated_every), text
    moments = SlaMoments(high_at=high_at)
    span = PresenceSpan(presence=DataPresence.ABSENT, start=since)
    conditions += conditions_of(row.key, "", moments, sla_episodes(moments, [span], now), why)
    state = state_of(moments, DataPresence.ABSENT, now)
    after = replace(row, high_at=high_at, state=state, since=since, evidence=why, next_at=moments.next_after(now))
    return DecidedInstance(row=after, conditions=conditions)


def _with_exemption(
    presence: DataPresence, changes: Sequence[PresenceChange], exemption: Exemption
) -> Sequence[PresenceChange]:
    """Return the changes with the begin or end of an exemption among them; data that comes meanwhile ends it too."""
    if bool(exemption.reason) is (presence is DataPresence.EXEMPT):
        return changes
    before = [each for each in changes if each.at <= exemption.changed_at]
    after = [each for each in changes if each.at > exemption.changed_at]
    known = before[-1].presence if before else presence
    if known is DataPresence.PRESENT:
        return changes
    if exemption.reason:
        begin = PresenceChange(at=exemption.changed_at, presence=DataPresence.EXEMPT, why=exemption.reason)
        return [*before, begin, *(each for each in after if each.presence is DataPresence.PRESENT)]
    back = DataPresence.ABSENT if known is DataPresence.EXEMPT else known
    return [*before, PresenceChange(at=exemption.changed_at, presence=back, why="it is expected again"), *after]


def _next_at(row: ExpectedInstance, moments: SlaMoments, now: datetime, *, is_polled: bool) -> datetime | None:
    """Return when to decide anew: at the next limit; or in each pass, where nothing announces what happens."""
    is_over = any(each is not None and each <= now for each in (moments.low_at, moments.high_at))
    return _still_due(row, now) if is_polled and is_over else moments.next_after(now)


def _still_due(row: ExpectedInstance, now: datetime) -> datetime:
    return row.next_at if row.next_at is not None and row.next_at <= now else now
