"""Databases, tables and their parameters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.contract.metastore.conftest import Place
from tests.tables.tables import TEXT, of_spark, partition_of, table_of
from toolkit.catalog.errors import CatalogAlreadyExists, NoSuchDatabase, NoSuchTable
from toolkit.catalog.model import Column, Skew, SortColumn, StorageDescriptor, Table, TableKind, TableName


def test_a_database_is_listed_and_has_no_tables_at_first(place: Place) -> None:
    assert place.database in place.metastore.databases()
    assert list(place.metastore.databases()) == sorted(place.metastore.databases())
    assert place.metastore.tables(place.database) == ()


def test_a_table_is_read_back_as_it_was_made(place: Place) -> None:
    made = table_of(place.named("Clicks"), f"{place.directory}/clicks", ds="date", n="int", region="varchar(10)")
    storage = replace(
        made.storage,
        buckets=4,
        bucket_columns=("id",),
        sort_columns=(SortColumn(name="id", ascending=False),),
        skew=Skew(columns=("id",), values=(("1",), ("2",))),
        compressed=True,
        parameters={"größe": "groß €😀"},
    )
    keys = (*made.keys[:2], Column(name="region", type="varchar(10)", comment="where; ü"))
    made = replace(made, storage=storage, keys=keys, owner="etl", parameters={**made.parameters, "a b": "c\td\n\"e'\\"})
    place.metastore.create_table(made)
    found = place.metastore.table(made.name)
    assert replace(found, parameters={}, storage=found.storage) == replace(made, parameters={})
    assert dict(found.storage.parameters) == dict(storage.parameters)
    assert dict(found.storage.serde.parameters).items() >= dict(storage.serde.parameters).items()
    assert found.parameters.items() >= made.parameters.items()
    assert place.metastore.tables(place.database) == ("clicks",)


def test_a_view_is_read_back_with_its_query(place: Place) -> None:
    view = Table(
        name=place.named("v"),
        kind=TableKind.VIEW,
        storage=StorageDescriptor(columns=(Column(name="x", type="int"),)),
        view_original="select 1 x",
        view_expanded="select 1 as `x`",
    )
    place.metastore.create_table(view)
    found = place.metastore.table(view.name)
    assert (found.kind, found.view_original, found.view_expanded) == (TableKind.VIEW, "select 1 x", "select 1 as `x`")
    assert (found.storage.columns, found.location) == (view.storage.columns, "")


def test_the_directories_of_all_tables_are_told_and_a_view_has_none(place: Place) -> None:
    tables = [table_of(place.named(name), f"{place.directory}/{name}") for name in ("clicks", "views")]
    view = replace(tables[0], name=place.named("v"), kind=TableKind.VIEW, storage=StorageDescriptor(columns=()))
    for each in (*tables, replace(view, view_original="select 1", view_expanded="select 1")):
        place.metastore.create_table(each)
    found = place.metastore.directories(place.database)
    assert {name: location.rpartition("/")[2] for name, location in found.items()} == {
        "clicks": "clicks",
        "views": "views",
    }
    assert place.metastore.table(tables[0].name).location == found["clicks"]
    with pytest.raises(NoSuchDatabase):
        place.metastore.directories("nowhere")


def test_the_directory_of_a_table_of_spark_is_where_spark_keeps_it(place: Place) -> None:
    made = of_spark(table_of(place.named("clicks"), f"{place.directory}/data"), f"{place.directory}/c-__PLACEHOLDER__")
    place.metastore.create_table(made)
    directory = place.metastore.directories(place.database)["clicks"]
    assert directory.rpartition("/")[2] == "data"
    assert place.metastore.table(made.name).location == directory


def test_a_name_that_is_taken_is_told_and_nothing_changes(place: Place) -> None:
    made = place.made()
    with pytest.raises(CatalogAlreadyExists, match=r"\.clicks"):
        place.metastore.create_table(replace(made, parameters={"other": "1"}))
    assert "other" not in place.metastore.table(made.name).parameters


def test_a_table_that_is_not_there_is_named(place: Place) -> None:
    with pytest.raises(NoSuchTable, match=rf"{place.database}\.nothing: .*check the name"):
        place.metastore.table(place.named("nothing"))
    with pytest.raises(NoSuchTable, match="nothing"):
        place.metastore.partition_names(place.named("nothing"))
    with pytest.raises(NoSuchTable, match="nothing"):
        place.metastore.partitions(place.named("nothing"), ["ds=1"])
    with pytest.raises(NoSuchTable, match="nothing"):
        place.metastore.drop_partitions(place.named("nothing"), ["ds=1"])
    with pytest.raises(NoSuchTable, match="nothing"):
        place.metastore.change_parameters(place.named("nothing"), put={"a": "b"})


def test_a_database_that_is_not_there_is_named(place: Place) -> None:
    with pytest.raises(NoSuchDatabase, match=r"no_db: .*check the name"):
        place.metastore.table(TableName("no_db", "t"))
    with pytest.raises(NoSuchDatabase, match="no_db"):
        place.metastore.tables("no_db")
    with pytest.raises(NoSuchDatabase, match="no_db"):
        place.metastore.create_table(table_of(TableName("no_db", "t"), f"{place.directory}/t", ds="string"))


def test_parameters_of_a_table_are_set_and_removed_and_the_others_stay(place: Place) -> None:
    made = place.made()
    place.metastore.change_parameters(made.name, put={"a": "1", "ü": "€"}, remove=("team", "never there"))
    found = place.metastore.table(made.name)
    assert found.parameters.items() >= {"a": "1", "ü": "€", "EXTERNAL": "TRUE"}.items()
    assert "team" not in found.parameters
    assert (found.storage, found.keys) == (made.storage, made.keys)


def test_a_table_is_described_anew_and_its_partitions_stay(place: Place) -> None:
    made = place.made()
    partition = partition_of(made, "2026-03-01", "us", location=f"{place.directory}/elsewhere")
    place.metastore.add_partitions(made.name, [partition])
    columns = (*made.storage.columns, Column(name="more", type="string"))
    storage = replace(made.storage, columns=columns, location=f"{place.directory}/moved")
    wanted = replace(made, storage=storage, parameters={"EXTERNAL": "TRUE", "numRows": "7"})
    place.metastore.alter_table(wanted)
    found = place.metastore.table(made.name)
    assert (found.storage.columns, found.storage.location) == (columns, storage.location)
    assert found.parameters.items() >= wanted.parameters.items()
    assert "team" not in found.parameters
    (stays,) = place.metastore.partitions(made.name, place.metastore.partition_names(made.name))
    assert (stays.location, stays.storage.columns) == (partition.location, made.storage.columns)


def test_a_table_that_is_not_there_is_not_described_anew(place: Place) -> None:
    with pytest.raises(NoSuchTable, match="nothing"):
        place.metastore.alter_table(table_of(place.named("nothing"), f"{place.directory}/x", ds="string"))


def test_a_database_has_a_place(place: Place) -> None:
    found = place.metastore.database_location(place.database)
    assert found.startswith("file:/")
    place.metastore.create_table(replace(table_of(place.named("t"), "", ds="string"), storage=TEXT))
    made = place.metastore.table(place.named("t")).storage.location
    assert made in {None, f"{found}/t"}
    with pytest.raises(NoSuchDatabase, match="no_db"):
        place.metastore.database_location("no_db")


def test_the_version_is_said(place: Place) -> None:
    assert place.metastore.version()


def test_a_dropped_table_is_forgotten_with_its_partitions_and_its_files_stay(place: Place, tmp_path: Path) -> None:
    made = place.made()
    own = replace(place.made("managed"), kind=TableKind.MANAGED, parameters={})
    place.metastore.alter_table(own)
    place.metastore.add_partitions(made.name, [partition_of(made, "2026-03-01", "us", location=f"{made.location}/x")])
    kept = []
    for table in ("clicks/x", "managed"):
        file = tmp_path / table / "data"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("rows")
        kept.append(file)
    for each in (made, own):
        place.metastore.drop_table(each.name)
    assert place.metastore.tables(place.database) == ()
    with pytest.raises(NoSuchTable):
        place.metastore.drop_table(made.name)
    assert all(each.exists() for each in kept)
    place.made()
    assert place.metastore.partition_names(made.name) == ()


def test_events_name_the_tables_that_changed_without_a_gap(events_place: Place) -> None:
    metastore, before = events_place.metastore, events_place.metastore.last_event()
    made, other = events_place.made(), events_place.made("views")
    partition = partition_of(made, "2026-03-01", "us", location=f"{made.location}/x")
    metastore.add_partitions(made.name, [partition])
    metastore.alter_partitions(made.name, [partition])
    metastore.drop_partitions(made.name, [made.partition_name(partition)])
    metastore.drop_table(other.name)
    last = metastore.last_event()
    found = metastore.events(before, 100)
    assert [each.number for each in found] == list(range(before + 1, last + 1))
    own = [each.table for each in found if each.table is not None and each.table.database == events_place.database]
    assert own == [made.name, other.name, made.name, made.name, made.name, other.name]
    assert all(each.time > 1_000_000_000 for each in found)
    assert metastore.events(before, 2) == found[:2]
    assert metastore.events(last, 100) == ()
