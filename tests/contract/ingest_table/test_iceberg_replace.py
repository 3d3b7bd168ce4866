"""Data files of an Iceberg table are merged and replaced, and files that are left over are told from all others."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyiceberg.table.update import SetLocationUpdate

from tests.contract.ingest_table.other_engines import mark_deleted
from tests.contract.ingest_table.tables import ON_SQLITE_AND_HIVE, ROWS, SPEC, commit_one
from toolkit.ingest.errors import CommitConflict, LocationIsShared, StoreFailed
from toolkit.ingest.iceberg import IcebergCatalog
from toolkit.ingest.iceberg_table import IcebergTable
from toolkit.ingest.port import DataFile, FileMerge, UnreferencedFile

pytestmark = ON_SQLITE_AND_HIVE
HOUR = timedelta(hours=1)


def values(table: IcebergTable) -> list[int]:
    """Return the values of all rows, sorted."""
    return sorted(table.catalog.load_table(table.identifier).scan().to_arrow()["a"].to_pylist())


def with_commits(catalog: IcebergCatalog, number: int, name: str = "clicks") -> IcebergTable:
    """Return a table with commits."""
    table = catalog.create("web", name, SPEC)
    for each in range(1, number + 1):
        commit_one(table, each)
    return table


def merged_file(table: IcebergTable, old: Sequence[DataFile], name: str) -> DataFile:
    """Return the merge of files, as another machine writes it."""
    (merge,) = table.merges([old], name)
    again: FileMerge = pickle.loads(pickle.dumps(merge))  # noqa: S301 - our own
    return again.written()


def test_files_of_a_partition_are_replaced_by_one_with_the_same_rows(catalog: IcebergCatalog) -> None:
    table = with_commits(catalog, 4)
    old, base = table.files([("01",)]), table.state()
    before, reader = values(table), table.catalog.load_table(table.identifier).scan()
    merged = merged_file(table, old, "feedctl-merged-1-0")
    assert (merged.rows, merged.partition, values(table)) == (8, ("01",), before)
    table.replace(old, [merged], {"feedctl.slot": "9"}, base)
    assert [each.uri for each in table.files([("01",)])] == [merged.uri]
    assert (values(table), table.state().properties["feedctl.slot"]) == (before, "9")
    later = datetime.now(tz=UTC) + HOUR
    table.expire(older_than=later, keep_since=None, keep_last=1)
    assert sorted(reader.to_arrow()["a"].to_pylist()) == before


def test_a_replacement_on_another_state_or_of_files_that_are_gone_conflicts(catalog: IcebergCatalog) -> None:
    table = with_commits(catalog, 2)
    old, base = table.files([("01",)]), table.state()
    merged = merged_file(table, old, "feedctl-merged-1-0")
    commit_one(table, 3)
    with pytest.raises(CommitConflict):
        table.replace(old, [merged], {}, base)
    table.replace(old, [merged], {}, table.state())
    with pytest.raises(CommitConflict):
        table.replace(old, [merged], {}, table.state())
    with pytest.raises(CommitConflict):
        merged_file(table, old, "feedctl-merged-1-1")
    assert values(table) == sorted(ROWS["a"].to_pylist() * 3)


def test_a_partition_that_is_replaced_by_nothing_is_empty(catalog: IcebergCatalog) -> None:
    table = with_commits(catalog, 2)
    table.replace(table.files([("01",)]), [], {}, table.state())
    assert (values(table), table.files([("01",)])) == ([2, 2], [])


def test_only_files_without_a_snapshot_are_left_over(catalog: IcebergCatalog) -> None:
    table, other = with_commits(catalog, 3), with_commits(catalog, 1, "views")
    assert {each.is_data for each in table.unreferenced()} <= {False}
    (left,) = table.write(ROWS.slice(0, 1), "feedctl-9-1")
    found = [each for each in table.unreferenced() if each.is_data]
    assert [(each.uri, each.bytes) for each in found] == [(left.uri, left.bytes)]
    for used in (other.files()[0], table.files()[0]):
        wrong = UnreferencedFile(uri=used.uri, bytes=1, modified=found[0].modified, is_data=True)
        with pytest.raises(CommitConflict):
            table.remove_unreferenced([*found, wrong])
    assert [each for each in table.unreferenced() if each.is_data] == found
    table.remove_unreferenced(found)
    table.remove_unreferenced(found)
    assert not [each for each in table.unreferenced() if each.is_data]
    assert len(values(table)) == 9


def test_files_stay_while_the_snapshot_before_their_replacement_is_kept(catalog: IcebergCatalog) -> None:
    table = with_commits(catalog, 3)
    old = table.files([("01",)])
    table.replace(old, [merged_file(table, old, "feedctl-merged-1-0")], {}, table.state())
    later = datetime.now(tz=UTC) + HOUR
    for number in (11, 12, 13):  # the commits after it are forgotten, and it is not
        table.expire(older_than=later, keep_since=None, keep_last=1, replaced_since=later - 6 * HOUR)
        assert not [each for each in table.unreferenced() if each.is_data]
        commit_one(table, number)
    table.expire(older_than=later, keep_since=None, keep_last=1, replaced_since=later + HOUR)
    assert sorted(each.uri for each in table.unreferenced() if each.is_data) == sorted(each.uri for each in old)


def test_a_table_with_another_below_it_is_refused(catalog: IcebergCatalog) -> None:
    table = with_commits(catalog, 1)
    location = table.catalog.load_table(table.identifier).location().removeprefix("file://")
    nested = Path(location) / "data/inner/metadata"
    nested.mkdir(parents=True)
    (nested / "00000-x.metadata.json").write_text("{}")
    with pytest.raises(LocationIsShared, match=r"inner/metadata/00000-x.metadata.json"):
        table.unreferenced()


@pytest.mark.parametrize("is_dropped", [False, True])
def test_files_of_another_table_at_the_same_location_are_not_left_over(
    catalog: IcebergCatalog, *, is_dropped: bool
) -> None:
    other = with_commits(catalog, 2)
    location = other.catalog.load_table(other.identifier).location()
    if is_dropped:
        catalog.catalog.drop_table(other.identifier)
    table = catalog.create("web", "views", replace(SPEC, location=location))
    commit_one(table, 9)
    with pytest.raises(LocationIsShared, match="move the other table away"):
        table.unreferenced()


def test_files_are_known_by_each_path_to_them(catalog: IcebergCatalog, tmp_path: Path) -> None:
    table = with_commits(catalog, 2)
    (tmp_path / "link").symlink_to(tmp_path / "warehouse")
    for way in ("//warehouse", "/link", "/./warehouse"):
        loaded = table.catalog.load_table(table.identifier)
        location = loaded.location().replace(loaded.location().removeprefix(f"file://{tmp_path}"), f"{way}/web/clicks")
        loaded._do_commit(updates=(SetLocationUpdate(location=location),), requirements=())  # noqa: SLF001
        assert [each.uri for each in table.unreferenced() if each.is_data] == []
        for file in table.files():
            uri = f"{location}/data/{file.uri.rpartition('/')[2]}"
            left = UnreferencedFile(uri=uri, bytes=1, modified=datetime.now(tz=UTC), is_data=True)
            with pytest.raises(CommitConflict):
                table.remove_unreferenced([left])


def test_rows_that_another_engine_deletes_during_a_merge_do_not_come_back(catalog: IcebergCatalog) -> None:
    table = with_commits(catalog, 2)
    old = table.files([("01",)])
    merged = merged_file(table, old, "feedctl-merged-1-0")
    mark_deleted(table, old[0].uri, 0)
    assert values(table) == [1, 2, 2, 3, 3]
    with pytest.raises(StoreFailed, match="marked as deleted by another engine"):
        table.replace(old, [merged], {}, table.state())
    with pytest.raises(StoreFailed, match="marked as deleted by another engine"):
        merged_file(table, old, "feedctl-merged-1-1")
    assert values(table) == [1, 2, 2, 3, 3]
    assert [each.uri for each in table.unreferenced() if each.is_data] == [merged.uri]
    table.replace(old, [], {}, table.state())
    assert values(table) == [2, 2]
