"""Ledgers with very many rows: each statement writes all of them, on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from tests.databases.graphs import CLUSTER, FEED, process, registration
from tests.databases.ledgers import open_ledger
from toolkit.ledger import tables
from toolkit.ledger.database import Ledger
from toolkit.ledger.registry.sync import sync
from toolkit.ledger.upgrade import upgrade
from toolkit.ledger.vocabulary import BatchKind, BatchState, JobMode, LifeCycle, QueueState, RunStatus

JOB, STEPS = "job", ("extract", "transform", "load")
"""The process that is measured: each of its steps reads what the feed enqueues, and another process reads the job."""

_NOW = sa.literal(datetime(2026, 3, 1, tzinfo=UTC), tables.run.c.created_at.type)
_FEED = sa.select(tables.process.c.process_id).where(tables.process.c.name == FEED.name).scalar_subquery()
_JOB = sa.select(tables.process.c.process_id).where(tables.process.c.name == JOB).scalar_subquery()

Values = dict[str, sa.ColumnElement[Any] | sa.ScalarSelect[Any]]
Insert = tuple[sa.Table, Values, sa.FromClause]


def registered(url: sa.URL) -> Ledger:
    """A new ledger in an empty database, with the process that is measured."""
    ledger = open_ledger(url)
    upgrade(ledger)
    graph = registration(process(JOB, **dict.fromkeys(STEPS, (FEED.name,))), process("report", main=(JOB,)))
    ledger.write(lambda tx: sync(tx, graph, "bench"))
    return ledger


def enqueue(ledger: Ledger, batches: int) -> None:
    """Let so many more batches wait for each step of the measured process."""
    with ledger.engine.begin() as connection:
        _insert_all(connection, _waiting(_numbers(batches), _last(connection)))
        _count_on(connection)


def archive(ledger: Ledger, rows: int) -> None:
    """Fill the archive of a new ledger, with the jobs, steps and batches that go with its rows."""
    with ledger.engine.begin() as connection:
        _insert_all(connection, _done(_numbers(rows // len(STEPS))))
        _count_on(connection)


def record_runs(ledger: Ledger, entity: str, count: int, start: datetime, minutes: int = 5, **more: object) -> None:
    """Runs of a process, or with other values of columns, for every few minutes from an instant on; all succeeded."""
    number = _numbers(count)
    with ledger.engine.begin() as connection:
        key = _instance_key(connection.dialect.name, start, 60 * minutes, number.c.i)
        values = {**_succeeded(entity), "instance_key": key, **{name: _of("run", name, more[name]) for name in more}}
        _insert_all(connection, iter([(tables.run, values, number)]))


def settle(ledger: Ledger) -> None:
    """Let PostgreSQL do at once what it would do by and by after so many rows, so that no round pays for it."""
    if ledger.engine.dialect.name == "postgresql":
        with ledger.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("VACUUM ANALYZE")


def _last(connection: sa.Connection) -> int:
    """The greatest number that a batch or a row of queue or archive has."""
    keys = (tables.batch.c.batch_id, tables.queue.c.queue_id, tables.archive.c.queue_id)
    return max(connection.execute(sa.select(sa.func.max(key))).scalar() or 0 for key in keys)


def _waiting(number: sa.CTE, after: int) -> Iterator[Insert]:
    """Batches that nobody has read: one row in the queue for each step."""
    source = number.c.i + after
    yield tables.batch, {"batch_id": source, "kind": _of("batch", "kind", BatchKind.FILE), **_published(_FEED)}, number
    values = {
        "queue_id": len(STEPS) * number.c.i + tables.step.c.position + after,
        "source_batch_id": source,
        "step_id": tables.step.c.step_id,
        "source_process_id": _FEED,
        "state": _of("queue", "state", QueueState.NEW),
        "inserted_at": _NOW,
    }
    yield tables.queue, values, _with_steps(number)


def _done(number: sa.CTE) -> Iterator[Insert]:
    """Jobs that succeeded, each with the batch that it read and the one that it made, and its rows in the archive."""
    run_id, read, made = number.c.i, 2 * number.c.i - 1, 2 * number.c.i
    yield tables.batch, {"batch_id": read, "kind": _of("batch", "kind", BatchKind.FILE), **_published(_FEED)}, number
    job = {
        "run_id": run_id,
        "instance_key": sa.literal("batch-") + sa.cast(made, sa.Text),
        "process_id": _JOB,
        "mode": _of("run", "mode", JobMode.QUEUE),
        "target_batch_id": made,
    }
    yield tables.run, {**_succeeded(JOB), **job}, number
    own = {"batch_id": made, "kind": _of("batch", "kind", BatchKind.RUN), "source_run_id": run_id}
    yield tables.batch, {**own, **_published(_JOB)}, number
    ended = {"started_at": _NOW, "ended_at": _NOW, "step_id": tables.step.c.step_id}
    step = {"run_id": run_id, "attempt": sa.literal(1), "status": _of("step_run", "status", RunStatus.SUCCEEDED)}
    yield tables.step_run, {**step, **ended}, _with_steps(number)
    row = {
        "queue_id": len(STEPS) * run_id + tables.step.c.position,
        "source_batch_id": read,
        "source_process_id": _FEED,
        "target_batch_id": made,
        "state": _of("archive", "state", QueueState.PROCESSED),
        "inserted_at": _NOW,
        "archived_at": _NOW,
    }
    yield tables.archive, {**row, **ended}, _with_steps(number)


def _succeeded(entity: str) -> Values:
    """What all these runs have."""
    return {
        "life_cycle": _of("run", "life_cycle", LifeCycle.EXECUTION),
        "entity": sa.literal(entity),
        "cluster": sa.literal(CLUSTER),
        "counterpart": sa.literal(""),
        "attempt": sa.literal(1),
        "status": _of("run", "status", RunStatus.SUCCEEDED),
        "is_forced": sa.false(),
        "who": sa.literal("bench"),
        "created_at": _NOW,
        "started_at": _NOW,
        "ended_at": _NOW,
    }


def _published(by: sa.ScalarSelect[int]) -> Values:
    state = _of("batch", "state", BatchState.PUBLISHED)
    return {"state": state, "process_id": by, "created_at": _NOW, "published_at": _NOW}


def _of(table: str, column: str, value: object) -> sa.ColumnElement[Any]:
    return sa.literal(value, tables.metadata.tables[table].c[column].type)


def _instance_key(dialect: str, start: datetime, step: int, number: sa.ColumnElement[int]) -> sa.ColumnElement[Any]:
    seconds = sa.literal(int(start.timestamp())) + step * (number - 1)
    if dialect == "sqlite":
        return sa.func.strftime("%Y-%m-%dT%H:%MZ", seconds, "unixepoch")
    return sa.func.to_char(sa.func.timezone("UTC", sa.func.to_timestamp(seconds)), 'YYYY-MM-DD"T"HH24:MI"Z"')


def _numbers(count: int) -> sa.CTE:
    """The numbers from 1 on."""
    first = sa.select(sa.literal(1).label("i")).cte("number", recursive=True)
    return first.union_all(sa.select(first.c.i + 1).where(first.c.i < count))


def _with_steps(number: sa.CTE) -> sa.FromClause:
    return number.join(tables.step, tables.step.c.process_id == _JOB)


def _insert_all(connection: sa.Connection, inserts: Iterator[Insert]) -> None:
    for table, values, source in inserts:
        rows = sa.select(*(value.label(name) for name, value in values.items())).select_from(source)
        connection.execute(sa.insert(table).from_select(list(values), rows))


def _count_on(connection: sa.Connection) -> None:
    """Let the next number be greater; PostgreSQL does not see those that were given by hand."""
    if connection.dialect.name == "postgresql":
        for key in (tables.batch.c.batch_id, tables.run.c.run_id, tables.queue.c.queue_id):
            sequence = sa.func.pg_get_serial_sequence(key.table.name, key.name)
            greatest = sa.select(sa.func.coalesce(sa.func.max(key), 0) + 1).scalar_subquery()
            connection.execute(sa.select(sa.func.setval(sequence, greatest, sa.false())))
