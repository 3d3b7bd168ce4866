"""Reading an object as a stream, with the errors of the port also when it breaks off in the middle."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, cast

from toolkit.el import CanonicalPath
from toolkit.storage.bounded import BoundedCalls
from toolkit.storage.http_body import body_stream
from toolkit.storage.s3_errors import translated

if TYPE_CHECKING:
    from botocore.response import StreamingBody
    from urllib3.response import HTTPResponse


def stream_of(body: StreamingBody, path: CanonicalPath, calls: BoundedCalls) -> BinaryIO:
    """A buffered stream of the body, each piece of which has the time limit of `calls`; see `body_stream`."""

    def read(size: int) -> bytes:
        with translated(path):
            return body.read(size)

    # Botocore's body has no way to end a read that hangs; what is under it does.
    raw = cast("HTTPResponse", body._raw_stream)  # type: ignore[attr-defined]  # noqa: SLF001 - said above
    return body_stream(path, raw, read, calls)
