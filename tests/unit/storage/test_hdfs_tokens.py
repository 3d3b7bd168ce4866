from __future__ import annotations

from pathlib import Path

import pytest

from toolkit.storage.hdfs.tokens import token_address
from toolkit.storage.tokens import vint


def _token_file(directory: Path, kind: str, service: str) -> dict[str, str]:
    """In Hadoop's own format: a number of tokens, each with alias, identifier, password, kind and service."""
    texts = (service, "who", "password", kind, service)
    written = b"".join(vint(len(text)) + text.encode() for text in texts)
    (directory / "tokens").write_bytes(b"HDTS\0" + vint(1) + written + vint(0))
    return {"HADOOP_TOKEN_FILE_LOCATION": str(directory / "tokens")}


@pytest.mark.parametrize(
    ("service", "address", "found"),
    [
        ("127.0.0.1:8020", "localhost:8020", "127.0.0.1:8020"),
        ("127.0.0.1:8020", "127.0.0.1:8020", "127.0.0.1:8020"),
        ("127.0.0.1:8020", "localhost:9000", "localhost:9000"),
        ("localhost:8020", "localhost:8020", "localhost:8020"),
        ("10.1.2.3:8020", "localhost:8020", "localhost:8020"),
        ("ha-hdfs:ns1", "localhost:8020", "localhost:8020"),
        ("127.0.0.1:8020", "no-such-host.invalid:8020", "no-such-host.invalid:8020"),
    ],
)
def test_a_name_node_is_asked_under_the_address_of_its_token(
    tmp_path: Path, service: str, address: str, found: str
) -> None:
    assert token_address(address, _token_file(tmp_path, "HDFS_DELEGATION_TOKEN", service)) == found


def test_tokens_of_other_services_do_not_count(tmp_path: Path) -> None:
    environment = _token_file(tmp_path, "kms-dt", "127.0.0.1:8020")
    assert token_address("localhost:8020", environment) == "localhost:8020"


@pytest.mark.parametrize("content", [None, b"", b"HDTS", b"no tokens at all"])
def test_a_file_that_cannot_be_read_has_no_tokens(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "tokens"
    if content is not None:
        file.write_bytes(content)
    assert token_address("localhost:8020", {"HADOOP_TOKEN_FILE_LOCATION": str(file)}) == "localhost:8020"


def test_without_a_token_file_the_address_stays() -> None:
    assert token_address("localhost:8020", {}) == "localhost:8020"
