"""The requests of Google Cloud Storage and Azure: each attempt within a time limit, its answer up to a size."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import IO, TYPE_CHECKING, BinaryIO, TypeVar, cast

from requests import Request, RequestException, Response, Session
from requests.exceptions import SSLError
from urllib3.exceptions import HTTPError

from toolkit.el import CanonicalPath
from toolkit.storage.calls import CALL_SECONDS, BoundedCalls, BrokenCall, NoAnswer
from toolkit.storage.errors import (
    AlreadyExists,
    NotDone,
    NotFound,
    PermissionDenied,
    QuotaExceeded,
    StorageError,
    StorageFailure,
    Unreachable,
)
from toolkit.storage.flat import NoSuchRange
from toolkit.storage.hadoop_conf import without_secrets
from toolkit.storage.http_bodies import BoundedAdapter
from toolkit.storage.streams import BodyTooLong, Outgoing, body_stream, joined

if TYPE_CHECKING:
    from requests import PreparedRequest
    from requests.auth import AuthBase
    from urllib3.response import HTTPResponse

_Answer = TypeVar("_Answer")

CONNECTIONS = 48
_CONNECT_SECONDS = 5
_ATTEMPTS = 4
_FIRST_WAIT = 0.2
_MOST_BYTES = 32 << 20
"""A page of 1,000 names of 1,024 bytes, each escaped, with what Azure says of each has some MB."""
_MOST_CHARACTERS = 1000
_PIECE_BYTES = 64 << 10
_NO_SUCCESS = 300
RESUME = 308
"""Google's status for an upload whose rest is missing."""

_BY_STATUS: dict[int, type[StorageError]] = {
    401: PermissionDenied,
    403: PermissionDenied,
    404: NotFound,
    408: Unreachable,
    412: AlreadyExists,
    413: QuotaExceeded,
    429: NotDone,
    503: NotDone,
    507: QuotaExceeded,
}
_BY_CODE: dict[str, type[StorageError]] = {
    "BlobAlreadyExists": AlreadyExists,
    "ConditionNotMet": AlreadyExists,
    "LeaseIdMissing": StorageFailure,
    "SnapshotsPresent": StorageFailure,
}
_ADVICE = {
    "LeaseIdMissing": "the blob is leased; end the lease first",
    "SnapshotsPresent": "the blob has snapshots, and they are not removed with it; remove them first",
    "ContainerNotFound": "the container does not exist; check its name and the account",
}


