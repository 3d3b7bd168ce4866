"""Connections to one metastore, each used by one call at a time, and what Java's exceptions mean."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark.errors import PySparkException

from toolkit.catalog.adapters.gateway import Java, JavaObject
from toolkit.catalog.errors import (
    AccessDenied,
    BadMetadata,
    CatalogAlreadyExists,
    CatalogError,
    MetastoreFailure,
    MetastoreUnreachable,
    NoSuchTable,
    UnsupportedMetastore,
    UnsupportedTable,
)
from toolkit.catalog.port import CALL_SECONDS
from toolkit.errors import InvalidInput
from toolkit.java import missing_java
from toolkit.threads import WorkerPool
from toolkit.variables import process_variables

if TYPE_CHECKING:
    from toolkit.catalog.port import CatalogSpec

CONNECT_SECONDS = 10.0
"""So long one host may take to accept a connection."""
MOST_CALLS = 32
"""So many calls to one metastore may be under way at once."""
_DETAIL_CHARACTERS = 500
_URI = "hive.metastore.uris"
_TAKEN = re.compile(
    r"hive\.metastore\.(?:sasl\.enabled|kerberos\.principal|token\.signature|execute\.setugi|use\.SSL|truststore\.path|"
    r"thrift\.(?:framed\.transport|compact\.protocol)\.enabled)|hadoop\.(?:security\.authentication|rpc\.protection)"
)
"""Settings of a connection that a cluster entity may have. Others are for files, and some name classes to load,
which are the operator's to say, in hive-site.xml."""
_REFUSED_CALL = "TApplicationException"
_UNKNOWN_CALL = "Invalid method name"
_ANSWERED: Mapping[str, type[CatalogError]] = {
    _REFUSED_CALL: MetastoreFailure,
    "NoSuchObjectException": NoSuchTable,
    "UnknownTableException": NoSuchTable,
    "AlreadyExistsException": CatalogAlreadyExists,
    "InvalidObjectException": BadMetadata,
    "InvalidOperationException": BadMetadata,
    "InvalidInputException": BadMetadata,
    "MetaException": MetastoreFailure,
}
"""Errors by the metastore's answer."""
_MEANINGS: Mapping[re.Pattern[str], type[CatalogError]] = {
    re.compile(_UNKNOWN_CALL): UnsupportedMetastore,
    re.compile(
        r"AccessControlException|permission denied|not writable|not authorized|no privilege", re.IGNORECASE
    ): AccessDenied,
    re.compile(r"does not appear to support insert-only", re.IGNORECASE): UnsupportedTable,
    re.compile(r"could not connect to meta ?store", re.IGNORECASE): MetastoreUnreachable,
}
"""Errors by the text of an exception without a better name."""

_Answer = TypeVar("_Answer")
Call = Callable[[Java, JavaObject], _Answer]


_STARTING = threading.Lock()


def java() -> Java:
    """That of this process; it is started once.

    Raises:
        MetastoreFailure: none can be started.
    """
    with _STARTING:
        return _java()


@cache
def _java() -> Java:
    try:
        return Java()
    except (PySparkException, OSError, Py4JError) as error:
        problem = missing_java(process_variables())
        detail = problem or f"no Java could be started or reached ({error}); see JAVA_HOME"
        raise MetastoreFailure(about="metastore", detail=detail) from error


@dataclass(frozen=True, slots=True)
class _Connection:
    client: JavaObject
    stub: JavaObject

    def is_alive(self) -> bool:
        """Return whether the metastore still answers on the connection, which a restart or an idle timeout closes."""
        try:
            self.stub.getName()
        except Py4JError:
            self.close()
            return False
        return True

    def close(self) -> None:
        with suppress(Py4JError):
            self.client.close()


