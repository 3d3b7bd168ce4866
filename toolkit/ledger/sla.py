"""State of SLAs: how far the monitor has expected and read, and the instances that are expected and not there yet."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from toolkit.ledger.database import Transaction
from toolkit.ledger.named_rows import named_rows
from toolkit.ledger.statements import InsertOr, given
from toolkit.ledger.tables import consumer_cursor, event, sla_instance, sla_window
from toolkit.ledger.vocabulary import SlaState, SlaSubject

CONSUMER = "monitor"
"""Name under which the monitor reads events; the lock on its cursor keeps a second pass waiting."""
LATE_STATES = (SlaState.LATE, SlaState.MISSING, SlaState.EMPTY, SlaState.UNKNOWN)
"""States of instances that are behind; of an unknown one nobody knows that it is not."""


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
    series: str = ""

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


_INSTANCE = (sla_instance.c.subject, sla_instance.c.entity, sla_instance.c.cluster, sla_instance.c.instance_key)
_POSITION = sa.select(consumer_cursor.c.sequence, consumer_cursor.c.moved_at).where(
    consumer_cursor.c.consumer == CONSUMER
)
_WINDOW_PUT = InsertOr(
    sla_window,
    "(subject, entity, cluster) DO UPDATE SET next_key = excluded.next_key, exempt = excluded.exempt, "
    "series = excluded.series",
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
    return {each.key: each for each in tx.rows(SlaWindow, sa.select(sla_window))}


def put_windows(tx: Transaction, changed: Iterable[SlaWindow]) -> None:
    """Write windows, new ones and changed ones."""
    rows = [_columns(each) for each in changed]
    if rows:
        tx.execute(_WINDOW_PUT, rows)


def _columns(row: SlaWindow | ExpectedInstance) -> dict[str, object]:
    """Return the columns of a row; `asdict` would copy each value, which takes longer than writing it."""
    return {name: getattr(row, name) for name in row.__dataclass_fields__}


def drop_windows(tx: Transaction, keys: Collection[SlaKey]) -> None:
    """Remove series with all their instances: nothing of them is expected any more."""
    for table in (sla_instance, sla_window):
        of_key = (table.c[name] == given(table.c[name], f"of_{name}") for name in SlaKey._fields)
        gone: list[dict[str, object]] = [{f"of_{name}": value for name, value in key._asdict().items()} for key in keys]
        if gone:
            tx.execute(sa.delete(table).where(*of_key), gone)


def due_instances(tx: Transaction, now: datetime) -> list[ExpectedInstance]:
    """Return the instances whose state is to be decided anew by now, whatever happened to them."""
    return list(tx.rows(ExpectedInstance, _DUE, {"until": now}))


def instances_of(tx: Transaction, keys: Collection[SlaKey]) -> list[ExpectedInstance]:
    """Return all expected instances of some series, by time."""
    wanted = sa.select(sla_instance).order_by(*_INSTANCE)
    return [ExpectedInstance(**row) for row in named_rows(tx, wanted, _INSTANCE[:3], keys)]


def named_instances(tx: Transaction, names: Collection[tuple[SlaKey, str]]) -> list[ExpectedInstance]:
    """Return the expected instances among some, each by its series and its instance key."""
    keys = [(*key, instance_key) for key, instance_key in names]
    return [ExpectedInstance(**row) for row in named_rows(tx, sa.select(sla_instance), _INSTANCE, keys)]


def put_instances(tx: Transaction, changed: Iterable[ExpectedInstance]) -> None:
    """Write instances, new ones and changed ones."""
    rows = [_columns(each) for each in changed]
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


def _newest_until(tx: Transaction, until: datetime) -> int:
    """Return the number of the newest event that was recorded by then; it looks back from the newest of all."""
    wanted: sa.Select[Any] = sa.select(event.c.sequence).where(event.c.recorded_at <= until)
    found: int | None = tx.execute(wanted.order_by(event.c.sequence.desc()).limit(1)).scalar()
    return found or 0
