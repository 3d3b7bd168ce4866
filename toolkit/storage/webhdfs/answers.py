"""Answers of WebHDFS: errors, and bodies in both directions."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from requests import ConnectTimeout, RequestException, Response
from requests.exceptions import ChunkedEncodingError, ConnectionError, SSLError, Timeout  # noqa: A004 - their name
from urllib3.exceptions import HTTPError, MaxRetryError, NameResolutionError, NewConnectionError

from toolkit.foreign_json import parse_json
from toolkit.storage.calls import NoAnswer
from toolkit.storage.errors import NotDone, PermissionDenied, StorageError, StorageFailure, Unreachable, Unsupported
from toolkit.storage.hdfs.errors import java_error
from toolkit.storage.streams import body_stream, in_pieces

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.storage.calls import BoundedCalls


# 404 is not among them: it says that no WebHDFS is there, not that no file is.
_BY_STATUS: dict[int, type[StorageError]] = {
    401: PermissionDenied,
    403: PermissionDenied,
    405: Unsupported,
    408: Unreachable,
    429: NotDone,
    502: Unreachable,
    503: NotDone,
    504: Unreachable,
}
_TAG = re.compile(r"<[^<>]*>|\s+")
_LONGEST, _LONGEST_MESSAGE = 200, 4000


@dataclass(frozen=True, kw_only=True, slots=True)
class RemoteException:
    """Error of a NameNode or DataNode in the body of a refusal.

    Attributes:
        java_class: empty when the body says nothing of the kind: a proxy, or a web server that is no WebHDFS.
        message: what it said.
    """

    java_class: str
    message: str


def remote_exception(response: Response) -> RemoteException:
    """The exception in the body of a refusal, of which `BoundedAdapter` has read the begin."""
    try:
        found: Any = parse_json(response.content)
        fields = found["RemoteException"]
        java_class, message = str(fields["javaClassName"]), str(fields.get("message", ""))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return RemoteException(java_class="", message=_shortened(response))
    return RemoteException(java_class=java_class[:_LONGEST], message=message[:_LONGEST_MESSAGE])


def refusal(path: CanonicalPath, response: Response) -> StorageError:
    """The storage error for an answer without success."""
    found = remote_exception(response)
    if found.java_class:
        return java_error(path, found.java_class, found.message)
    kind = _BY_STATUS.get(response.status_code, StorageFailure)
    return kind(path=path, detail=f"HTTP {response.status_code} {found.message}".strip())


def silence(path: CanonicalPath, error: Exception) -> StorageError:
    """The storage error for a request that got no answer; its text never holds the request's address.

    That address can carry a delegation token.
    """
    is_network = isinstance(error, ConnectionError | Timeout | ChunkedEncodingError) and not isinstance(error, SSLError)
    kind = Unreachable if is_network else StorageFailure
    return kind(path=path, detail=_reason(error))


def was_not_sent(error: RequestException) -> bool:
    """Return whether the server can't have received the request, so that it may be sent to another one."""
    if isinstance(error, ConnectTimeout):
        return True
    cause = error.args[0] if error.args else None
    reason = cause.reason if isinstance(cause, MaxRetryError) else cause
    return isinstance(reason, NewConnectionError | NameResolutionError)


def _reason(error: Exception) -> str:
    cause = error.args[0] if error.args else error
    reason = cause.reason if isinstance(cause, MaxRetryError) and cause.reason is not None else cause
    # Behind "pool: " the words of the network stack; in front of it an object's address.
    return f"{type(error).__name__}: {str(reason).rpartition('>: ')[2]}".partition("?")[0][:_LONGEST]


def _shortened(response: Response) -> str:
    text = response.content.decode(errors="replace")
    return _TAG.sub(" ", text).strip()[:_LONGEST] or response.reason


def stream_of(response: Response, path: CanonicalPath, calls: BoundedCalls) -> BinaryIO:
    """A buffered stream, each piece of which has the time limit of `calls`; see `body_stream`.

    Its end comes only when all bytes that were announced have come.
    """

    def read(size: int) -> bytes:
        try:
            found: bytes = response.raw.read(size)
        except (HTTPError, OSError) as error:
            raise Unreachable(path=path, detail=f"the read broke off: {type(error).__name__}") from error
        return found

    return body_stream(path, response.raw, read, calls)


_PIECE_BYTES = 64 * 1024
"""So much is sent at once: the socket has a time limit for what it is given, however much that is."""


class Upload:
    """Takes chunks from one thread and gives them to the HTTP library in another, one piece at a time.

    So the source of the chunks may take its time and raise what it likes, in the thread that it was made for, and the
    store may not: each piece has a time limit. When the source fails, the body ends there, as if it were whole: a
    request that is cut off instead could make its file at the DataNode after that was removed already.

    Args:
        seconds: so long the store may take for a piece.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._changed = threading.Condition()
        self._piece: bytes | None = None
        self._is_whole = self._is_over = False

    def send(self, chunks: Iterable[bytes]) -> None:
        """Hand all chunks over; the rest is left out when the request ends before.

        Raises:
            NoAnswer: the store did not take a piece in time.
        """
        try:
            for chunk in chunks:
                for piece in in_pieces(chunk, _PIECE_BYTES):
                    if not self._is_handed(piece):
                        return
        finally:
            with self._changed:
                self._is_whole = True
                self._changed.notify_all()

    def _is_handed(self, piece: bytes) -> bool:
        """Return whether the request still wants pieces."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._piece is None or self._is_over, self._seconds):
                message = f"{len(piece)} bytes were not taken within {self._seconds:g} s"
                raise NoAnswer(message)
            self._piece = piece
            self._changed.notify_all()
            return not self._is_over

    def __iter__(self) -> Iterator[bytes]:
        while (piece := self._next()) is not None:
            yield piece
            with self._changed:
                self._piece = None
                self._changed.notify_all()

    def _next(self) -> bytes | None:
        with self._changed:
            self._changed.wait_for(lambda: self._piece is not None or self._is_whole)
            return self._piece

    def end(self) -> None:
        """Take that the request has ended, whether or not it has taken everything."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
