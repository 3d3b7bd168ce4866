"""Quarantine and restore of partitions on a real metastore, on HDFS and on a local disk, by the commands of users."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import hdfs_native
import pytest

from tests.e2e.in_process import APP
from tests.e2e.retention_process import NOMINAL_TIME
from tests.e2e.table_site import DS, OLD, YOUNG, TableRepo
from tests.soak.s3_place import S3Place
from tests.tables.tables import partition_of, table_of
from tests.testbed.hdfs import HdfsCluster
from tests.testbed.metastore import HiveMetastoreServer
from tests.testbed.s3 import S3Store
from tests.unit.retention.quarantining import LATER, OLD_ONLY
from tests.unit.retention.test_table_quarantine import QuarantinedTable, outcomes
from toolkit.catalog.model import Partition, TableKind
from toolkit.cli.boundary import run_app
from toolkit.cli.main import main
from toolkit.storage import open_file_system

pytestmark = [pytest.mark.slow, pytest.mark.extended, pytest.mark.timeout(900)]
QUARANTINE = "retention: {limit: days(10), action: quarantine, quarantine: days(3)}"
PARAMETERS = {"numRows": "7", "numFiles": "1", "totalSize": "4", "COLUMN_STATS_ACCURATE": "true", "team": "web"}
Run = Callable[..., tuple[int, str]]


@pytest.fixture
def repo(tmp_path: Path, metastore: HiveMetastoreServer) -> TableRepo:
    return TableRepo.make(tmp_path, metastore)


@pytest.fixture
def run(repo: TableRepo, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(command: str, *arguments: str) -> tuple[int, str]:
        capsys.readouterr()
        given = ["--config-repo", str(repo.path), "--output", "json", *arguments]
        code = run_app(APP, [*given, "--time", NOMINAL_TIME]) if command == "evict" else main([command, *given])
        return code, capsys.readouterr().out

    return run


def _partitions(repo: TableRepo, table: str) -> dict[str, Partition]:
    """Return the partitions without the time of their change, which is the metastore's own."""
    made = repo.metastore.table(repo.name(table))
    found = repo.metastore.partitions(made.name, repo.names(table))
    plain = {
        made.partition_name(each): {
            key: text for key, text in each.parameters.items() if key != "transient_lastDdlTime"
        }
        for each in found
    }
    return {made.partition_name(each): replace(each, parameters=plain[made.partition_name(each)]) for each in found}


def age(client: hdfs_native.Client, root: str) -> None:
    """Make manifests as old as if their time in quarantine was over."""
    for each in client.list_status(root, recursive=True):
        if each.path.endswith(".json"):
            found = json.loads(client.read(each.path).read())
            found |= {"quarantined_at": "2026-01-01T00:00:00+00:00", "purge_at": "2026-01-04T00:00:00+00:00"}
            with client.create(each.path, hdfs_native.WriteOptions(overwrite=True)) as stream:
                stream.write(json.dumps(found).encode())
            long_ago = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp() * 1000)
            client.set_times(each.path, long_ago, long_ago)


@pytest.mark.parametrize("kind", [TableKind.EXTERNAL, TableKind.MANAGED])
def test_partitions_on_hdfs_come_back_with_parameters_and_rows(
    repo: TableRepo, hdfs: HdfsCluster, hdfs_dir: str, run: Run, kind: TableKind
) -> None:
    repo.add_cluster("hadoop", hdfs.uri)
    made = replace(table_of(repo.name("clicks"), f"{hdfs_dir}/table", ds="string", region="string"), kind=kind)
    if kind is TableKind.MANAGED:
        made = replace(made, parameters={"team": "web"})
    repo.metastore.create_table(made)
    client = hdfs_native.Client(hdfs.uri)
    root = hdfs_dir.removeprefix(hdfs.uri)
    days = [*OLD, *YOUNG]
    for day in days:
        for region in ("us", "a/b:c %é"):
            place = f"{hdfs_dir}/elsewhere/{day}" if (day, region) == (OLD[0], "us") else ""
            partition = partition_of(made, day, region, location=place, parameters=PARAMETERS)
            repo.metastore.add_partitions(made.name, [partition])
            with client.create(f"{partition.location.removeprefix(hdfs.uri)}/part-0") as stream:
                stream.write(f"{day} {region}".encode())
    repo.add_feed("clicks", keys=DS, cluster="hadoop")
    text = (repo.path / "feeds/clicks.yaml").read_text().replace("retention: {limit: days(10)}", QUARANTINE)
    repo.write("feeds/clicks.yaml", text)

    def files() -> dict[str, bytes]:
        paths = [each.path for each in client.list_status(root, recursive=True) if not each.isdir]
        return {each: client.read(each).read() for each in paths if "/.feedctl/" not in each}

    before = (_partitions(repo, "clicks"), files())
    code, out = run("evict", "--feed", "clicks")
    assert (code, {each["outcome"] for each in json.loads(out)["items"]}) == (0, {"done"})
    assert not any(day in name for name in (*repo.names("clicks"), *files()) for day in OLD)
    code, out = run("restore", "clicks", "--list")
    assert (code, [each["problem"] for each in json.loads(out)["restorable"]]) == (0, [None] * 4)
    code, out = run("restore", "clicks")
    assert (code, [each["outcome"] for each in json.loads(out)["items"]]) == (0, ["done"] * 4)
    assert (_partitions(repo, "clicks"), files()) == before
    run("evict", "--feed", "clicks")
    age(client, root)
    code, out = run("evict", "--feed", "clicks")
    assert (code, [each["kind"] for each in json.loads(out)["items"]]) == (0, ["quarantined"] * 4)
    assert not any(day in each.path for each in client.list_status(root, recursive=True) for day in OLD)


def test_partitions_in_a_bucket_wait_where_they_are(s3: S3Store, tmp_path: Path) -> None:
    place = S3Place(s3, f"quarantine-{uuid4().hex[:8]}")
    site = QuarantinedTable(tmp_path, endpoint=place.endpoint)
    with s3.client() as client:
        client.create_bucket(Bucket=place.bucket)
        for day in ("01", "02", "19"):
            site.add(day, has_data=False)
            client.put_object(Bucket=place.bucket, Key=f"wh/clicks/ds=2026-03-{day}/region=us/part-0", Body=b"rows")
    disk, young = open_file_system(place.spec), "/wh/clicks/ds=2026-03-19/region=us/part-0"
    before = (site.state, place.tree())
    for run_name in ("1", "3"):
        time.sleep(1.1)  # the store's times are whole seconds
        assert outcomes(site.evict(disk=disk, run_name=run_name)) == [("done", "")] * 4
        assert list(site.state[0]) == ["ds=2026-03-19/region=us"]
        assert {path for path in place.tree() if "/.feedctl/" not in path} == before[1].keys()
        assert outcomes(site.restore(disk=disk, run_name=f"{run_name}0")) == [("done", "")] * 2
        assert (site.state, place.tree()) == before
    site.evict(disk=disk, run_name="5")
    purged = site.evict(limit=OLD_ONLY, nominal=LATER, disk=disk, run_name="6")
    assert outcomes(purged, "quarantined") == [("done", "")] * 2
    assert list(place.tree()) == [young]
