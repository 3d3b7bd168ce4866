"""The body of an HTTP answer as a binary stream whose errors are the storage's."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from urllib3.exceptions import HTTPError

from toolkit.storage.errors import Unreachable

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer
    from requests import Response

    from toolkit.el import CanonicalPath

BUFFER = 1 << 20
"""Bytes that are fetched at once when a reader takes less."""


class WebHdfsStream(io.RawIOBase):
    """Reads forward; the end comes only when all bytes that were announced have come.

    Args:
        path: the file, for messages.
        response: its body, not read yet; closed with the stream.
    """

    def __init__(self, path: CanonicalPath, response: Response) -> None:
        self._path, self._response = path, response

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """The next bytes, 0 of them at the end."""
        view = memoryview(buffer).cast("B")
        try:
            found: bytes = self._response.raw.read(len(view))
        except (HTTPError, OSError) as error:
            raise Unreachable(path=self._path, detail=f"the read broke off: {type(error).__name__}") from error
        view[: len(found)] = found
        return len(found)

    def close(self) -> None:
        """Give the connection back, or end it when not all was read."""
        if not self.closed:
            self._response.close()
        super().close()
