"""Explanation of an SLA: by when an instance is expected, what is known of it, and from where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from toolkit.el import format_instant
from toolkit.errors import InvalidInput
from toolkit.ledger import alerts, sla_evidence
from toolkit.ledger import sla as rows
from toolkit.ledger.errors import moment
from toolkit.ledger.events import UPDATES
from toolkit.ledger.vocabulary import SlaState
from toolkit.monitoring.evidence import run_evidence
from toolkit.monitoring.exemptions import Exemptions
from toolkit.monitoring.series import UNMEASURED, DatasetSeries, FeedSeries, ProcessSeries
from toolkit.monitoring.sla_conditions import KINDS
from toolkit.monitoring.window import expected_row
from toolkit.planning.sla import SlaMoments

if TYPE_CHECKING:
    from toolkit.ledger.alert_rows import Alert
    from toolkit.ledger.database import Transaction
    from toolkit.ledger.sla import ExpectedInstance, SlaKey
    from toolkit.monitoring.series import SlaSeries, WatchedSeries

_NOT_OPEN = (
    "the monitor does not expect it now: its time has not come, its SLA was over when the monitor began, or it was "
    "found in storage"
)


class NoSla(InvalidInput):
    """An entity has no SLA, or not there.

    Args:
        entity: its name, or the URI of a dataset.
        cluster: None: on no cluster.
    """

    code = "no_sla"

    def __init__(self, *, entity: str, cluster: str | None) -> None:
        self.entity, self.cluster = entity, cluster
        where = f" on {cluster}" if cluster else ""
        super().__init__(f"{entity} has no SLA{where}; `feedctl sla backlog --all` shows what has one")


class AmbiguousSla(InvalidInput):
    """An entity has an SLA on several clusters.

    Args:
        entity: its name.
        clusters: where.
    """

    code = "ambiguous_sla"

    def __init__(self, *, entity: str, clusters: Sequence[str]) -> None:
        self.entity, self.clusters = entity, tuple(clusters)
        super().__init__(f"{entity} has an SLA on {', '.join(clusters)}; name one with --cluster")


@dataclass(frozen=True, kw_only=True, slots=True)
class SlaExplanation:
    """Explanation of the state of one instance.

    Attributes:
        key: the series.
        instance_key: empty for a dataset.
        state: None: it is not expected.
        why: why it has that state, or is not expected.
        moments: its limits.
        source: what tells whether it is there.
        history: what happened to it, one line each.
        alerts: alerts of it, newest first.
        looked_at: time of the newest pass of the monitor; None: there was none.
    """

    key: SlaKey
    instance_key: str
    state: SlaState | None
    why: str
    moments: SlaMoments
    source: str
    history: Sequence[str]
    alerts: Sequence[Alert]
    looked_at: datetime | None


def series_named(watched: WatchedSeries, entity: str, cluster: str | None) -> SlaSeries:
    """Return the one series of an entity.

    Raises:
        NoSla: there is none.
        AmbiguousSla: there are several.
    """
    found = [each for key, each in watched.by_key.items() if key.entity == entity and cluster in (None, key.cluster)]
    if not found:
        raise NoSla(entity=entity, cluster=cluster)
    if len(found) > 1:
        raise AmbiguousSla(entity=entity, clusters=sorted(each.key.cluster for each in found))
    return found[0]


def explain_sla(
    tx: Transaction, watched: WatchedSeries, series: SlaSeries, instant: datetime | None, now: datetime
) -> SlaExplanation:
    """Return what is known of one instance.

    Args:
        tx: the transaction.
        watched: all series.
        series: its series.
        instant: its time; None: the newest by now. A dataset has one instance.
        now: the present.

    Raises:
        NotAnInstance: the series has no instance of this time.
    """
    is_dataset = isinstance(series, DatasetSeries)
    chosen = None if is_dataset else instant or series.sequence.at_or_before(now) or series.sequence.start
    if chosen is not None and chosen not in series.sequence:
        raise series.sequence.not_an_instance(chosen)
    key = "" if chosen is None else format_instant(chosen)
    expected = None if chosen is None else expected_row(series, chosen)
    row = next(iter(rows.named_instances(tx, [(series.key, key)])), None)
    history, came_at = _history(tx, series, key, now)
    exempt = _exemption(tx, watched, series, chosen, expected, now)
    state, why = _state(row or expected, exempt, came_at, is_open=row is not None)
    limits = row or expected
    found = alerts.history(tx, entities=[series.key.entity], cluster=series.key.cluster, kinds=KINDS)
    return SlaExplanation(
        key=series.key,
        instance_key=key,
        state=state,
        why=why,
        moments=SlaMoments() if limits is None else SlaMoments(low_at=limits.low_at, high_at=limits.high_at),
        source=_source(series),
        history=history,
        alerts=[each for each in found if each.key.instance_key in (key, "")],
        looked_at=rows.looked_at(tx),
    )


def _exemption(
    tx: Transaction,
    watched: WatchedSeries,
    series: SlaSeries,
    instant: datetime | None,
    expected: ExpectedInstance | None,
    now: datetime,
) -> str:
    """Return why an instance is not expected; empty: it is."""
    if instant is None:
        return ""
    if expected is None:
        return (
            "the calendar of its deadline leaves out its day"
            if series.is_day_off(instant)
            else _unmeasured(series, instant)
        )
    found = Exemptions.read(tx, now, watched.holds)
    return found.reason(series.key) or (found.hold(series.key, instant) if isinstance(series, FeedSeries) else "")


def _unmeasured(series: SlaSeries, instant: datetime) -> str:
    try:
        series.moments(instant)
    except UNMEASURED as error:
        return str(error)
    return ""


def _state(
    row: ExpectedInstance | None, exempt: str, came_at: datetime | None, *, is_open: bool
) -> tuple[SlaState | None, str]:
    """Return the state, and what it is known from."""
    if row is None or (exempt and came_at is None):
        return SlaState.EXEMPT, exempt
    if is_open:
        return row.state, row.evidence
    if came_at is not None:
        first = min((each for each in (row.low_at, row.high_at) if each is not None), default=came_at)
        return (SlaState.LATE, "it was too late") if came_at > first else (SlaState.FRESH, "it was in time")
    return (
        None,
        _NOT_OPEN,
    )


def _source(series: SlaSeries) -> str:
    if isinstance(series, ProcessSeries):
        return "runs of the ledger"
    looks = isinstance(series, FeedSeries) and series.is_looked_at
    return (
        "events of the ledger, then storage: no process or copy of the config repo writes it"
        if looks
        else "events of the ledger"
    )


def _history(tx: Transaction, series: SlaSeries, key: str, now: datetime) -> tuple[list[str], datetime | None]:
    """Return what happened to an instance, and when it was there first; None: it was not."""
    entity, cluster = series.key.entity, series.key.cluster
    if isinstance(series, ProcessSeries):
        runs = sla_evidence.runs_of(tx, [(entity, cluster, key)], now).get((entity, cluster, key), ())
        lines = [
            f"run {each.run_id}: {each.status}, started {_second(each.started_at)}, ended {_second(each.ended_at)}"
            for each in runs
        ]
        return lines, run_evidence(series, runs, now).ended_at
    if isinstance(series, DatasetSeries):
        at = sla_evidence.last_update(tx, entity, UPDATES, now)
        return ([] if at is None else [f"{_second(at)} last update"]), None
    events = sla_evidence.events_between(tx, entity, cluster, (key, key), now).get(key, [])
    came = [each.recorded_at for each in events if each.kind in UPDATES]
    return [f"{_second(each.recorded_at)} event {each.sequence}: {each.kind}" for each in events], min(
        came, default=None
    )


def _second(at: datetime | None) -> str:
    return "-" if at is None else moment(at)
