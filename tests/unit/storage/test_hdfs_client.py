from __future__ import annotations

from pathlib import Path

import pytest

from toolkit.el import CanonicalPath
from toolkit.errors import InvalidInput
from toolkit.storage import FileSystem, StorageError, StorageSpec, Unreachable
from toolkit.storage.calls import BoundedCalls
from toolkit.storage.hdfs.client import HdfsClient, UnusableHdfs
from toolkit.storage.hdfs.errors import UnknownAuthority
from toolkit.storage.hdfs.file_system import opened
from toolkit.storage.local.file_system import no_check

_SERVICE = "ns1"


_PATH = CanonicalPath("hdfs", _SERVICE, "/a")
_HA = {f"dfs.ha.namenodes.{_SERVICE}": "nn0", f"dfs.namenode.rpc-address.{_SERVICE}.nn0": "nn.invalid:8020"}


def _opened(spec: StorageSpec) -> FileSystem:
    return opened(spec, no_check)


def test_a_name_service_without_addresses_is_refused_before_anything_is_asked() -> None:
    settings = {"dfs.nameservices": _SERVICE, f"dfs.ha.namenodes.{_SERVICE}": "nn0"}
    with pytest.raises(UnusableHdfs, match=r"hdfs://ns1: .*dfs\.namenode\.rpc-address"):
        _opened(StorageSpec(scheme="hdfs", authority=_SERVICE, hadoop_conf=settings))


def test_a_broken_file_in_hadoop_conf_dir_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "core-site.xml").write_text("<configuration>")
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    with pytest.raises(InvalidInput, match="HADOOP_CONF_DIR"):
        _opened(StorageSpec(scheme="hdfs", authority="nn"))


def test_another_user_than_the_process_has_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HADOOP_USER_NAME", "etl")
    with pytest.raises(UnusableHdfs, match=r"acts as etl, and bob was asked for; start it with HADOOP_USER_NAME=bob"):
        _opened(StorageSpec(scheme="hdfs", authority="nn", user="bob"))
    _opened(StorageSpec(scheme="hdfs", authority="nn", user="etl"))


def test_with_kerberos_the_user_is_the_one_of_the_ticket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HADOOP_USER_NAME", "etl")
    monkeypatch.setenv("FEEDCTL_TRUSTED_ENDPOINTS", "nn:8020")
    secure = {"hadoop.security.authentication": "kerberos"}
    _opened(StorageSpec(scheme="hdfs", authority="nn", user="bob", hadoop_conf=secure))


def _error(client: HdfsClient, why: str) -> StorageError:
    """Return what a call says during which the resolver says this."""

    def call(_: object) -> None:
        message = f"failed to lookup address information: {why}"
        raise OSError(message)

    with pytest.raises(StorageError) as raised:
        client.bounded(_PATH, call)
    return raised.value


def test_an_authority_that_nobody_knows_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    client = HdfsClient(StorageSpec(scheme="hdfs", authority=_SERVICE), BoundedCalls())
    assert type(_error(client, "Temporary failure in name resolution")) is Unreachable
    unknown = _error(client, "Name or service not known")
    assert (type(unknown), unknown.retriable) == (UnknownAuthority, False)
    assert "hadoop_conf of the cluster (HADOOP_CONF_DIR is not set)" in str(unknown)


def test_a_host_that_has_answered_is_waited_for_when_its_name_is_gone() -> None:
    client = HdfsClient(StorageSpec(scheme="hdfs", authority=_SERVICE), BoundedCalls())
    assert client.bounded(_PATH, lambda _: 1) == 1
    assert type(_error(client, "Name or service not known")) is Unreachable


def test_a_listing_of_which_no_page_was_taken_is_no_answer() -> None:
    client = HdfsClient(StorageSpec(scheme="hdfs", authority=_SERVICE), BoundedCalls())
    client.bounded(_PATH, lambda real: real.list_status("/"))
    assert type(_error(client, "Name or service not known")) is UnknownAuthority


def test_the_hosts_of_a_name_service_are_waited_for() -> None:
    client = HdfsClient(StorageSpec(scheme="hdfs", authority=_SERVICE, hadoop_conf=_HA), BoundedCalls())
    assert type(_error(client, "Name or service not known")) is Unreachable


def test_a_conf_dir_that_is_none_is_refused_before_anything_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HADOOP_CONF_DIR", "/nowhere")
    with pytest.raises(InvalidInput, match="HADOOP_CONF_DIR=/nowhere"):
        _opened(StorageSpec(scheme="hdfs", authority=_SERVICE))
