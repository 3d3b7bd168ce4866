"""The fingerprint of an instance on a disk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tables.memory_metastore import MemoryMetastore
from tests.tables.tables import partition_of, table_of
from tests.unit.planning.entities import cluster, path_feed, process
from toolkit.availability import DataAccess
from toolkit.catalog.model import TableName
from toolkit.el import CanonicalPath, parse_instant
from toolkit.entities import Input, LatePolicy, LateProcess
from toolkit.ledger.fingerprints import Fingerprint, changes
from toolkit.planning.process_io import ProcessSite
from toolkit.process_runner.late_fingerprint import fingerprint, fingerprint_at, read_inputs
from toolkit.process_runner.resolution import resolve_instance
from toolkit.storage import Entry, NotFound
from toolkit.storage.local.file_system import LocalFileSystem


def written(root: Path, *names: str) -> CanonicalPath:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    return CanonicalPath.parse(f"file://{root}")


def names(root: CanonicalPath, partition: str = "") -> list[str]:
    found = changes(Fingerprint.of([]), fingerprint(LocalFileSystem(), root, partition))
    assert found is not None
    return list(found.added)


def test_all_files_that_an_engine_would_read_count(tmp_path: Path) -> None:
    root = written(tmp_path, "part-0", "us/web/part-1", "_day=1/part-2")
    assert names(root) == ["_day=1/part-2", "part-0", "us/web/part-1"]
    found = fingerprint(LocalFileSystem(), root)
    assert (found.files, found.size) == (3, len("part-0") + len("us/web/part-1") + len("_day=1/part-2"))


def test_what_readers_pass_over_is_no_late_data(tmp_path: Path) -> None:
    root = written(tmp_path, "part-0")
    before = fingerprint(LocalFileSystem(), root)
    hidden = ("_SUCCESS", ".part-0.crc", "_temporary/0/part-1", "part-1._COPYING_", ".feedctl-copy-1/part-1")
    written(tmp_path, *hidden)
    assert fingerprint(LocalFileSystem(), root) == before
    written(tmp_path, "part-1")
    assert fingerprint(LocalFileSystem(), root) != before


def test_only_the_partition_that_the_input_reads_counts(tmp_path: Path) -> None:
    root = written(tmp_path, "web/US/part-0", "app/US/deep/part-1", "web/UK/part-2", "part-3", "app/part-4")
    assert names(root, "*/US") == ["app/US/deep/part-1", "web/US/part-0"]


def test_an_instance_may_be_a_single_file(tmp_path: Path) -> None:
    written(tmp_path, "clicks.csv")
    assert names(CanonicalPath.parse(f"file://{tmp_path}/clicks.csv")) == ["clicks.csv"]


def test_an_instance_that_is_not_there_has_no_files(tmp_path: Path) -> None:
    assert fingerprint(LocalFileSystem(), CanonicalPath.parse(f"file://{tmp_path}/none")).files == 0


def test_the_files_of_all_partitions_of_an_instance_count_wherever_they_are(tmp_path: Path) -> None:
    metastore = MemoryMetastore(("web",))
    table = table_of(TableName("web", "clicks"), f"file:{tmp_path}/clicks", ds="string", region="string")
    written(tmp_path, "clicks/ds=1/region=us/part-0", "clicks/ds=1/region=us/.hidden", "clicks/ds=2/region=us/part-1")
    written(tmp_path, "elsewhere/deep/part-2")
    metastore.create_table(table)
    apart = partition_of(table, "1", "uk", location=f"file:{tmp_path}/elsewhere")
    usual = [partition_of(table, *values) for values in (("1", "us"), ("1", "fr"), ("2", "us"))]
    metastore.add_partitions(table.name, [*usual, apart])
    data = DataAccess(stores=lambda _path: LocalFileSystem(), metastores=lambda _cluster: metastore)

    def files(values: str) -> list[str]:
        found = changes(Fingerprint.of([]), fingerprint_at(data, cluster(), f"hcat://m:9083/web/clicks/{values}"))
        assert found is not None
        return list(found.added)

    assert files("DS=1") == ["ds=1/region=uk/deep/part-2", "ds=1/region=us/part-0"]
    assert files("region=us;ds=2") == ["ds=2/region=us/part-1"]
    assert files("ds=3") == files("ds=1;region=fr") == []


class Vanishing(LocalFileSystem):
    """A disk from which a directory goes while its tree is listed."""

    def list_tree(self, path: CanonicalPath) -> Iterator[Entry]:
        yield next(super().list_tree(path))
        raise NotFound(path=path.child("gone"))


def test_half_a_listing_does_not_pass_for_a_whole_one(tmp_path: Path) -> None:
    root = written(tmp_path, "a/part-0", "gone/part-1")
    with pytest.raises(NotFound, match="gone"):
        fingerprint(Vanishing(), root)


DISK = DataAccess(stores=lambda _path: LocalFileSystem())
NOMINAL = parse_instant("2012-03-01T06:40Z")


def test_an_instance_notes_what_its_late_inputs_are_before_they_are_read(tmp_path: Path) -> None:
    written(tmp_path, "clicks/2012030105/US/part-0", "clicks/2012030105/UK/part-1", "shown/2012030105/part-2")
    inputs = {
        "clicks": Input(feed="clicks", start="now(-1,0)", end="now(0,0)", partition="US", optional=True),
        "shown": Input(feed="shown", start="now(-1,0)", end="now(0,0)", optional=True),
    }
    late = LateProcess(policy=LatePolicy.FINAL, inputs={"clicks": "late.sql"})
    feeds = {name: path_feed(name, f"{tmp_path}/{name}/${{YEAR}}${{MONTH}}${{DAY}}${{HOUR}}") for name in inputs}
    site = ProcessSite(process=replace(process(inputs), late_process=late), cluster=cluster(), feeds=feeds)
    there = {parse_instant("2012-03-01T05:00Z")}
    resolved = resolve_instance(site, NOMINAL, lambda _feed: there)
    found = read_inputs(site, resolved, DISK, lambda: NOMINAL)
    assert [(each.input, each.instance_key, each.fingerprint.files) for each in found] == [
        ("clicks", "2012-03-01T05:00Z", 1),
        ("clicks", "2012-03-01T06:00Z", 0),
    ]
    assert (found[0].uri, found[0].looked_at) == (f"file://{tmp_path}/clicks/2012030105", NOMINAL)
