"""The bytes are those that the metastore of Hive 2.3.10 answered; of Hive 3 and 4 there is none here to ask."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.unit.doctor.servers import frozen, listening, unused_port
from toolkit.doctor.findings import CheckStatus
from toolkit.doctor.metastore import NotThrift, metastore_findings, metastore_version
from toolkit.doctor.services import Address

_VERSION_3_0 = b"\x80\x01\x00\x02\x00\x00\x00\ngetVersion\x00\x00\x00\x01\x0b\x00\x00\x00\x00\x00\x033.0\x00"
_UNKNOWN_CALL = (
    b"\x80\x01\x00\x03\x00\x00\x00\x15get_metastore_db_uuid\x00\x00\x00\x01"
    b"\x0b\x00\x01\x00\x00\x00,Invalid method name: 'get_metastore_db_uuid'\x08\x00\x02\x00\x00\x00\x01\x00"
)
_UUID = b"\x80\x01\x00\x02\x00\x00\x00\x15get_metastore_db_uuid\x00\x00\x00\x01\x0b\x00\x00\x00\x00\x00\x02ab\x00"
_NO_UUID_SET = b"\x80\x01\x00\x02\x00\x00\x00\x15get_metastore_db_uuid\x00\x00\x00\x01\x0c\x00\x01\x00"
_VERSION_4 = b"\x80\x01\x00\x02\x00\x00\x00\ngetVersion\x00\x00\x00\x01\x0b\x00\x00\x00\x00\x00\x054.0.1\x00"
_DATABASES = b"\x80\x01\x00\x02\x00\x00\x00\x11get_all_databases\x00\x00\x00\x01"
_TWO_DATABASES = _DATABASES + b"\x0f\x00\x00\x0b\x00\x00\x00\x02\x00\x00\x00\x01a\x00\x00\x00\x01b\x00"
_META_EXCEPTION = _DATABASES + b"\x0c\x00\x01\x0b\x00\x01\x00\x00\x00\x01x\x00\x00"


@pytest.mark.parametrize(
    ("answers", "version"),
    [
        ({b"getVersion": _VERSION_3_0, b"db_uuid": _UNKNOWN_CALL}, "Hive 2"),
        ({b"getVersion": _VERSION_3_0, b"db_uuid": _UUID}, "Hive 3"),
        ({b"getVersion": _VERSION_3_0, b"db_uuid": _NO_UUID_SET}, "Hive 3"),
        ({b"getVersion": _VERSION_4}, "Hive 4.0.1"),
    ],
)
def test_the_version_is_what_the_metastore_says_or_which_calls_it_knows(
    answers: Mapping[bytes, bytes], version: str
) -> None:
    with listening(answers) as port:
        assert metastore_version(Address(host="127.0.0.1", port=port)) == version


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"", _VERSION_3_0[:20], b"\x80\x01\x00\x02"])
def test_a_port_that_is_no_open_metastore_is_told_from_one(answer: bytes) -> None:
    with listening({b"getVersion": answer}) as port, pytest.raises(NotThrift):
        metastore_version(Address(host="127.0.0.1", port=port))


def test_what_cannot_be_connected_to_is_a_failure_and_what_does_not_tell_is_none() -> None:
    (dead,) = metastore_findings(f"thrift://127.0.0.1:{unused_port()}")
    with listening({b"getVersion": b""}) as port:
        (silent,) = metastore_findings(f"thrift://127.0.0.1:{port}")
    assert (dead.status, silent.status) == (CheckStatus.FAILED, CheckStatus.OK)
    assert "version unknown" in silent.found


def test_the_version_and_the_databases_stand_beside_the_address() -> None:
    with listening({b"getVersion": _VERSION_4, b"databases": _TWO_DATABASES}) as port:
        (found,) = metastore_findings(f"thrift://127.0.0.1:{port}")
    assert found.found.startswith(f"127.0.0.1:{port} accepts connections")
    assert (found.status, found.found.endswith(", Hive 4.0.1, databases: 2")) == (CheckStatus.OK, True)


def test_a_metastore_of_another_version_is_a_warning_that_says_which_are_known() -> None:
    with listening({b"getVersion": _VERSION_4.replace(b"4.0.1", b"5.0.0"), b"databases": _TWO_DATABASES}) as port:
        (found,) = metastore_findings(f"thrift://127.0.0.1:{port}")
    assert (found.status, "Hive 2.3 to 4" in found.todo) == (CheckStatus.WARNING, True)


def test_a_metastore_that_cannot_list_its_databases_is_a_warning() -> None:
    with listening({b"getVersion": _VERSION_4, b"databases": _META_EXCEPTION}) as port:
        (found,) = metastore_findings(f"thrift://127.0.0.1:{port}")
    assert (found.status, "its own database" in found.todo) == (CheckStatus.WARNING, True)


def test_a_metastore_that_takes_the_connection_and_never_answers_is_a_warning() -> None:
    with frozen() as port:
        (found,) = metastore_findings(f"thrift://127.0.0.1:{port}", seconds=0.5)
    assert found.status is CheckStatus.WARNING
    assert "accepts connections" in found.found
    assert "answered nothing within 0.5 s" in found.found
    assert "it may hang" in found.todo
