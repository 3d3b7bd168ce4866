"""What an HTTP answer of WebHDFS, or the lack of one, means as a storage error."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from requests import ConnectTimeout, RequestException, Response
from requests.exceptions import ChunkedEncodingError, ConnectionError, SSLError, Timeout  # noqa: A004 - their name
from urllib3.exceptions import MaxRetryError, NameResolutionError, NewConnectionError

from toolkit.storage.errors import (
    PermissionDenied,
    StorageError,
    StorageFailure,
    Unreachable,
    Unsupported,
)
from toolkit.storage.java_errors import java_error

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath

# 404 is not among them: it says that no WebHDFS is there, not that no file is.
_BY_STATUS: dict[int, type[StorageError]] = {
    401: PermissionDenied,
    403: PermissionDenied,
    405: Unsupported,
    408: Unreachable,
    429: Unreachable,
    502: Unreachable,
    503: Unreachable,
    504: Unreachable,
}
_TAG = re.compile(r"<[^<>]*>|\s+")
_LONGEST = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class RemoteException:
    """What a NameNode or DataNode says in the body of a refusal.

    Attributes:
        java_class: empty when the body says nothing of the kind: a proxy, or a web server that is no WebHDFS.
        message: what it said.
    """

    java_class: str
    message: str


def remote_exception(response: Response) -> RemoteException:
    """The exception in the body of a refusal."""
    try:
        found = response.json()["RemoteException"]
        return RemoteException(java_class=str(found["javaClassName"]), message=str(found.get("message", "")))
    except (ValueError, KeyError, TypeError, AttributeError, RequestException):
        return RemoteException(java_class="", message=_shortened(response))


def refusal(path: CanonicalPath, response: Response) -> StorageError:
    """The storage error for an answer that is none of success."""
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
    """Whether the server can't have seen the request, so that it may be sent to another one."""
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
    try:
        text = response.text
    except RequestException:
        return response.reason
    return _TAG.sub(" ", text).strip()[:_LONGEST] or response.reason