class Connections:
    """Runs calls, each under a deadline.

    Args:
        spec: which metastore.
        seconds: how long one call may take.

    Raises:
        InvalidInput: the end point is no ``thrift://HOST:PORT``.
    """

    def __init__(self, spec: CatalogSpec, seconds: float = CALL_SECONDS) -> None:
        self._seconds = seconds
        self._addresses = {uri: _address(uri) for each in spec.uris.split(",") if (uri := each.strip())}
        if not self._addresses:
            message = "the metastore's end point is empty, expected thrift://HOST:PORT"
            raise InvalidInput(message)
        self.name = ",".join(self._addresses)
        self._settings = {name: value for name, value in spec.hadoop_conf.items() if _TAKEN.fullmatch(name)}
        self._workers = WorkerPool(MOST_CALLS, "feedctl-metastore")
        self._idle: deque[_Connection] = deque()

    def run(self, about: str, call: Call[_Answer]) -> _Answer:
        """The call's answer.

        Args:
            about: what it is about, for messages.
            call: gets Java, and the metastore's Thrift calls.

        Raises:
            CatalogError: what the metastore said, under the port's names.
        """
        there, until = java(), time.monotonic() + self._seconds
        answer = self._workers.submit(self._run, there, about, call, until)
        try:
            return answer.result(self._seconds)
        except TimeoutError as error:
            raise self._no_answer(about) from error
        except Py4JNetworkError as error:
            raise self._failure(about, "Java is gone", str(error)) from error
        finally:
            answer.cancel()  # a call that waits for a thread is not sent when its caller has gone on

    def close(self) -> None:
        """End the unused connections."""
        with suppress(IndexError):
            while True:
                self._idle.pop().close()

    def _run(self, there: Java, about: str, call: Call[_Answer], until: float) -> _Answer:
        connection = self._taken(there)
        if time.monotonic() >= until:  # the connection took so long, and the caller has gone on
            self._idle.append(connection)
            raise self._no_answer(about)
        with ExitStack() as unfinished:
            # After anything that is no answer, the next one might be that of this call.
            unfinished.callback(connection.close)
            try:
                answer = call(there, connection.stub)
            except Py4JJavaError as error:
                kind, answered = _kind_and_text(error)
                if kind in _ANSWERED and kind != _REFUSED_CALL:
                    unfinished.pop_all()
                    self._idle.append(connection)
                raise self._failure(about, kind, answered) from error
            unfinished.pop_all()
        self._idle.append(connection)
        return answer

    def _taken(self, there: Java) -> _Connection:
        with suppress(IndexError):
            while True:
                connection = self._idle.pop()
                if connection.is_alive():
                    return connection
        return self._connected(there)

    def _connected(self, there: Java) -> _Connection:
        refusals = {uri: _refusal(address) for uri, address in self._addresses.items()}
        listening = [uri for uri, refusal in refusals.items() if not refusal]
        if not listening:
            raise MetastoreUnreachable(
                about=self.name, detail="; ".join(f"{uri}: {why}" for uri, why in refusals.items())
            )
        ours = {
            _URI: ",".join(listening),
            "hive.metastore.connect.retries": "1",
            "hive.metastore.client.socket.timeout": f"{self._seconds:.0f}s",
        }
        try:
            client = there.client({**self._settings, **ours})
            return _Connection(client, there.stub(client))
        except Py4JJavaError as error:
            raise self._failure(self.name, *_kind_and_text(error)) from error

    def _no_answer(self, about: str) -> MetastoreUnreachable:
        detail = f"{self.name}: no answer within {self._seconds:g} s; what was asked for may still happen"
        return MetastoreUnreachable(about=about, detail=detail)

    def _failure(self, about: str, kind: str, answered: str) -> CatalogError:
        detail = " ".join(answered.split())[:_DETAIL_CHARACTERS]
        if _UNKNOWN_CALL in answered:
            detail = f"{self.name} does not know a call that feedctl makes, expected Hive 2.3 to 4: {detail}"
        elif kind not in _ANSWERED:
            detail = f"{self.name}: {kind}: {detail}; what was asked for may still happen"
        return _meaning(kind, answered)(about=about, detail=detail)


def _meaning(kind: str, answered: str) -> type[CatalogError]:
    by_text = _MEANINGS.items() if kind in {"MetaException", _REFUSED_CALL} else ()
    return next(
        (meaning for text, meaning in by_text if text.search(answered)), _ANSWERED.get(kind, MetastoreUnreachable)
    )


def is_unknown_call(error: Py4JJavaError) -> bool:
    """Return whether the metastore does not know the call, so that another one can be tried."""
    return _UNKNOWN_CALL in _kind_and_text(error)[1]


def _kind_and_text(error: Py4JJavaError) -> tuple[str, str]:
    exception: JavaObject = error.java_exception
    try:
        return str(exception.getClass().getSimpleName()), str(exception.getMessage() or "")
    except Py4JError as lost:
        return type(lost).__name__, str(lost)


def _address(uri: str) -> tuple[str, int]:
    parts = urlsplit(uri)
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if parts.scheme != "thrift" or not host or not port:
        message = f"{uri!r} is no end point of a metastore, expected thrift://HOST:PORT"
        raise InvalidInput(message)
    return host, port


def _refusal(address: tuple[str, int]) -> str:
    try:
        socket.create_connection(address, CONNECT_SECONDS).close()
    except OSError as error:
        return error.strerror or str(error) or type(error).__name__
    return ""
