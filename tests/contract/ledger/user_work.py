"""What another user's process does with a ledger: `python -m tests.contract.ledger.user_work USER WORK FILE [...]`."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import sqlalchemy as sa

from toolkit.errors import FeedctlError
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.location import LedgerLocation, located
from toolkit.ledger.opening import connected, open_ledger
from toolkit.ledger.tables import command
from toolkit.ledger.upgrade import upgrade as upgraded

ROWS = 2
"""So many are written together."""


def location(file: Path) -> LedgerLocation:
    return located(f"sqlite:///{file}", named_by="the test", root=None, variables={})


@contextmanager
def _ledger(file: Path, *, read_only: bool) -> Iterator[Ledger]:
    with closing(open_ledger(location(file), read_only=read_only, variables={})) as ledger:
        yield ledger


def _insert(tx: Transaction) -> None:
    for _ in range(ROWS):
        tx.insert(command, command="entity touch", subject="x" * 4000, has_changed=True, who="ann", at=tx.now())


def _count(tx: Transaction) -> int:
    """The rows, counted twice, in two orders of the pages."""
    first, second = (tx.execute(sa.select(each)).scalars().all() for each in (command.c.who, command.c.subject))
    if len(first) != len(second) or len(first) % ROWS or set(second) - {"x" * 4000}:
        message = f"torn: {len(first)} and {len(second)} rows"
        raise AssertionError(message)
    return len(first)


def write(file: Path) -> None:
    with _ledger(file, read_only=False) as ledger:
        ledger.write(_insert)


def read(file: Path) -> None:
    with _ledger(file, read_only=True) as ledger:
        print(ledger.read(_count))  # noqa: T201 - the answer to the test


def upgrade(file: Path) -> None:
    with closing(connected(location(file), read_only=False)) as ledger:
        upgraded(ledger)


def write_and_be_killed(file: Path) -> None:
    with _ledger(file, read_only=False) as ledger:
        ledger.write(_insert)
        os._exit(0)


def write_often(file: Path, times: str) -> None:
    """Come and go, as runs do, and say what is committed; every other time the database changes in between as well."""
    reported = file.with_name("committed")
    for each in range(1, int(times) + 1):
        with _ledger(file, read_only=False) as ledger:
            ledger.write(_insert)
            reported.write_text(str(each))
            if each % 2:
                with ledger.engine.connect().execution_options(feedctl_reading=True) as connection:
                    connection.connection.dbapi_connection.cursor().execute("PRAGMA wal_checkpoint(PASSIVE)")  # type: ignore[union-attr]
                ledger.write(_insert)
    reported.write_text("end")


def read_often(file: Path, times: str) -> None:
    """Read until the writer is done; whatever it said before must be there."""
    reported, end, reads = file.with_name("committed"), time.monotonic() + 100, 0
    print("ready", flush=True)  # noqa: T201 - the sign for the test
    with _ledger(file, read_only=True) as ledger:
        while time.monotonic() < end:
            text = reported.read_text()
            output = int(times) if text == "end" else int(text or 0)
            if ledger.read(_count) < output * ROWS:
                message = f"missed what was committed as number {output}"
                raise AssertionError(message)
            reads += 1
            if text == "end":
                break
    print(reads)  # noqa: T201 - the answer to the test


def become(user: int) -> None:
    """Be another user from now on; what Python loads late is loaded before, from where only root may read."""
    with TemporaryDirectory() as folder:
        for work in (write, read, upgrade):
            with redirect_stdout(StringIO()):
                work(Path(folder) / "ledger.db")
    os.umask(0o022)
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)


if __name__ == "__main__":
    become(int(sys.argv[1]))
    try:
        globals()[sys.argv[2]](Path(sys.argv[3]), *sys.argv[4:])
    except FeedctlError as error:
        sys.exit(str(error))
