"""Overview on one screen (`feedctl status`), and what has not succeeded within its cadence."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from toolkit.el import Frequency, format_instant, shift
from toolkit.entities import Feed, Process, Validity
from toolkit.entities.not_implemented import Area, not_evictable, not_implemented
from toolkit.entities.repository import Repository
from toolkit.ledger.batches.creation import unread_batches
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.jobs.current import sites_on_queue
from toolkit.ledger.jobs.rows import QUEUE_KEYS
from toolkit.ledger.runs.queries import InstanceSpan, Subject, active, failed, last_success, succeeded
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.state.start_check import EVERYWHERE, SafeMode, Suspension, current_safe_mode, renewals, suspensions
from toolkit.ledger.vocabulary import LifeCycle, RunStatus
from toolkit.management.entities import EntityStatus, entity_status
from toolkit.management.holds import KnownHold, holds_in
from toolkit.management.locations import chosen_clusters, key_after, locations_of, next_minute
from toolkit.planning.cadence import Cadence, eviction_cadence, execution_cadence, replication_cadence
from toolkit.planning.retention import horizon


@dataclass(frozen=True, kw_only=True, slots=True)
class Watched:
    """An action that should succeed again and again.

    Attributes:
        subject: entity, life cycle and cluster.
        entity: the feed or process.
        cadence: how often.
        validity: on the cluster; of a replication, the overlap of both sides.
        delay: an instance cannot succeed sooner after its time; None: at once.
    """

    subject: Subject
    entity: Feed | Process
    cadence: Cadence
    validity: Validity
    delay: Frequency | None = None

    @property
    def due_from(self) -> datetime:
        """When it can succeed first."""
        start = self.validity.start
        return start if self.delay is None else shift(start, self.delay, 1, self.entity.timezone)


@dataclass(frozen=True, kw_only=True, slots=True)
class OverviewRow:
    """State of an action on an entity on a cluster.

    Attributes:
        counterpart: of a replication, the source; else empty.
        last_success: the run that succeeded last.
        oldest_running: of those that run now, the one that began first.
        running: how many run now.
        failed: instances whose newest attempt failed, timed out or was killed; of evictions, only since the last
            success, which made up for those before it.
        backlog: instances that are due and have not succeeded; None: not counted, as of evictions, replications (of
            which old instances may be gone on either side) and jobs on the queue.
        unread: batches that a step of the process waits to read.
        holds: how many keep instances of the feed there.
        stale_since: when it should have succeeded at the latest; None: it is not stale.
    """

    entity: str
    life_cycle: LifeCycle
    cluster: str
    counterpart: str = ""
    status: EntityStatus
    last_success: Run | None
    oldest_running: Run | None
    running: int
    failed: int
    backlog: int | None
    unread: int
    suspension: Suspension | None
    holds: int
    stale_since: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Overview:
    """Overview of all actions.

    Attributes:
        at: the instant from which it is looked at.
        old_holds: that are older than the repo's `hold_reminder`.
    """

    at: datetime
    safe_mode: SafeMode
    rows: tuple[OverviewRow, ...]
    old_holds: tuple[KnownHold, ...] = ()

    @property
    def stale(self) -> tuple[OverviewRow, ...]:
        """Rows without a success within their cadence."""
        return tuple(row for row in self.rows if row.stale_since is not None)

    @property
    def needs_attention(self) -> bool:
        """True if an action is stale, or a hold is old."""
        return bool(self.stale or self.old_holds)


def overview(
    ledger: Ledger, repository: Repository, at: datetime | None = None, names: Collection[str] | None = None
) -> Overview:
    """Return the state of each retention, replication and process on the clusters that the environment may act on.

    Args:
        ledger: of the runs.
        repository: all entities.
        at: what is due by then counts; None: now, by the database's clock.
        names: only of these entities; None: of all.

    Raises:
        LedgerUnavailable: the ledger cannot be read now.
    """
    watched = tuple(each for each in watched_actions(repository) if names is None or each.subject.entity in names)
    return ledger.read(lambda tx: overview_in(tx, watched, repository, at, names))


def watched_actions(repository: Repository) -> Iterator[Watched]:
    """Yield retention and replication of feeds as far as an action can do them, then processes, by name."""
    for _, feed in sorted(repository.feeds.items()):
        clusters = chosen_clusters(repository, feed, ())
        for cluster in clusters:
            cadence = eviction_cadence(feed, cluster)
            if cadence is not None and not not_evictable(feed, repository.clusters[cluster]):
                yield _watched(feed, LifeCycle.EVICTION, cluster, cadence)
        yield from _replications(feed, clusters)
    for _, process in sorted(repository.processes.items()):
        for cluster in chosen_clusters(repository, process, ()):
            yield _watched(process, LifeCycle.EXECUTION, cluster, execution_cadence(process, cluster))


def _watched(entity: Feed | Process, life_cycle: LifeCycle, cluster: str, cadence: Cadence) -> Watched:
    subject = Subject(entity=entity.name, life_cycle=life_cycle, cluster=cluster)
    return Watched(subject=subject, entity=entity, cadence=cadence, validity=entity.cluster(cluster).validity)


def _replications(feed: Feed, clusters: tuple[str, ...]) -> Iterator[Watched]:
    """Yield the replication from each source: one that works does not make up for another."""
    for each in locations_of(feed, LifeCycle.REPLICATION, clusters):
        if any(not_implemented(feed, Area.REPLICATION, each.cluster)):
            continue
        subject = Subject(
            entity=feed.name, life_cycle=LifeCycle.REPLICATION, cluster=each.cluster, counterpart=each.counterpart
        )
        yield Watched(
            subject=subject,
            entity=feed,
            cadence=replication_cadence(feed, each.cluster),
            validity=each.validity,
            delay=feed.cluster(each.counterpart).delay,
        )


def overview_in(
    tx: Transaction,
    watched: Sequence[Watched],
    repository: Repository,
    at: datetime | None,
    names: Collection[str] | None,
) -> Overview:
    """Do as `overview`, of these actions, in a transaction."""
    holds = tuple(each for each in holds_in(tx, repository.holds) if names is None or each.hold.feed in names)
    known = _Known.of(tx, watched, holds, at or tx.now())
    looked_at = {(each.subject.entity, each.subject.cluster) for each in watched}
    set_before = horizon(known.at, repository.settings.hold_reminder, "UTC")
    return Overview(
        at=known.at,
        safe_mode=current_safe_mode(tx),
        rows=tuple(known.row(each) for each in watched),
        old_holds=tuple(each for each in holds if _is_old(each, set_before, looked_at)),
    )


def _is_old(known: KnownHold, set_before: datetime, looked_at: Collection[tuple[str, str]]) -> bool:
    """Return whether a hold needs a user's attention; no run would ever miss the file of a feed that is gone."""
    is_known = known.file is None or (known.file.feed, known.file.cluster) in looked_at
    return is_known and known.since is not None and known.since < set_before


