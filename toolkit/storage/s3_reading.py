"""Reading an object as a stream, with the errors of the port also when it breaks off in the middle."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, BinaryIO, cast

from toolkit.el import CanonicalPath
from toolkit.storage.s3_errors import translated

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer
    from botocore.response import StreamingBody

_BUFFER = 256 * 1024


def stream_of(body: StreamingBody, path: CanonicalPath) -> BinaryIO:
    """A buffered stream of the body; closing it ends the request."""
    return cast("BinaryIO", io.BufferedReader(_RawObject(body, path), _BUFFER))


class _RawObject(io.RawIOBase):
    def __init__(self, body: StreamingBody, path: CanonicalPath) -> None:
        self._body, self._path = body, path

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        with translated(self._path):
            chunk = self._body.read(len(view))
        view[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        if not self.closed:
            self._body.close()
        super().close()
