"""A limit for each attempt of a request to S3: botocore has one for silence, but a dripping answer is not silent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from botocore.exceptions import ReadTimeoutError

from toolkit.storage.bounded import BoundedCalls, NoAnswer

if TYPE_CHECKING:
    from botocore.awsrequest import AWSPreparedRequest, AWSResponse
    from types_boto3_s3.client import S3Client

_SMALL = 1024 * 1024
"""What sends more may take as long as bytes go on: nobody knows the speed of the line."""


class HttpSession(Protocol):
    """What botocore sends requests with."""

    def send(self, request: AWSPreparedRequest) -> AWSResponse:
        """The answer, with its body unless that is wanted as a stream."""
        ...

    def close(self) -> None:
        """Give up the connections."""
        ...


class BoundedSession:
    """Sends each request in a thread of its own that is waited for so long; see `BoundedCalls`.

    Args:
        inner: botocore's.
        calls: wait for the answers.
    """

    def __init__(self, inner: HttpSession, calls: BoundedCalls) -> None:
        self._inner, self._calls = inner, calls

    def send(self, request: AWSPreparedRequest) -> AWSResponse:
        """See `HttpSession.send`.

        Raises:
            ReadTimeoutError: it took too long; botocore repeats such requests.
        """
        if _length(request) > _SMALL:
            return self._inner.send(request)
        try:
            return self._calls.run(lambda: self._inner.send(request))
        except NoAnswer as error:
            raise ReadTimeoutError(endpoint_url=request.url, error=error) from error

    def close(self) -> None:
        """See `HttpSession.close`."""
        self._inner.close()


def bound(client: S3Client, calls: BoundedCalls) -> None:
    """Let all requests of a client have the limit; botocore has no hook for it, so its inside is touched here."""
    endpoint = client._endpoint  # type: ignore[attr-defined]  # noqa: SLF001 - said above
    endpoint.http_session = BoundedSession(cast("HttpSession", endpoint.http_session), calls)


def _length(request: AWSPreparedRequest) -> int:
    return int(request.headers.get("Content-Length") or 0)
