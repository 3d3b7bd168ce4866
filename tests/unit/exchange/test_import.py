"""Imports in this process: the rows of an instance, its place, and what the ledger keeps."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typing_extensions import override

from tests.tables.tables import table_of
from tests.unit.exchange.fake_rows import rows_of
from tests.unit.exchange.import_site import FILES, ImportSite, MemoryRows
from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.registration import sync_ledger
from toolkit.catalog.model import Column, Partition, TableName
from toolkit.clock import SystemClock
from toolkit.errors import FeedctlError, InvalidInput
from toolkit.exchange.import_targets import RECORD_FILE
from toolkit.exchange.rows import ReadRequest, WrittenRows
from toolkit.jdbc.errors import DatabaseTimeout, DatabaseUnreachable, LoginRefused, PermissionRefused
from toolkit.jdbc.port import Row, TableColumn
from toolkit.result import ExitCode

APPEND_TIME = "{type: incremental, delta_column: at, merge_policy: append}"
APPEND_ID = "{type: incremental, delta_column: id, merge_policy: append}"
MERGE = "{type: incremental, delta_column: at, merge_key: [id]}"


def row(number: int, day: int, note: str = "") -> Row:
    """A customer that was written at noon of a day of March."""
    return (number, note or f"note {number}", datetime(2026, 3, day, 12, tzinfo=UTC))


def ids(site: ImportSite, day: str) -> list[object]:
    """Return the ids of an instance."""
    return [each[0] for each in site.imported(day)]


def test_a_full_import_is_the_last_due_instance_and_is_announced_once(tmp_path: Path) -> None:
    site = ImportSite(tmp_path)
    site.database.rows = [row(1, 1), row(2, 2)]
    first = site.run()
    assert (first.exit_code, site.names("2026-03-03"), site.names("2026-03-02")) == (ExitCode.DONE, FILES, [])
    assert ids(site, "2026-03-03") == [1, 2]
    assert site.left() == []
    opened = site.database.opened
    again = site.run()
    assert (again.exit_code, site.database.opened) == (ExitCode.DONE, opened)
    assert "no instance is due that is not there" in site.text(again)
    assert site.ledger("select kind, instance_key from event") == [("available", "2026-03-03T00:00Z")]
    assert site.ledger("select low, high, snapshot, rows from exchange_mark") == [(None, None, "snapshot-1", 2)]
    counted = dict(site.ledger("select name, value from run_counter"))
    assert (counted["ROWS"], counted["COPY"]) == (2, 1)


def test_a_named_instance_is_imported_again_and_updates_it(tmp_path: Path) -> None:
    site = ImportSite(tmp_path)
    site.database.rows = [row(1, 1)]
    site.run()
    site.database.rows = [row(1, 1), row(2, 2)]
    assert site.run(start="2026-03-03T00:00Z").exit_code == ExitCode.DONE
    assert ids(site, "2026-03-03") == [1, 2]
    assert site.ledger("select kind from event order by sequence") == [("available",), ("updated",)]


COUNTING = """kind: process
name: count
frequency: days(1)
clusters: [{name: primary, validity: {start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}}]
inputs:
  customers: {feed: customers, start: "today(0,0)", end: "today(0,0)"}
