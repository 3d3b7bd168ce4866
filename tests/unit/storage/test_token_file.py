from __future__ import annotations

import pytest

from tests.unit.storage.token_files import HDFS_TOKEN_AS_URL_TEXT, PROTOBUF, WRITABLE
from toolkit.storage.tokens import BadTokenFile, tokens_of

_BOTH = pytest.mark.parametrize("content", [WRITABLE, PROTOBUF], ids=["writable", "protobuf"])


@_BOTH
def test_a_file_that_hadoop_wrote_gives_its_tokens(content: bytes) -> None:
    tokens = {token.kind: token for token in tokens_of(content)}
    assert set(tokens) == {"HDFS_DELEGATION_TOKEN", "kms-dt"}
    assert tokens["HDFS_DELEGATION_TOKEN"].service == "ha-hdfs:ns1"
    assert tokens["HDFS_DELEGATION_TOKEN"].password == bytes(range(1, 21))
    assert (tokens["kms-dt"].service, tokens["kms-dt"].password) == ("10.0.0.1:9600", bytes(200))


@_BOTH
def test_a_token_is_written_into_an_address_as_hadoop_does(content: bytes) -> None:
    tokens = {token.kind: token for token in tokens_of(content)}
    assert tokens["HDFS_DELEGATION_TOKEN"].as_url_text() == HDFS_TOKEN_AS_URL_TEXT


@_BOTH
def test_a_token_does_not_show_its_password(content: bytes) -> None:
    shown = repr(tokens_of(content))
    assert "password" not in shown
    assert "x01" not in shown


@_BOTH
def test_a_file_that_ends_too_early_is_refused_wherever_it_ends(content: bytes) -> None:
    complete = tokens_of(content)
    for size in range(len(content)):
        try:
            found = tokens_of(content[:size])
        except BadTokenFile:
            continue
        # What is behind the tokens, secret keys, is not read.
        assert found == complete


@pytest.mark.parametrize("content", [b"", b"HDTS", b"<xml/>", b"HDTS\x02abc"])
def test_what_is_no_token_file_is_refused(content: bytes) -> None:
    with pytest.raises(BadTokenFile):
        tokens_of(content)
