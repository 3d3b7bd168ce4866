"""Tests of what others are told of tables that come, by messages and in the ledger, as of paths."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.integration.table_copies import DAYS, TableCopies, filled, two_sites
from tests.testbed.activemq import ActiveMQ
from tests.testbed.metastore import HiveMetastoreServer

KEYS = tuple(f"{day}T00:00Z" for day in DAYS)

pytestmark = pytest.mark.extended


@pytest.fixture
def copies(metastore: HiveMetastoreServer, other_metastore: HiveMetastoreServer, tmp_path: Path) -> TableCopies:
    """Two metastores with a warehouse on this disk each, and a table on the first."""
    made = two_sites(metastore, other_metastore, tmp_path)
    filled(made.source)
    return made


def address(copies: TableCopies, day: str) -> str:
    """Return the address of an instance at the target."""
    registry = copies.target.registry.removeprefix("thrift://")
    return f"hcat://{registry}/{copies.target.database}/clicks/ds={day}"


def reported(copies: TableCopies) -> list[tuple[str, str, str]]:
    """Kind, instance and address of all events, oldest first."""
    with closing(sqlite3.connect(copies.directory / "ledger.db")) as ledger:
        return ledger.execute("SELECT kind, instance_key, uri FROM event ORDER BY sequence").fetchall()


def test_consumers_are_told_of_instances_that_came_and_that_changed(copies: TableCopies) -> None:
    assert copies.replicated()[0] == 0
    assert sorted(reported(copies)) == [
        ("available", key, address(copies, day)) for key, day in zip(KEYS, DAYS, strict=True)
    ]
    copies.source.end.fill({"clicks/ds=2026-03-02/region=us/part-0": b"other rows\n"})
    assert copies.replicated("--start", KEYS[1])[0] == 0
    assert reported(copies)[2:] == [("updated", KEYS[1], address(copies, DAYS[1]))]
    assert copies.replicated("--start", KEYS[1])[0] == 0
    assert len(reported(copies)) == 3


def test_an_import_is_told_of_and_an_export_is_no_instance(copies: TableCopies, tmp_path: Path) -> None:
    to = f"file://{tmp_path}/exports"
    assert copies.exported(to)[0] == 0
    assert reported(copies) == []
    assert copies.imported(to)[0] == 0
    assert reported(copies) == [("available", KEYS[1], address(copies, DAYS[1]))]


@pytest.mark.timeout(600)
def test_messages_are_sent_of_tables_as_of_paths(copies: TableCopies, activemq: ActiveMQ, tmp_path: Path) -> None:
    for cluster in ("primary", "backup"):
        file = copies.repo / f"clusters/{cluster}.yaml"
        file.write_text(file.read_text().replace("}}", f'}}, messaging: {{endpoint: "{activemq.uri}"}}}}'))
    to = tmp_path / "exports"
    with activemq.subscriber() as subscriber:
        assert copies.replicated("--start", KEYS[0])[0] == 0
        assert copies.exported(f"file://{to}")[0] == 0
        (to / "2026-03-02T0000Z/_metadata").unlink()
        assert copies.imported(f"file://{to}")[0] == 1
        found = [subscriber.next().headers for _ in range(3)]
    names = ("operation", "status", "cluster", "nominalTime", "feedInstancePaths")
    assert [tuple(each[name] for name in names) for each in found] == [
        ("REPLICATE", "SUCCEEDED", "backup", KEYS[0], address(copies, DAYS[0])),
        ("EXPORT", "SUCCEEDED", "primary", KEYS[1], f"file://{to}/2026-03-02T0000Z"),
        ("IMPORT", "FAILED", "backup", KEYS[1], address(copies, DAYS[1])),
    ]
    assert found[0]["sourceCluster"] == "primary"


def test_a_header_line_that_is_skipped_at_one_side_only_is_refused(copies: TableCopies) -> None:
    assert copies.replicated("--start", KEYS[0])[0] == 0
    table = copies.source.metastore.table(copies.source.name())
    skipping = {**table.parameters, "skip.header.line.count": "1"}
    copies.source.metastore.alter_table(replace(table, parameters=skipping))
    code, result = copies.replicated("--start", KEYS[1])
    assert (code, result["instances"][0]["failure"]["code"]) == (1, "incompatible_table")
    assert copies.replicated("--start", KEYS[1], "--schema-change", "replace")[0] == 0
    assert copies.target.metastore.table(copies.target.name()).parameters["skip.header.line.count"] == "1"
    assert copies.replicated("--start", KEYS[1])[1]["items"] == []


def test_an_export_of_which_a_part_is_cut_is_written_again(copies: TableCopies, tmp_path: Path) -> None:
    to, metadata = f"file://{tmp_path}/exports", tmp_path / "exports/_metadata"
    assert copies.exported(to, "--whole-table")[0] == 0
    whole = metadata.read_bytes()
    metadata.write_bytes(whole[:100])
    assert copies.imported(to, "--whole-table")[1]["instances"][0]["failure"]["code"] == "no_export"
    code, result = copies.exported(to, "--whole-table", time="2026-03-04T00:00Z")
    assert [item["kind"] for item in result["items"]] == ["finish"]
    assert (code, metadata.read_bytes()) == (0, whole)


def held(copies: TableCopies, resource: str, mode: str) -> None:
    """A run that has come to its end holds a resource again, as one in another process would."""
    values = (resource, mode, "2026-03-01T00:00:00.000000Z", "2999-03-01T00:00:00.000000Z")
    with closing(sqlite3.connect(copies.directory / "ledger.db")) as ledger, ledger:
        ledger.execute("DELETE FROM lease")
        ledger.execute("INSERT INTO lease SELECT ?1, MIN(run_id), ?2, 1, ?3, ?4 FROM run", values)


def test_an_export_that_is_read_or_written_is_left_alone(copies: TableCopies, tmp_path: Path) -> None:
    to = f"file://{tmp_path}/exports"
    assert copies.exported(to)[0] == 0
    resource = f"directory/{to}/2026-03-02T0000Z"
    held(copies, resource, "exclusive")
    assert (copies.imported(to)[0], copies.exported(to)[0]) == (5, 5)
    assert copies.exported(f"{to}/2026-03-02T0000Z", "--whole-table")[0] == 5
    held(copies, resource, "shared")
    assert (copies.exported(to)[0], copies.imported(to)[0]) == (5, 0)
