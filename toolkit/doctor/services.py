"""Hosts and ports of services: whether somebody listens there, and whether it is a Spark master or a Hive metastore."""

from __future__ import annotations

import re
import socket
import struct
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from toolkit.doctor.findings import CheckStatus, Finding, failed, ok, warning

_CONNECT_SECONDS = 5.0
_ADDRESS = re.compile(
    r"(?:^|//|[,(;])\s*(?:[^/@,()\s]*@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s:/,()@\[\]]+):(?P<port>\d{1,5})"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """A port of a host."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def addresses_of(endpoint: str) -> Sequence[Address]:
    """All hosts with ports in an end point: ``host:1``, ``thrift://a:1,thrift://b:2``, ``failover:(tcp://a:1)``."""
    found = _ADDRESS.finditer(endpoint)
    return [Address(host=each["host"].strip("[]"), port=int(each["port"])) for each in found]


def connect_error(address: Address, seconds: float = _CONNECT_SECONDS) -> str:
    """Why nobody can be connected to there; empty: somebody listens."""
    try:
        with socket.create_connection((address.host, address.port), timeout=seconds):
            return ""
    except OSError as error:
        return error.strerror or str(error) or type(error).__name__


def tcp_findings(endpoint: str) -> Iterator[Finding]:
    """Whether the hosts of an end point can be connected to; one of several is enough for most clients."""
    addresses = addresses_of(endpoint)
    if not addresses:
        yield warning(f"{endpoint}: no host and port in it", todo="write it as host:port, or as a URL with a port")
        return
    begun = time.monotonic()
    errors = {address: connect_error(address) for address in addresses}
    milliseconds = (time.monotonic() - begun) * 1000
    broken = [f"{address}: {error}" for address, error in errors.items() if error]
    listening = [str(address) for address, error in errors.items() if not error]
    if not broken:
        yield ok(f"{', '.join(listening)} accepts connections ({milliseconds:.0f} ms)")
    elif listening:
        yield warning(f"{', '.join(listening)} accepts connections; {_listed(broken)}", todo="see why not all are up")
    else:
        yield failed(_listed(broken), todo="see whether the service is up, and whether this machine may connect to it")


def _listed(texts: Iterable[str]) -> str:
    return "; ".join(texts)


_LOCAL = re.compile(r"local(\[(\d+|\*)(,\d+)?\])?")
_SECONDS = 5.0
_LONGEST_ANSWER = 1 << 16
_HEAD = ">qb"
_HEAD_SIZE = struct.calcsize(_HEAD)
_STREAM_REQUEST = 6
_NO_FILE = b"/files/feedctl-doctor"
_QUESTION = (
    struct.pack(_HEAD, _HEAD_SIZE + 4 + len(_NO_FILE), _STREAM_REQUEST) + struct.pack(">i", len(_NO_FILE)) + _NO_FILE
)
"""A `StreamRequest` of Spark's `org.apache.spark.network.protocol` for a file that no master has."""
_YARN = frozenset({"yarn", "yarn-client", "yarn-cluster"})


def spark_findings(master: str, variables: Mapping[str, str]) -> Iterator[Finding]:
    """What the master is, and whether somebody listens there.

    Args:
        master: the end point of the cluster's `spark` interface.
        variables: of the environment.
    """
    if _LOCAL.fullmatch(master):
        yield ok(f"{master}: in this process")
    elif master in _YARN:
        if variables.get("HADOOP_CONF_DIR") or variables.get("YARN_CONF_DIR"):
            yield ok(f"{master}: the resource manager of HADOOP_CONF_DIR")
        else:
            todo = "spark-submit needs HADOOP_CONF_DIR or YARN_CONF_DIR to find the resource manager"
            yield warning(f"{master}: neither HADOOP_CONF_DIR nor YARN_CONF_DIR is set here", todo=todo)
    elif master.startswith("spark://"):
        yield from _standalone_findings(master)
    elif master.startswith("k8s://"):
        yield from tcp_findings(master)
    else:
        todo = "write local, local[N], yarn, yarn-client, yarn-cluster, spark://HOST:PORT or k8s://..."
        yield warning(f"{master}: no master that Spark knows", todo=todo)


def _standalone_findings(master: str) -> Iterator[Finding]:
    """A port that is listened at says little: the operating system takes connections for a process that hangs."""
    for finding in tcp_findings(master):
        silent = [str(each) for each in addresses_of(master) if finding.status is CheckStatus.OK and _is_silent(each)]
        if silent:
            found = f"{finding.found}, but {', '.join(silent)} answered nothing within {_SECONDS:g} s"
            yield warning(found, todo="the master may hang: see its log and its threads, and start it anew")
        else:
            yield finding


def _is_silent(address: Address) -> bool:
    """Whether a master leaves a question unanswered that it refuses at once, also when it asks for a secret.

    Who ends the connection instead is alive, and wants TLS or is something else.
    """
    try:
        with socket.create_connection((address.host, address.port), timeout=_SECONDS) as connection:
            connection.sendall(_QUESTION)
            with connection.makefile("rb") as stream:
                length, _ = struct.unpack(_HEAD, stream.read(_HEAD_SIZE).rjust(_HEAD_SIZE, b"\0"))
                # Read to its end, or the master logs a connection that broke.
                stream.read(max(0, min(length - _HEAD_SIZE, _LONGEST_ANSWER)))
    except TimeoutError:
        return True
    except OSError:
        return False
    return False


_CALL = 0x80010001
_REPLY = 0x80010002
_EXCEPTION = 0x80010003
_TEXT_FIELD = 11
_STOP = b"\x00"
_LONGEST_REPLY = 4096
_SAID_BY_ALL = "3.0"
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
    """What the service answered: a text, or that it does not know the call."""

    text: str
    is_known: bool


def metastore_findings(endpoint: str) -> Iterator[Finding]:
    """Whether the metastore accepts connections, and its version as far as it tells it."""
    for finding in tcp_findings(endpoint):
        if finding.status is CheckStatus.FAILED:
            yield finding
            return
        yield _answer_finding(endpoint, finding.found) if finding.status is CheckStatus.OK else finding


def metastore_version(address: Address) -> str:
    """The version that the metastore says.

    All of Hive 2 and 3 say 3.0; a call that came with Hive 3 tells them apart.

    Raises:
        NotThrift: it does not answer as an open metastore.
        OSError: it cannot be connected to, or is silent.
    """
    said = _asked(address, "getVersion")
    if said.text != _SAID_BY_ALL:
        return f"Hive {said.text}" if said.text else "version unknown"
    return "Hive 3" if _asked(address, "get_metastore_db_uuid").is_known else "Hive 2"


def _answer_finding(endpoint: str, listening: str) -> Finding:
    """A port that is listened at says little: the operating system takes connections for a process that hangs."""
    try:
        return ok(f"{listening}, {metastore_version(addresses_of(endpoint)[0])}")
    except NotThrift as error:
        return ok(f"{listening}, version unknown ({error})")
    except TimeoutError:
        return warning(f"{listening}, but answered nothing within {_SECONDS:g} s", todo=_HANGS)
    except OSError as error:
        return ok(f"{listening}, version unknown ({error.strerror or type(error).__name__})")


def _asked(address: Address, call: str) -> Reply:
    name = call.encode()
    with socket.create_connection((address.host, address.port), timeout=_SECONDS) as connection:
        connection.sendall(struct.pack(">II", _CALL, len(name)) + name + struct.pack(">I", 1) + _STOP)
        with connection.makefile("rb") as stream:
            return _reply(stream, call)


def _reply(stream: BinaryIO, call: str) -> Reply:
    kind, length = struct.unpack(">II", _taken(stream, 8))
    if kind not in {_REPLY, _EXCEPTION} or length != len(call):
        raise NotThrift(found="does not speak open Thrift")
    _taken(stream, length + 4)
    if kind == _EXCEPTION:
        return Reply(text="", is_known=False)
    # The result is field 0; any other one is an exception that the call declares, so the call is known.
    (field,) = _taken(stream, 1)
    if field != _TEXT_FIELD or struct.unpack(">h", _taken(stream, 2)) != (0,):
        return Reply(text="", is_known=True)
    (size,) = struct.unpack(">I", _taken(stream, 4))
    return Reply(text=_taken(stream, min(size, _LONGEST_REPLY)).decode("utf-8", "replace"), is_known=True)


def _taken(stream: BinaryIO, size: int) -> bytes:
    found = stream.read(size)
    if len(found) < size:
        raise NotThrift(found="ended the connection")
    return found
