"""Mirrors of databases between two real metastores, by the entrypoint: run, dropped, killed, by events."""
# ruff: noqa: S608 - the texts are this test's own

from __future__ import annotations

import os
import random
import signal
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from tests.described import faults
from tests.integration.mirror_databases import DatabaseMirror, two_databases
from tests.integration.table_copies import add, filled
from tests.tables.spark_sql import spark_sql
from tests.tables.tables import table_of
from tests.testbed.metastore import HiveMetastoreServer
from toolkit.hive.registration_mark import LATEST_CALL
from toolkit.rendering.document_schemas import DocumentName

_DAYS = ("2026-03-01", "2026-03-02")
_REGIONS = ("us", "d/e")


@pytest.fixture
def copy(metastore: HiveMetastoreServer, other_metastore: HiveMetastoreServer, tmp_path: Path) -> DatabaseMirror:
    """A database with a table of four partitions and one without partitions."""
    made = two_databases(metastore, other_metastore, tmp_path)
    _fill(made)
    return made


@pytest.fixture
def by_events(metastore_events: HiveMetastoreServer, metastore: HiveMetastoreServer, tmp_path: Path) -> DatabaseMirror:
    """The same, whose source keeps notification events, which the mirror reads."""
    made = two_databases(metastore_events, metastore, tmp_path)
    made.write(more="  max_events: 1000")
    _fill(made)
    return made


def _fill(copy: DatabaseMirror) -> None:
    filled(copy.source, days=_DAYS, regions=_REGIONS)
    copy.source.metastore.create_table(table_of(copy.source.name("users"), f"{copy.source.end.uri}/users"))
    copy.source.end.fill({"users/part-0": b"users\n"})


def test_a_database_is_planned_mirrored_and_follows_its_source(copy: DatabaseMirror) -> None:
    source, target = copy.source, copy.target
    code, result = copy.run(0, "--dry-run")
    actions = [(each["action"], each["path"]) for each in result["instances"][0]["mirror"]["actions"]]
    assert (code, len(actions)) == (0, 6)
    assert ("copy", f"{source.database}.users") in actions
    assert target.metastore.tables(target.database) == ()
    counted = copy.done(0)
    assert (counted["COPY"], counted["DELETES"]) == (9, 0)
    assert copy.rows(target) == copy.rows(source)
    table = source.metastore.table(source.name())
    add(source, table, days=("2026-03-03",), regions=_REGIONS)
    source.metastore.drop_partitions(table.name, ["ds=2026-03-01/region=us"])
    source.metastore.drop_table(source.name("users"))
    code, result = copy.run(1)
    assert faults(result, DocumentName.PROCESS_RUN, "result", strict=True) == []
    counted = result["instances"][0]["counters"]
    assert (code, counted["COPY"], counted["DELETES"]) == (0, 4, 2)
    assert copy.rows(target) == copy.rows(source)
    assert [each for each in target.end.files("", hidden=True) if ".feedctl" in each] == []
    assert not (copy.directory / "to/users").exists()


@pytest.mark.extended
def test_an_iceberg_table_is_refused_by_name_and_what_is_dropped_is_limited(copy: DatabaseMirror) -> None:
    source, target = copy.source, copy.target
    copy.done(0)
    users = source.metastore.table(source.name("users"))
    source.metastore.alter_table(replace(users, parameters={**users.parameters, "table_type": "ICEBERG"}))
    code, result = copy.run(1)
    assert (code, result["items"][0]["code"]) == (1, "step_cannot_succeed")
    assert f"{source.database}.users is a table of Iceberg kind" in result["items"][0]["message"]
    source.metastore.drop_table(users.name)
    copy.write(settings="max_delete: {instances: 0}")
    before = copy.rows(target)
    code, result = copy.run(2, "--dry-run")
    assert (code, result["items"][0]["code"]) == (3, "refused")
    assert copy.run(2)[1]["items"][0]["code"] == "refused"
    copy.write(on_delete="keep")
    assert copy.done(2)["DELETES"] == 0
    assert copy.rows(target) == before


@pytest.mark.extended
def test_events_name_the_tables_and_a_gap_has_all_compared(by_events: DatabaseMirror) -> None:
    copy, source = by_events, by_events.source
    assert copy.notes(0) == ["no run of this mirror has read events before: all is compared"]
    first = copy.done(0)
    assert copy.notes(1) == []
    assert copy.done(1)["EVENT"] == first["EVENT"]
    source.end.fill({"users/part-0": b"changed without an event\n"})
    table = source.metastore.table(source.name())
    add(source, table, days=("2026-03-03",), regions=("us",))
    counted = copy.done(2)
    assert (counted["COPY"], counted["EVENTS"], counted["EVENT"]) == (2, 1, first["EVENT"] + 1)
    assert copy.rows(copy.target)["users"] != copy.rows(source)["users"]
    _set_cursor(copy, first["EVENT"] + 1000)
    assert "begin anew" in copy.notes(3)[0]
    counted = copy.done(3)
    assert (counted["COPY"], counted["DELETES"]) == (1, 0)
    assert copy.rows(copy.target) == copy.rows(source)
    source.metastore.drop_partitions(table.name, ["ds=2026-03-03/region=us"])
    source.metastore.drop_table(source.name("users"))
    assert copy.done(4)["DELETES"] == 2
    assert copy.rows(copy.target) == copy.rows(source)