workflow: {engine: command, path: count.sh}
"""


def register_reader(site: ImportSite) -> None:
    """Register a process that reads the feed."""
    root = site.root / "repo"
    (root / "processes").mkdir()
    (root / "processes/count.yaml").write_text(COUNTING)
    (root / "count.sh").write_text("true\n")
    repo = RepoRequest(config_repo=str(root), variables=site.variables)
    sync_ledger(repo, who="tests", allow_dirty=True, clock=SystemClock())


def test_steps_that_read_the_feed_get_a_batch_of_each_import(tmp_path: Path) -> None:
    site = ImportSite(tmp_path)
    site.database.rows = [row(1, 1), row(2, 2)]
    site.run("2026-03-02T00:00Z")
    assert site.ledger("select count(*) from queue") == [(0,)]  # nothing reads the feed
    register_reader(site)
    site.run()
    site.run(start="2026-03-03T00:00Z")
    key, place = "2026-03-03T00:00Z", f"file://{site.place('2026-03-03')}"
    batches = "select source_batch_id, state, marking from queue order by source_batch_id"
    assert [each[1:] for each in site.ledger(batches)] == [("new", key)] * 2
    stands_for = site.ledger("select feed, cluster, instance_key, uri from batch_instance")
    assert stands_for == [("customers", "primary", key, place)] * 2
    counted = dict(
        site.ledger("select name, value from run_counter where run_id = (select max(run_id) from run_counter)")
    )
    size = (site.place("2026-03-03") / "part-00000.parquet").stat().st_size
    assert (counted["ROWS"], counted["BYTESCOPIED"], counted["COPY"]) == (2, size, 1)
    files = site.ledger("select path, size from file")
    assert files == [(place, size)] * 2


def test_a_dry_run_shows_query_columns_and_rows_and_writes_nothing(tmp_path: Path) -> None:
    site = ImportSite(tmp_path)
    site.database.rows = [row(1, 1)]
    result = site.run(dry_run=True)
    text = site.text(result)
    assert 'query: SELECT "id", "note", "at" FROM "customers"' in text
    assert "column id: integer as int" in text
    assert "column at: timestamp with time zone as timestamp" in text
    assert "expected rows: about 1" in text
    assert (site.names("2026-03-03"), site.rows.requests) == ([], [])
    assert site.ledger("select count(*) from run") == [(0,)]


def test_rows_of_each_days_time_are_appended_and_missed_days_are_caught_up(tmp_path: Path) -> None:
    site = ImportSite(tmp_path, extract=APPEND_TIME)
    site.database.rows = [row(1, 1), row(2, 2), row(3, 3), row(4, 4)]
    site.run("2026-03-02T00:00Z")
    assert ids(site, "2026-03-01") == [1]
    assert site.run("2026-03-04T23:00Z").exit_code == ExitCode.DONE
    assert [ids(site, f"2026-03-0{day}") for day in (2, 3)] == [[2], [3]]
    assert site.names("2026-03-04") == []  # its day is not over
    site.database.rows.append((5, "late", datetime(2026, 3, 2, 13, tzinfo=UTC)))
    site.run("2026-03-04T23:00Z", start="2026-03-02T00:00Z")
    assert ids(site, "2026-03-02") == [2, 5]


def test_a_delta_lag_keeps_an_instance_waiting(tmp_path: Path) -> None:
    site = ImportSite(tmp_path, extract=APPEND_TIME.replace("append", "append, delta_lag: hours(2)"))
    site.database.rows = [row(1, 1)]
    site.run("2026-03-02T01:59Z")
    assert site.names("2026-03-01") == []
    site.run("2026-03-02T02:00Z")
    assert ids(site, "2026-03-01") == [1]


def test_growing_numbers_go_on_at_the_last_mark_and_a_rerun_has_the_same_rows(tmp_path: Path) -> None:
    site = ImportSite(tmp_path, extract=APPEND_ID)
    site.database.rows = [row(1, 1), row(2, 1)]
    site.run("2026-03-02T00:00Z")
    site.database.rows += [row(3, 2), row(4, 2)]
    site.run("2026-03-04T00:00Z")
    assert (ids(site, "2026-03-01"), ids(site, "2026-03-03"), site.names("2026-03-02")) == ([1, 2], [3, 4], [])
    site.database.rows.append(row(9, 3))
    site.run("2026-03-04T00:00Z", start="2026-03-03T00:00Z")
    assert ids(site, "2026-03-03") == [3, 4]
    marks = site.ledger("select instance_key, low, high from exchange_mark order by instance_key")
    assert marks == [("2026-03-01T00:00Z", None, "2"), ("2026-03-03T00:00Z", "2", "4")]
    site.run("2026-03-05T00:00Z")
    assert ids(site, "2026-03-04") == [9]


def test_no_new_number_fails_unless_empty_instances_are_allowed(tmp_path: Path) -> None:
    site = ImportSite(tmp_path, extract=APPEND_ID)
    site.database.rows = [row(1, 1)]
    site.run("2026-03-02T00:00Z")
    failed = site.run("2026-03-03T00:00Z")
    assert (failed.exit_code, site.names("2026-03-02")) == (ExitCode.FAILED, [])
    assert "has no rows for this instance" in site.text(failed)
    site.more = "      allow_empty: true"
    site.write()
    assert site.run("2026-03-03T00:00Z").exit_code == ExitCode.DONE
    assert ids(site, "2026-03-02") == []
    assert site.ledger("select high from exchange_mark order by instance_key") == [("1",), ("1",)]


def test_changed_rows_replace_those_of_the_instance_before_and_the_first_has_all(tmp_path: Path) -> None:
    site = ImportSite(tmp_path, extract=MERGE)
    site.database.rows = [row(1, 1), row(2, 1)]
    site.run("2026-03-02T00:00Z")
    site.database.rows = [row(1, 1), row(2, 2, "changed"), row(3, 2)]
    site.run("2026-03-03T00:00Z")
    found = [each[:2] for each in site.imported("2026-03-02")]
    assert found == [(1, "note 1"), (2, "changed"), (3, "note 3")]
    record = json.loads((site.place("2026-03-02") / RECORD_FILE).read_text())
    assert (record["low"], record["high"], record["rows"]) == ("2026-03-02T00:00Z", "2026-03-03T00:00Z", 3)


@pytest.mark.parametrize(
    ("double", "more", "why"),
    [
        (row(1, 1, "other"), "", "several rows have the same merge_key (id)"),
        (row(1, 1, "other"), "      verify: none", "two rows have the same merge_key"),
        (row(1, 2), "", "several rows have the same merge_key (id)"),
    ],
)
@pytest.mark.parametrize(("whole", "is_shared"), [(False, True), (True, True), (False, False)])
def test_a_merge_key_that_several_rows_have_is_refused_from_the_first_import_on(
    tmp_path: Path, double: Row, more: str, why: str, *, whole: bool, is_shared: bool
) -> None:
    site = ImportSite(tmp_path, extract=MERGE, more=more)
    site.database.is_shared = is_shared  # MariaDB shares no snapshot, and nothing is counted
    site.database.rows = [row(1, 1), row(2, 1), row(3, 1), double]
    result = site.run("2026-03-02T00:00Z", whole=whole)
    assert (result.exit_code, site.names("2026-03-01"), site.left()) == (ExitCode.FAILED, [], [])
    assert why in site.text(result)
    assert site.ledger("select kind from event") == []
    site.database.rows.pop()
    assert site.run("2026-03-02T00:00Z", whole=whole).exit_code == ExitCode.DONE
    assert ids(site, "2026-03-01") == [1, 2, 3]


def test_of_several_rows_of_one_key_the_newest_is_kept_where_nothing_is_counted(tmp_path: Path) -> None:
    site = ImportSite(tmp_path, extract=MERGE, more="      verify: none")
    site.database.rows = [row(1, 2, "newer"), row(1, 1, "older")]
    assert site.run("2026-03-02T00:00Z").exit_code == ExitCode.DONE
    assert [each[:2] for each in site.imported("2026-03-01")] == [(1, "newer")]


def test_the_first_of_changed_rows_says_that_all_are_read_and_the_next_says_which(tmp_path: Path) -> None:
    site = ImportSite(tmp_path, extract=MERGE)
    site.database.rows = [row(1, 1), row(2, 1)]
    first = site.text(site.run("2026-03-02T00:00Z", dry_run=True))
    assert "range: all rows; the next instance begins at 2026-03-02T00:00Z" in first
    site.run("2026-03-02T00:00Z")
    then = site.text(site.run("2026-03-03T00:00Z", dry_run=True))
    assert "range: from 2026-03-02T00:00Z to 2026-03-03T00:00Z" in then
    assert "all rows" not in then


def test_a_merge_needs_the_instance_before_unless_all_rows_are_read(tmp_path: Path) -> None:
    site = ImportSite(tmp_path, extract=MERGE)
    site.database.rows = [row(1, 1)]
    site.run("2026-03-02T00:00Z")
    for each in site.place("2026-03-01").iterdir():
        each.unlink()
    site.place("2026-03-01").rmdir()
    site.database.rows.append(row(2, 2))
    failed = site.run("2026-03-03T00:00Z")
    assert (failed.exit_code, site.names("2026-03-02")) == (ExitCode.FAILED, [])
    assert "--whole" in site.text(failed)
    assert site.run("2026-03-03T00:00Z", whole=True).exit_code == ExitCode.DONE
    assert ids(site, "2026-03-02") == [1, 2]


def test_after_a_failure_later_instances_of_the_feed_wait(tmp_path: Path) -> None:
    site = ImportSite(tmp_path, extract=MERGE)
    site.database.rows = [row(1, 1)]
    site.run("2026-03-02T00:00Z")
    site.rows.lost, site.rows.failure = 0, LoginRefused(about="datasource crm", detail="no")
    result = site.run("2026-03-04T00:00Z")
    assert result.exit_code == ExitCode.FAILED
    assert "the instance 2026-03-02T00:00Z before it was not imported" in site.text(result)
    assert site.names("2026-03-03") == []


@pytest.mark.parametrize(
    "error",
    [
        LoginRefused(about="datasource crm", detail="no"),
        PermissionRefused(about="datasource crm", detail="no"),
        DatabaseUnreachable(about="datasource crm", detail="no"),
        DatabaseTimeout(about="datasource crm", detail="no"),
    ],
)
def test_a_database_that_refuses_fails_the_instance_and_leaves_nothing(tmp_path: Path, error: FeedctlError) -> None:
    site = ImportSite(tmp_path)
    site.database.rows = [row(1, 1)]
    site.rows.failure = error
    result = site.run()
    assert (result.exit_code, site.names("2026-03-03"), site.left()) == (ExitCode.FAILED, [], [])
    assert str(error) in site.text(result)
    site.rows.failure, site.database.failure = None, error
    assert site.run().exit_code == ExitCode.FAILED
    site.database.failure = None
    assert site.run().exit_code == ExitCode.DONE
    assert site.ledger("select count(*) from item where state = 'intended'") == [(0,)]


def test_rows_that_are_lost_on_the_way_fail_the_instance(tmp_path: Path) -> None:
    site = ImportSite(tmp_path)
    site.database.rows, site.rows.lost = [row(1, 1), row(2, 2)], 1
    result = site.run()
    assert (result.exit_code, site.names("2026-03-03")) == (ExitCode.FAILED, [])
    assert "1 rows were written, and the snapshot has 2" in site.text(result)


def test_values_that_would_change_fail_before_a_row_is_read(tmp_path: Path) -> None:
    site = ImportSite(tmp_path)
    site.database.rows, site.database.changes = [row(1, 1)], {"at": 3}
    result = site.run()
    assert (result.exit_code, site.rows.requests) == (ExitCode.FAILED, [])
    assert "at in 3 rows" in site.text(result)


def test_data_of_others_is_replaced_only_when_it_is_named(tmp_path: Path) -> None:
    site = ImportSite(tmp_path)
    site.database.rows = [row(1, 1)]
    site.place("2026-03-03").mkdir(parents=True)
    (site.place("2026-03-03") / "theirs").write_text("theirs")
    result = site.run()
    assert (result.exit_code, site.names("2026-03-03")) == (ExitCode.FAILED, ["theirs"])
    assert site.run(start="2026-03-03T00:00Z").exit_code == ExitCode.DONE
    assert site.names("2026-03-03") == FILES
    assert site.ledger("select kind from event") == [("available",)]  # nobody has heard of it before


@pytest.mark.parametrize(
    ("more", "unknown"),
    [
        ("      columns: {nope: string}", "nope"),
        ("      split_by: nope\n      num_mappers: 2", "nope"),
    ],
)
def test_a_named_column_that_is_missing_fails_before_a_row_is_read(tmp_path: Path, more: str, unknown: str) -> None:
    site = ImportSite(tmp_path, more=more)
    result = site.run()
    assert (result.exit_code, site.rows.requests) == (ExitCode.FAILED, [])
    assert f"has no column {unknown}" in site.text(result)


@pytest.mark.parametrize(
    ("rule", "code"), [("fail", ExitCode.FAILED), ("add", ExitCode.DONE), ("ignore", ExitCode.DONE)]
)
def test_a_new_column_at_the_source_follows_schema_change(tmp_path: Path, rule: str, code: ExitCode) -> None:
    site = ImportSite(tmp_path, more=f"      schema_change: {rule}")
    site.database.rows = [row(1, 1)]
    site.run("2026-03-02T00:00Z")
    site.database.columns.append(TableColumn(name="new", type="integer"))
    site.database.rows = [(*row(1, 1), 7)]
    result = site.run()
    assert result.exit_code == code
    if code == ExitCode.DONE:
        columns = json.loads((site.place("2026-03-03") / RECORD_FILE).read_text())["columns"]
        assert ("new" in columns) is (rule == "add")
    assert "new" in site.text(result)


def test_connections_divide_the_rows_and_share_the_snapshot(tmp_path: Path) -> None:
    site = ImportSite(tmp_path, more="      split_by: id\n      num_mappers: 2")
    site.database.rows = [row(1, 1)]
    assert site.run().exit_code == ExitCode.DONE
    request = site.last_read
    assert request.init_statement == "SET TRANSACTION SNAPSHOT 'snapshot-1'"
    assert [each.partition(" WHERE ")[2][-3:] for each in request.selects] == ["LL)", "= 1"]


def test_a_database_without_shared_snapshots_is_read_by_one_connection_unless_the_user_accepts(tmp_path: Path) -> None:
    site = ImportSite(tmp_path, more="      split_by: id\n      num_mappers: 2")
    site.database.rows, site.database.is_shared = [row(1, 1)], False
    result = site.run()
    assert "so one connection reads" in site.text(result)
    assert len(site.last_read.selects) == 1
    result = site.run(start="2026-03-03T00:00Z", inconsistent=True)
    assert "so the instance may be of none" in site.text(result)
    assert len(site.last_read.selects) == 2


def test_a_table_that_changes_between_plan_and_import_fails(tmp_path: Path) -> None:
    site = ImportSite(tmp_path)
    site.database.rows = [row(1, 1)]

    def touched() -> None:
        if site.database.opened == 2:
            site.database.columns[1] = TableColumn(name="note", type="integer")

    site.database.touched = touched
    result = site.run()
    assert (result.exit_code, site.names("2026-03-03")) == (ExitCode.FAILED, [])
    assert "changed since the plan" in site.text(result)


def test_what_a_killed_run_staged_is_gone_after_the_next(tmp_path: Path) -> None:
    site = ImportSite(tmp_path)
    site.database.rows = [row(1, 1)]
    staged = site.root / "data/customers/.feedctl-staging/2026-03-03"
    staged.mkdir(parents=True)
    (staged / "part-00009.parquet").write_text("half")
    assert site.run().exit_code == ExitCode.DONE
    assert (site.names("2026-03-03"), site.left()) == (FILES, [])


def test_a_hold_keeps_the_instance(tmp_path: Path) -> None:
    site = ImportSite(tmp_path)
    site.database.rows = [row(1, 1)]
    (site.root / "data/customers").mkdir(parents=True)
    (site.root / "data/customers/.feedctl-hold").write_text("")
    result = site.run()
    assert (site.names("2026-03-03"), site.rows.requests) == ([], [])
    assert "held" in site.text(result)


_PARQUET = "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat"
_TABLE = 'table: "catalog:web:customers#ds=${YEAR}-${MONTH}-${DAY}"'


def table_site(root: Path, *columns: tuple[str, str], input_format: str = _PARQUET) -> ImportSite:
    """A site whose feed is a table with these columns."""
    site = ImportSite(root, place_text=_TABLE, of_feed="")
    columns = columns or (("id", "int"), ("note", "string"), ("at", "timestamp"))
    made = table_of(TableName("web", "customers"), f"file://{root}/warehouse/customers", ds="string")
    named = tuple(Column(name=name, type=kind) for name, kind in columns)
    site.metastore.create_table(replace(made, storage=replace(made.storage, columns=named, input_format=input_format)))
    site.database.rows = [row(1, 1)]
    return site


def test_a_partition_is_added_when_it_is_whole_and_replaced_in_its_place(tmp_path: Path) -> None:
    site = table_site(tmp_path)
    name, seen = TableName("web", "customers"), list[tuple[str, ...]]()
    site.database.touched = lambda: seen.append(site.metastore.partition_names(name))
    result = site.run()
    assert result.exit_code == ExitCode.DONE, site.text(result)
    place = tmp_path / "warehouse/customers/ds=2026-03-03"
    assert (site.metastore.partition_names(name), seen) == (("ds=2026-03-03",), [(), ()])
    (partition,) = site.metastore.partitions(name, ["ds=2026-03-03"])
    assert partition.location == f"file://{place}"
    assert sorted(each.name for each in place.iterdir()) == [RECORD_FILE, "part-00000.parquet"]
    site.database.rows.append(row(2, 2))
    assert site.run(start="2026-03-03T00:00Z").exit_code == ExitCode.DONE
    assert len(rows_of([str(place)])) == 2
    assert [str(each) for each in (tmp_path / "warehouse/customers").rglob(".feedctl-staging/*")] == []


def test_a_partition_that_is_dropped_after_the_plan_is_registered_again_before_it_is_announced(tmp_path: Path) -> None:
    site, name = table_site(tmp_path), TableName("web", "customers")
    site.run()
    site.rows.touched = lambda: site.metastore.drop_partitions(name, ["ds=2026-03-03"])
    assert site.run(start="2026-03-03T00:00Z").exit_code == ExitCode.DONE
    assert site.metastore.partition_names(name) == ("ds=2026-03-03",)
    assert site.ledger("select kind from event order by sequence") == [("available",), ("updated",)]


def test_a_partition_that_is_moved_after_the_plan_is_not_announced(tmp_path: Path) -> None:
    site, name = table_site(tmp_path), TableName("web", "customers")
    site.run()
    (partition,) = site.metastore.partitions(name, ["ds=2026-03-03"])
    elsewhere = replace(partition, storage=replace(partition.storage, location=f"file://{tmp_path}/elsewhere"))
    site.rows.touched = lambda: site.metastore.alter_partitions(name, [elsewhere])
    result = site.run(start="2026-03-03T00:00Z")
    assert (result.exit_code, site.ledger("select kind from event")) == (ExitCode.FAILED, [("available",)])
    assert f"it is at file://{tmp_path}/elsewhere" in site.text(result)


def test_data_that_goes_with_a_dropped_partition_is_not_announced(tmp_path: Path) -> None:
    site, name, place = table_site(tmp_path), TableName("web", "customers"), "warehouse/customers/ds=2026-03-03"
    add = site.metastore.add_partitions

    def drop_first(table: TableName, partitions: Sequence[Partition]) -> None:
        shutil.rmtree(tmp_path / place)
        add(table, partitions)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site.metastore, "add_partitions", drop_first)
        result = site.run()
    assert (result.exit_code, site.ledger("select kind from event")) == (ExitCode.FAILED, [])
    assert "went with a partition that was dropped" in site.text(result)
    assert site.run().exit_code == ExitCode.DONE
    assert site.metastore.partition_names(name) == ("ds=2026-03-03",)
    assert len(rows_of([str(tmp_path / place)])) == 1


@pytest.mark.parametrize(
    ("columns", "input_format", "why"),
    [
        ((("id", "int"), ("note", "string")), _PARQUET, "at are not in the table web.customers"),
        ((("id", "bigint"), ("note", "string"), ("at", "timestamp")), _PARQUET, "id (bigint, now int) differ"),
        ((), "org.apache.hadoop.mapred.TextInputFormat", "make it STORED AS PARQUET or ORC"),
    ],
)
def test_a_table_that_does_not_fit_is_refused_by_name(
    tmp_path: Path, columns: tuple[tuple[str, str], ...], input_format: str, why: str
) -> None:
    site = table_site(tmp_path, *columns, input_format=input_format)
    result = site.run()
    assert (result.exit_code, site.rows.requests) == (ExitCode.FAILED, [])
    assert why in site.text(result)
    assert site.metastore.partition_names(TableName("web", "customers")) == ()


def test_the_first_merge_and_a_whole_one_have_all_rows_also_those_without_a_delta_value(tmp_path: Path) -> None:
    site = ImportSite(tmp_path, extract=MERGE)
    site.database.rows = [row(1, 1), (2, "no time", None), row(3, 2)]
    site.run("2026-03-02T00:00Z")
    assert ids(site, "2026-03-01") == [1, 2, 3]
    site.database.rows.append((4, "no time", None))
    site.run("2026-03-03T00:00Z")
    assert ids(site, "2026-03-02") == [1, 2, 3]
    site.run("2026-03-04T00:00Z", whole=True)
    assert ids(site, "2026-03-03") == [1, 2, 3, 4]


def test_an_instance_of_an_empty_table_stays_empty_and_its_later_rows_are_those_of_the_next(tmp_path: Path) -> None:
    site = ImportSite(tmp_path, extract=APPEND_ID, more="      allow_empty: true")
    taken = []

    def arrive() -> None:
        taken.append(1)
        if len(taken) == 2:  # between the plan and the read
            site.database.rows = [row(1, 1)]

    site.database.touched = arrive
    site.run("2026-03-02T00:00Z")
    assert ids(site, "2026-03-01") == []
    site.run("2026-03-03T00:00Z")
    assert ids(site, "2026-03-02") == [1]
    site.run("2026-03-03T00:00Z", start="2026-03-01T00:00Z", end="2026-03-02T00:00Z")
    assert (ids(site, "2026-03-01"), ids(site, "2026-03-02")) == ([], [1])


def test_numbers_below_the_mark_are_said_since_a_restored_database_has_them(tmp_path: Path) -> None:
    site = ImportSite(tmp_path, extract=APPEND_ID, more="      allow_empty: true")
    site.database.rows = [row(1, 1), row(9, 1)]
    site.run("2026-03-02T00:00Z")
    site.database.rows = [row(1, 1), row(2, 2)]
    assert "id is at most 2, below the mark 9" in site.text(site.run("2026-03-03T00:00Z"))


def test_a_merge_fails_when_the_instance_before_goes_between_plan_and_read(tmp_path: Path) -> None:
    site = ImportSite(tmp_path, extract=MERGE)
    site.database.rows = [row(1, 1)]
    site.run("2026-03-02T00:00Z")
    opened = site.database.opened

    def evict() -> None:
        if site.database.opened == opened + 2:
            shutil.rmtree(site.place("2026-03-01"))

    site.database.touched = evict
    site.database.rows.append(row(2, 2))
    failed = site.run("2026-03-03T00:00Z")
    assert (failed.exit_code, site.names("2026-03-02")) == (ExitCode.FAILED, [])
    assert "went meanwhile" in site.text(failed)


def test_a_flag_that_is_not_hidden_is_no_file_of_a_merge(tmp_path: Path) -> None:
    site = ImportSite(tmp_path, extract=MERGE, of_feed="availability_flag: DONE")
    site.database.rows = [row(1, 1)]
    site.run("2026-03-02T00:00Z")
    site.run("2026-03-03T00:00Z", whole=True)
    site.database.rows.append(row(2, 3))
    assert site.run("2026-03-04T00:00Z").exit_code == ExitCode.DONE
    request = site.last_read
    assert request.merge is not None
    assert [each.rpartition("/")[2] for each in request.merge.previous] == ["part-00000.parquet"]


def test_rows_of_an_hour_that_comes_twice_are_in_its_second_instances_alone(tmp_path: Path) -> None:
    site = ImportSite(
        tmp_path,
        extract=APPEND_TIME,
        more="      allow_empty: true",
        of_feed="availability_flag: _SUCCESS\ntimezone: Europe/Berlin",
        frequency="minutes(30)",
        place_text='locations: {data: "/data/customers/${YEAR}-${MONTH}-${DAY}-${HOUR}-${MINUTE}"}',
    )
    site.database.columns[2] = replace(site.database.columns[2], type="timestamp without time zone")
    minutes = [(hour, minute) for hour in (1, 2, 3) for minute in (0, 30)]
    site.database.rows = [
        (number, "", datetime(2026, 10, 25, hour, minute))  # noqa: DTZ001 - a local time
        for number, (hour, minute) in enumerate(minutes)
    ]
    site.run("2026-10-24T23:30Z")
    site.run("2026-10-25T03:00Z")
    found = {each.name: ids(site, each.name) for each in (tmp_path / "data/customers").glob("2026-10-2[45]-*")}
    assert sorted(int(str(number)) for each in found.values() for number in each) == [0, 1, 2, 3, 4, 5]
    assert (found["2026-10-25-01-00"], found["2026-10-25-01-30"]) == ([2], [3])
    assert not {"2026-10-25-00-00", "2026-10-25-00-30"} & found.keys()


@pytest.mark.parametrize("mark", ["NaN", "1e999999999", "x"])
def test_a_mark_that_is_no_number_fails_by_name(tmp_path: Path, mark: str) -> None:
    site = ImportSite(tmp_path, extract=APPEND_ID)
    site.database.rows = [row(1, 1)]
    site.run("2026-03-02T00:00Z")
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as ledger:
        ledger.execute("update exchange_mark set high = ?", (mark,))
        ledger.commit()
    failed = site.run("2026-03-03T00:00Z")
    assert failed.exit_code == ExitCode.FAILED
    assert "no number of a column" in site.text(failed)


def test_a_merge_with_files_whose_nulls_were_another_text_fails(tmp_path: Path) -> None:
    site = ImportSite(tmp_path, extract=MERGE, more="      format: csv")
    site.database.rows = [row(1, 1)]
    site.run("2026-03-02T00:00Z")
    site.more = "      format: csv\n      null_string: 'NULL'"
    site.write()
    failed = site.run("2026-03-03T00:00Z")
    assert (failed.exit_code, site.names("2026-03-02")) == (ExitCode.FAILED, [])
    assert "and the feed is now csv with 'NULL' as null" in site.text(failed)
    assert site.run("2026-03-03T00:00Z", whole=True).exit_code == ExitCode.DONE


def test_a_merge_fails_when_the_instance_before_lacks_rows_and_not_when_it_is_compacted(tmp_path: Path) -> None:
    site = ImportSite(tmp_path, extract=MERGE)
    site.database.rows = [row(1, 1), row(2, 1)]
    site.run("2026-03-02T00:00Z")
    (part,) = site.place("2026-03-01").glob("part-*")
    whole = json.loads(part.read_text())
    part.write_text(json.dumps({**whole, "rows": whole["rows"][:1]}))
    site.database.rows.append(row(3, 2))
    failed = site.run("2026-03-03T00:00Z")
    assert (failed.exit_code, site.names("2026-03-02")) == (ExitCode.FAILED, [])
    assert "are not those of its import of 2 rows" in site.text(failed)
    part.write_text(json.dumps(whole, indent=3))
    assert site.run("2026-03-03T00:00Z").exit_code == ExitCode.DONE
    assert ids(site, "2026-03-02") == [1, 2, 3]


def test_clusters_with_other_settings_of_file_systems_are_not_imported_by_one_application(tmp_path: Path) -> None:
    site = ImportSite(tmp_path)
    site.database.rows = [row(1, 1)]
    clusters, feed = tmp_path / "repo/clusters", tmp_path / "repo/feeds/customers.yaml"
    text = (clusters / "primary.yaml").read_text().replace("primary", "other").replace(str(tmp_path), f"{tmp_path}/o")
    (clusters / "other.yaml").write_text(f"{text}hadoop_conf: {{fs.s3a.endpoint: 'http://other'}}\n")
    own = feed.read_text()
    feed.write_text(f"{own}{own[own.index('  - name: primary') :].replace('primary', 'other')}")
    with pytest.raises(InvalidInput, match="differ in hadoop_conf"):
        site.run(all_clusters=True)
    assert not site.rows.requests


def test_files_that_another_run_stages_after_the_count_are_not_published(tmp_path: Path) -> None:
    site = ImportSite(tmp_path, extract="{type: full}")
    site.rows = AnothersFile(database=site.database)
    site.database.rows = [row(1, 1)]
    failed = site.run("2026-03-02T00:00Z")
    assert (failed.exit_code, site.names("2026-03-01")) == (ExitCode.FAILED, [])
    assert "another run writes there too" in site.text(failed)


class AnothersFile(MemoryRows):
    """Rows that get company after they were counted, from a run that lost its lease."""

    @override
    def read(self, request: ReadRequest) -> WrittenRows:
        written = super().read(request)
        part = Path(request.target.removeprefix("file://")) / "part-00000.parquet"
        shutil.copy(part, part.with_name("part-00001.parquet"))
        return written


def test_the_file_in_the_batch_of_a_partition_is_its_directory(tmp_path: Path) -> None:
    site = table_site(tmp_path)
    register_reader(site)
    assert site.run().exit_code == ExitCode.DONE
    place = tmp_path / "warehouse/customers/ds=2026-03-03"
    assert site.ledger("select path from file") == [(f"file://{place}",)]
    assert site.ledger("select uri from batch_instance") == [("hcat:///web/customers/ds=2026-03-03",)]
