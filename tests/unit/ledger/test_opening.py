"""A SQLite ledger is made when it is first written to, and never by reading."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.databases.account import Account
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.errors import LedgerUnavailable, UnusableLedger
from toolkit.ledger.location import LedgerLocation, located
from toolkit.ledger.opening import open_ledger
from toolkit.ledger.schema_version import HEAD, seed, stored_revision
from toolkit.ledger.tables import batch, command, metadata

_ROOT = Path(__file__).resolve().parents[3]
YARN = {"CONTAINER_ID": "container_e17_1410901177871_0001_01_000001"}


def location(directory: Path, text: str = "sqlite:///state/ledger.db") -> LedgerLocation:
    return located(text, named_by="repo.yaml", root=directory, variables={})


def opened(directory: Path, *, read_only: bool = False) -> Ledger:
    return open_ledger(location(directory), read_only=read_only, variables={})


def batches(ledger: Ledger) -> int:
    count: int = ledger.read(lambda tx: tx.execute(sa.select(sa.func.count()).select_from(batch)).scalar_one())
    return count


def write_something(tx: Transaction) -> None:
    tx.insert(command, command="entity touch", subject="clicks", has_changed=True, who="ann", at=tx.now())


def test_the_first_write_makes_the_ledger_with_its_first_rows(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as ledger:
        assert ledger.read(lambda tx: stored_revision(tx.connection)) == HEAD
        assert batches(ledger) == 1
        ledger.write(write_something)
    with closing(opened(tmp_path)) as again:
        assert len(again.read(lambda tx: tx.execute(sa.select(command)).all())) == 1


def test_reading_makes_nothing_and_finds_an_empty_ledger(tmp_path: Path) -> None:
    with closing(opened(tmp_path, read_only=True)) as ledger:
        assert batches(ledger) == 1
        with pytest.raises(LedgerUnavailable, match="readonly"):
            ledger.write(write_something)
    assert list(tmp_path.iterdir()) == []


def test_reading_changes_nothing_of_a_ledger_that_is_there(tmp_path: Path) -> None:
    opened(tmp_path).close()
    with closing(opened(tmp_path, read_only=True)) as ledger:
        assert batches(ledger) == 1
        with pytest.raises(LedgerUnavailable, match="readonly"):
            ledger.write(write_something)


def test_a_reader_sees_what_a_killed_writer_left(tmp_path: Path) -> None:
    with closing(opened(_as_left_by_a_killed_writer(tmp_path), read_only=True)) as ledger:
        assert _commands(ledger) == 1


@pytest.mark.parametrize("read_only", [False, True])
def test_who_may_not_write_the_folder_is_told_whose_it_is(tmp_path: Path, *, read_only: bool) -> None:
    opened(tmp_path).close()
    with (
        _may_only_read(tmp_path / "state") as folder,
        pytest.raises(LedgerUnavailable, match=r"may not write .*ledger\.db \(of .*, mode 555\) and .*--no-ledger"),
    ):
        opened(folder.parent, read_only=read_only)


def test_a_path_with_any_characters_is_opened_to_be_read(tmp_path: Path) -> None:
    folder = tmp_path / "a b%20c?mode=rw#ü"
    folder.mkdir()
    opened(folder).close()
    with closing(opened(folder, read_only=True)) as ledger:
        assert batches(ledger) == 1


def test_a_file_without_tables_is_a_ledger_that_was_not_made_yet(tmp_path: Path) -> None:
    file = tmp_path / "state" / "ledger.db"
    file.parent.mkdir()
    file.touch()
    with closing(opened(tmp_path, read_only=True)) as ledger:
        assert batches(ledger) == 1
    assert file.stat().st_size == 0
    with closing(opened(tmp_path)) as ledger:
        assert batches(ledger) == 1
    assert file.stat().st_size > 0


@pytest.mark.parametrize("read_only", [False, True])
def test_a_database_of_another_program_is_refused(tmp_path: Path, read_only: bool) -> None:  # noqa: FBT001
    (tmp_path / "state").mkdir()
    with closing(sqlite3.connect(tmp_path / "state" / "ledger.db")) as other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")
    with pytest.raises(UnusableLedger):
        opened(tmp_path, read_only=read_only)
    with closing(sqlite3.connect(tmp_path / "state" / "ledger.db")) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("bookmarks",)]


def test_a_file_that_is_no_database_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "ledger.db").write_text("a text, which is long enough for a header of SQLite" * 9)
    with pytest.raises(LedgerUnavailable, match="not a database"):
        opened(tmp_path)


@pytest.mark.parametrize("read_only", [False, True])
def test_a_container_of_a_cluster_makes_no_ledger(tmp_path: Path, read_only: bool) -> None:  # noqa: FBT001
    with pytest.raises(UnusableLedger, match="YARN"):
        open_ledger(location(tmp_path), read_only=read_only, variables=YARN)
    assert list(tmp_path.iterdir()) == []


def test_first_writes_at_the_same_time_make_one_ledger(tmp_path: Path) -> None:
    for each in range(10):
        directory = tmp_path / str(each)
        directory.mkdir()
        with ThreadPoolExecutor(8) as threads:
            ledgers = list(threads.map(lambda _, place=directory: opened(place), range(8)))
        assert {batches(ledger) for ledger in ledgers} == {1}
        for ledger in ledgers:
            ledger.close()


def test_a_first_write_that_ends_early_leaves_no_half_of_a_ledger(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    file = location(tmp_path).file
    assert file is not None
    ledger.close()
    file.unlink()

    def half(tx: Transaction) -> None:
        metadata.create_all(tx.connection)
        seed(tx.connection)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ledger.write(half)
    ledger.close()
    with closing(opened(tmp_path)) as again:
        assert batches(again) == 1


def _as_left_by_a_killed_writer(directory: Path) -> Path:
    """A copy of a ledger whose last write is in the -wal file only."""
    with closing(opened(directory)) as ledger:
        ledger.write(write_something)
        shutil.copytree(directory / "state", directory / "copy" / "state")
    return directory / "copy"


def _commands(ledger: Ledger) -> int:
    return len(ledger.read(lambda tx: tx.execute(sa.select(command)).all()))


@contextmanager
def _may_only_read(source: Path) -> Iterator[Path]:
    """A copy of a folder that this process, root or not, may read and not write meanwhile."""
    account = Account.of_a_server()
    home, user = account.make_directory("feedctl-read-only-"), os.geteuid()
    folder = home / source.name
    shutil.copytree(source, folder)
    for each in (*folder.iterdir(), folder):
        each.chmod(0o555)
    os.seteuid(account.user)
    try:
        yield folder
    finally:
        os.seteuid(user)
        folder.chmod(0o755)
        shutil.rmtree(home)


def run_python(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False, timeout=60)


def test_opening_loads_neither_alembic_nor_a_driver_that_is_not_needed(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from tests.unit.ledger.test_opening import opened;"
        "opened(Path(sys.argv[1])).close(); print({'alembic', 'psycopg'} & set(sys.modules))"
    )
    done = run_python(program, str(tmp_path))
    assert (done.stdout, done.returncode) == ("set()\n", 0), done.stderr


def test_a_missing_driver_of_postgresql_is_said_with_what_to_install() -> None:
    program = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from pathlib import Path; from toolkit.ledger.errors import UnusableLedger\n"
        "from tests.unit.ledger.test_opening import location; from toolkit.ledger.opening import open_ledger\n"
        "try: open_ledger(location(Path('/'), 'postgresql://db/ledger'), read_only=False, variables={})\n"
        "except UnusableLedger as error: print(error)"
    )
    done = run_python(program)
    assert "postgresql://db/ledger is on PostgreSQL, whose driver cannot be loaded" in done.stdout, done.stderr
    assert "pip install feedctl[postgresql]" in done.stdout
