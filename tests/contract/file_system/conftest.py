"""The stores that keep the contract, each on its real server; a new adapter is one more `pytest.param`.

DESIGN section 5.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import hdfs_native
import pytest

from tests.contract.file_system.stores import Store
from tests.testbed.clouds import Cloud
from tests.testbed.hdfs import HdfsCluster
from tests.testbed.s3 import S3Store
from toolkit.el import CanonicalPath
from toolkit.storage import FileSystem, LocalFileSystem, NotFound, StorageSpec
from toolkit.storage.cloud import file_system as cloud
from toolkit.storage.hdfs import file_system as hdfs
from toolkit.storage.local.file_system import no_check
from toolkit.storage.s3 import file_system as s3
from toolkit.storage.webhdfs import file_system as webhdfs

Opened = Callable[[StorageSpec, Callable[[], None]], FileSystem]
Fill = Callable[[Iterable[str]], None]
ON_CLOUDS = (pytest.mark.extended, pytest.mark.timeout(900))
"""Their servers take minutes to build where they never were."""


def _local(_request: pytest.FixtureRequest, directory: Path) -> Store:
    return Store(
        system=LocalFileSystem(),
        base=CanonicalPath.parse(str(directory / "base"), "file:///"),
        spec=StorageSpec(scheme="file"),
        opened=lambda _spec, before_effect: LocalFileSystem(before_effect),
        fill=_folders,
        streams=False,
    )


def _folders(paths: Iterable[str]) -> None:
    for path in paths:
        Path(path).mkdir()


def _hdfs(request: pytest.FixtureRequest, _directory: Path) -> Store:
    cluster: HdfsCluster = request.getfixturevalue("hdfs")
    spec = StorageSpec(scheme="hdfs", authority=f"127.0.0.1:{cluster.rpc}")
    return _remote(spec, hdfs.opened, _directories(cluster), streams=True, lacks=":")


def _webhdfs(request: pytest.FixtureRequest, _directory: Path) -> Store:
    cluster: HdfsCluster = request.getfixturevalue("hdfs")
    spec = StorageSpec(scheme="webhdfs", authority=f"127.0.0.1:{cluster.http}", user=cluster.superuser)
    return _remote(spec, webhdfs.opened, _directories(cluster), streams=False, lacks=":")


def _s3(request: pytest.FixtureRequest, _directory: Path) -> Store:
    store: S3Store = request.getfixturevalue("s3")
    bucket: str = request.getfixturevalue("s3_bucket")
    spec = StorageSpec(scheme="s3", authority=bucket, hadoop_conf=store.settings)
    # Moto's server finds no route for a path with a line break.
    return replace(_remote(spec, s3.opened, _objects(store, bucket), streams=True, lacks=""), server_lacks="\n")


def _gcs(request: pytest.FixtureRequest, _directory: Path) -> Store:
    return _cloud(request.getfixturevalue("gcs"), streams=True)


def _azure(request: pytest.FixtureRequest, _directory: Path) -> Store:
    return replace(_cloud(request.getfixturevalue("azure"), streams=False), lacks="\\", lacks_last=".")


def _cloud(store: Cloud, *, streams: bool) -> Store:
    bucket = f"test-{secrets.token_hex(8)}"
    spec = store.make_bucket(bucket)

    def fill(paths: Iterable[str]) -> None:
        store.fill(bucket, [path.removeprefix("/") for path in paths])

    return _remote(spec, cloud.opened, fill, streams=streams, lacks="")


def _directories(cluster: HdfsCluster) -> Fill:
    client = hdfs_native.Client(cluster.uri)

    def fill(paths: Iterable[str]) -> None:
        for path in paths:
            client.mkdirs(path, create_parent=False)

    return fill


def _objects(store: S3Store, bucket: str) -> Fill:
    return lambda paths: store.fill(bucket, [path.removeprefix("/") for path in paths])


def _remote(spec: StorageSpec, opened: Opened, fill: Fill, *, streams: bool, lacks: str) -> Store:
    base = CanonicalPath(spec.scheme, spec.authority, f"/contract/{secrets.token_hex(8)}")
    system = opened(spec, no_check)
    return Store(system=system, base=base, spec=spec, opened=opened, fill=fill, streams=streams, lacks=lacks)


@pytest.fixture(
    params=[
        pytest.param(_local, id="local"),
        pytest.param(_hdfs, id="hdfs"),
        pytest.param(_webhdfs, id="webhdfs"),
        pytest.param(_s3, id="s3"),
        pytest.param(_gcs, id="gcs", marks=ON_CLOUDS),
        pytest.param(_azure, id="azure", marks=ON_CLOUDS),
    ]
)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened: Store = request.param(request, tmp_path)
    opened.system.mkdirs(opened.base)
    yield opened
    if opened.spec.scheme in {"gs", "abfs"}:
        return  # its bucket is its own; key by key it would take long
    try:
        opened.system.delete(opened.base, below=opened.base.parent)
    except NotFound:
        return
