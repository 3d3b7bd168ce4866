"""How a database would find the rows of each statement that a call executes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import sqlalchemy as sa

from toolkit.ledger.database import Ledger

Statement = tuple[str, Any]

GROWING = (
    *("archive", "batch", "batch_instance", "event", "file", "input_fingerprint", "late_check", "outbox", "queue"),
    *("run", "step_run"),
)
"""The tables that grow with the life of a ledger."""

_SQLITE_SCAN = re.compile(r"SCAN (\w++)(?! USING (?:COVERING )?INDEX ix_outbox_waiting)")
"""The index over what waits may be read whole: it has nothing else."""
_POSTGRESQL_SCAN = re.compile(r"Seq Scan on (\w+)")


@contextmanager
def executed(ledger: Ledger) -> Iterator[list[Statement]]:
    """The statements that the body executes, with their values."""
    seen: list[Statement] = []

    def note(_connection: object, _cursor: object, statement: str, values: object, *_more: object) -> None:
        seen.append((statement, values))

    sa.event.listen(ledger.engine, "before_cursor_execute", note)
    yield seen
    sa.event.remove(ledger.engine, "before_cursor_execute", note)


@contextmanager
def committed(ledger: Ledger) -> Iterator[list[bool]]:
    """Yield whether each commit within the body waits for the disk, as the database itself says."""
    seen: list[bool] = []

    def note(connection: sa.Connection) -> None:
        is_sqlite = connection.dialect.name == "sqlite"
        requested = connection.exec_driver_sql("PRAGMA synchronous" if is_sqlite else "SHOW synchronous_commit")
        seen.append(requested.scalar_one() in {2, "on"})

    sa.event.listen(ledger.engine, "commit", note)
    yield seen
    sa.event.remove(ledger.engine, "commit", note)


def scans(ledger: Ledger, statements: list[Statement]) -> list[str]:
    """The statements that would read all of a table that grows, with the table."""
    is_sqlite = ledger.engine.dialect.name == "sqlite"
    explain, pattern = (_sqlite_plan, _SQLITE_SCAN) if is_sqlite else (_postgresql_plan, _POSTGRESQL_SCAN)
    found = []
    for statement, values in statements:
        if re.match(r"(SELECT|INSERT|UPDATE|DELETE|WITH)\b", statement) and not _is_rows(values):
            tables = pattern.findall(_plan(ledger, explain, statement, values))
            found += [f"{table}: {statement}" for table in tables if table in GROWING and _names(statement, table)]
    return found


def _names(statement: str, table: str) -> bool:
    """SQLite also plans for children of a new row that came before it, which foreign keys never let happen."""
    return re.search(rf"\b{table}\b", statement) is not None


def _is_rows(values: object) -> bool:
    """Many rows for one statement: only inserts of rows are executed so."""
    return isinstance(values, list)


def _plan(ledger: Ledger, explain: Callable[[Any, str, Any], list[str]], statement: str, values: object) -> str:
    with ledger.engine.connect() as connection:
        cursor = connection.connection.cursor()
        lines = explain(cursor, statement, values)
        cursor.close()
        connection.rollback()
    return "\n".join(lines)


def _sqlite_plan(cursor: Any, statement: str, values: object) -> list[str]:  # noqa: ANN401 - of any driver
    return [row[3] for row in cursor.execute(f"EXPLAIN QUERY PLAN {statement}", values).fetchall()]


def _postgresql_plan(cursor: Any, statement: str, values: Any) -> list[str]:  # noqa: ANN401 - of any driver
    """Of a small table PostgreSQL reads all anyway, unless it is told that this is dear."""
    cursor.execute("SET LOCAL enable_seqscan = off")
    written = psycopg.ClientCursor(cursor.connection).mogrify(statement, values)
    return [row[0] for row in cursor.execute(f"EXPLAIN {written}").fetchall()]
