from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.unit.storage.token_files import WRITABLE
from toolkit.doctor.tokens import token_life
from toolkit.storage.tokens import tokens_of

_TOKENS = {token.kind: token for token in tokens_of(WRITABLE)}
_IDENTIFIER = _TOKENS["HDFS_DELEGATION_TOKEN"].identifier


def test_owner_and_end_are_those_that_hadoop_wrote() -> None:
    life = token_life(_IDENTIFIER)
    assert life is not None
    assert (life.owner, life.ends) == ("alice", datetime(2026, 1, 8, tzinfo=UTC))


@pytest.mark.parametrize("identifier", [b"", b"\x00", b"whatever", b"\x01" + _IDENTIFIER[1:], _IDENTIFIER[:12]])
def test_an_identifier_of_another_kind_has_no_life_that_is_known(identifier: bytes) -> None:
    assert token_life(identifier) is None


def test_dates_that_cannot_be_are_not_believed() -> None:
    far = b"\x00\x00\x00\x00\x00" + b"\x88" + b"\x7f" * 8
    assert token_life(far + b"\x88" + b"\x7f" * 8) is None
