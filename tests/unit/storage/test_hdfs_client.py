from __future__ import annotations

from pathlib import Path

import pytest

from toolkit.errors import InvalidInput
from toolkit.storage import FileSystem, StorageSpec
from toolkit.storage.hdfs import opened
from toolkit.storage.hdfs_client import UnusableHdfs
from toolkit.storage.local import no_check

_SERVICE = "ns1"


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
    secure = {"hadoop.security.authentication": "kerberos"}
    _opened(StorageSpec(scheme="hdfs", authority="nn", user="bob", hadoop_conf=secure))
