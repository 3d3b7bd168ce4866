"""Reading a SQLite ledger leaves no file and misses no committed row."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.unit.ledger.test_opening import opened, write_something
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.errors import LedgerUnavailable
from toolkit.ledger.tables import command

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


def test_reading_a_ledger_leaves_no_file(reader: Ledger, tmp_path: Path) -> None:
    assert reader.read(commands) == 0
    assert files(tmp_path) == ALONE


def test_what_is_read_cannot_be_changed(reader: Ledger) -> None:
    with pytest.raises(LedgerUnavailable, match="attempt to write a readonly database"):
        reader.read(write_something)


def test_what_a_writer_committed_is_seen_at_once_and_its_files_stay_its_own(reader: Ledger, tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as writer:
        for count in (1, 2, 3):
            writer.write(write_something)
            assert reader.read(commands) == count
        assert files(tmp_path) == IN_USE
    assert files(tmp_path) == ALONE
    assert reader.read(commands) == 3


def test_the_files_of_a_ledger_that_is_read_through_a_link_are_those_beside_it(tmp_path: Path) -> None:
    (tmp_path / "linked" / "state").mkdir(parents=True)
    (tmp_path / "linked" / "state" / "ledger.db").symlink_to(tmp_path / "state" / "ledger.db")
    with closing(opened(tmp_path)) as writer:
        writer.write(write_something)
        with closing(opened(tmp_path / "linked", read_only=True)) as reader:
            assert reader.read(commands) == 1
    assert files(tmp_path / "linked") == ALONE


def test_a_file_that_may_not_be_read_is_an_outage(tmp_path: Path) -> None:
    opened(tmp_path).close()
    with closing(opened(tmp_path, read_only=True)) as reader:
        (tmp_path / "state" / "ledger.db").unlink()
        with pytest.raises(LedgerUnavailable, match="unable to open database file"):
            reader.read(commands)


def test_reading_leaves_no_file_open(reader: Ledger) -> None:
    before = os.listdir("/proc/self/fd")  # noqa: PTH208 - names, not paths
    for _ in range(3):
        reader.read(commands)
    assert len(os.listdir("/proc/self/fd")) == len(before)  # noqa: PTH208
