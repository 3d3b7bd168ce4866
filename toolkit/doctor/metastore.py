"""Checks of a Hive metastore: reachability and version, by Thrift bytes, so that no Java starts."""

from __future__ import annotations

import re
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from toolkit.doctor.findings import CheckResult, CheckStatus, ok, warning
from toolkit.doctor.services import Address, addresses_of, tcp_findings

_SECONDS = 5.0
_CALL = 0x80010001
_REPLY = 0x80010002
_EXCEPTION = 0x80010003
_TEXT_FIELD = 11
_LIST_FIELD = 15
_STOP = b"\x00"
_LONGEST_REPLY = 4096
_COMMON_VERSION = "3.0"
_UNSUPPORTED = re.compile(r"Hive (?:[01]|[5-9]|\d\d)\b")
_OTHER_VERSION = (
    "feedctl knows the metastores of Hive 2.3 to 4; look whether `feedctl doctor` finds the tables of feeds"
)
_NO_DATABASE = "see its log, and whether its own database is up"
_HANGS = "it may hang: see its log, its threads and its database, and start it anew if they say nothing"


class NotThrift(Exception):  # noqa: N818 - named for what was found
    """The answer is none of an open metastore: it wants SASL (Kerberos) or TLS, or is something else.

    Args:
        found: what it did instead.
    """

    def __init__(self, *, found: str) -> None:
        self.found = found
        super().__init__(f"it {found}; it may ask for Kerberos or TLS")


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """Answer of the service: a text, a number of texts, or that it does not know the call."""

    text: str = ""
    count: int | None = None
    is_known: bool = True


def metastore_findings(endpoint: str, seconds: float = _SECONDS) -> Iterator[CheckResult]:
    """Check the metastore: reachability, version as far as it reports one, and number of databases.

    Args:
        endpoint: of the cluster's `registry` interface.
        seconds: so long one answer is waited for.
    """
    for finding in tcp_findings(endpoint):
        if finding.status is CheckStatus.FAILED:
            yield finding
            return
        yield _answer_finding(endpoint, finding.found, seconds) if finding.status is CheckStatus.OK else finding


def metastore_version(address: Address, seconds: float = _SECONDS) -> str:
    """The version that the metastore says.

    All of Hive 2 and 3 say 3.0; a call that came with Hive 3 tells them apart.

    Raises:
        NotThrift: it does not answer as an open metastore.
        OSError: it cannot be connected to, or is silent.
    """
    version = _call(address, "getVersion", seconds)
    if version.text != _COMMON_VERSION:
        return f"Hive {version.text}" if version.text else "version unknown"
    return "Hive 3" if _call(address, "get_metastore_db_uuid", seconds).is_known else "Hive 2"


def _answer_finding(endpoint: str, listening: str, seconds: float) -> CheckResult:
    """A port that is listened at says little: the operating system takes connections for a process that hangs."""
    address = addresses_of(endpoint)[0]
    try:
        version = metastore_version(address, seconds)
        databases = _call(address, "get_all_databases", seconds).count
    except NotThrift as error:
        return ok(f"{listening}, version unknown ({error})")
    except TimeoutError:
        return warning(f"{listening}, but answered nothing within {seconds:g} s", todo=_HANGS)
    except OSError as error:
        return ok(f"{listening}, version unknown ({error.strerror or type(error).__name__})")
    if databases is None:
        return warning(f"{listening}, {version}, which cannot list its databases", todo=_NO_DATABASE)
    found = f"{listening}, {version}, databases: {databases}"
    return warning(found, todo=_OTHER_VERSION) if _UNSUPPORTED.match(version) else ok(found)


def _call(address: Address, call: str, seconds: float) -> Reply:
    name = call.encode()
    with socket.create_connection((address.host, address.port), timeout=seconds) as connection:
        connection.sendall(struct.pack(">II", _CALL, len(name)) + name + struct.pack(">I", 1) + _STOP)
        with connection.makefile("rb") as stream:
            return _reply(stream, call)


def _reply(stream: BinaryIO, call: str) -> Reply:
    kind, length = struct.unpack(">II", _taken(stream, 8))
    if kind not in {_REPLY, _EXCEPTION} or length != len(call):
        raise NotThrift(found="does not speak open Thrift")
    _taken(stream, length + 4)
    if kind == _EXCEPTION:
        return Reply(is_known=False)
    # The result is field 0; any other one is an exception that the call declares, so the call is known.
    (field,) = _taken(stream, 1)
    if field not in {_TEXT_FIELD, _LIST_FIELD} or struct.unpack(">h", _taken(stream, 2)) != (0,):
        return Reply()
    if field == _LIST_FIELD:
        _, count = struct.unpack(">bI", _taken(stream, 5))
        return Reply(count=count)
    (size,) = struct.unpack(">I", _taken(stream, 4))
    return Reply(text=_taken(stream, min(size, _LONGEST_REPLY)).decode("utf-8", "replace"))


def _taken(stream: BinaryIO, size: int) -> bytes:
    found = stream.read(size)
    if len(found) < size:
        raise NotThrift(found="ended the connection")
    return found
