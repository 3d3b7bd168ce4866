"""Lineage of instances: what each successful run read and wrote, recorded once, in the transaction of its success.

The run of an output edge is the version of the instance that it wrote. A run that read an instance read the version
that was announced last before it looked, by the times of the edges: so lineage never goes back in time.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from toolkit.ledger.batches.rows import FeedInstance
from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.statements import InsertOr, given
from toolkit.ledger.tables import archive, batch_instance, event, input_fingerprint, item, lineage_edge, run
from toolkit.ledger.vocabulary import EventKind, ItemState, LifeCycle, LineageDirection, RunStatus

InstanceName = tuple[str, str, str]
"""Feed, cluster and instance key."""

_EDGE = lineage_edge.c
_OF_RUN = given(run.c.run_id, "of_run")
_NAME = ("feed", "cluster", "instance_key")
NO_LIMIT = 2**31 - 1
INPUT, OUTPUT = LineageDirection.INPUT, LineageDirection.OUTPUT
_WITHOUT_OUTPUT = frozenset({LifeCycle.EVICTION, LifeCycle.REVIEW})


@dataclass(frozen=True, slots=True)
class InstanceEdge:
    """An edge; the fields are the columns of the table `lineage_edge`, where each is explained."""

    run_id: int
    direction: LineageDirection
    feed: str
    cluster: str
    instance_key: str
    at: datetime
    name: str = ""
    uri: str | None = None
    fingerprint: str | None = None

    @property
    def instance(self) -> InstanceName:
        """The instance that was read or written."""
        return self.feed, self.cluster, self.instance_key


def record_job(
    tx: Transaction,
    ended: Run,
    outputs: Mapping[FeedInstance, str | None],
    read: Collection[tuple[str, FeedInstance]] = (),
) -> None:
    """Record what a job that has succeeded read and wrote: its fingerprints and inputs, or else batches, and outputs.

    Args:
        tx: the transaction of its success.
        ended: the job.
        outputs: the instances that it wrote, with the digest of their data where that is known.
        read: the instances that it read, by input; none: only the ledger knows them.
    """
    at = ended.ended_at or tx.now()
    began, of_batch = ended.started_at or at, None if read else ended.target_batch_id
    made = (
        InstanceEdge(ended.run_id, OUTPUT, *each.identity, at, uri=each.uri, fingerprint=digest)
        for each, digest in outputs.items()
    )
    # An attempt that goes on in the middle has the fingerprints of an earlier one; any other looked after its start.
    earliest = began if ended.attempt == 1 else datetime.min.replace(tzinfo=at.tzinfo)
    bounds = {"began": began, "ended": at, "earliest": earliest}
    tx.execute(_READ_BY_JOB, {"of_run": ended.run_id, "of_batch": of_batch, **bounds})
    inputs = (InstanceEdge(ended.run_id, INPUT, *each.identity, began, name, each.uri) for name, each in read)
    _insert(tx, [*made, *inputs])


def record_action(tx: Transaction, ended: Run) -> None:
    """Record what a run of an action other than a process has read and written: what it announced, and its source.

    A copy read the same instance at its counterpart, an import the newest export of the instance. An export writes no
    instance.

    Args:
        tx: the transaction of its success, after its items and events.
        ended: the run.
    """
    if ended.life_cycle is LifeCycle.EXECUTION or ended.life_cycle in _WITHOUT_OUTPUT:
        return
    run_id, at = ended.run_id, ended.ended_at or tx.now()
    announced = (
        InstanceEdge(run_id, OUTPUT, row.feed, row.cluster, row.instance_key, row.at, uri=row.uri)
        for row in tx.execute(_ANNOUNCED, {"of_run": run_id})
    )
    made = {each.instance: each for each in announced}
    copied: set[InstanceName] = set()
    if ended.counterpart or ended.life_cycle is LifeCycle.EXPORT:
        keys = tx.execute(_COPIED, {"of_run": run_id}).scalars()
        copied = {(ended.entity, ended.cluster, key) for key in keys}
    if ended.life_cycle is LifeCycle.EXPORT:
        read = copied
    else:  # a part of an instance is announced by the run that completes it
        made |= {each: InstanceEdge(run_id, OUTPUT, *each, at) for each in copied - made.keys()}
        read = {(feed, source, key) for feed, _, key in made if (source := _source(tx, ended, feed, key))}
    began = ended.started_at or at
    _insert(tx, [*made.values(), *(InstanceEdge(run_id, INPUT, *each, began) for each in sorted(read))])


def _source(tx: Transaction, copy: Run, feed: str, key: str) -> str | None:
    """Return the cluster that a copy is of; None: it is no copy, or unknown."""
    if copy.counterpart or copy.life_cycle is not LifeCycle.IMPORT:
        return copy.counterpart
    found: str | None = tx.execute(_EXPORTED, {"feed": feed, "instance_key": key, "of_run": copy.run_id}).scalar()
    return found


def _insert(tx: Transaction, edges: Collection[InstanceEdge]) -> None:
    if edges:
        tx.execute(_ADDED, [asdict(each) for each in edges])


_ADDED = InsertOr(lineage_edge)


def _read_by_job() -> sa.Insert:
    """Return the statement that inserts what a job has read, which makes one round trip of it."""
    known = input_fingerprint.c
    ended, earliest = given(_EDGE.at, "ended"), given(_EDGE.at, "earliest")
    looked = sa.case((known.looked_at < earliest, earliest), (known.looked_at > ended, ended), else_=known.looked_at)
    written: sa.ColumnElement[str] = sa.literal_column(f"'{LineageDirection.INPUT.value}'")
    by_look = sa.select(
        *(known.run_id, written, known.feed, known.cluster, known.instance_key, known.input, looked, known.uri),
        known.digest,
    ).where(known.run_id == _OF_RUN)
    of_batch = batch_instance.c
    has_look = sa.exists().where(known.run_id == _OF_RUN, *(known[each] == of_batch[each] for each in _NAME))
    by_batch = (
        sa.select(
            *(_OF_RUN, written, of_batch.feed, of_batch.cluster, of_batch.instance_key, sa.literal_column("''")),
            *(given(_EDGE.at, "began"), of_batch.uri, sa.null()),
        )
        .join_from(archive, batch_instance, of_batch.batch_id == archive.c.source_batch_id)
        .where(archive.c.target_batch_id == given(archive.c.target_batch_id, "of_batch"), ~has_look)
    )
    return InsertOr(lineage_edge).from_select([each.name for each in lineage_edge.c], by_look.union_all(by_batch))


_READ_BY_JOB = _read_by_job()
_ANNOUNCED = (
    sa.select(
        *(event.c.feed, event.c.cluster, event.c.instance_key),
        sa.func.max(event.c.uri).label("uri"),
        sa.func.max(event.c.recorded_at).label("at"),
    )
    .where(event.c.run_id == _OF_RUN, event.c.kind.in_([EventKind.AVAILABLE, EventKind.UPDATED]))
    .where(event.c.feed != "", event.c.instance_key != "")
    .group_by(event.c.feed, event.c.cluster, event.c.instance_key)
)
_COPIED = (
    sa.select(item.c.instance_key)
    .where(item.c.run_id == _OF_RUN, item.c.kind.in_(["copy", "export"]), item.c.state == ItemState.DONE)
    .where(item.c.instance_key != "")
    .distinct()
)
_EXPORTED = (
    sa.select(run.c.cluster)
    .where(run.c.entity == given(run.c.entity, "feed"), run.c.instance_key == given(run.c.instance_key))
    .where(run.c.life_cycle == LifeCycle.EXPORT, run.c.status == RunStatus.SUCCEEDED, run.c.run_id < _OF_RUN)
    .order_by(run.c.run_id.desc())
    .limit(1)
)


def of_runs(
    tx: Transaction, run_ids: Collection[int], direction: LineageDirection, most: int = NO_LIMIT
) -> Iterator[InstanceEdge]:
    """Yield the edges of runs in one direction, at most so many for each few hundred runs."""
    for chunk in in_chunks(run_ids):
        where = (_EDGE.run_id.in_(chunk), _EDGE.direction == direction)
        yield from tx.rows(InstanceEdge, sa.select(lineage_edge).where(*where).limit(most))


def _named(dialect: str, *columns: sa.ColumnElement[str]) -> tuple[sa.FromClause, sa.ColumnElement[bool]]:
    """Return lists of values that are given as one JSON text, and the condition that columns have one of them.

    SQLite would read the whole table for `(feed, cluster, instance_key) IN (...)`.
    """
    names = sa.bindparam("names", type_=sa.Text)
    if dialect == "sqlite":
        each = sa.func.json_each(names).table_valued("value")
        parts = [sa.func.json_extract(each.c.value, f"$[{at}]") for at in range(len(columns))]
    else:
        each = sa.func.json_array_elements(sa.cast(names, sa.JSON)).table_valued(sa.column("value", sa.JSON))
        parts = [each.c.value[at].as_string() for at in range(len(columns))]
    return each, sa.and_(*(column == part for column, part in zip(columns, parts, strict=True)))


def _of_instances(dialect: str) -> sa.Select[Any]:
    names, is_named = _named(dialect, *(_EDGE[name] for name in _NAME))
    found = sa.select(lineage_edge).select_from(names).join(lineage_edge, is_named)
    return (
        found.where(_EDGE.direction == given(_EDGE.direction))
        .order_by(_EDGE.run_id.desc())
        .limit(sa.bindparam("most", type_=sa.Integer))
    )


def _last_events(dialect: str) -> sa.Select[Any]:
    columns = [event.c[name] for name in _NAME]
    names, is_named = _named(dialect, *columns)
    last = sa.select(sa.func.max(event.c.sequence)).select_from(names).join(event, is_named).group_by(*columns)
    return sa.select(*columns, event.c.kind, event.c.recorded_at, event.c.uri).where(event.c.sequence.in_(last))


_DIALECTS = ("sqlite", "postgresql")
_OF_INSTANCES = {each: _of_instances(each) for each in _DIALECTS}
_LAST_EVENTS = {each: _last_events(each) for each in _DIALECTS}


def of_instances(
    tx: Transaction, instances: Collection[InstanceName], direction: LineageDirection, most: int = NO_LIMIT
) -> Iterator[InstanceEdge]:
    """Yield the edges of instances in one direction, those of the newest runs first, at most so many."""
    if instances:
        values = {"names": json.dumps([*instances]), "direction": direction, "most": most}
        yield from tx.rows(InstanceEdge, _OF_INSTANCES[tx.connection.dialect.name], values)


def last_events(tx: Transaction, instances: Collection[InstanceName]) -> dict[InstanceName, sa.Row[Any]]:
    """Return kind, time and URI of the last event of each of these instances; one without an event is left out."""
    rows = tx.execute(_LAST_EVENTS[tx.connection.dialect.name], {"names": json.dumps([*instances])})
    return {(row.feed, row.cluster, row.instance_key): row for row in rows}


def _unrecorded(dialect: str) -> sa.Select[Any]:
    other = lineage_edge.alias("other")
    by_read, by_event = _named(dialect, _EDGE.feed, _EDGE.cluster), _named(dialect, event.c.feed, event.c.cluster)
    read = sa.select(*(_EDGE[name] for name in _NAME)).select_from(by_read[0]).join(lineage_edge, by_read[1])
    announced = sa.select(*(event.c[name] for name in _NAME)).select_from(by_event[0]).join(event, by_event[1])
    from_outside = announced.where(event.c.run_id.is_(None), event.c.instance_key != "")
    seen = sa.union(read.where(_EDGE.direction == INPUT), from_outside).subquery()
    same = (other.c[name] == seen.c[name] for name in _NAME)
    return sa.select(seen).where(~sa.exists().where(*same, other.c.direction == OUTPUT))


_UNRECORDED = {each: _unrecorded(each) for each in _DIALECTS}


def known(tx: Transaction, instances: Collection[InstanceName]) -> frozenset[str]:
    """Return the clusters of those instances of one feed that a run has read or written, or that have an event."""
    edges = (of_instances(tx, [name], way, most=1) for name in instances for way in LineageDirection)
    named = {each.cluster for found in edges for each in found}
    return frozenset(named | {cluster for _, cluster, _ in last_events(tx, instances)})


def unrecorded(tx: Transaction, places: Collection[tuple[str, str]]) -> set[InstanceName]:
    """Return the instances of feeds on clusters that were announced or read, and that no recorded run has written."""
    rows = tx.execute(_UNRECORDED[tx.connection.dialect.name], {"names": json.dumps([*places])})
    return {(row.feed, row.cluster, row.instance_key) for row in rows}


_RUN = (
    *(run.c.run_id, run.c.life_cycle, run.c.entity, run.c.cluster, run.c.counterpart, run.c.instance_key),
    *(run.c.attempt, run.c.ended_at),
)


def facts_of_runs(tx: Transaction, run_ids: Collection[int]) -> dict[int, sa.Row[Any]]:
    """Return key, attempt and end of runs, by number."""
    rows = (row for chunk in in_chunks(run_ids) for row in tx.execute(sa.select(*_RUN).where(run.c.run_id.in_(chunk))))
    return {row.run_id: row for row in rows}
