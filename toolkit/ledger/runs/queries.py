"""Runs by number, by key and by filters, and counted (Falcon overview, Instance Management: status, list, summary)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from typing import Any

import sqlalchemy as sa

from toolkit.ledger.columns import is_one_of
from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.named_rows import listed_rows
from toolkit.ledger.runs.errors import UnknownRun
from toolkit.ledger.runs.rows import Run, RunKey
from toolkit.ledger.statements import given, locking
from toolkit.ledger.tables import run
from toolkit.ledger.vocabulary import TRANSITIONS, LifeCycle, RunStatus

ACTIVE = (RunStatus.RUNNING, RunStatus.SUSPENDED)
"""An open attempt: active, or may continue; a key has at most one."""
OPEN = (RunStatus.WAITING, RunStatus.READY, *ACTIVE)
"""Not over."""
OVER = tuple(status for status in TRANSITIONS if status.is_terminal)
"""Only a new attempt can follow."""


class RunOrder(StrEnum):
    """Sort order of runs; equal ones are sorted by instance, cluster, life cycle and attempt."""

    INSTANCE = "instance"
    """Instance key, so by time."""
    STATUS = "status"
    """The name of the status."""
    START = "start"
    """By the start; an attempt that has not started comes last."""
    END = "end"
    """When it was over; what is not over comes last."""
    CLUSTER = "cluster"
    """The name of the cluster."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunFilter:
    """Filter and order of runs.

    Attributes:
        entity: feed or process.
        life_cycle: None: all.
        clusters: empty: all.
        start_key: the first instance key; None: from the beginning.
        end_key: the first that is too late; None: to the end.
        sources: of copies, the other cluster; empty: all.
        statuses: empty: all.
        started_after: only attempts that began then or later.
        all_attempts: not just the newest of each key.
        order_by: what they are sorted by.
        descending: the largest first.
        offset: so many are left out first.
        limit: at most so many; None: all.
    """

    entity: str
    life_cycle: LifeCycle | None = None
    clusters: Collection[str] = ()
    start_key: str | None = None
    end_key: str | None = None
    sources: Collection[str] = ()
    statuses: Collection[RunStatus] = ()
    started_after: datetime | None = None
    all_attempts: bool = False
    order_by: RunOrder = RunOrder.INSTANCE
    descending: bool = False
    offset: int = 0
    limit: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """An action on an entity on a cluster.

    Attributes:
        counterpart: of a replication, the source; else empty.
    """

    entity: str
    life_cycle: LifeCycle
    cluster: str
    counterpart: str = ""

    @classmethod
    def of(cls, key: RunKey) -> Subject:
        """Return the subject of a run."""
        return cls(entity=key.entity, life_cycle=key.life_cycle, cluster=key.cluster, counterpart=key.counterpart)


@dataclass(frozen=True, kw_only=True, slots=True)
class StatusCount:
    """Number of runs with one status on one cluster (Falcon overview, Instance Management, summary)."""

    cluster: str
    status: RunStatus
    count: int


_BY_NUMBER = sa.select(run).where(run.c.run_id == given(run.c.run_id))
_BY_NUMBER_LOCKED = locking(_BY_NUMBER)


def locked(tx: Transaction, run_id: int) -> Run:
    """Do as `get` does; no other process changes its row until the transaction ends."""
    return tx.row(Run, _BY_NUMBER_LOCKED, {"run_id": run_id}) or get(tx, run_id)


def get(tx: Transaction, run_id: int) -> Run:
    """The run of this number.

    Raises:
        UnknownRun: there is none.
    """
    found = tx.row(Run, _BY_NUMBER, {"run_id": run_id})
    if found is None:
        raise UnknownRun(run_id=run_id)
    return found


def is_of(key: RunKey) -> sa.ColumnElement[bool]:
    """Return whether a row of `run` is an attempt of the key."""
    return sa.and_(*(run.c[name] == getattr(key, name) for name in _KEY))


def is_about(subject: Subject) -> sa.ColumnElement[bool]:
    """Return whether a row of `run` is an attempt of the subject."""
    return sa.and_(*(run.c[name] == value for name, value in asdict(subject).items()))


def unsuccessful(tx: Transaction, subject: Subject, most: int) -> frozenset[int]:
    """Return those of the last runs of a subject that are over and have not succeeded.

    Args:
        tx: the transaction.
        subject: whose runs.
        most: so many runs are looked at.
    """
    last = sa.select(run.c.run_id, run.c.status).where(is_about(subject)).order_by(run.c.run_id.desc()).limit(most)
    return frozenset(
        run_id for run_id, status in tx.execute(last) if status.is_terminal and status is not RunStatus.SUCCEEDED
    )


