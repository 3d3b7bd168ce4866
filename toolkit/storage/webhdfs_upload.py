"""The chunks of a file on their way into a request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


class Upload:
    """Gives chunks to the HTTP library; when their source fails, the body ends there and the failure is kept.

    A request that is cut off instead could make its file at the DataNode after that was removed already; and the
    library takes an `OSError` of the source for one of the connection.

    Args:
        chunks: the bytes; empty ones are left out, since an empty chunk ends a body.
    """

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._kept = _KeptError()

    def __iter__(self) -> Iterator[bytes]:
        while (chunk := self._next()) is not None:
            if chunk:
                yield chunk

    def raise_own_error(self) -> None:
        """Raise what the source raised, if it did."""
        if self._kept.error is not None:
            raise self._kept.error

    def _next(self) -> bytes | None:
        with self._kept:
            return next(self._chunks, None)
        return None


class _KeptError:
    """Keeps what its body raises, whatever it is, to be raised later."""

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def __enter__(self) -> None:
        """The body begins."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        self.error = error
        return True
