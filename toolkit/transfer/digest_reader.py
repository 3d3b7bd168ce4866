"""Reading files again, to see whether their bytes are still those that were copied."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from toolkit.retries import retried
from toolkit.storage import StorageError, Unreachable
from toolkit.transfer.copier import tries
from toolkit.transfer.digests import read_digest

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem
    from toolkit.threads import WorkerPool


class ReadDigest(NamedTuple):
    """Digest of a file's content.

    Attributes:
        size: bytes that were read.
        digest: of them, as `Copied.digest`.
        error: why they could not be read; None: they were.
    """

    size: int = 0
    digest: str = ""
    error: StorageError | None = None

    def or_raise(self) -> str:
        """The digest.

        Raises:
            StorageError: there is none.
        """
        if self.error is not None:
            raise self.error
        return self.digest


@dataclass(frozen=True, kw_only=True)
class DigestReader:
    """Reads files of a store from their beginning to their end; safe between threads.

    Attributes:
        system: the store.
        check: asked between two chunks; what it raises ends the reading.
        sleep: waits so many seconds, between two tries.
    """

    system: FileSystem
    check: Callable[[], None]
    sleep: Callable[[float], None] = time.sleep

    def read_all(
        self, paths: Sequence[CanonicalPath], pool: WorkerPool, tell: Callable[[CanonicalPath, ReadDigest], None]
    ) -> None:
        """Read files, as many at once as are good for the store.

        Args:
            paths: of files.
            pool: works.
            tell: called with each file's digest as soon as it is known, from any thread.

        Raises:
            StopRequested: the work was called off.
        """
        at_once = self.system.capabilities.parallel
        pool.run_all(lambda path: tell(path, self.read(path)), paths, at_once=at_once)

    def read(self, path: CanonicalPath) -> ReadDigest:
        """Read one file.

        Raises:
            StopRequested: the work was called off.
        """
        try:
            return retried(partial(self._read_once, path), Unreachable, partial(tries, self.check, self.sleep))
        except StorageError as error:
            return ReadDigest(error=error)

    def _read_once(self, path: CanonicalPath) -> ReadDigest:
        digest = read_digest(self.system, path, self.check)
        return ReadDigest(digest.size, digest.hexdigest())
