"""That each server of the test bed really works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import hdfs as hdfs_webhdfs
import hdfs_native
import pytest
from botocore.exceptions import ClientError

from tests.testbed.faults import Effect, Fault
from tests.testbed.fixtures import FaultyS3
from tests.testbed.hdfs import HdfsCluster
from tests.testbed.s3 import S3Store
from tests.testbed.spark import SparkStandalone

pytestmark = [
    pytest.mark.extended,
    pytest.mark.slow,
    pytest.mark.timeout(600),
]  # servers start, beside whatever else runs

JOB = """
import os, time
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
while spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() < 3:  # the driver counts too
    time.sleep(0.1)
def where(_):
    time.sleep(1)
    yield os.environ["SPARK_EXECUTOR_DIRS"].split(":")[0]
found = spark.sparkContext.parallelize(range(4), 4).mapPartitions(where).distinct().collect()
print(os.getpid(), *found)
"""


def write(client: hdfs_native.Client, path: str, content: bytes) -> None:
    with client.create(path, hdfs_native.WriteOptions(overwrite=True)) as file:
        file.write(content)


def read(client: hdfs_native.Client, path: str) -> bytes:
    with client.read(path) as file:
        return bytes(file.read())


def test_what_is_written_to_hdfs_is_read_back(hdfs: HdfsCluster, hdfs_dir: str) -> None:
    path, client = hdfs_dir.removeprefix(hdfs.uri), hdfs_native.Client(hdfs.uri)
    write(client, f"{path}/tür", b"content")
    assert read(client, f"{path}/tür") == b"content"


def test_a_restart_of_both_processes_keeps_the_data(restartable_hdfs: HdfsCluster) -> None:
    write(hdfs_native.Client(restartable_hdfs.uri), "/kept", b"content")
    restartable_hdfs.stop_namenode()
    restartable_hdfs.stop_datanode()
    assert (restartable_hdfs.namenode_pid, restartable_hdfs.datanode_pid) == (0, 0)
    restartable_hdfs.repair()
    assert read(hdfs_native.Client(restartable_hdfs.uri), "/kept") == b"content"


def test_webhdfs_writes_and_reads_through_the_data_node(hdfs: HdfsCluster, hdfs_dir: str) -> None:
    client = hdfs_webhdfs.InsecureClient(hdfs.webhdfs.replace("webhdfs", "http"), user="alice")
    path = f"{hdfs_dir.removeprefix(hdfs.uri)}/file"
    client.write(path, data=b"content")
    with client.read(path) as file:
        assert file.read() == b"content"
    assert client.status(path)["owner"] == "alice"


def test_objects_are_put_and_listed(s3: S3Store, s3_bucket: str) -> None:
    with s3.client() as client:
        client.put_object(Bucket=s3_bucket, Key="a/b/", Body=b"")
        client.put_object(Bucket=s3_bucket, Key="a/b", Body=b"content")
        found = client.list_objects_v2(Bucket=s3_bucket)["Contents"]
    assert [each["Key"] for each in found] == ["a/b", "a/b/"]


def test_the_proxy_passes_requests_on_and_answers_as_it_is_told(s3_faults: FaultyS3, s3_bucket: str) -> None:
    s3_faults.proxy.add(Fault(effect=Effect.SLOW_DOWN, method="PUT", times=1))
    with s3_faults.store.client() as client:
        with pytest.raises(ClientError, match="SlowDown"):
            client.put_object(Bucket=s3_bucket, Key="a", Body=b"1")
        client.put_object(Bucket=s3_bucket, Key="a", Body=b"1")
        assert client.get_object(Bucket=s3_bucket, Key="a")["Body"].read() == b"1"
    assert [each.effect for each in s3_faults.proxy.seen(path="/a$")] == [Effect.SLOW_DOWN, None, None]


@pytest.mark.soak
def test_tasks_on_spark_run_in_other_processes_on_both_workers(spark_cluster: SparkStandalone, tmp_path: Path) -> None:
    answer = submit(spark_cluster, tmp_path, "--master", spark_cluster.master_url)
    assert answer.returncode == 0, answer.stderr
    driver, *executors = answer.stdout.split()
    assert len(executors) == 2
    assert driver not in executors


def submit(cluster: SparkStandalone, directory: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the job that prints the driver's process and the parents of the Python workers."""
    script = directory / "job.py"
    script.write_text(JOB)
    command = [str(cluster.home / "bin" / "spark-submit"), *options, *cluster.submit_options[2:], str(script)]
    environment = {**cluster.environment, "PYSPARK_PYTHON": sys.executable}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=400)


def test_a_bucket_is_filled_with_thousands_of_keys_at_once(s3: S3Store, s3_bucket: str) -> None:
    s3.fill(s3_bucket, (f"a/{number:05}" for number in range(2500)))
    with s3.client() as client:
        pages = client.get_paginator("list_objects_v2").paginate(Bucket=s3_bucket, Prefix="a/")
        found = [each["Key"] for page in pages for each in page["Contents"]]
    assert found == [f"a/{number:05}" for number in range(2500)]