def over(tx: Transaction, subject: Subject, run_ids: Collection[int]) -> frozenset[int]:
    """Return those of some numbers that are runs of a subject and over."""
    wanted = sa.select(run.c.run_id).where(is_about(subject), is_one_of(run.c.status, *OVER))
    chunks = (tx.execute(wanted.where(run.c.run_id.in_(ids))) for ids in in_chunks(run_ids))
    return frozenset(run_id for rows in chunks for (run_id,) in rows)


_KEY = ("entity", "instance_key", "life_cycle", "cluster", "counterpart")
_NEWEST = (
    sa.select(run).where(*(run.c[name] == given(run.c[name]) for name in _KEY)).order_by(run.c.attempt.desc()).limit(1)
)


def newest(tx: Transaction, key: RunKey) -> Run | None:
    """The newest attempt of a key; None: nothing was recorded for it, so it waits."""
    return tx.row(Run, _NEWEST, asdict(key))


def newest_of(tx: Transaction, keys: Collection[RunKey]) -> dict[RunKey, Run]:
    """The newest attempt of each key; keys of which nothing was recorded are left out."""
    names = {tuple(getattr(key, name) for name in _KEY) for key in keys}
    rows = listed_rows(tx, sa.select(run).where(is_newest()), [run.c[name] for name in _KEY], names)
    return {each.key: each for each in (Run(**row) for row in rows)}


def find(tx: Transaction, wanted: RunFilter) -> list[Run]:
    """The runs that the filter lets through, in its order."""
    order = (_by(run.c[name], descending=wanted.descending) for name in _ORDERS[wanted.order_by])
    statement = sa.select(run).where(*_conditions(wanted)).order_by(*order)
    return list(tx.rows(Run, statement.offset(wanted.offset or None).limit(wanted.limit)))


def active(tx: Transaction, entity: str | None = None) -> list[Run]:
    """The runs that are running or suspended, of one entity or of all, the oldest first."""
    found = tx.rows(Run, _ALL_ACTIVE) if entity is None else tx.rows(Run, _ACTIVE_OF, {"entity": entity})
    # Sorted here: asked for this order, SQLite reads the whole table in it rather than the index.
    return sorted(found, key=attrgetter("run_id"))


_ALL_ACTIVE = sa.select(run).where(
    is_one_of(run.c.status, *OPEN),  # what the index covers
    is_one_of(run.c.status, *ACTIVE),
)
_ACTIVE_OF = _ALL_ACTIVE.where(run.c.entity == given(run.c.entity))


def last_success(tx: Transaction, subjects: Collection[Subject]) -> dict[Subject, Run]:
    """The run of each subject that succeeded last; who never succeeded is left out."""
    found: dict[Subject, Run] = {}
    for chunk in in_chunks(subjects):
        for each in tx.rows(Run, _last_successes(chunk)):
            found[Subject.of(each.key)] = each
    return found


def summary(tx: Transaction, wanted: RunFilter) -> list[StatusCount]:
    """Return how many runs have which status on which cluster, of those that the filter lets through."""
    columns = (run.c.cluster, run.c.status)
    counted = sa.select(*columns, sa.func.count().label("count")).where(*_conditions(wanted))
    return list(tx.rows(StatusCount, counted.group_by(*columns).order_by(*columns)))


_BY_INSTANCE = ("instance_key", "life_cycle", "cluster", "counterpart", "attempt")
_ORDERS = {
    RunOrder.INSTANCE: _BY_INSTANCE,
    RunOrder.STATUS: ("status", *_BY_INSTANCE),
    RunOrder.START: ("started_at", *_BY_INSTANCE),
    RunOrder.END: ("ended_at", *_BY_INSTANCE),
    RunOrder.CLUSTER: ("cluster", *_BY_INSTANCE),
}


def _by(column: sa.Column[Any], *, descending: bool) -> sa.ColumnElement[Any]:
    """Return the order of a column, with empty values last both ways; said only then, since no index has that order."""
    order = column.desc() if descending else column.asc()
    return order.nulls_last() if column.nullable else order


def _conditions(wanted: RunFilter) -> list[sa.ColumnElement[bool]]:
    where = _in_range(wanted)
    if wanted.life_cycle is not None:
        where.append(run.c.life_cycle == wanted.life_cycle)
    several = ((run.c.cluster, wanted.clusters), (run.c.counterpart, wanted.sources), (run.c.status, wanted.statuses))
    where += [column.in_(values) for column, values in several if values]
    if wanted.started_after is not None:
        where.append(run.c.started_at >= wanted.started_after)
    if not wanted.all_attempts:
        where.append(is_newest())
    return where


