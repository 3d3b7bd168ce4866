"""A Hive metastore on PostgreSQL, for tests and benchmarks with very many partitions; both end with this process."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from tests.databases.postgresql import PostgresServer
from tests.testbed.metastore_server import MetastoreServer
from tests.testbed.processes import Starter

DATABASE = "metastore"
_FIRST = date(2026, 1, 1)
_MANY = Path(__file__).with_name("many_partitions.sql")
_LOCKS = Path(__file__).with_name("lock_tables.sql")


@contextmanager
def metastore_on(postgres: PostgresServer, database: str = DATABASE) -> Iterator[str]:
    """The end point of a new metastore whose data are in a new database of that server.

    Raises:
        DidNotStart: with the end of its log.
        Missing: no Java, or no driver and no Maven.
    """
    starter = Starter()
    url = urlsplit(postgres.url(database))
    postgres.create_database(database)
    _execute(postgres, database, _LOCKS.read_text())
    with tempfile.TemporaryDirectory(prefix="feedctl-metastore-", ignore_cleanup_errors=True) as directory:
        server = MetastoreServer(
            starter, Path(directory, "metastore"), f"{url.hostname}:{url.port}{url.path}?user={url.username}"
        )
        try:
            server.start()
            yield f"thrift://127.0.0.1:{server.facts()['port']}"
        finally:
            starter.end()
            server.close()
            postgres.drop_database(database)


def multiply_partition(postgres: PostgresServer, count: int, first: date = _FIRST) -> None:
    """Make so many partitions of the only one in `DATABASE`, besides it, ten a day; see `many_partitions.sql`."""
    statements = _MANY.read_text().replace("%(count)s", str(count)).replace("%(first)s", str(first))
    _execute(postgres, DATABASE, statements)


def _execute(postgres: PostgresServer, database: str, statements: str) -> None:
    with psycopg.connect(postgres.url(database).replace("+psycopg", "")) as connection:
        connection.execute(statements.encode())
