"""Hadoop's own commands, on an HDFS of the test bed; each starts a JVM, which takes some seconds."""

from __future__ import annotations

import subprocess

from tests.testbed import java
from tests.testbed.hdfs import HdfsCluster
from tests.testbed.jars import Jars


def dfsadmin(cluster: HdfsCluster, *arguments: str) -> None:
    """``hdfs dfsadmin`` as the superuser."""
    _run(cluster, "org.apache.hadoop.hdfs.tools.DFSAdmin", arguments)


def dfs(cluster: HdfsCluster, *arguments: str) -> None:
    """``hdfs dfs`` as the superuser."""
    _run(cluster, "org.apache.hadoop.fs.FsShell", arguments)


def crypto(cluster: HdfsCluster, *arguments: str) -> None:
    """``hdfs crypto`` as the superuser."""
    _run(cluster, "org.apache.hadoop.hdfs.tools.CryptoAdmin", arguments)


def key(cluster: HdfsCluster, *arguments: str) -> None:
    """``hadoop key`` as the superuser."""
    _run(cluster, "org.apache.hadoop.crypto.key.KeyShell", arguments)


def _run(cluster: HdfsCluster, main: str, arguments: tuple[str, ...]) -> None:
    class_path = f"{cluster.conf_dir}:{Jars().fetched()}/*"
    command = ("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", class_path, main, *arguments)
    environment = java.environment() | {"HADOOP_USER_NAME": cluster.superuser}
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=120)