def _in_range(wanted: RunFilter) -> list[sa.ColumnElement[bool]]:
    where = [run.c.entity == wanted.entity]
    if wanted.start_key is not None:
        where.append(run.c.instance_key >= wanted.start_key)
    if wanted.end_key is not None:
        where.append(run.c.instance_key < wanted.end_key)
    return where


def is_newest() -> sa.ColumnElement[bool]:
    """Return whether a row of `run` is the newest attempt of its key.

    By comparison with one value, which is one look into the index for each run, whatever the planner believes.

    As an anti-join, PostgreSQL without fresh statistics compared each run of a month with all others: 25 s, not 20 ms.
    """
    other = run.alias("other")
    same_key = [other.c[name] == run.c[name] for name in _KEY]
    return run.c.attempt == sa.select(sa.func.max(other.c.attempt)).where(*same_key).scalar_subquery()


def _last_successes(subjects: Collection[Subject]) -> sa.Select[tuple[int]]:
    """Select the runs by one look into the index for each subject, however many runs it has."""
    rows = [tuple(getattr(each, name) for name in _SUBJECT) for each in subjects]
    subject = sa.values(*_columns(_SUBJECT)).data(rows).cte("subject")
    same = [run.c[name] == subject.c[name] for name in _SUBJECT]
    newest_of = sa.select(run.c.run_id).where(*same, is_one_of(run.c.status, RunStatus.SUCCEEDED))
    last = newest_of.order_by(run.c.ended_at.desc()).limit(1).correlate(subject).scalar_subquery()
    of_subjects = sa.select(last.label("run_id")).select_from(subject).cte("of_subjects")
    return sa.select(run).join(of_subjects, of_subjects.c.run_id == run.c.run_id)


_SUBJECT = ("entity", "life_cycle", "cluster", "counterpart")


def _columns(names: Collection[str]) -> list[sa.ColumnClause[Any]]:
    """Return columns of constant rows; those take SQLAlchemy a third of the time of a SELECT for each row."""
    return [sa.column(name, _TYPES[name]) for name in names]


_TYPES = {name: run.c[name].type for name in _KEY} | dict.fromkeys(("start_key", "end_key"), run.c.instance_key.type)


FAILURES = (RunStatus.FAILED, RunStatus.KILLED, RunStatus.TIMED_OUT)
"""Over, without having succeeded."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceSpan:
    """The instances of an action on an entity on a cluster from one key to another.

    Attributes:
        start_key: the first instance.
        end_key: the first that is too late.
    """

    subject: Subject
    start_key: str
    end_key: str


def succeeded(tx: Transaction, spans: Collection[InstanceSpan]) -> dict[Subject, int]:
    """Count the instances of each span of a process that have ever succeeded, however often.

    The counterpart, which no process has, is not compared: the index then covers the query.
    """
    counted = sa.select(sa.func.count(run.c.instance_key.distinct())).where(
        is_one_of(run.c.status, RunStatus.SUCCEEDED)
    )
    return _counts(tx, spans, counted, _SUBJECT[:3])


def failed(tx: Transaction, spans: Collection[InstanceSpan]) -> dict[Subject, int]:
    """Return how many instances of each span failed, were killed or timed out in their newest attempt."""
    later = run.alias("later")
    key = ("entity", "instance_key", "life_cycle", "cluster", "counterpart")
    follows = sa.exists().where(*(later.c[name] == run.c[name] for name in key), later.c.attempt > run.c.attempt)
    counted = sa.select(sa.func.count()).select_from(run).where(is_one_of(run.c.status, *FAILURES), ~follows)
    return _counts(tx, spans, counted)


def _counts(
    tx: Transaction,
    spans: Collection[InstanceSpan],
    counted: sa.Select[tuple[int]],
    compared: Collection[str] = _SUBJECT,
) -> dict[Subject, int]:
    found: dict[Subject, int] = {}
    for chunk in in_chunks(spans):
        span = _table(chunk)
        same = [run.c[name] == span.c[name] for name in compared]
        within = (run.c.instance_key >= span.c.start_key) & (run.c.instance_key < span.c.end_key)
        number = counted.where(*same, within).correlate(span).scalar_subquery().label("number")
        for row in tx.execute(sa.select(*(span.c[name] for name in _SUBJECT), number)).mappings():
            found[Subject(**{name: row[name] for name in _SUBJECT})] = row["number"]
    return found


def _table(spans: Collection[InstanceSpan]) -> sa.CTE:
    """The spans as rows of a query."""
    rows = [(*(getattr(each.subject, name) for name in _SUBJECT), each.start_key, each.end_key) for each in spans]
    return sa.values(*_columns((*_SUBJECT, "start_key", "end_key"))).data(rows).cte("span")
