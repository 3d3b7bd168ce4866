"""State of SLAs: how far the monitor has expected and read, and the instances that are expected and not there yet."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from toolkit.ledger.columns import is_one_of
from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.statements import InsertOr, given
from toolkit.ledger.tables import consumer_cursor, event, event_counter, run, sla_instance, sla_window
from toolkit.ledger.vocabulary import EventKind, LifeCycle, RunStatus, SlaState, SlaSubject

CONSUMER = "monitor"
"""Name under which the monitor reads events; the lock on its cursor keeps a second pass waiting."""
LATE_STATES = (SlaState.LATE, SlaState.MISSING, SlaState.EMPTY, SlaState.UNKNOWN)
"""States of instances that are behind; of an unknown one nobody knows that it is not."""
_PAGE = 5_000
_KEYS = 200


class SlaKey(NamedTuple):
    """Key of a series that has an SLA.

    Attributes:
        subject: kind of the entity.
        entity: its name; of a dataset its URI.
        cluster: where; empty for a dataset.
    """

    subject: SlaSubject
    entity: str
    cluster: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SlaPosition:
    """Progress of the monitor.

    Attributes:
        sequence: the newest event that a pass has read.
        looked_at: time of the newest pass; None: there was none.
    """

    sequence: int = 0
    looked_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SlaWindow:
    """Row of a series; the fields are the columns of `sla_window`, where each is explained."""

    subject: SlaSubject
    entity: str
    cluster: str
    next_key: str
    exempt: str | None = None

    @property
    def key(self) -> SlaKey:
        """The series."""
        return SlaKey(self.subject, self.entity, self.cluster)


@dataclass(frozen=True, kw_only=True, slots=True)
class ExpectedInstance:
    """Row of an instance; the fields are the columns of `sla_instance`, where each is explained."""

    subject: SlaSubject
    entity: str
    cluster: str
    instance_key: str
    low_at: datetime | None
    high_at: datetime | None
    state: SlaState
    since: datetime
    evidence: str
    next_at: datetime | None

    @property
    def key(self) -> SlaKey:
        """The series that it is of."""
        return SlaKey(self.subject, self.entity, self.cluster)


@dataclass(frozen=True, kw_only=True, slots=True)
class SlaEvent:
    """An event, as far as SLAs read it; the fields are columns of `event`."""

    sequence: int
    kind: EventKind
    dataset: str
    feed: str
    cluster: str
    instance_key: str
    recorded_at: datetime
    extra: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SlaRun:
    """An attempt of a process, as far as SLAs read it; the fields are columns of `run`."""

    run_id: int
    entity: str
    cluster: str
    instance_key: str
    status: RunStatus
    started_at: datetime | None
    ended_at: datetime | None


_INSTANCE = (sla_instance.c.subject, sla_instance.c.entity, sla_instance.c.cluster, sla_instance.c.instance_key)
_EVENT = tuple(event.c[name] for name in SlaEvent.__dataclass_fields__)
_RUN = tuple(run.c[name] for name in SlaRun.__dataclass_fields__)
_POSITION = sa.select(consumer_cursor.c.sequence, consumer_cursor.c.moved_at).where(
    consumer_cursor.c.consumer == CONSUMER
)
_WINDOW_PUT = InsertOr(
    sla_window, "(subject, entity, cluster) DO UPDATE SET next_key = excluded.next_key, exempt = excluded.exempt"
)
_INSTANCE_PUT = InsertOr(
    sla_instance,
    "(subject, entity, cluster, instance_key) DO UPDATE SET low_at = excluded.low_at, high_at = excluded.high_at, "
    "state = excluded.state, since = excluded.since, evidence = excluded.evidence, next_at = excluded.next_at",
)
_INSTANCE_DROPPED = sa.delete(sla_instance).where(*(each == given(each, f"of_{each.name}") for each in _INSTANCE))
_DUE = (
    sa.select(sla_instance)
    .where(sla_instance.c.next_at <= given(sla_instance.c.next_at, "until"))
    .order_by(sla_instance.c.next_at, *_INSTANCE)
)


def position(tx: Transaction, now: datetime) -> SlaPosition:
    """Return how far the monitor is.

    Before the first pass that is the newest event at its time: earlier ones are only read of instances that are
    expected.

    Args:
        tx: the transaction.
        now: time of the pass.
    """
    found = tx.execute(_POSITION).first()
    if found is None:
        return SlaPosition(sequence=_newest_until(tx, now))
    return SlaPosition(sequence=found.sequence, looked_at=found.moved_at)


def looked_at(tx: Transaction) -> datetime | None:
    """Return the time of the newest pass; None: there was none."""
    found: datetime | None = tx.execute(sa.select(_POSITION.subquery().c.moved_at)).scalar()
    return found


def lock_position(tx: Transaction, now: datetime) -> SlaPosition:
    """Return how far the monitor is, as `position`; another pass waits for the end of the transaction."""
    found = tx.execute(tx.locked(_POSITION)).first()
    if found is not None:
        return SlaPosition(sequence=found.sequence, looked_at=found.moved_at)
    start = _newest_until(tx, now)
    values: list[dict[str, object]] = [{"consumer": CONSUMER, "sequence": start, "is_waiting": False, "moved_at": now}]
    is_first = tx.execute(InsertOr(consumer_cursor), values).rowcount == 1
    taken = tx.execute(tx.locked(_POSITION)).one()
    return SlaPosition(sequence=taken.sequence, looked_at=None if is_first else taken.moved_at)


def move(tx: Transaction, sequence: int, now: datetime) -> None:
    """Write down how far a pass has read, and its time."""
    moved = {"sequence": sequence, "moved_at": now}
    tx.execute(sa.update(consumer_cursor).where(consumer_cursor.c.consumer == CONSUMER).values(**moved))


def windows(tx: Transaction) -> dict[SlaKey, SlaWindow]:
    """Return the windows of all series."""
    rows = tx.execute(sa.select(sla_window)).all()
    found = (
        SlaWindow(subject=each[0], entity=each[1], cluster=each[2], next_key=each[3], exempt=each[4]) for each in rows
    )
    return {each.key: each for each in found}


def put_windows(tx: Transaction, changed: Iterable[SlaWindow]) -> None:
    """Write windows, new ones and changed ones."""
    rows: list[dict[str, object]] = [asdict(each) for each in changed]
    if rows:
        tx.execute(_WINDOW_PUT, rows)


def drop_windows(tx: Transaction, keys: Collection[SlaKey]) -> None:
    """Remove series with all their instances: nothing of them is expected any more."""
    for chunk in in_chunks(sorted(keys), _KEYS):
        for table in (sla_instance, sla_window):
            tx.execute(sa.delete(table).where(sa.tuple_(table.c.subject, table.c.entity, table.c.cluster).in_(chunk)))


def due_instances(tx: Transaction, now: datetime) -> list[ExpectedInstance]:
    """Return the instances whose state is to be decided anew by now, whatever happened to them."""
    return list(tx.rows(ExpectedInstance, _DUE, {"until": now}))


def instances_of(tx: Transaction, keys: Collection[SlaKey]) -> list[ExpectedInstance]:
    """Return all expected instances of some series, by time."""
    found: list[ExpectedInstance] = []
    for chunk in in_chunks(sorted(keys), _KEYS):
        of_them = sa.tuple_(*_INSTANCE[:3]).in_(chunk)
        found.extend(tx.rows(ExpectedInstance, sa.select(sla_instance).where(of_them).order_by(*_INSTANCE)))
    return found


def named_instances(tx: Transaction, names: Collection[tuple[SlaKey, str]]) -> list[ExpectedInstance]:
    """Return the expected instances among some, each by its series and its instance key."""
    found: list[ExpectedInstance] = []
    for chunk in in_chunks(sorted((*key, instance_key) for key, instance_key in names), _KEYS):
        found.extend(tx.rows(ExpectedInstance, sa.select(sla_instance).where(sa.tuple_(*_INSTANCE).in_(chunk))))
    return found


def put_instances(tx: Transaction, changed: Iterable[ExpectedInstance]) -> None:
    """Write instances, new ones and changed ones."""
    rows: list[dict[str, object]] = [asdict(each) for each in changed]
    if rows:
        tx.execute(_INSTANCE_PUT, rows)


def drop_instances(tx: Transaction, gone: Iterable[ExpectedInstance]) -> None:
    """Remove instances that are there, or are not expected any more."""
    rows: list[dict[str, object]] = [
        {
            "of_subject": each.subject,
            "of_entity": each.entity,
            "of_cluster": each.cluster,
            "of_instance_key": each.instance_key,
        }
        for each in gone
    ]
    if rows:
        tx.execute(_INSTANCE_DROPPED, rows)


def events_after(tx: Transaction, sequence: int, until: datetime) -> Iterator[SlaEvent]:
    """Yield the events that follow a number, up to the first that was recorded later than `until`, in their order."""
    last: int = tx.execute(sa.select(event_counter.c.last_sequence)).scalar_one()
    while sequence < last:
        page = list(
            tx.rows(
                SlaEvent,
                sa.select(*_EVENT).where(event.c.sequence > sequence).order_by(event.c.sequence).limit(_PAGE),
            )
        )
        for each in page:
            if each.recorded_at > until:
                return
            yield each
        if len(page) < _PAGE:
            return
        sequence = page[-1].sequence


def events_of(
    tx: Transaction, names: Collection[tuple[str, str, str]], last: int, until: datetime
) -> dict[tuple[str, str, str], list[SlaEvent]]:
    """Return the events of instances up to a number and a time, in their order, by feed, cluster and instance key."""
    found: dict[tuple[str, str, str], list[SlaEvent]] = {}
    by_name = sa.tuple_(event.c.feed, event.c.cluster, event.c.instance_key)
    for chunk in in_chunks(sorted(names), _KEYS):
        is_known = (event.c.sequence <= last) & (event.c.recorded_at <= until)
        wanted = sa.select(*_EVENT).where(by_name.in_(chunk), is_known)
        for each in tx.rows(SlaEvent, wanted.order_by(event.c.sequence)):
            found.setdefault((each.feed, each.cluster, each.instance_key), []).append(each)
    return found


def events_between(
    tx: Transaction, feed: str, cluster: str, keys: tuple[str, str], until: datetime
) -> dict[str, list[SlaEvent]]:
    """Return the events of the instances of a feed up to a time, in their order, by instance key.

    Args:
        tx: the transaction.
        feed: name.
        cluster: where.
        keys: the first instance key and the last.
        until: later events do not count.
    """
    of_it = (event.c.feed == feed, event.c.cluster == cluster, event.c.instance_key.between(*keys))
    found: dict[str, list[SlaEvent]] = {}
    wanted = sa.select(*_EVENT).where(*of_it, event.c.recorded_at <= until).order_by(event.c.sequence)
    for each in tx.rows(SlaEvent, wanted):
        found.setdefault(each.instance_key, []).append(each)
    return found


@dataclass(frozen=True, kw_only=True, slots=True)
class SlaBacklog:
    """Instances of a series that are not there.

    Attributes:
        key: the series.
        open: number of instances that are expected and not there, late or not.
        late: number of those that have missed a limit, or of which nothing is known.
        oldest: the oldest of the late instances; empty: there is none.
        behind_since: the first limit that one of them has missed; None: there is none.
    """

    key: SlaKey
    open: int = 0
    late: int = 0
    oldest: str = ""
    behind_since: datetime | None = None


def backlog(tx: Transaction) -> list[SlaBacklog]:
    """Return the backlog of each series, also of those that have none, by key."""
    late = sla_instance.c.state.in_(LATE_STATES)
    limit = sa.func.coalesce(sla_instance.c.low_at, sla_instance.c.high_at)
    counted = (
        sa.select(
            *_INSTANCE[:3],
            sa.func.sum(sa.case((sla_instance.c.state != SlaState.EXEMPT, 1), else_=0)),
            sa.func.sum(sa.case((late, 1), else_=0)),
            sa.func.min(sa.case((late, sla_instance.c.instance_key))),
            sa.func.min(sa.case((late, limit)), type_=sla_instance.c.high_at.type),
        )
        .group_by(*_INSTANCE[:3])
        .order_by(*_INSTANCE[:3])
    )
    found = {
        SlaKey(*row[:3]): SlaBacklog(
            key=SlaKey(*row[:3]), open=row[3], late=row[4], oldest=row[5] or "", behind_since=row[6]
        )
        for row in tx.execute(counted)
    }
    return [found.get(key, SlaBacklog(key=key)) for key in sorted(windows(tx))]


def listed(
    tx: Transaction, *, entity: str | None, cluster: str | None, states: Collection[SlaState], limit: int
) -> list[ExpectedInstance]:
    """Return expected instances, the oldest limits first.

    Args:
        tx: the transaction.
        entity: only of it; None: of all.
        cluster: only there; None: everywhere.
        states: only these; none: all.
        limit: at most so many.
    """
    where: list[sa.ColumnElement[bool]] = []
    if entity is not None:
        where.append(sla_instance.c.entity == entity)
    if cluster is not None:
        where.append(sla_instance.c.cluster == cluster)
    if states:
        where.append(sla_instance.c.state.in_(sorted(states)))
    first = sa.func.coalesce(sla_instance.c.low_at, sla_instance.c.high_at)
    return list(
        tx.rows(ExpectedInstance, sa.select(sla_instance).where(*where).order_by(first, *_INSTANCE).limit(limit))
    )


def last_update(tx: Transaction, dataset: str, kinds: Collection[EventKind], until: datetime) -> datetime | None:
    """Return when a dataset was last updated, up to a time; None: never."""
    of_it = (event.c.dataset == dataset, event.c.kind.in_(kinds), event.c.recorded_at <= until)
    found: datetime | None = tx.execute(
        sa.select(event.c.recorded_at).where(*of_it).order_by(event.c.sequence.desc()).limit(1)
    ).scalar()
    return found


def runs_of(
    tx: Transaction, names: Collection[tuple[str, str, str]], until: datetime
) -> Mapping[tuple[str, str, str], Sequence[SlaRun]]:
    """Return the attempts at instances of processes that began up to a time, by process, cluster and instance key."""
    found: dict[tuple[str, str, str], list[SlaRun]] = {}
    by_name = sa.tuple_(run.c.entity, run.c.instance_key, run.c.cluster)
    for chunk in in_chunks(sorted((entity, key, cluster) for entity, cluster, key in names), _KEYS):
        wanted = sa.select(*_RUN).where(by_name.in_(chunk), is_one_of(run.c.life_cycle, LifeCycle.EXECUTION))
        for each in tx.rows(SlaRun, wanted.where(run.c.created_at <= until).order_by(run.c.attempt)):
            found.setdefault((each.entity, each.cluster, each.instance_key), []).append(each)
    return found


def _newest_until(tx: Transaction, until: datetime) -> int:
    """Return the number of the newest event that was recorded by then; it looks back from the newest of all."""
    wanted: sa.Select[Any] = sa.select(event.c.sequence).where(event.c.recorded_at <= until)
    found: int | None = tx.execute(wanted.order_by(event.c.sequence.desc()).limit(1)).scalar()
    return found or 0
