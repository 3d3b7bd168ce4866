"""Datasources: whether the account reaches the database, and what it may do there."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from toolkit.doctor.findings import CheckResult, ok, warning
from toolkit.jdbc.dialect import dialect
from toolkit.jdbc.port import Database


def datasource_findings(open_it: Callable[[], Database]) -> Iterator[CheckResult]:
    """Yield the server behind an interface, its version, and the rights of the account.

    Raises:
        FeedctlError: what keeps it from being used.
    """
    database = open_it()
    try:
        server = database.server()
    finally:
        database.close()
    yield ok(f"{server.product} {server.version}, database {server.database or '(none)'}", what="server")
    yield ok(server.user, what="user")
    for each in server.abilities:
        yield ok(each, what="rights")
    kind = database.access.type
    if not dialect(kind).is_tested:
        todo = "import a table whose content you know, and compare it"
        yield warning(f"feedctl was never tested with a datasource of type {kind}", todo=todo, what="type")
