"""Commits to an Iceberg table of an SQL catalog: whole or not at all, and only on the state that the caller saw."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.types import StringType

from tests.contract.ingest_table.tables import ROWS, SPEC, commit_one
from toolkit.ingest.endpoint import CatalogAddress
from toolkit.ingest.errors import CommitConflict, NoSuchIngestTable, SchemaChanged
from toolkit.ingest.iceberg import IcebergCatalog, open_catalog, shown_address
from toolkit.ingest.port import IngestColumn, TableCommit, TableSpec

PROGRESS = '{"sequence": 1, "transaction": 7, "progress": {}}'
VALUES: dict[str, object] = {
    "string": "é\n",
    "boolean": True,
    "int": -(2**31),
    "bigint": 2**63 - 1,
    "float": 0.5,
    "double": -1e300,
    "decimal(38,4)": Decimal("-9999999999999999999999999999999999.9999"),
    "date": date(1969, 12, 31),
    "timestamp": datetime(2026, 3, 29, 1, 30, 0, 1, tzinfo=UTC),
    "timestamp_ntz": datetime(2026, 3, 29, 2, 30, 0, 1),  # noqa: DTZ001 - of no zone
    "binary": b"\0\xff",
}


def test_files_and_properties_become_visible_together(catalog: IcebergCatalog) -> None:
    with pytest.raises(NoSuchIngestTable):
        catalog.open("web", "clicks")
    table = catalog.create("web", "clicks", SPEC)
    catalog.create("web", "clicks", SPEC)
    files = table.write(ROWS, "feedctl-7")
    assert not table.files()
    table.commit(TableCommit(transactions=(7,), files=files, properties={"feedctl.writer.w": PROGRESS}), table.state())
    assert {(one.partition, one.rows) for one in table.files()} == {(("01",), 2), (("02",), 1)}
    assert [one.rows for one in table.files([("02",)])] == [1]
    assert table.state().properties == {"feedctl.writer.w": PROGRESS}
    assert table.committed([6, 7]) == {7}
    assert table.state().columns == SPEC.columns


def test_a_commit_of_properties_alone_conflicts_with_another(catalog: IcebergCatalog) -> None:
    table = catalog.create("web", "clicks", SPEC)
    base = table.state()
    table.commit(TableCommit(properties={"feedctl.fence": "1"}), base)
    with pytest.raises(CommitConflict):
        table.commit(TableCommit(properties={"feedctl.fence": "2"}), base)
    with pytest.raises(CommitConflict):
        table.commit(TableCommit(transactions=(1,), files=table.write(ROWS, "feedctl-1")), base)
    assert table.state().properties == {"feedctl.fence": "1"}
    assert not table.files()


def test_of_commits_of_many_threads_on_one_state_one_succeeds(place: CatalogAddress, catalog: IcebergCatalog) -> None:
    table = catalog.create("web", "clicks", SPEC)
    base = table.state()

    def attempt(number: int) -> int | None:
        own = open_catalog(place)
        try:
            own.open("web", "clicks").commit(TableCommit(properties={"feedctl.fence": str(number)}), base)
        except CommitConflict:
            return None
        finally:
            own.close()
        return number

    with ThreadPoolExecutor(4) as pool:
        won = [number for number in pool.map(attempt, range(4)) if number is not None]
    assert table.state().properties == {"feedctl.fence": str(won[0])}
    assert len(won) == 1


def test_of_many_that_create_a_table_one_does_and_all_get_it(place: CatalogAddress, catalog: IcebergCatalog) -> None:
    def attempt(_: int) -> TableCommit | object:
        own = open_catalog(place)
        try:
            return own.create("web", "clicks", SPEC).state()
        finally:
            own.close()

    with ThreadPoolExecutor(4) as pool:
        states = list(pool.map(attempt, range(4)))
    assert states == [catalog.open("web", "clicks").state()] * 4


def test_each_type_of_column_comes_back_as_it_was_and_null_as_null(catalog: IcebergCatalog) -> None:
    columns = tuple(IngestColumn(name=f"c{number}", type=type_) for number, type_ in enumerate(VALUES))
    table = catalog.create("web", "types", TableSpec(columns=columns))
    schema = table.catalog.load_table(table.identifier).schema().as_arrow()
    given = [pa.array([value, None], field.type) for value, field in zip(VALUES.values(), schema, strict=True)]
    files = table.write(pa.table(given, names=schema.names), "feedctl-1")
    table.commit(TableCommit(transactions=(1,), files=files), table.state())
    found = table.catalog.load_table(table.identifier).scan().to_arrow().to_pylist()
    assert [list(row.values()) for row in found] == [list(VALUES.values()), [None] * len(VALUES)]
    assert table.state().columns == columns
    assert [file.partition for file in table.files()] == [()]


@pytest.mark.parametrize(
    "rows",
    [
        pa.table({"a": pa.array([1, None], pa.int64()), "hour": ["01", "01"]}),
        pa.table({"hour": ["01"]}),
        pa.table({"a": ["x"], "hour": ["01"]}),
        pa.table({"a": [1], "hour": ["01"], "b": [1]}),
    ],
    ids=["null", "absent", "type", "unknown column"],
)
def test_rows_that_do_not_fit_are_refused_before_a_file_is_written(catalog: IcebergCatalog, rows: pa.Table) -> None:
    table = catalog.create("web", "clicks", replace(SPEC, properties={"write.object-storage.enabled": "false"}))
    with pytest.raises(SchemaChanged):
        table.write(rows, "feedctl-1")
    commit_one(table, 2)
    assert sum(file.rows for file in table.files()) == ROWS.num_rows


def test_files_of_columns_that_changed_since_are_refused(catalog: IcebergCatalog) -> None:
    table = catalog.create("web", "clicks", SPEC)
    files = table.write(ROWS, "feedctl-1")
    table.catalog.load_table(table.identifier).update_schema().add_column("b", StringType()).commit()
    with pytest.raises(SchemaChanged):
        table.commit(TableCommit(transactions=(1,), files=files), table.state())
    assert table.committed([1]) == frozenset()
    commit_one(table, 2)
    assert len(table.files()) == 2


def test_a_password_is_in_no_message() -> None:
    assert shown_address("postgresql+psycopg://u:sec/ret@h/d?x=y") == "postgresql+psycopg://h/d"


def test_a_commit_of_progress_alone_is_found(catalog: IcebergCatalog) -> None:
    table = catalog.create("web", "clicks", SPEC)
    table.commit(TableCommit(transactions=(7,), properties={"feedctl.writer.w": PROGRESS}), table.state())
    assert table.committed([6, 7]) == {7}


def test_files_of_a_table_that_was_made_anew_since_are_refused(catalog: IcebergCatalog) -> None:
    table = catalog.create("web", "clicks", SPEC)
    files = table.write(ROWS, "feedctl-7")
    catalog.catalog.drop_table(("web", "clicks"))
    catalog.create("web", "clicks", SPEC)
    with pytest.raises(SchemaChanged, match="created anew"):
        table.commit(TableCommit(transactions=(7,), files=files), table.state())


def test_a_look_makes_neither_a_database_nor_the_tables_of_a_catalog(tmp_path: Path) -> None:
    address = CatalogAddress(type="sql", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}")
    with pytest.raises(NoSuchIngestTable):
        open_catalog(address, is_look=True)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "catalog.db").touch()
    with closing(open_catalog(address, is_look=True)) as opened, pytest.raises(NoSuchIngestTable):
        opened.open("web", "clicks")
    assert (tmp_path / "catalog.db").stat().st_size == 0
