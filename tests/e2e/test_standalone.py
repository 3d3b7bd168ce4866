"""Retention on a real Spark standalone cluster, with the packed environment and without this checkout."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.e2e.commands import ROOT
from tests.e2e.packed_env import BASE_PYTHON
from tests.e2e.standalone_site import Site, fill, keys, write_repo
from tests.testbed.hdfs import HdfsCluster
from tests.testbed.s3 import S3Store
from tests.testbed.spark import SparkStandalone
from toolkit.el import CanonicalPath
from toolkit.storage import StorageSpec, open_file_system

pytestmark = [pytest.mark.extended, pytest.mark.slow, pytest.mark.timeout(600)]

HOURS = 40
LEFT = ["2026/03/19/00", "2026/03/19/01"]

PROBE = """\
import json, sys
from pyspark import SparkContext

def seen(_number):
    import botocore, hdfs_native, toolkit
    files = [module.__file__ for module in (botocore, hdfs_native, toolkit)]
    return {"prefix": sys.prefix, "path": sys.path, "files": files}

context = SparkContext()
print(json.dumps(context.parallelize(range(2), 2).map(seen).collect()))
context.stop()
"""


@pytest.fixture
def site(spark_cluster: SparkStandalone, tmp_path: Path) -> Site:
    """An edge node of its own."""
    return Site(spark=spark_cluster, directory=tmp_path)


def test_executors_know_nothing_of_this_checkout(site: Site) -> None:
    probe = site.directory / "probe.py"
    probe.write_text(PROBE)
    done = site.submit(probe)
    assert done.returncode == 0, done.stderr
    for executor in json.loads(done.stdout.splitlines()[-1]):
        assert executor["prefix"] == str(BASE_PYTHON.parent.parent)
        assert [place for place in executor["path"] if place in {str(ROOT), str(ROOT / "toolkit")}] == []
        assert [place for place in executor["path"] if ".venv/lib" in place and "pyspark" not in place] == []
        assert all("/environment/lib/" in file for file in executor["files"])


def test_executors_evict_on_s3_and_a_second_run_finds_nothing(site: Site, s3: S3Store, s3_bucket: str) -> None:
    fill(s3, s3_bucket, HOURS)
    arguments = write_repo(site, f"s3a://{s3_bucket}/", s3.settings, "executors_above: 5\n")
    result = f"s3a://{s3_bucket}/results/run.json"
    run = site.submit(site.entrypoint, *arguments, "--result-file", result, **s3.environment)
    assert run.returncode == 0, run.stderr
    assert [item["outcome"] for item in json.loads(run.stdout)["items"]] == ["done"] * HOURS
    files = ("_SUCCESS", "deep/part-1", "part-0")
    left = [f"clicks/{name}/{file}" for name in LEFT for file in files]
    assert keys(s3, s3_bucket) == [*left, "results/run.json"]
    assert set(site.tasks()) <= {"0", "1"}  # the executors; the other process is called `driver`
    tasks = len(list(site.tasks()))
    assert tasks > 1
    with s3.client() as client:
        assert client.get_object(Bucket=s3_bucket, Key="results/run.json")["Body"].read().decode() == run.stdout

    again = site.submit(site.entrypoint, *arguments, **s3.environment)
    assert (again.returncode, json.loads(again.stdout)["items"]) == (0, []), again.stderr
    assert len(list(site.tasks())) == tasks  # and no executor was asked


def test_without_the_archive_the_driver_does_the_work_and_says_how_to_bring_it(
    site: Site, s3: S3Store, s3_bucket: str
) -> None:
    fill(s3, s3_bucket, 8)
    arguments = write_repo(site, f"s3a://{s3_bucket}/", s3.settings, "executors_above: 5\n")
    run = replace(site, env_archive=None).submit(site.entrypoint, *arguments, **s3.environment)
    assert run.returncode == 0, run.stderr
    result = json.loads(run.stdout)
    assert [item["outcome"] for item in result["items"]] == ["done"] * 8
    notes = " ".join(result["feeds"][0]["notes"])
    assert "--archives" in notes, notes


def test_few_instances_and_those_on_hdfs_need_no_executors(site: Site, hdfs: HdfsCluster, hdfs_dir: str) -> None:
    base = CanonicalPath.parse(hdfs_dir)
    system = open_file_system(StorageSpec(scheme=base.scheme, authority=base.authority))
    for name in ["2026/03/01/00", "2026/03/01/01", *LEFT]:
        system.mkdirs(CanonicalPath.parse(f"{hdfs_dir}/clicks/{name}"))
    arguments = write_repo(site, hdfs_dir, {}, "executors_above: 0\n")
    result = CanonicalPath.parse(f"{hdfs_dir}/run.json")
    user = {"HADOOP_USER_NAME": hdfs.superuser}
    run = site.submit(site.entrypoint, *arguments, "--result-file", str(result), **user)
    assert run.returncode == 0, run.stderr
    assert [item["outcome"] for item in json.loads(run.stdout)["items"]] == ["done"] * 2
    assert [entry.name for entry in system.list(CanonicalPath.parse(f"{hdfs_dir}/clicks/2026/03"))] == ["19"]
    with system.read(result) as stream:
        assert stream.read().decode() == run.stdout
    assert list(site.event_log.iterdir()) == []  # there was no context


@pytest.mark.soak  # until another Spark is pinned it cannot change
def test_spark_itself_refuses_python_in_standalone_cluster_mode(site: Site) -> None:
    """Why the guide has no such line; when this fails, Spark has learnt it and the guide should say so."""
    refusing = replace(site, settings={"spark.submit.deployMode": "cluster"})
    done = refusing.submit(site.entrypoint, "--help")
    assert done.returncode == 1
    output = "Cluster deploy mode is currently not supported for python applications on standalone clusters."
    assert output in done.stderr
