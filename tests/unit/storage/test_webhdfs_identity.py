from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import pytest
from requests import PreparedRequest, Request

from tests.unit.storage.token_files import HDFS_TOKEN_AS_URL_TEXT, PROTOBUF, WRITABLE
from toolkit.storage import StorageSpec
from toolkit.storage.hdfs.tokens import UnreadableTokenFile
from toolkit.storage.tokens import BadTokenFile
from toolkit.storage.webhdfs.endpoints import KerberosMissing, session_of

_KERBEROS = {"hadoop.security.authentication": "kerberos"}
_TRUSTED = {"FEEDCTL_TRUSTED_ENDPOINTS": "127.0.0.1:9870"}


def _requested(spec: StorageSpec, settings: Mapping[str, str], environment: Mapping[str, str]) -> PreparedRequest:
    """A request as the session of these would send it."""
    session = session_of(spec, ["http://127.0.0.1:9870"], settings, environment)
    return session.prepare_request(Request("GET", "http://127.0.0.1:9870/webhdfs/v1/"))


def _tokens(directory: Path, content: bytes = WRITABLE) -> dict[str, str]:
    file = directory / "tokens"
    file.write_bytes(content)
    return {"HADOOP_TOKEN_FILE_LOCATION": str(file)}


@pytest.mark.parametrize(
    ("user", "environment", "query"),
    [
        ("spec", {"HADOOP_USER_NAME": "env"}, "user.name=spec"),
        ("", {"HADOOP_USER_NAME": "env"}, "user.name=env"),
        ("", {"HADOOP_USER_NAME": "env", "HADOOP_PROXY_USER": "other"}, "doas=other&user.name=env"),
    ],
)
def test_without_security_the_name_is_told(user: str, environment: dict[str, str], query: str) -> None:
    sent = _requested(StorageSpec(scheme="webhdfs", authority="127.0.0.1:9870", user=user), {}, environment)
    assert str(sent.url).partition("?")[2] == query


@pytest.mark.parametrize("content", [WRITABLE, PROTOBUF], ids=["writable", "protobuf"])
def test_a_delegation_token_for_the_name_service_is_used(tmp_path: Path, content: bytes) -> None:
    spec = StorageSpec(scheme="webhdfs", authority="ns1", user="spec")
    sent = _requested(spec, _KERBEROS, _TRUSTED | _tokens(tmp_path, content))
    assert str(sent.url).partition("?")[2] == f"delegation={HDFS_TOKEN_AS_URL_TEXT}"


def test_a_token_for_another_cluster_is_not_sent(tmp_path: Path) -> None:
    spec = StorageSpec(scheme="webhdfs", authority="ns2", user="spec")
    assert "delegation" not in str(_requested(spec, {}, _tokens(tmp_path)).url)


def test_a_token_fits_a_host_by_its_address_though_the_web_has_another_port(tmp_path: Path) -> None:
    content = WRITABLE.replace(b"\x0bha-hdfs:ns1", b"\x0e127.0.0.1:8020")
    spec = StorageSpec(scheme="webhdfs", authority="127.0.0.1:9870")
    assert "delegation=" in str(_requested(spec, {}, _tokens(tmp_path, content)).url)


def test_a_token_file_that_is_missing_or_broken_is_refused(tmp_path: Path) -> None:
    spec = StorageSpec(scheme="webhdfs", authority="ns1")
    with pytest.raises(UnreadableTokenFile, match="none"):
        _requested(spec, {}, {"HADOOP_TOKEN_FILE_LOCATION": str(tmp_path / "none")})
    with pytest.raises(BadTokenFile):
        _requested(spec, {}, _tokens(tmp_path, b"HDTS"))


def test_kerberos_without_what_it_needs_names_the_extra() -> None:
    if find_spec("requests_kerberos"):
        pytest.skip("the extra is installed")
    with pytest.raises(KerberosMissing, match=r"feedctl\[kerberos\]"):
        _requested(StorageSpec(scheme="webhdfs", authority="ns1"), _KERBEROS, _TRUSTED)
