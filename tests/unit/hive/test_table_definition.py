"""How tables and partitions are described where they come to."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.tables.tables import TEXT, table_of
from toolkit.catalog.model import ACCURATE, Column, Serde, Table, TableKind, TableName
from toolkit.el import CanonicalPath
from toolkit.hive.table_definition import (
    added_columns,
    at_place,
    carried_statistics,
    differences,
    lasting,
    table_differences,
    target_table,
)
from toolkit.hive.table_reader import TablePart
from toolkit.hive.targets import ImportRules
from toolkit.storage import FileKind
from toolkit.transfer.trees import TreeFile

NAME = TableName("logs", "clicks")
ID, WHAT, MORE = (Column(name=name, type=kind) for name, kind in (("id", "int"), ("what", "string"), ("more", "date")))


def part(*sizes: int) -> TablePart:
    when = datetime(2026, 3, 1, tzinfo=UTC)
    tree = {f"part-{number}": TreeFile(FileKind.FILE, size, when) for number, size in enumerate(sizes)}
    return TablePart(name="ds=1", partition=None, place=CanonicalPath.parse("file:/x"), tree=tree)


def view(query: str) -> Table:
    table = table_of(NAME, "file:/x")
    return replace(table, kind=TableKind.VIEW, view_original=query, view_expanded=query)


@pytest.mark.parametrize(
    ("query", "moved"),
    [
        ("SELECT a FROM logs.clicks", "SELECT a FROM bak.clicks"),
        ("SELECT `logs`.`t`.a FROM `logs` . `t`", "SELECT `bak`.`t`.a FROM `bak` . `t`"),
        ("SELECT 'logs.x', \"logs.y\" FROM LOGS.t", "SELECT 'logs.x', \"logs.y\" FROM bak.t"),
        ("SELECT weblogs.a, x.logs.b, logs FROM t", "SELECT weblogs.a, x.logs.b, logs FROM t"),
    ],
)
def test_a_view_names_the_database_that_it_moved_to_but_in_texts(query: str, moved: str) -> None:
    landed = target_table(view(query), TableName("bak", "clicks"), ImportRules())
    assert (landed.view_original, landed.view_expanded) == (moved, moved)


def test_a_view_that_stays_in_its_database_stays_as_it_is() -> None:
    assert target_table(view("SELECT a FROM logs.t"), NAME, ImportRules()).view_original == "SELECT a FROM logs.t"


def test_a_table_keeps_its_parameters_and_no_statistics_and_may_change_its_kind() -> None:
    table = replace(table_of(NAME, "file:/x"), parameters={"EXTERNAL": "TRUE", "team": "web", "numRows": "3"})
    assert target_table(table, NAME, ImportRules()).parameters == {"EXTERNAL": "TRUE", "team": "web"}
    managed = target_table(table, NAME, ImportRules(kind=TableKind.MANAGED))
    assert (managed.kind, managed.parameters) == (TableKind.MANAGED, {"team": "web"})
    assert target_table(table, NAME, ImportRules()).storage.location is None


@pytest.mark.parametrize(
    ("wanted", "present", "added"),
    [
        ((ID, WHAT, MORE), (ID, WHAT), (MORE,)),
        ((ID, WHAT), (ID, WHAT, MORE), ()),
        ((ID, WHAT), (WHAT, ID), None),
        ((ID, MORE, WHAT), (ID, WHAT), None),
        ((replace(ID, type="bigint"), WHAT), (ID, WHAT), None),
        ((replace(ID, name="ID"), WHAT), (ID, WHAT), ()),
    ],
)
def test_only_columns_at_the_end_count_as_added(
    wanted: tuple[Column, ...], present: tuple[Column, ...], added: tuple[Column, ...] | None
) -> None:
    assert added_columns(wanted, present) == added


def test_rows_are_carried_over_only_when_the_figures_are_of_these_files() -> None:
    figures = {"numFiles": "2", "totalSize": "30", "numRows": "7", "rawDataSize": "20"}
    output = {**figures, ACCURATE: '{"BASIC_STATS":"true","COLUMN_STATS":{"id":"true"}}'}
    assert carried_statistics(output, part(10, 20)) == {**figures, ACCURATE: '{"BASIC_STATS":"true"}'}
    assert carried_statistics(output, part(10, 21)) == {"numFiles": "2", "totalSize": "31"}
    assert carried_statistics(figures, part(10, 20)) == {"numFiles": "2", "totalSize": "30"}


def test_the_path_that_spark_keeps_is_that_of_the_copy() -> None:
    was = replace(TEXT, location="hdfs://a/t/ds=1", serde=Serde(library="x", parameters={"path": "hdfs://a/t"}))
    moved = at_place(was, was, "hdfs://b/t/ds=1", table_was="hdfs://a/t", table_is="hdfs://b/t")
    assert (moved.location, moved.serde.parameters) == ("hdfs://b/t/ds=1", {"path": "hdfs://b/t"})


def test_a_description_differs_by_what_reads_its_files() -> None:
    assert list(differences(TEXT, replace(TEXT, location="file:/y"))) == []
    other = replace(TEXT, columns=(ID,), serde=Serde(library="x"), buckets=4, bucket_columns=("id",))
    assert [each.split(" ")[0] for each in differences(other, TEXT)] == ["columns", "serde", "serde", "buckets"]


TABLE = table_of(TableName("a", "b"), "hdfs://h/t")


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ({"skip.header.line.count": "1"}, {}, ["parameter skip.header.line.count '1' instead of '0'"]),
        ({"Skip.Header.Line.Count": "0"}, {}, []),
        ({"serialization.null.format": ""}, {}, ["parameter serialization.null.format '' instead of None"]),
        ({}, {"transactional": "true"}, ["parameter transactional 'false' instead of 'true'"]),
        ({"bucketing_version": "2"}, {"bucketing_version": "1"}, []),
        ({"numRows": "1", "transient_lastDdlTime": "2", "team": "x"}, {"numRows": "3"}, []),
    ],
)
def test_tables_differ_by_the_parameters_that_change_which_rows_their_files_have(
    one: dict[str, str], other: dict[str, str], found: list[str]
) -> None:
    assert list(table_differences(replace(TABLE, parameters=one), replace(TABLE, parameters=other))) == found


def test_the_hash_of_buckets_counts_where_there_are_some() -> None:
    bucketed = replace(TABLE, storage=replace(TEXT, buckets=4, bucket_columns=("id",)))
    second = replace(bucketed, parameters={"bucketing_version": "2"})
    assert list(table_differences(second, bucketed)) == ["parameter bucketing_version '2' instead of '1'"]
    assert target_table(second, TABLE.name, ImportRules()).parameters["bucketing_version"] == "2"


def test_what_the_metastore_writes_for_itself_is_no_lasting_parameter() -> None:
    assert lasting({"transient_lastDdlTime": "1", "feedctl.copied": "x", "numFiles": "1", "a": "b"}) == {"a": "b"}


@pytest.mark.parametrize("key", ["path", "Path", "PATH"])
def test_the_place_of_a_table_that_spark_reads_becomes_the_new_one_in_whatever_case(key: str) -> None:
    was = replace(TEXT, location="hdfs://a/t", serde=replace(TEXT.serde, parameters={key: "hdfs://secret/t"}))
    moved = at_place(was, was, "hdfs://b/t", table_was="hdfs://a/t", table_is="hdfs://b/t")
    assert moved.serde.parameters == {key: "hdfs://b/t"}
    assert not list(differences(was, moved))