@dataclass(frozen=True, kw_only=True, slots=True)
class _Known:
    """State of all subjects in the ledger, each part read by one query."""

    at: datetime
    last: Mapping[Subject, Run]
    active: Mapping[Subject, Sequence[Run]]
    failed: Mapping[Subject, int]
    succeeded: Mapping[Subject, int]
    unread: Mapping[tuple[str, str], int]
    suspensions: Mapping[tuple[str, str], Suspension]
    renewals: Mapping[tuple[str, str], datetime]
    holds: Sequence[KnownHold]
    on_queue: Collection[tuple[str, str]]

    @classmethod
    def of(cls, tx: Transaction, watched: Sequence[Watched], holds: Sequence[KnownHold], at: datetime) -> _Known:
        last = last_success(tx, [each.subject for each in watched])
        on_queue = sites_on_queue(tx)
        spans = [_span(each, last.get(each.subject), at, on_queue) for each in watched]
        return cls(
            at=at,
            last=last,
            active=_running(tx),
            failed=failed(tx, spans),
            succeeded=succeeded(tx, [each for each in spans if each.subject.life_cycle is LifeCycle.EXECUTION]),
            unread=unread_batches(tx),
            suspensions={(each.entity, each.cluster): each for each in suspensions(tx)},
            renewals=renewals(tx),
            holds=holds,
            on_queue=on_queue,
        )

    def row(self, watched: Watched) -> OverviewRow:
        subject = watched.subject
        running = self.active.get(subject, ())
        suspension = self._suspension(subject)
        return OverviewRow(
            entity=subject.entity,
            life_cycle=subject.life_cycle,
            cluster=subject.cluster,
            counterpart=subject.counterpart,
            status=entity_status(watched.validity, self.at, is_suspended=suspension is not None),
            last_success=self.last.get(subject),
            oldest_running=running[0] if running else None,
            running=len(running),
            failed=self.failed.get(subject, 0),
            backlog=self._backlog(watched),
            unread=self.unread.get((subject.entity, subject.cluster), 0),
            suspension=suspension,
            holds=sum(each.hold.concerns(subject.entity, subject.cluster) for each in self.holds),
            stale_since=None if suspension else self._stale_since(watched),
        )

    def _suspension(self, subject: Subject) -> Suspension | None:
        everywhere = self.suspensions.get((subject.entity, EVERYWHERE))
        return everywhere or self.suspensions.get((subject.entity, subject.cluster))

    def _backlog(self, watched: Watched) -> int | None:
        subject = watched.subject
        if subject.life_cycle is not LifeCycle.EXECUTION or (subject.entity, subject.cluster) in self.on_queue:
            return None
        (location,) = locations_of(watched.entity, watched.subject.life_cycle, (watched.subject.cluster,))
        due = location.count(watched.validity.start, _due_end(self.at))
        return max(0, due - self.succeeded.get(watched.subject, 0))

    def _stale_since(self, watched: Watched) -> datetime | None:
        """The deadline that has passed; what was resumed or touched since counts from then."""
        subject, first = watched.subject, watched.due_from
        if not first <= self.at < watched.validity.end:
            return None
        last = self.last.get(subject)
        renewed = [self.renewals.get((subject.entity, where)) for where in (EVERYWHERE, subject.cluster)]
        moments = [first, None if last is None else last.ended_at, *renewed]
        deadline = watched.cadence.deadline(max(each for each in moments if each is not None))
        return deadline if deadline < self.at else None