def _set_cursor(copy: DatabaseMirror, number: int) -> None:
    import sqlite3  # noqa: PLC0415

    with sqlite3.connect(copy.directory / "ledger.db") as ledger:
        ledger.execute("UPDATE run_counter SET value = ? WHERE name = 'EVENT'", (number,))


_COLUMNS = "(id BIGINT, what STRUCT<a: INT, b: STRING>, price DECIMAL(10, 2), at TIMESTAMP)"
_ROWS = """SELECT id, named_struct('a', CAST(id AS INT), 'b', CONCAT('é ', id)), CAST(id AS DECIMAL(10, 2)) / 3,
TIMESTAMP '2026-03-01 10:00:00'"""
_FORMATS = {"t_orc": "ORC", "t_parquet": "PARQUET", "t_text": "TEXTFILE", "t_avro": "AVRO"}


@pytest.mark.extended
@pytest.mark.timeout(900)
def test_spark_finds_the_same_rows_on_both_sides(
    metastore: HiveMetastoreServer, other_metastore: HiveMetastoreServer, tmp_path: Path
) -> None:
    copy = two_databases(metastore, other_metastore, tmp_path)
    database = copy.source.database
    statements = [f"USE {database}"]
    for table, kind in _FORMATS.items():
        statements.append(f"CREATE TABLE {table} {_COLUMNS} PARTITIONED BY (ds STRING) STORED AS {kind}")
        statements.append(f"INSERT INTO {table} {_ROWS}, IF(id < 4, '2026-03-01', 'a/b =c') FROM range(8)")
    statements += [
        f"CREATE TABLE t_plain {_COLUMNS} STORED AS ORC",
        f"INSERT INTO t_plain {_ROWS} FROM range(8)",
        f"CREATE VIEW t_view AS SELECT id, ds FROM {database}.t_orc WHERE id > 2",
    ]
    tables = [*_FORMATS, "t_plain", "t_view"]
    queries = [f"SELECT * FROM {database}.{each}" for each in tables]
    wanted = spark_sql(copy.source.registry, statements, queries=queries)
    copy.done(0)
    assert spark_sql(copy.target.registry, queries=queries) == wanted
    assert all(wanted)
    assert copy.done(1)["COPY"] == 0


def _killed_rounds(copy: DatabaseMirror, rounds: int) -> int:
    """Kill runs soon after their first effect; return how many had not finished."""
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")  # noqa: T201 - pytest shows it with a failure
    chance = random.Random(seed)  # noqa: S311 - no secret
    source = copy.source
    table = source.metastore.table(source.name())
    assert copy.started(0).wait(240) == 0
    midway = 0
    for hour in range(1, rounds + 1):
        regions = tuple(f"r{number}" for number in range(20))
        add(source, table, days=(f"2026-04-{hour:02}",), regions=regions)
        if hour > 1:
            names = [f"ds=2026-04-{hour - 1:02}/region={each}" for each in regions[:10]]
            source.metastore.drop_partitions(table.name, names)
            changed = {f"clicks/ds=2026-04-{hour - 1:02}/region={each}/part-0": b"anew" * hour for each in regions[10:]}
            source.end.fill(changed)
        source.end.fill({"users/part-0": f"users {hour}\n".encode() * hour})
        before = _names(copy)
        killed = copy.started(hour)
        while _names(copy) == before and killed.poll() is None:
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 0.6))
        os.killpg(killed.pid, signal.SIGKILL)
        midway += killed.wait() != 0
        for each in (copy.directory / "to").rglob(".feedctl-registering-*"):
            then = each.stat().st_mtime - LATEST_CALL.total_seconds()
            os.utime(each, (then, then))
        deadline = time.monotonic() + 240
        while copy.started(hour).wait(240) != 0:
            assert time.monotonic() < deadline
            time.sleep(1)  # the lease of the killed run has to end
        assert copy.rows(copy.target) == copy.rows(source)
        used = _locations(copy)
        left = [each for each in copy.target.end.files("", hidden=True) if ".feedctl-data-" in each]
        assert [each for each in left if not any(f"/to/{each}".startswith(place) for place in used)] == []
    return midway


def _names(copy: DatabaseMirror) -> set[Path]:
    found = set[Path]()
    with suppress(FileNotFoundError):  # a directory may go while it is listed
        found.update((copy.directory / "to").rglob("*"))
    return found


def _locations(copy: DatabaseMirror) -> list[str]:
    """The places of all data that readers see, from the directory of the target on."""
    metastore, found = copy.target.metastore, list[str]()
    for table in metastore.tables(copy.target.database):
        name = copy.target.name(table)
        described = metastore.table(name)
        parts = metastore.partitions(name, metastore.partition_names(name)) if described.keys else ()
        found += [each.location for each in parts] or [described.storage.location or ""]
    return [f"/to/{each.rpartition('/to/')[2].strip('/')}/" for each in found]


@pytest.mark.extended
@pytest.mark.timeout(600)
def test_a_killed_run_is_finished_by_the_next(copy: DatabaseMirror) -> None:
    _killed_rounds(copy, 2)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_runs_that_are_killed_again_and_again_end_in_equal_databases(copy: DatabaseMirror) -> None:
    assert _killed_rounds(copy, 15) > 5
