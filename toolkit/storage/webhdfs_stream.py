"""The body of a file from a DataNode as a binary stream whose errors are the storage's."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from urllib3.exceptions import HTTPError

from toolkit.storage.errors import Unreachable
from toolkit.storage.http_body import body_stream

if TYPE_CHECKING:
    from requests import Response

    from toolkit.el import CanonicalPath
    from toolkit.storage.bounded import BoundedCalls


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
