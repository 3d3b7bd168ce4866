"""A name service whose first NameNode is down, as Hadoop's settings describe it: by hadoop_conf or HADOOP_CONF_DIR."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.databases.port import reserved_port
from tests.testbed.hdfs import HdfsCluster
from toolkit.el import CanonicalPath
from toolkit.storage import FileKind, FileSystem, StorageSpec, Unreachable
from toolkit.storage.calls import BoundedCalls
from toolkit.storage.hdfs.client import HdfsClient
from toolkit.storage.hdfs.errors import UnknownAuthority
from toolkit.storage.hdfs.file_system import HdfsFileSystem, opened
from toolkit.storage.local.file_system import no_check

_SERVICE = "ns1"


def _settings(*addresses: str) -> dict[str, str]:
    nodes = {f"nn{number}": address for number, address in enumerate(addresses)}
    return {
        "dfs.nameservices": _SERVICE,
        f"dfs.ha.namenodes.{_SERVICE}": ",".join(nodes),
        **{f"dfs.namenode.rpc-address.{_SERVICE}.{node}": address for node, address in nodes.items()},
        f"dfs.client.failover.proxy.provider.{_SERVICE}": (
            "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider"
        ),
    }


def _write_conf_dir(directory: Path, settings: dict[str, str]) -> None:
    properties = (f"<property><name>{key}</name><value>{value}</value></property>" for key, value in settings.items())
    (directory / "hdfs-site.xml").write_text(f"<configuration>{''.join(properties)}</configuration>")


@pytest.fixture
def dead() -> str:
    """An address where nothing listens, and nothing will."""
    with reserved_port() as reserved:
        return f"127.0.0.1:{reserved.getsockname()[1]}"


@pytest.fixture
def base(hdfs_dir: str) -> CanonicalPath:
    return CanonicalPath("hdfs", _SERVICE, CanonicalPath.parse(hdfs_dir).path)


@pytest.fixture
def by_hadoop_conf(hdfs: HdfsCluster, dead: str) -> FileSystem:
    settings = _settings(dead, f"127.0.0.1:{hdfs.rpc}")
    return opened(StorageSpec(scheme="hdfs", authority=_SERVICE, hadoop_conf=settings), no_check)


@pytest.fixture
def by_conf_dir(hdfs: HdfsCluster, dead: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FileSystem:
    _write_conf_dir(tmp_path, _settings(dead, f"127.0.0.1:{hdfs.rpc}"))
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    return opened(StorageSpec(scheme="hdfs", authority=_SERVICE), no_check)


@pytest.mark.parametrize("way", ["by_hadoop_conf", "by_conf_dir"])
def test_everything_works_when_the_first_name_node_is_down(
    way: str, base: CanonicalPath, request: pytest.FixtureRequest
) -> None:
    system: FileSystem = request.getfixturevalue(way)
    began = time.monotonic()
    system.mkdirs(base.child("dir"))
    system.write(base.child("dir").child("file"), [b"12"])
    assert system.status(base.child("dir")).kind is FileKind.DIRECTORY
    assert [entry.name for entry in system.list(base)] == ["dir"]
    assert system.content_summary(base).size == 2
    with system.read(base.child("dir").child("file")) as stream:
        assert stream.read() == b"12"
    assert not system.remove_if_empty(base.child("dir"), below=base)
    system.delete(base.child("dir"), below=base)
    assert list(system.list(base)) == []
    assert time.monotonic() - began < 60


def test_the_settings_of_the_entity_stand_above_the_files(
    hdfs: HdfsCluster, base: CanonicalPath, dead: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write_conf_dir(tmp_path, _settings(dead, dead))
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    settings = {f"dfs.namenode.rpc-address.{_SERVICE}.nn1": f"127.0.0.1:{hdfs.rpc}"}
    system = opened(StorageSpec(scheme="hdfs", authority=_SERVICE, hadoop_conf=settings), no_check)
    assert list(system.list(base)) == []


def test_a_name_service_in_capitals_is_the_one_of_the_canonical_path(hdfs: HdfsCluster, base: CanonicalPath) -> None:
    settings = {"dfs.ha.namenodes.NS1": "nn", "dfs.namenode.rpc-address.NS1.nn": f"127.0.0.1:{hdfs.rpc}"}
    system = opened(StorageSpec(scheme="hdfs", authority="ns1", hadoop_conf=settings), no_check)
    assert list(system.list(base)) == []


@pytest.mark.parametrize("addresses", [1, 2])
def test_dead_ports_alone_are_unreachable_within_seconds(dead: str, addresses: int) -> None:
    settings = _settings(*([dead] * addresses))
    system = opened(StorageSpec(scheme="hdfs", authority=_SERVICE, hadoop_conf=settings), no_check)
    _refuses_soon(lambda: system.status(CanonicalPath("hdfs", _SERVICE, "/")))


@pytest.mark.extended
def test_a_dead_port_without_a_name_service_is_unreachable_within_seconds(dead: str) -> None:
    system = opened(StorageSpec(scheme="hdfs", authority=dead), no_check)
    path = CanonicalPath("hdfs", dead, "/a/b")
    _refuses_soon(lambda: system.delete(path, below=path.parent))
    _refuses_soon(lambda: next(iter(system.list(path))))


def test_a_host_that_cannot_be_found_is_refused_within_the_deadline() -> None:
    """Asking for its address may take as long as the resolver likes; a quick one says that nobody has the name."""
    spec = StorageSpec(scheme="hdfs", authority="no-such-host.invalid")
    system = HdfsFileSystem(HdfsClient(spec, BoundedCalls(seconds=2)), no_check)
    began = time.monotonic()
    with pytest.raises((Unreachable, UnknownAuthority)):
        system.status(CanonicalPath("hdfs", spec.authority, "/"))
    assert time.monotonic() - began < 60


def _refuses_soon(call: Callable[[], object]) -> None:
    began = time.monotonic()
    with pytest.raises(Unreachable, match="refused"):
        call()
    assert time.monotonic() - began < 60