class IdentityError(Exception):
    """The caller could not be authenticated.

    Args:
        text: why.
        is_passing: whether it may work a little later.
    """

    def __init__(self, text: str, *, is_passing: bool = False) -> None:
        self.is_passing = is_passing
        super().__init__(text)


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A request of a thread.

    Attributes:
        method: of HTTP.
        url: without a query.
        params: the query.
        headers: beside those of the connection.
        body: what is sent.
    """

    method: str
    url: str
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


class HttpClient:
    """Sends requests; may be used by several threads at once.

    Args:
        sign: proves to the store who asks; called for each attempt.
        code_of: the store's own word for what is wrong, of the headers and the body of an answer.
        seconds: so long one attempt may take.
    """

    def __init__(
        self, sign: AuthBase, code_of: Callable[[Response, str], tuple[str, str]], *, seconds: float = CALL_SECONDS
    ) -> None:
        self._sign, self._code_of, self._seconds = sign, code_of, seconds
        self._calls = BoundedCalls(seconds, stuck=CONNECTIONS)
        self._session = _session()

    def close(self) -> None:
        """End the connections; later requests make new ones."""
        self._session.close()

    def send(self, path: CanonicalPath, call: Call, before: Callable[[], None] | None = None) -> Response:
        """Return the answer with its body; a request that was not answered is repeated a few times.

        Args:
            path: what errors name.
            call: what is sent.
            before: of a request that changes something: called before each attempt.

        Raises:
            StorageError: what the store said; what it did not answer may still happen.
        """
        # A removal that was not answered may have happened, and what is there by now may be new.
        again = NotDone if call.method == "DELETE" else Unreachable
        return self._repeated(lambda: self._attempt(path, call, before, is_stream=False), again)

    def open(self, path: CanonicalPath, call: Call) -> BinaryIO:
        """Return the body of an answer as a stream; each piece that is read has the time limit of a call."""
        response = self._repeated(lambda: self._attempt(path, call, None, is_stream=True))
        raw = cast("HTTPResponse", response.raw)

        def read(size: int) -> bytes:
            try:
                return raw.read(size)
            except (HTTPError, OSError) as error:
                raise Unreachable(path=path, detail=f"it broke off: {without_secrets(str(error))}") from error

        return body_stream(path, raw, read, self._calls)

    def _repeated(self, attempt: Callable[[], _Answer], again: type[Unreachable] = Unreachable) -> _Answer:
        for number in range(1, _ATTEMPTS):
            try:
                return attempt()
            except again:
                time.sleep(_FIRST_WAIT * 2**number * random.uniform(0.5, 1.0))  # noqa: S311 - only spreads load
        return attempt()

    def _attempt(
        self, path: CanonicalPath, call: Call, before: Callable[[], None] | None, *, is_stream: bool
    ) -> Response:
        if before is not None:
            before()
        outgoing = Outgoing(BytesIO(call.body))
        try:
            return self._calls.run(lambda: self._sent(path, call, outgoing, is_stream=is_stream), outgoing.goes_on)
        except (NoAnswer, BrokenCall) as error:
            raise Unreachable(path=path, detail=str(error)) from error
        except IdentityError as error:
            raise (Unreachable if error.is_passing else PermissionDenied)(
                path=path, detail=_text(str(error))
            ) from error
        except BodyTooLong as error:
            raise StorageFailure(path=path, detail=f"the answer is not that of a store: {error}") from error
        except SSLError as error:
            detail = f"{_text(str(error))}; REQUESTS_CA_BUNDLE names the authorities that are trusted"
            raise StorageFailure(path=path, detail=detail) from error
        except (RequestException, HTTPError, OSError) as error:
            raise Unreachable(path=path, detail=_text(str(error))) from error

    def _sent(self, path: CanonicalPath, call: Call, outgoing: Outgoing, *, is_stream: bool) -> Response:
        prepared = self._prepared(call, outgoing)
        # The operator's proxies and authorities; `send` by itself does not look for the latter.
        known = self._session.merge_environment_settings(prepared.url, {}, True, None, None)  # noqa: FBT003 - of requests
        response = self._session.send(
            prepared, allow_redirects=False, timeout=(_CONNECT_SECONDS, self._seconds), **known
        )
        is_success = response.status_code < _NO_SUCCESS or response.status_code == RESUME
        if is_stream and is_success:
            return response
        try:
            pieces = response.iter_content(_PIECE_BYTES)
            # So `content`, `text` and `json()` have it; the begin of a refusal says enough.
            vars(response)["_content"] = joined(pieces, _MOST_BYTES) if is_success else next(pieces, b"")
        finally:
            response.close()
        if not is_success:
            raise self._error(path, response)
        return response

    def _prepared(self, call: Call, outgoing: Outgoing) -> PreparedRequest:
        request = Request(
            call.method, call.url, dict(call.headers), data=call.body, params=dict(call.params), auth=self._sign
        )
        prepared = self._session.prepare_request(request)
        if call.body:
            # Given as a file it goes out block by block, and it can be seen whether it moves.
            prepared.body = cast("bytes", cast("IO[bytes]", outgoing))
        return prepared

    def _error(self, path: CanonicalPath, response: Response) -> StorageError:
        code, message = self._code_of(response, response.text)
        status = response.status_code
        if status == 416:  # noqa: PLR2004 - "range not satisfiable"
            return NoSuchRange(path=path, detail=code)
        passing = Unreachable if status >= 500 and status != 501 else StorageFailure  # noqa: PLR2004 - of HTTP
        kind = _BY_CODE.get(code, _BY_STATUS.get(status, passing))
        text = f"HTTP {status} {code}: {_ADVICE.get(code, message)}"
        return kind(path=path, detail=_text(text))


def _text(text: str) -> str:
    return without_secrets(" ".join(text.split()))[:_MOST_CHARACTERS].rstrip(" :")


def _session() -> Session:
    session = Session()
    for protocol in ("https://", "http://"):
        session.mount(protocol, BoundedAdapter(pool_connections=4, pool_maxsize=CONNECTIONS, max_retries=0))
    # Bytes are counted and compared, so no proxy may compress them.
    session.headers["Accept-Encoding"] = "identity"
    return session
