"""Requests to a bucket of Google Cloud Storage, or to a container of Azure."""

from __future__ import annotations

import copy
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from typing import TYPE_CHECKING, ClassVar, Self

from defusedxml.common import DefusedXmlException

from toolkit.el import CanonicalPath
from toolkit.storage.cloud.http import Call, HttpClient
from toolkit.storage.errors import AlreadyExists, NotFound, StorageFailure
from toolkit.storage.flat import Objects

if TYPE_CHECKING:
    from requests import Response


class Bucket(Objects, ABC):
    """All requests to a bucket or container; may be used by several threads at once.

    Args:
        root: the path of the bucket.
        client: sends them.
        before_effect: called before each attempt of a request that changes something.
    """

    service: ClassVar[str]

    def __init__(self, root: CanonicalPath, client: HttpClient, before_effect: Callable[[], None]) -> None:
        self.root, self._client, self._before_effect = root, client, before_effect

    def bound(self, before_effect: Callable[[], None]) -> Self:
        """Return the same bucket with another hook before each request that changes something."""
        bound = copy.copy(self)
        bound._before_effect = before_effect  # noqa: SLF001 - its own class
        return bound

    def close(self) -> None:
        """End the connections."""
        self._client.close()

    @abstractmethod
    def keys(self, prefix: str) -> Iterator[tuple[str, bool]]:
        """List all keys that begin so, each with whether it is a directory, which can only go when it is empty."""

    def remove(self, key: str) -> None:
        """Remove an object.

        Raises:
            NotFound: there is none.
        """
        self._change(key, Call(method="DELETE", url=self._url(key)))

    def put(self, key: str, parts: Iterator[bytes], *, overwrite: bool) -> None:
        """Write an object, in one request when it is small, else in parts.

        Raises:
            AlreadyExists: an object is there and may not be replaced.
        """
        mark = secrets.token_hex(16)
        try:
            first, second = next(parts, b""), next(parts, None)
            if second is None:
                self._put_small(key, first, mark, overwrite=overwrite)
            else:
                self._put_large(key, chain((first, second), parts), mark, overwrite=overwrite)
        except AlreadyExists:
            # The answer to the first attempt may have been lost.
            with suppress(NotFound):
                if self._mark_of(key) == mark:
                    return
            raise

    @abstractmethod
    def _url(self, key: str) -> str: ...

    @abstractmethod
    def _put_small(self, key: str, content: bytes, mark: str, *, overwrite: bool) -> None: ...

    @abstractmethod
    def _put_large(self, key: str, parts: Iterator[bytes], mark: str, *, overwrite: bool) -> None: ...

    @abstractmethod
    def _mark_of(self, key: str) -> str | None: ...

    def _change(self, key: str, call: Call) -> Response:
        return self._client.send(self.place(key), call, self._before_effect)

    @contextmanager
    def _understood(self, key: str) -> Iterator[None]:
        try:
            yield
        except (ValueError, KeyError, TypeError, AttributeError, SyntaxError, DefusedXmlException) as error:
            detail = f"the answer is not that of {self.service}: {error}"
            raise StorageFailure(path=self.place(key), detail=detail) from error
