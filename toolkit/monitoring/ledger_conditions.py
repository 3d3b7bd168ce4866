"""Conditions besides SLAs, from what the ledger has of runs, validations and copies (issue 32)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING

from toolkit.el import OutOfRange, shift
from toolkit.entities.vocabulary import ClusterRole
from toolkit.ledger import alerts, monitored
from toolkit.ledger.alert_rows import AlertChanges
from toolkit.ledger.monitored import AlertSubject
from toolkit.ledger.runs.status import LEASE_LOST
from toolkit.ledger.vocabulary import AlertKind, EventKind, LifeCycle, RunStatus, ValidationState
from toolkit.monitoring.alert_changes import AlertCondition, alert_changes
from toolkit.monitoring.alert_messages import moment
from toolkit.planning.cadence import eviction_cadence
from toolkit.result import ExitCode

if TYPE_CHECKING:
    from toolkit.entities import Repository
    from toolkit.ledger.alert_rows import Alert
    from toolkit.ledger.database import Transaction
    from toolkit.ledger.monitored import MonitoredRun, MonitoredValidation

FIRST_LOOK = timedelta(days=1)
"""A first pass tells of failures that are not older."""
OVERLAP = timedelta(minutes=10)
"""A run that ended before a pass may be recorded after it: by so much each pass looks back beyond the one before."""
RETRY_GRACE = timedelta(hours=1)
"""A retry that has not begun so long after its time is none: nothing starts it."""
_RUN_KINDS = (AlertKind.FAILED, AlertKind.LEASE_LOST, AlertKind.LIMIT)
_OWN_KINDS = (*_RUN_KINDS, AlertKind.QUALITY, AlertKind.REPLICATION_BEHIND)
"""Kinds that each pass decides; once an hour it also looks at the last retention of each feed."""
_GONE = "a retry has begun, or the config repo has changed"
_VERBS = {
    AlertKind.FAILED: "failed",
    AlertKind.LEASE_LOST: "was killed, since it lost its lease",
    AlertKind.LIMIT: "was refused by a safety limit",
}


@dataclass(frozen=True, kw_only=True)
class LedgerConditions:
    """Conditions of a config repo that a pass finds in the ledger.

    Attributes:
        repository: the config repo.
    """

    repository: Repository

    def changes(self, tx: Transaction, now: datetime, since: datetime | None) -> AlertChanges:
        """Return what has to change of alerts.

        Args:
            tx: the transaction of the pass.
            now: the time of the pass.
            since: the time of the pass before; None: this is the first.
        """
        after = now - FIRST_LOOK if since is None else since - OVERLAP
        kinds = [*_OWN_KINDS, AlertKind.RETENTION_OVERDUE] if _is_new_hour(since, now) else _OWN_KINDS
        found = [each for each in alerts.open_alerts(tx, now, kinds=kinds) if self._is_here(each.key.cluster)]
        by_kind: dict[AlertKind, list[Alert]] = {}
        for each in found:
            by_kind.setdefault(each.key.kind, []).append(each)
        sources = (
            self._of_runs(tx, [each for kind in _RUN_KINDS for each in by_kind.get(kind, ())], after, now),
            self._of_validations(tx, by_kind.get(AlertKind.QUALITY, ()), after, now),
            self._of_copies(tx, by_kind.get(AlertKind.REPLICATION_BEHIND, ()), now),
            self._of_retention(tx, after.replace(minute=0) - OVERLAP, now) if len(kinds) > len(_OWN_KINDS) else (),
        )
        conditions = [each for source in sources for each in source if self._concerns(each)]
        tell = self.repository.settings.monitoring.tell
        return alert_changes(found, united(conditions), now, tell=tell, gone_because=_GONE)

    def _is_here(self, cluster: str) -> bool:
        """Return whether the environment watches a cluster."""
        environment = self.repository.environment
        return environment is None or environment.allows(cluster)

    def _concerns(self, condition: AlertCondition) -> bool:
        """Return whether the config repo has the entity on the cluster."""
        entity = self.repository.feeds.get(condition.entity) or self.repository.processes.get(condition.entity)
        is_known = entity is not None and any(each.name == condition.cluster for each in entity.clusters)
        return is_known and self._is_here(condition.cluster)

    def _of_runs(
        self, tx: Transaction, found: Sequence[Alert], after: datetime, now: datetime
    ) -> Iterator[AlertCondition]:
        new = [each for each in monitored.failures(tx, after, now) if _kind(each) is not None]
        first: dict[AlertSubject, datetime] = {}
        for each in new:
            first[each.subject] = min(each.ended_at or now, first.get(each.subject, now))
        for each in monitored.waiting_retries(tx, now - RETRY_GRACE):
            first.setdefault(each.subject, each.ended_at or now)
        for alert in found:
            subject = _subject(alert)
            first[subject] = min(alert.opened_at, first.get(subject, alert.opened_at))
        of_instances = [each for each in first if each.instance_key]
        of_series = {each: at for each, at in first.items() if not each.instance_key}
        runs = monitored.attempts(tx, of_instances) if of_instances else []
        series = monitored.series_runs(tx, of_series.items(), now)
        of_action: dict[tuple[object, ...], list[MonitoredRun]] = {}
        for each in (*runs, *series):
            of_action.setdefault((each.subject, each.life_cycle, each.counterpart), []).append(each)
        for of_it in of_action.values():
            yield from failed_runs(of_it, now)

    def _of_validations(
        self, tx: Transaction, found: Sequence[Alert], after: datetime, now: datetime
    ) -> Iterator[AlertCondition]:
        subjects = {*monitored.blocked(tx, after, now), *map(_subject, found)}
        results = monitored.validations(tx, subjects, now) if subjects else []
        of_unit: dict[tuple[str, ...], list[MonitoredValidation]] = {}
        for each in results:
            of_unit.setdefault((each.feed, each.cluster, each.instance_key, each.unit), []).append(each)
        for of_it in of_unit.values():
            yield from blocked_data(of_it, now)

    def _of_copies(self, tx: Transaction, found: Sequence[Alert], now: datetime) -> Iterator[AlertCondition]:
        limit = self.repository.settings.monitoring.replication_behind
        try:
            until = None if limit is None else shift(now, limit, -1)
        except OutOfRange:
            until = None
        if limit is None or until is None:
            monitored.forget_events(tx)
            return
        due: dict[AlertSubject, tuple[datetime, str]] = {
            _subject(each): (each.opened_at, str(each.facts.get("source", ""))) for each in found
        }
        for each in monitored.next_events(tx, until):
            if each.kind is EventKind.AVAILABLE and each.feed in self.repository.feeds:
                behind_at = shift(each.recorded_at, limit, 1)
                for target in self._targets(each.feed, each.cluster):
                    due.setdefault(AlertSubject(each.feed, target, each.instance_key), (behind_at, each.cluster))
        copies: dict[AlertSubject, list[MonitoredRun]] = {}
        for run in monitored.attempts(tx, due):
            if run.life_cycle is LifeCycle.REPLICATION and run.is_over(now):
                copies.setdefault(run.subject, []).append(run)
        for subject, (behind_at, source) in due.items():
            yield from _late_copy(subject, behind_at, source, copies.get(subject, ()))

    def _targets(self, feed: str, source: str) -> list[str]:
        on = {each.name: each for each in self.repository.feeds[feed].clusters}
        if source not in on or on[source].type is not ClusterRole.SOURCE:
            return []
        return [name for name, each in on.items() if each.type is ClusterRole.TARGET]

    def _of_retention(self, tx: Transaction, after: datetime, now: datetime) -> Iterator[AlertCondition]:
        """Yield what is overdue, and was until it succeeded; retention that never succeeded is not started yet."""
        periods = self.repository.settings.monitoring.retention_overdue
        cadences = {
            (feed.name, each.name): cadence
            for feed in self.repository.feeds.values()
            for each in feed.clusters
            if self._is_here(each.name) and (cadence := eviction_cadence(feed, each.name)) is not None
        }
        for (feed, cluster), times in monitored.eviction_times(tx, cadences, after, now).items():
            cadence = cadences[feed, cluster]
            for index, at in enumerate(times):
                try:
                    overdue_at = shift(at, cadence.frequency, periods, cadence.timezone)
                except OutOfRange:
                    continue
                then = times[index + 1] if index + 1 < len(times) else None
                if overdue_at <= (now if then is None else then):
                    what = f"retention of feed {feed} on {cluster} has not succeeded since {moment(at)}"
                    todo = f"that is {periods} times {cadence.frequency}; `feedctl status` says what its last run did"
                    yield AlertCondition(
                        kind=AlertKind.RETENTION_OVERDUE,
                        entity=feed,
                        cluster=cluster,
                        since=overdue_at,
                        ended_at=then,
                        ended_because="retention succeeded",
                        message=f"{what}; {todo}",
                        facts={"last_success": moment(at), "frequency": str(cadence.frequency)},
                    )


def united(conditions: Iterable[AlertCondition]) -> Iterator[AlertCondition]:
    """Yield conditions so that those of one key never overlap: what two actions or parts have, ends when both end."""
    ordered = sorted(conditions, key=lambda each: (each.key, each.since))
    for _, of_key in groupby(ordered, key=lambda each: each.key):
        current: AlertCondition | None = None
        for each in of_key:
            if current is None:
                current = each
            elif current.ended_at is not None and each.since > current.ended_at:
                yield current
                current = each
            elif current.ended_at is not None and (each.ended_at is None or each.ended_at > current.ended_at):
                current = replace(current, ended_at=each.ended_at, ended_because=each.ended_because)
        if current is not None:
            yield current


def failed_runs(runs: Sequence[MonitoredRun], now: datetime) -> Iterator[AlertCondition]:
    """Yield the conditions of one action: from a failure that nothing tries again by itself until a success.

    Args:
        runs: its attempts, oldest first.
        now: what ended later goes on.
    """
    wrong: dict[AlertKind, MonitoredRun] = {}
    for each, follower in zip_longest(runs, runs[1:]):
        if not each.is_over(now):
            continue
        if each.status is RunStatus.SUCCEEDED:
            for kind, first in wrong.items():
                yield _failure(kind, first, each)
            wrong.clear()
        found = _kind(each)
        if found is not None and not _is_tried_again(each, follower, now):
            wrong.setdefault(found, each)
    for kind, first in wrong.items():
        yield _failure(kind, first, None)


def blocked_data(results: Sequence[MonitoredValidation], now: datetime) -> Iterator[AlertCondition]:
    """Yield the conditions of one unit of data: blocked until a person decides, or until better data is validated.

    Args:
        results: of its validations, oldest first.
        now: later decisions do not count.
    """
    first: MonitoredValidation | None = None
    for each in results:
        was_blocked = each.state in {ValidationState.BLOCKED, ValidationState.RELEASED, ValidationState.REJECTED}
        if first is not None and each.state in {ValidationState.PASSED, ValidationState.WARNED}:
            yield _blocked(first, each.recorded_at, "better data passed its quality checks")
            first = None
        if was_blocked:
            first = first or each
            if each.decided_at is not None and each.decided_at <= now:
                yield _blocked(first, each.decided_at, f"{each.decided_by} {each.state} it")
                first = None
    if first is not None:
        yield _blocked(first, None, "")


def _is_new_hour(since: datetime | None, now: datetime) -> bool:
    return since is None or since.replace(minute=0, second=0, microsecond=0) < now.replace(
        minute=0, second=0, microsecond=0
    )


def _subject(alert: Alert) -> AlertSubject:
    return AlertSubject(alert.key.entity, alert.key.cluster, alert.key.instance_key)


def _kind(run: MonitoredRun) -> AlertKind | None:
    """Return the kind of alert about a run; None: it has no problem, or a person ended it."""
    if (run.reason or "").startswith(LEASE_LOST) and run.status in {RunStatus.FAILED, RunStatus.KILLED}:
        return AlertKind.LEASE_LOST
    if run.status not in {RunStatus.FAILED, RunStatus.TIMED_OUT}:
        return None
    return AlertKind.LIMIT if run.exit_code == ExitCode.REFUSED.value else AlertKind.FAILED


def _is_tried_again(run: MonitoredRun, follower: MonitoredRun | None, now: datetime) -> bool:
    """Return whether a retry follows a failure, or has followed it, by itself."""
    is_retried = follower is not None and follower.instance_key == run.instance_key and follower.retry is not None
    return is_retried or (run.retry_at is not None and now < run.retry_at + RETRY_GRACE)


def _failure(kind: AlertKind, run: MonitoredRun, success: MonitoredRun | None) -> AlertCondition:
    with_other = f" with {run.counterpart}" if run.counterpart else ""
    what = f"{run.life_cycle} of {run.entity} on {run.cluster}{with_other} for {run.instance_key}"
    why = f": {run.reason}" if run.reason else ""
    entity = f"{run.entity} --cluster {run.cluster} --time {run.instance_key}"
    if run.ended_at is None:
        raise AssertionError  # it has failed
    late = "" if run.retry_at is None else f"; its retry was due at {moment(run.retry_at)} and nothing has started it"
    return AlertCondition(
        kind=kind,
        entity=run.entity,
        cluster=run.cluster,
        instance_key=run.subject.instance_key,
        since=run.ended_at if run.retry_at is None else run.retry_at + RETRY_GRACE,
        ended_at=None if success is None else success.ended_at,
        ended_because="" if success is None else f"attempt {success.attempt} of {success.instance_key} succeeded",
        message=f"{what} {_VERBS[kind]} in attempt {run.attempt}{why}{late}; "
        f"`feedctl instance status {entity}` says more",
        facts={
            "run_id": run.run_id,
            "life_cycle": str(run.life_cycle),
            "attempt": run.attempt,
            "run_status": str(run.status),
            "error": run.reason or "",
            "log": run.log_location or "",
        },
    )


def _blocked(result: MonitoredValidation, ended_at: datetime | None, because: str) -> AlertCondition:
    name = f"{result.feed} --cluster {result.cluster} --time {result.instance_key}"
    return AlertCondition(
        kind=AlertKind.QUALITY,
        entity=result.feed,
        cluster=result.cluster,
        instance_key=result.instance_key,
        since=result.recorded_at,
        ended_at=ended_at,
        ended_because=because,
        message=f"instance {result.instance_key} of feed {result.feed} on {result.cluster} is blocked by its quality "
        f"checks: {result.reason or 'see its page'}; `feedctl quality show {name}` says what was found",
        facts={"reason": result.reason or "", "page": result.page or "", "unit": result.unit},
    )


def _late_copy(
    subject: AlertSubject, behind_at: datetime, source: str, runs: Collection[MonitoredRun]
) -> Iterator[AlertCondition]:
    """Yield the condition of an instance that its target has later than it should, or not at all."""
    over = {RunStatus.SUCCEEDED: "it was copied", RunStatus.SKIPPED: "it is not to be copied any more"}
    ends: Mapping[datetime, str] = {
        each.ended_at: over[each.status]
        for each in runs
        if each.ended_at is not None and each.status in over and each.counterpart in {source, ""}
    }
    first = min(ends, default=None)
    if first is None or first > behind_at:
        what = f"instance {subject.instance_key} of feed {subject.entity} is on {source} and was not copied to"
        entity = f"{subject.entity} --cluster {subject.cluster} --time {subject.instance_key}"
        todo = f"`feedctl instance status {entity}` says why"
        yield AlertCondition(
            kind=AlertKind.REPLICATION_BEHIND,
            entity=subject.entity,
            cluster=subject.cluster,
            instance_key=subject.instance_key,
            since=behind_at,
            ended_at=first,
            ended_because="" if first is None else ends[first],
            message=f"{what} {subject.cluster} by {moment(behind_at)}; {todo}",
            facts={"source": source},
        )
