"""Requests to a bucket of Google Cloud Storage, or to a container of Azure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO, Protocol

from toolkit.storage.flat import Objects


class Bucket(Objects, Protocol):
    """All requests to a bucket or container."""

    def bound(self, before_effect: Callable[[], None]) -> Bucket:
        """Return the same bucket with another hook before each request that changes something."""
        ...

    def close(self) -> None:
        """End the connections."""
        ...

    def keys(self, prefix: str) -> Iterator[tuple[str, bool]]:
        """List all keys that begin so, each with whether it is a directory, which can only go when it is empty."""
        ...

    def opened(self, key: str, *, offset: int = 0, length: int | None = None) -> BinaryIO:
        """Return a stream of an object's bytes.

        Raises:
            NotFound: there is no such object.
            NoSuchRange: it has no byte there.
        """
        ...

    def remove(self, key: str) -> None:
        """Remove an object.

        Raises:
            NotFound: there is none.
        """
        ...

    def put(self, key: str, parts: Iterator[bytes], *, overwrite: bool) -> None:
        """Write an object of parts.

        Raises:
            AlreadyExists: an object is there and may not be replaced.
        """
        ...
