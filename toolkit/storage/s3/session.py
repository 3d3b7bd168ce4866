"""HTTP session of botocore: each request within a time limit, and the body of its answer up to a size."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import IO, TYPE_CHECKING, Protocol, cast

from botocore.exceptions import ConnectionClosedError, ReadTimeoutError
from urllib3 import HTTPResponse
from urllib3.exceptions import HTTPError
from urllib3.exceptions import ReadTimeoutError as Timeout

from toolkit.storage.calls import BoundedCalls, NoAnswer
from toolkit.storage.streams import Outgoing, joined

if TYPE_CHECKING:
    from botocore.awsrequest import AWSPreparedRequest, AWSResponse
    from types_boto3_s3.client import S3Client

_MOST_BYTES = 8 << 20
"""A page of 1000 keys of 1024 bytes, each escaped, has about 3.5 MB."""

_NO_SUCCESS = 300

_SMALL = 64 * 1024
"""A larger body may take longer than one call, as long as it moves."""


class HttpSession(Protocol):
    """Session by which botocore sends requests."""

    def send(self, request: AWSPreparedRequest) -> AWSResponse:
        """The answer, with its body unless that is wanted as a stream."""
        ...

    def close(self) -> None:
        """Give up the connections."""
        ...


class BoundedSession:
    """Sends each request in a thread of its own that is waited for so long; see `BoundedCalls`.

    What sends much may take longer as long as pieces go out, since the speed of the network is unknown.

    Args:
        inner: botocore's.
        calls: wait for the answers.
    """

    def __init__(self, inner: HttpSession, calls: BoundedCalls) -> None:
        self._inner, self._calls = inner, calls

    def send(self, request: AWSPreparedRequest) -> AWSResponse:
        """Send a request, within the time limit of a call.

        Raises:
            ReadTimeoutError: it took too long; botocore repeats such requests.
        """
        body = request.body
        if body is None or isinstance(body, str) or _length(request) <= _SMALL:
            return self._sent(request, lambda: False)
        outgoing = Outgoing(BytesIO(body) if isinstance(body, bytes | bytearray) else cast("IO[bytes]", body))
        request.body = cast("IO[bytes]", outgoing)
        try:
            return self._sent(request, outgoing.goes_on)
        finally:
            # Botocore goes back to its beginning before it repeats the request.
            request.body = body

    def _sent(self, request: AWSPreparedRequest, goes_on: Callable[[], bool]) -> AWSResponse:
        try:
            return self._calls.run(lambda: _answered(self._inner, request), goes_on)
        except NoAnswer as error:
            raise ReadTimeoutError(endpoint_url=request.url, error=error) from error

    def close(self) -> None:
        """Close the inner session."""
        self._inner.close()


def _answered(inner: HttpSession, request: AWSPreparedRequest) -> AWSResponse:
    """Send a request, and read the body of its answer up to a limit unless it is the data of an object.

    Botocore reads it without a limit, that of a refusal to give data even after the time limit of the call.
    """
    gives_data, request.stream_output = request.stream_output, True
    try:
        response = inner.send(request)
    finally:
        request.stream_output = gives_data
    if not gives_data or response.status_code >= _NO_SUCCESS:
        response.raw = HTTPResponse(BytesIO(_body(response)), preload_content=False)
    return response


def _body(response: AWSResponse) -> bytes:
    try:
        return joined(response.raw.stream(), _MOST_BYTES)
    except Timeout as error:
        raise ReadTimeoutError(endpoint_url=response.url, error=error) from error
    except (HTTPError, OSError) as error:
        raise ConnectionClosedError(endpoint_url=response.url, error=error) from error
    finally:
        response.raw.close()


def bound(client: S3Client, calls: BoundedCalls) -> None:
    """Let all requests of a client have the limit; botocore has no hook for it, so its inside is touched here."""
    endpoint = client._endpoint  # type: ignore[attr-defined]  # noqa: SLF001 - said above
    endpoint.http_session = BoundedSession(cast("HttpSession", endpoint.http_session), calls)


def _length(request: AWSPreparedRequest) -> int:
    return int(request.headers.get("Content-Length") or 0)
