"""Stores with a directory that is a source; those that need a server are in the extended tier."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.contract.ingest_source.feeder import Feeder
from tests.testbed.hdfs import HdfsCluster
from tests.testbed.s3 import S3Store
from toolkit.el import CanonicalPath
from toolkit.storage import FileSystem, LocalFileSystem, NotFound, StorageSpec
from toolkit.storage.hdfs import file_system as hdfs
from toolkit.storage.local.file_system import no_check
from toolkit.storage.s3 import file_system as s3

Opened = Callable[[pytest.FixtureRequest, Path], tuple[FileSystem, CanonicalPath]]


def _local(_: pytest.FixtureRequest, directory: Path) -> tuple[FileSystem, CanonicalPath]:
    return LocalFileSystem(), CanonicalPath.parse(f"file://{directory}/inbox")


def _hdfs(request: pytest.FixtureRequest, _: Path) -> tuple[FileSystem, CanonicalPath]:
    cluster: HdfsCluster = request.getfixturevalue("hdfs")
    authority = f"127.0.0.1:{cluster.rpc}"
    system = hdfs.opened(StorageSpec(scheme="hdfs", authority=authority), no_check)
    return system, CanonicalPath("hdfs", authority, f"/ingest/{secrets.token_hex(8)}/inbox")


def _s3(request: pytest.FixtureRequest, _: Path) -> tuple[FileSystem, CanonicalPath]:
    store: S3Store = request.getfixturevalue("s3")
    bucket: str = request.getfixturevalue("s3_bucket")
    system = s3.opened(StorageSpec(scheme="s3", authority=bucket, hadoop_conf=store.settings), no_check)
    return system, CanonicalPath("s3", bucket, f"/ingest/{secrets.token_hex(8)}/inbox")


@pytest.fixture(
    params=[
        pytest.param(_local, id="local"),
        pytest.param(_hdfs, id="hdfs", marks=pytest.mark.extended),
        pytest.param(_s3, id="s3", marks=pytest.mark.extended),
    ]
)
def feeder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Feeder]:
    """A directory that files are put into, on each store."""
    opened: Opened = request.param
    system, directory = opened(request, tmp_path)
    system.mkdirs(directory)
    yield Feeder(system=system, directory=directory)
    with contextlib.suppress(NotFound):
        system.delete(directory.parent, below=directory.parent.parent)
