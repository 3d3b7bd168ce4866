"""An Iceberg table whose catalog or store fails: each failure is told apart, and nothing is half committed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from sqlalchemy.exc import OperationalError

from tests.contract.ingest_table.breaking_catalog import BreakingCatalog, breaking
from tests.contract.ingest_table.tables import ROWS, SPEC, commit_one
from toolkit.ingest.endpoint import CatalogAddress
from toolkit.ingest.errors import (
    CatalogUnreachable,
    CommitConflict,
    CommitUnknown,
    NoSuchIngestTable,
    StoreFailed,
)
from toolkit.ingest.iceberg import IcebergCatalog, open_catalog
from toolkit.ingest.iceberg_table import IcebergTable
from toolkit.ingest.port import TableCommit


def lost() -> NoReturn:
    """Raise what a connection raises that ended."""
    raise OperationalError(None, None, ConnectionResetError("server closed the connection"))


@pytest.fixture
def table(catalog: IcebergCatalog) -> IcebergTable:
    """Return an empty table."""
    return catalog.create("web", "clicks", SPEC)


@pytest.fixture
def broken(catalog: IcebergCatalog, table: IcebergTable) -> Iterator[tuple[IcebergTable, BreakingCatalog]]:
    """Yield the same table of a catalog that breaks, and that catalog."""
    opened = breaking(catalog, table)
    yield opened
    opened[1].close()


@pytest.mark.parametrize("content", ["files", "properties"])
def test_a_commit_between_the_last_look_and_ours_is_a_conflict(
    table: IcebergTable, broken: tuple[IcebergTable, BreakingCatalog], content: str
) -> None:
    ours, catalog = broken
    catalog.before = lambda: table.commit(TableCommit(properties={"feedctl.fence": "2"}), table.state())
    files = ours.write(ROWS, "feedctl-1") if content == "files" else ()
    with pytest.raises(CommitConflict):
        ours.commit(TableCommit(transactions=(1,), files=files, properties={"feedctl.fence": "1"}), ours.state())
    assert table.state().properties == {"feedctl.fence": "2"}
    assert table.committed([1]) == frozenset()
    assert not table.files()


@pytest.mark.parametrize("was_committed", [False, True])
def test_a_commit_without_an_answer_is_unknown_and_a_look_tells(
    table: IcebergTable,
    broken: tuple[IcebergTable, BreakingCatalog],
    was_committed: bool,  # noqa: FBT001
) -> None:
    ours, catalog = broken
    setattr(catalog, "after" if was_committed else "before", lost)
    with pytest.raises(CommitUnknown, match="OperationalError"):
        commit_one(ours, 1)
    assert table.committed([1]) == ({1} if was_committed else frozenset())
    assert len(table.files()) == (2 if was_committed else 0)


LOOKS: dict[str, Callable[[IcebergTable], object]] = {
    "state": lambda table: table.state(),
    "write and commit": lambda table: table.commit(
        TableCommit(transactions=(9,), files=table.write(ROWS, "feedctl-9")), table.state()
    ),
    "committed": lambda table: table.committed([1]),
    "files": lambda table: table.files(),
}


@pytest.mark.parametrize("call", LOOKS.values(), ids=LOOKS)
def test_a_table_that_was_dropped_is_told(table: IcebergTable, call: Callable[[IcebergTable], object]) -> None:
    table.catalog.drop_table(table.identifier)
    with pytest.raises(NoSuchIngestTable, match="clicks"):
        call(table)


@pytest.mark.parametrize("call", LOOKS.values(), ids=LOOKS)
def test_a_store_that_is_gone_is_told(
    tmp_path: Path, table: IcebergTable, call: Callable[[IcebergTable], object]
) -> None:
    commit_one(table, 1)
    (tmp_path / "warehouse").rename(tmp_path / "elsewhere")
    with pytest.raises(CatalogUnreachable):
        call(table)


def test_lists_of_files_that_are_gone_are_told(tmp_path: Path, table: IcebergTable) -> None:
    commit_one(table, 1)
    for each in tmp_path.rglob("*.avro"):
        each.unlink()
    with pytest.raises(CatalogUnreachable, match="FileNotFoundError"):
        table.files()
    with pytest.raises(StoreFailed):
        commit_one(table, 2)
    assert table.committed([1, 2]) == {1}


def test_files_that_are_discarded_twice_are_no_error(tmp_path: Path, table: IcebergTable) -> None:
    files = table.write(ROWS, "feedctl-1")
    table.discard(files)
    table.discard(files)
    assert not list(tmp_path.rglob("*.parquet"))


def test_a_catalog_that_is_down_is_told_without_the_password(tmp_path: Path) -> None:
    uri = "postgresql+psycopg://user:secret@127.0.0.1:1/nothing"
    with pytest.raises(CatalogUnreachable, match=r"postgresql\+psycopg://127.0.0.1:1/nothing") as caught:
        open_catalog(CatalogAddress(type="sql", uri=uri, warehouse=f"file://{tmp_path}"))
    assert "secret" not in str(caught.value)
