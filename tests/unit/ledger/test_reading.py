"""Reading a SQLite ledger makes no file, misses no committed row, and lets nothing torn out."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.unit.ledger.test_opening import opened, write_something
from toolkit.ledger.database import Ledger
from toolkit.ledger.errors import LedgerUnavailable
from toolkit.ledger.read_lock import ReadLock
from toolkit.ledger.reading import connect_to_read
from toolkit.ledger.tables import command
from toolkit.ledger.transaction import Transaction

ALONE = ["ledger.db"]
IN_USE = ["ledger.db", "ledger.db-shm", "ledger.db-wal"]


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Ledger]:
    """A ledger that is there, open to be read and not in use."""
    opened(tmp_path).close()
    with closing(opened(tmp_path, read_only=True)) as ledger:
        yield ledger


def commands(tx: Transaction) -> int:
    return len(tx.execute(sa.select(command)).all())


def files(directory: Path) -> list[str]:
    return sorted(each.name for each in (directory / "state").iterdir() if not each.name.startswith("."))


def test_reading_a_ledger_that_nobody_uses_makes_no_file(reader: Ledger, tmp_path: Path) -> None:
    seen = reader.read(lambda tx: (commands(tx), files(tmp_path)))
    assert (seen, files(tmp_path)) == ((0, ALONE), ALONE)


def test_what_a_writer_committed_is_seen_at_once_and_its_files_stay_its_own(reader: Ledger, tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as writer:
        for count in (1, 2, 3):
            writer.write(write_something)
            assert reader.read(commands) == count
        assert files(tmp_path) == IN_USE
    assert files(tmp_path) == ALONE
    assert reader.read(commands) == 3


def test_a_read_that_a_writer_comes_into_is_done_again(reader: Ledger, tmp_path: Path) -> None:
    reads: list[int] = []
    with closing(opened(tmp_path)) as seeding:
        seeding.write(write_something)

    def read_slowly(tx: Transaction) -> int:
        reads.append(commands(tx))
        if len(reads) == 1:
            with closing(opened(tmp_path)) as writer:
                writer.write(write_something)
        return reads[-1]

    assert reader.read(read_slowly) == 2
    assert len(reads) == 2


def test_an_error_of_a_read_that_a_writer_came_into_means_nothing(reader: Ledger, tmp_path: Path) -> None:
    tries: list[int] = []

    def stumble(tx: Transaction) -> int:
        tries.append(1)
        if len(tries) == 1:
            with closing(opened(tmp_path)) as writer:
                writer.write(write_something)
            raise ZeroDivisionError
        return commands(tx)

    assert reader.read(stumble) == 1


def test_an_error_of_any_other_read_is_let_out(reader: Ledger) -> None:
    def stumble(_: Transaction) -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        reader.read(stumble)


def test_a_read_of_a_file_that_is_replaced_meanwhile_is_done_again(reader: Ledger, tmp_path: Path) -> None:
    file = tmp_path / "state" / "ledger.db"
    backup = shutil.copy(file, tmp_path / "backup.db")
    with closing(opened(tmp_path)) as writer:
        writer.write(write_something)
    seen: list[int] = []

    def restore(tx: Transaction) -> int:
        seen.append(commands(tx))
        if len(seen) == 1:
            os.replace(backup, file)  # noqa: PTH105 - of a path that shutil says as a text
        return seen[-1]

    assert reader.read(restore) == 0
    assert seen == [1, 0]


def test_the_files_of_a_ledger_that_is_read_through_a_link_are_those_beside_it(tmp_path: Path) -> None:
    (tmp_path / "linked" / "state").mkdir(parents=True)
    (tmp_path / "linked" / "state" / "ledger.db").symlink_to(tmp_path / "state" / "ledger.db")
    with closing(opened(tmp_path)) as writer:
        writer.write(write_something)
        with closing(opened(tmp_path / "linked", read_only=True)) as reader:
            assert reader.read(commands) == 1
    assert files(tmp_path / "linked") == ALONE


def test_a_reader_waits_for_whoever_has_the_database_for_itself(reader: Ledger, tmp_path: Path) -> None:
    file = tmp_path / "state" / "ledger.db"
    with closing(sqlite3.connect(file, isolation_level=None, check_same_thread=False)) as owner:
        owner.execute("PRAGMA locking_mode = EXCLUSIVE")
        owner.execute("PRAGMA journal_mode = DELETE")
        owner.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError, match="locked by another process"):
            ReadLock(str(file), 0.02)
        later = threading.Timer(0.2, owner.close)
        later.start()
        assert reader.read(commands) == 0
        later.join()


def test_half_of_the_files_of_a_writer_is_said_with_what_to_do(reader: Ledger, tmp_path: Path) -> None:
    (tmp_path / "state" / "ledger.db-wal").touch()
    with pytest.raises(LedgerUnavailable, match=r"db-wal is there without .*db-shm .*; run `feedctl ledger upgrade`"):
        reader.read(commands)
    assert files(tmp_path) == ["ledger.db", "ledger.db-wal"]
    opened(tmp_path).close()
    assert reader.read(commands) == 0


def test_a_database_with_a_rollback_journal_is_not_read(reader: Ledger, tmp_path: Path) -> None:
    del reader
    file = tmp_path / "state" / "ledger.db"
    file.with_name("ledger.db-journal").write_bytes(b"something to roll back")
    with pytest.raises(sqlite3.OperationalError, match=r"locked by whoever made .*ledger\.db-journal"):
        connect_to_read(str(file), 0)


def test_a_file_that_may_not_be_read_is_an_outage(tmp_path: Path) -> None:
    opened(tmp_path).close()
    with closing(opened(tmp_path, read_only=True)) as reader:
        (tmp_path / "state" / "ledger.db").unlink()
        with pytest.raises(LedgerUnavailable, match="No such file"):
            reader.read(commands)


def test_reading_leaves_no_file_open(reader: Ledger) -> None:
    before = os.listdir("/proc/self/fd")  # noqa: PTH208 - names, not paths
    for _ in range(3):
        reader.read(commands)
    assert len(os.listdir("/proc/self/fd")) == len(before)  # noqa: PTH208
