"""Tables exported, imported and replicated between two real metastores."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.e2e.commands import BIN, ROOT
from tests.e2e.retention_process import environment
from tests.integration.table_copies import DAYS, NOMINAL, TableCopies, filled, outcomes, two_sites
from tests.tables.eximutil import read_by_hive, write_by_hive
from tests.testbed.metastore import HiveMetastoreServer
from tests.testbed.s3 import S3Store
from toolkit.catalog.model import Column, TableKind

REPLICATION = (("hive_replication",),)
BY_FILES = (
    ("hive_export", "--cluster", "primary", "--to", "{files}"),
    ("hive_import", "--cluster", "backup", "--from", "{files}"),
)
RANGE = ("--start", "2026-03-01T00:00Z", "--end", "2026-03-03T00:00Z")


@pytest.fixture
def copies(metastore: HiveMetastoreServer, other_metastore: HiveMetastoreServer, tmp_path: Path) -> TableCopies:
    """Two metastores with a warehouse on this disk each."""
    return two_sites(metastore, other_metastore, tmp_path)


def test_an_instance_is_exported_and_imported_once(copies: TableCopies, tmp_path: Path) -> None:
    filled(copies.source)
    to = f"file://{tmp_path}/exports"
    code, result = copies.exported(to)
    assert code == 0, result
    assert sorted(each.name for each in (tmp_path / "exports/2026-03-02T0000Z").iterdir()) == [
        ".feedctl-export",
        "_manifest.json",
        "_metadata",
        "ds=2026-03-02",
    ]
    assert copies.exported(to)[1]["items"] == []
    code, result = copies.imported(to)
    assert code == 0, result
    expected = {name: files for name, files in copies.source.rows().items() if DAYS[1] in name}
    assert copies.target.rows() == expected
    code, result = copies.imported(to)
    assert (code, result["items"]) == (0, [])
    assert copies.target.orphans() == []


def test_what_is_due_is_replicated_once(copies: TableCopies) -> None:
    filled(copies.source)
    code, result = copies.replicated()
    assert code == 0, result
    assert copies.target.rows() == copies.source.rows()
    assert copies.target.orphans() == []
    code, result = copies.replicated("--start", DAYS[0] + "T00:00Z", "--end", NOMINAL)
    assert (code, result["items"]) == (0, [])
    assert outcomes(result) == []


@pytest.mark.extended
def test_changed_data_get_a_place_of_their_own_and_what_feedctl_put_there_goes(copies: TableCopies) -> None:
    filled(copies.source)
    assert copies.replicated()[0] == 0
    replaced_once(copies)
    stays = copies.target.orphans()
    assert [each for each in stays if not each.startswith("ds=2026-03-02/region=us/")] == []
    copies.source.end.fill({"clicks/ds=2026-03-02/region=us/part-0": b"rows of the third day\n"})
    code, result = copies.replicated(*RANGE)
    assert code == 0, result
    assert outcomes(result) == [
        ("replace", "ds=2026-03-02/region=us", "done", None),
        ("clean", "ds=2026-03-02/region=us", "done", None),
    ]
    assert copies.target.rows() == copies.source.rows()
    assert copies.target.orphans() == stays
    assert copies.replicated(*RANGE)[1]["items"] == []


def replaced_once(copies: TableCopies) -> None:
    """The data of a partition change for the first time: the old ones stay where they are, and are named."""
    copies.source.end.fill({"clicks/ds=2026-03-02/region=us/part-0": b"other rows\n"})
    code, result = copies.replicated(*RANGE)
    assert code == 0, result
    assert outcomes(result) == [("replace", "ds=2026-03-02/region=us", "done", None)]
    assert "remove them when no reader needs them" in str(result)


@pytest.mark.extended
def test_what_the_source_drops_or_empties_stays_at_the_target(copies: TableCopies) -> None:
    filled(copies.source)
    assert copies.replicated()[0] == 0
    before = copies.target.rows()
    copies.source.metastore.drop_partitions(copies.source.name(), ["ds=2026-03-01/region=us"])
    for each in (copies.directory / "from/clicks/ds=2026-03-02/region=us").rglob("part-*"):
        each.unlink()
    code, result = copies.replicated(*RANGE)
    assert code == 4, result
    assert [item["code"] for item in result["items"]] == ["source_empty"]
    assert copies.target.rows() == before


def test_a_dry_run_changes_nothing(copies: TableCopies) -> None:
    filled(copies.source)
    before = copies.target.end.files("", hidden=True)
    code, result = copies.replicated("--dry-run")
    assert code == 0, result
    assert sorted(item["kind"] for item in result["items"]) == [*["add"] * 4, *["table"] * 2]
    assert copies.target.end.files("", hidden=True) == before
    assert copies.target.metastore.tables(copies.target.database) == ()


def test_an_instance_without_partitions_is_waited_for(copies: TableCopies) -> None:
    filled(copies.source, days=DAYS[:1])
    code, result = copies.replicated()
    assert code == 75, result
    assert len(copies.target.rows()) == len(copies.source.rows()) == 2
    assert [each["waiting"]["code"] for each in result["instances"] if each["waiting"]] == ["not_available"]
    code, result = copies.replicated("--start", NOMINAL)
    assert code == 75


@pytest.mark.extended
def test_a_column_that_the_target_lacks_is_added_only_when_asked_for(copies: TableCopies) -> None:
    table = filled(copies.source)
    assert copies.replicated("--start", "2026-03-01T00:00Z")[0] == 0
    wider = replace(table.storage, columns=(*table.storage.columns, Column(name="more", type="string")))
    copies.source.metastore.alter_table(replace(table, storage=wider))
    code, result = copies.replicated()
    assert code == 1
    assert "more string" in result["instances"][0]["failure"]["message"]
    assert copies.target.metastore.partition_names(copies.target.name()) == (
        "ds=2026-03-01/region=d%2Fe",
        "ds=2026-03-01/region=us",
    )
    code, result = copies.replicated("--schema-change", "additive")
    assert code == 0, result
    assert copies.target.metastore.table(copies.target.name()).storage.columns == wider.columns
    narrow = replace(table.storage, columns=table.storage.columns[:1])
    copies.source.metastore.alter_table(replace(table, storage=narrow))
    copies.source.end.fill({"clicks/ds=2026-03-02/region=us/part-0": b"1\n"})
    assert copies.replicated(*RANGE, "--schema-change", "additive")[0] == 0
    assert copies.replicated(*RANGE, "--schema-change", "replace")[0] == 0
    assert copies.target.metastore.table(copies.target.name()).storage.columns == narrow.columns


def test_a_table_of_another_kind_is_refused_with_what_to_use(copies: TableCopies) -> None:
    table = filled(copies.source)
    copies.source.metastore.alter_table(replace(table, parameters={"table_type": "ICEBERG"}))
    code, result = copies.replicated()
    assert code == 1
    assert "use DELETE FROM and CALL" in result["instances"][0]["failure"]["message"]


def test_a_directory_that_no_export_wrote_or_a_cut_one_changes_nothing(copies: TableCopies, tmp_path: Path) -> None:
    filled(copies.source)
    to = tmp_path / "exports"
    (to / "2026-03-02T0000Z").mkdir(parents=True)
    (to / "2026-03-02T0000Z/precious").write_text("mine")
    code, result = copies.exported(f"file://{to}")
    assert (code, result["instances"][0]["failure"]["code"]) == (1, "not_ours")
    assert copies.imported(f"file://{to}")[1]["instances"][0]["failure"]["code"] == "no_export"
    (to / "2026-03-02T0000Z/precious").unlink()
    assert copies.exported(f"file://{to}")[0] == 0
    metadata = to / "2026-03-02T0000Z/_metadata"
    whole = metadata.read_bytes()
    for cut in (b"", whole[: len(whole) // 2], whole[:-1], b"{}", whole.replace(b'\\"1\\"', b'\\"1')):
        metadata.write_bytes(cut)
        code, result = copies.imported(f"file://{to}")
        assert (code, result["instances"][0]["failure"]["code"]) == (1, "no_export"), cut
    other = whole.replace(b'\\"team\\":\\"web', b'\\"transactional\\":\\"true')
    metadata.write_bytes(other)
    assert copies.imported(f"file://{to}")[1]["instances"][0]["failure"]["code"] == "no_export"
    manifest = to / "2026-03-02T0000Z/_manifest.json"
    reported = json.loads(manifest.read_bytes())
    manifest.write_text(json.dumps({**reported, "description": hashlib.sha256(other).hexdigest()}))
    assert "REPL DUMP" in copies.imported(f"file://{to}")[1]["instances"][0]["failure"]["message"]
    manifest.write_text(json.dumps(reported))
    metadata.write_bytes(whole)
    (to / "2026-03-02T0000Z/ds=2026-03-02/region=us/part-0").write_bytes(b"x")
    assert copies.imported(f"file://{to}")[1]["instances"][0]["failure"]["code"] == "no_export"
    assert copies.target.metastore.tables(copies.target.database) == ()
    assert copies.target.end.files("", hidden=True) == {}


def test_bytes_that_are_not_those_of_the_manifest_are_never_seen(copies: TableCopies, tmp_path: Path) -> None:
    filled(copies.source)
    to = tmp_path / "exports"
    assert copies.exported(f"file://{to}")[0] == 0
    data = to / "2026-03-02T0000Z/ds=2026-03-02/region=us/part-0"
    data.write_bytes(data.read_bytes().replace(b"us", b"su"))
    code, result = copies.imported(f"file://{to}")
    assert code == 4, result
    assert ("add", "ds=2026-03-02/region=us", "failed", "source_changed") in outcomes(result)
    assert copies.target.metastore.partition_names(copies.target.name()) == ("ds=2026-03-02/region=d%2Fe",)
    assert copies.target.orphans() == []


@pytest.mark.extended
def test_a_missing_database_and_a_metastore_that_is_down_are_said(
    metastore: HiveMetastoreServer, restartable_metastore: HiveMetastoreServer, tmp_path: Path
) -> None:
    copies = two_sites(metastore, restartable_metastore, tmp_path)
    filled(copies.source)
    code, result = copies.renamed("nowhere").replicated()
    assert (code, result["instances"][0]["failure"]["code"]) == (1, "no_such_database")
    copies.write_repo()
    restartable_metastore.stop()
    code, result = copies.replicated()
    assert (code, result["instances"][0]["failure"]["code"]) == (1, "unreachable")
    restartable_metastore.start()
    assert copies.replicated()[0] == 0


@pytest.mark.extended
def test_hive_reads_an_export_in_a_process_of_its_own(copies: TableCopies, tmp_path: Path) -> None:
    table = filled(copies.source)
    to = f"file://{tmp_path}/exports"
    assert copies.exported(to, "--whole-table")[0] == 0
    found = read_by_hive(to)
    assert found["table"] == table.name.table
    assert found["partitions"] == len(copies.source.rows())
    assert found["columns"] == [column.name for column in table.storage.columns]
    code, result = copies.imported(to, "--whole-table")
    assert code == 0, result
    assert copies.target.rows() == copies.source.rows()


@pytest.mark.extended
def test_what_hive_exported_itself_is_imported(copies: TableCopies, tmp_path: Path) -> None:
    filled(copies.source)
    to = f"file://{tmp_path}/exports"
    assert copies.exported(to, "--whole-table")[0] == 0
    for own in ("_manifest.json", ".feedctl-export", "_metadata"):
        (tmp_path / "exports" / own).unlink()
    write_by_hive(copies.source.registry, copies.source.database, to)
    code, result = copies.imported(to, "--whole-table", "--managed")
    assert code == 0, result
    assert copies.target.rows() == copies.source.rows()
    assert copies.target.metastore.table(copies.target.name()).kind is TableKind.MANAGED
    assert copies.imported(to, "--whole-table")[1]["items"] == []


@pytest.mark.extended
def test_files_that_are_in_the_way_stay(copies: TableCopies) -> None:
    filled(copies.source)
    copies.target.end.fill({"clicks/ds=2026-03-02/region=us/precious": b"mine"})
    code, result = copies.replicated()
    assert code == 0, result
    assert copies.target.rows() == copies.source.rows()
    assert copies.target.orphans() == ["ds=2026-03-02/region=us/precious"]
    assert copies.replicated(*RANGE)[1]["items"] == []


def test_data_that_two_partitions_share_are_not_removed(copies: TableCopies) -> None:
    filled(copies.source)
    assert copies.replicated()[0] == 0
    replaced_once(copies)
    metastore, name = copies.target.metastore, copies.target.name()
    (first,) = metastore.partitions(name, ["ds=2026-03-02/region=us"])
    metastore.add_partitions(name, [replace(first, values=("2025-01-01", "us"))])
    copies.source.end.fill({"clicks/ds=2026-03-02/region=us/part-0": b"rows of the third day\n"})
    code, result = copies.replicated(*RANGE)
    assert code == 0, result
    assert ("clean", "ds=2026-03-02/region=us", "skipped", "shared") in outcomes(result)
    assert copies.target.rows()["ds=2025-01-01/region=us"] != {}


@pytest.mark.extended
def test_a_diff_names_what_is_missing_too_much_and_different(copies: TableCopies) -> None:
    filled(copies.source)
    assert copies.differences() == (4, [("missing", "")])
    assert copies.replicated(*RANGE)[0] == 0
    assert copies.differences() == (0, [])
    copies.source.end.fill({"clicks/ds=2026-03-02/region=us/part-0": b"other rows\n"})
    copies.source.metastore.drop_partitions(copies.source.name(), ["ds=2026-03-01/region=us"])
    copies.target.metastore.drop_partitions(copies.target.name(), ["ds=2026-03-01/region=d%2Fe"])
    expected = [
        ("missing", "ds=2026-03-01/region=d%2Fe"),
        ("extra", "ds=2026-03-01/region=us"),
        ("different", "ds=2026-03-02/region=us"),
    ]
    assert copies.differences() == (4, expected)
    assert copies.differences("--metadata-only") == (4, expected[:2])


@pytest.mark.slow
@pytest.mark.parametrize("copied_by", [REPLICATION, pytest.param(BY_FILES, marks=pytest.mark.extended)])
def test_spark_submit_replicates_exports_and_imports(
    copies: TableCopies, tmp_path: Path, java_home: Path, copied_by: Sequence[Sequence[str]]
) -> None:
    filled(copies.source)
    for name, *options in copied_by:
        more = [each.format(files=f"file://{tmp_path}/exports") for each in options]
        command = [str(BIN / "spark-submit"), str(ROOT / f"entrypoints/{name}.py"), *copies.arguments(*more)]
        ran = subprocess.run(
            [*command, "--output", "json"],
            env=environment(java_home),
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        document = json.loads(ran.stdout)
        assert document["action"] == name
        assert document["status"] == "succeeded"
    days = DAYS if copied_by is REPLICATION else DAYS[1:]  # an export has the instance of its time alone
    expected = {name: files for name, files in copies.source.rows().items() if any(day in name for day in days)}
    assert copies.target.rows() == expected


@pytest.mark.extended
def test_what_is_on_an_object_store_is_exported_there_and_imported_from_there(
    copies: TableCopies, s3: S3Store, s3_bucket: str
) -> None:
    filled(copies.source)
    to = f"s3a://{s3_bucket}/exports"
    settings = "".join(f'\n  {key}: "{value}"' for key, value in s3.settings.items())
    for cluster in ("primary", "backup"):
        file = copies.repo / f"clusters/{cluster}.yaml"
        file.write_text(f"{file.read_text()}hadoop_conf:{settings}\n")
    code, result = copies.exported(to)
    assert code == 0, result
    code, result = copies.imported(to)
    assert code == 0, result
    expected = {name: files for name, files in copies.source.rows().items() if DAYS[1] in name}
    assert copies.target.rows() == expected
    assert copies.imported(to)[1]["items"] == []
    assert copies.exported(to)[1]["items"] == []
