"""Files of instances that are exported: of partitions with their keys, and of paths without what readers pass over."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.tables.memory_metastore import MemoryMetastore
from tests.tables.tables import partition_of, table_of
from tests.unit.planning.entities import cluster, path_feed, table_feed
from toolkit.availability import DataAccess
from toolkit.catalog.errors import ForeignLocation
from toolkit.catalog.model import Table, TableName
from toolkit.el import parse_instant
from toolkit.entities.vocabulary import DataFormat
from toolkit.exchange.instance_files import InputMissing, InstanceFiles, InstanceReader, UnusableFiles
from toolkit.storage import StorageSpec, open_file_system

AT = parse_instant("2026-03-01T00:00Z")
NAME = TableName("web", "clicks")
PARQUET = "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat"


def parquet_table(place: Path, **keys: str) -> Table:
    """Return a table of Parquet files."""
    table = table_of(NAME, f"file://{place}", **keys)
    return replace(table, storage=replace(table.storage, input_format=PARQUET))


def read(metastore: MemoryMetastore, uri: str = "catalog:web:clicks#ds=${YEAR}-${MONTH}-${DAY}") -> InstanceFiles:
    """Return the files of an instance of the table feed."""
    data = DataAccess(stores=lambda _: open_file_system(StorageSpec(scheme="file")), metastores=lambda _: metastore)
    reader = InstanceReader(feed=table_feed("clicks", uri, "days(1)"), cluster=cluster(), format=DataFormat.PARQUET)
    return reader.files(AT, data)


def made(table: Table) -> MemoryMetastore:
    """Return a metastore with the table."""
    found = MemoryMetastore(("web",))
    found.create_table(table)
    return found


def test_all_partitions_of_an_instance_are_read_with_the_values_of_their_keys(tmp_path: Path) -> None:
    table = parquet_table(tmp_path, ds="string", region="string")
    metastore = made(table)
    partitions = [partition_of(table, "2026-03-01", each) for each in ("us", "eu")]
    metastore.add_partitions(NAME, [*partitions, partition_of(table, "2026-03-02", "us")])
    for each in ("region=us/part-0", "region=us/_SUCCESS", "region=us/.part-0.crc", "region=eu/part-0"):
        (tmp_path / "ds=2026-03-01" / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "ds=2026-03-01" / each).write_text("x")
    found = read(metastore)
    assert [(part.format, dict(part.constants)) for part in found.parts] == [
        (DataFormat.PARQUET, {"ds": "2026-03-01", "region": region}) for region in ("eu", "us")
    ]
    assert [part.files for part in found.parts] == [
        (f"file://{tmp_path}/ds=2026-03-01/region={region}/part-0",) for region in ("eu", "us")
    ]
    assert found.fingerprint.files == 2


def test_a_partition_that_is_not_there_is_waited_for(tmp_path: Path) -> None:
    with pytest.raises(InputMissing, match="clicks 2026-03-01T00:00Z is not available"):
        read(made(parquet_table(tmp_path, ds="string")))


def test_a_partition_of_text_is_refused(tmp_path: Path) -> None:
    table = table_of(NAME, f"file://{tmp_path}", ds="string")
    metastore = made(table)
    metastore.add_partitions(NAME, [partition_of(table, "2026-03-01")])
    with pytest.raises(UnusableFiles, match="only Parquet and ORC"):
        read(metastore)


def test_a_partition_elsewhere_is_refused(tmp_path: Path) -> None:
    table = parquet_table(tmp_path, ds="string")
    metastore = made(table)
    metastore.add_partitions(NAME, [replace(partition_of(table, "2026-03-01"), refusal="it is outside")])
    with pytest.raises(ForeignLocation, match="it is outside"):
        read(metastore)


@pytest.mark.parametrize("name", ["a*", "{a,b}", "[ab]", "a?", "a\\b"])
def test_a_file_whose_name_is_a_pattern_to_spark_is_refused(tmp_path: Path, name: str) -> None:
    reader = InstanceReader(
        feed=path_feed("clicks", f"{tmp_path}/${{YEAR}}-${{MONTH}}-${{DAY}}", "days(1)"),
        cluster=cluster(),
        format=DataFormat.CSV,
    )
    (tmp_path / "2026-03-01").mkdir()
    (tmp_path / "2026-03-01" / name).write_text("x")
    with pytest.raises(UnusableFiles, match="rename it"):
        reader.files(AT, DataAccess(stores=lambda _: open_file_system(StorageSpec(scheme="file"))))


def test_a_changed_file_changes_the_fingerprint(tmp_path: Path) -> None:
    feed = replace(path_feed("clicks", f"{tmp_path}/${{YEAR}}-${{MONTH}}-${{DAY}}", "days(1)"), availability_flag="_OK")
    reader = InstanceReader(feed=feed, cluster=cluster(), format=DataFormat.CSV)
    data = DataAccess(stores=lambda _: open_file_system(StorageSpec(scheme="file")))
    place = tmp_path / "2026-03-01"
    place.mkdir()
    (place / "a.csv").write_text("x")
    with pytest.raises(InputMissing):
        reader.files(AT, data)
    (place / "_OK").touch()
    before = reader.files(AT, data)
    (place / "a.csv").write_text("xy")
    after = reader.files(AT, data)
    assert before.parts == after.parts
    assert before.fingerprint != after.fingerprint