def _running(tx: Transaction) -> dict[Subject, list[Run]]:
    """Return the runs with status RUNNING by subject, the oldest first."""
    found: dict[Subject, list[Run]] = {}
    for run in active(tx):
        if run.status is RunStatus.RUNNING:
            found.setdefault(Subject.of(run.key), []).append(run)
    return {subject: sorted(runs, key=_began) for subject, runs in found.items()}


def _began(run: Run) -> datetime:
    return run.started_at or run.created_at


def _span(watched: Watched, last: Run | None, at: datetime, on_queue: Collection[tuple[str, str]]) -> InstanceSpan:
    """The instances that count: of a process those that are due, of evictions those since the last success."""
    subject = watched.subject
    if subject.life_cycle is LifeCycle.EXECUTION and (subject.entity, subject.cluster) in on_queue:
        return InstanceSpan(subject=subject, start_key=QUEUE_KEYS[0], end_key=QUEUE_KEYS[1])
    start = format_instant(watched.validity.start)
    if watched.subject.life_cycle is LifeCycle.EVICTION:
        start = key_after(last.instance_key) if last is not None else ""
    return InstanceSpan(subject=watched.subject, start_key=start, end_key=format_instant(_due_end(at)))


def _due_end(at: datetime) -> datetime:
    """The minute after the last instant that is due."""
    return next_minute(at.replace(second=0, microsecond=0))
