"""Copying files from one store to another: streamed, with a digest of what passed, and never a file that changed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential
from xxhash import xxh3_128

from toolkit.errors import Failed
from toolkit.storage import FileKind, StorageError, Unreachable
from toolkit.storage.bound import RateLimiter

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem
    from toolkit.threads import WorkerPool

CHUNK_BYTES = 1024 * 1024
"""So much of a file is in memory at once, and as much again in the clients of both stores, whatever its size."""
TRIES = 3
"""So often a file is tried whose store did not answer in the middle; each store has been waited for by then."""
_LONGEST_WAIT_SECONDS = 10.0
_BETWEEN_CHECKS = 0.5


class FileCopy(NamedTuple):
    """One file to copy, or one directory to make; a tuple, because plans have very many of them.

    Attributes:
        source: read from its beginning to its end.
        target: written under this name; nobody reads there yet, and what is there of an earlier try is replaced.
        size: bytes that were seen when the plan was made; of a directory 0.
        kind: a file, or a directory, which is made with those above it.
    """

    source: CanonicalPath
    target: CanonicalPath
    size: int
    kind: FileKind = FileKind.FILE


class Copied(NamedTuple):
    """What became of a file.

    Attributes:
        size: bytes that were copied.
        digest: `DIGEST` of these, in hexadecimal; empty of a directory.
        code: that of the error; empty: it was copied.
        message: of the error, for people.
    """

    target: CanonicalPath
    size: int = 0
    digest: str = ""
    code: str = ""
    message: str = ""


DIGEST = "xxh3-128"
"""How `Copied.digest` is made (ADR 0033)."""


class SourceChanged(StorageError, Failed):  # noqa: N818 - the family of toolkit.errors is named for what happened
    """A file did not have as many bytes as when the plan was made; nothing was written for it."""

    code = "source_changed"
    text = "it was changed while it was copied, so the copy was thrown away; run again when its writer is done"


@dataclass(frozen=True, kw_only=True)
class Copier:
    """Copies files between two stores; safe between threads.

    Attributes:
        source: read from; asked as often as it is worth, see `PatientFileSystem`.
        target: written to; asks whether an effect may begin before each.
        check: asked between two chunks; what it raises ends the copy, of which nothing stays.
        bandwidth: bytes a second over all threads of this copier; inf: as many as come.
        sleep: waits so many seconds, between two tries.
    """

    source: FileSystem
    target: FileSystem
    check: Callable[[], None]
    bandwidth: float = inf
    sleep: Callable[[float], None] = time.sleep
    _limiter: RateLimiter | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        limiter = None if self.bandwidth == inf else RateLimiter(rate=self.bandwidth)
        object.__setattr__(self, "_limiter", limiter)

    def copy_all(
        self, files: Sequence[FileCopy], pool: WorkerPool, tell: Callable[[Copied], None], *, at_once: int | None = None
    ) -> None:
        """Copy files, several at once, and make directories; one that fails does not stop the others.

        Args:
            files: the directories that they are in are made first, each once.
            pool: works.
            tell: called with each outcome as soon as it is known, from any thread.
            at_once: so many files; None: one for each thread of the pool.

        Raises:
            StopRequested: the work was called off; of a file that nothing was told of, nothing stays.
        """
        parents = {file.target if file.kind is FileKind.DIRECTORY else file.target.parent for file in files}
        failed: dict[CanonicalPath, StorageError] = {}

        def make(directory: CanonicalPath) -> None:
            try:
                self.target.mkdirs(directory)
            except StorageError as error:
                failed[directory] = error

        def copy(file: FileCopy) -> None:
            if file.kind is not FileKind.DIRECTORY:
                tell(self.copy(file))
                return
            at = file.target
            errors = [error for directory, error in failed.items() if directory == at or directory.is_within(at)]
            tell(_failure(file, errors[0]) if errors else Copied(at))

        # A file whose directory could not be made says so when it is written.
        pool.run_all(make, _lowest(parents), at_once=at_once)
        pool.run_all(copy, files, at_once=at_once)

    def copy(self, file: FileCopy) -> Copied:
        """Copy one file.

        Raises:
            StopRequested: the work was called off.
        """
        try:
            for attempt in self._tries():
                with attempt:
                    return self._copy_once(file)
        except StorageError as error:
            return _failure(file, error)
        raise AssertionError(file)  # tenacity gives the last error

    def _copy_once(self, file: FileCopy) -> Copied:
        digest = xxh3_128()
        with self.source.read(file.source) as stream:
            self.target.write(file.target, self._chunks(file, iter(lambda: stream.read(CHUNK_BYTES), b""), digest))
        return Copied(file.target, file.size, digest.hexdigest())

    def _chunks(self, file: FileCopy, chunks: Iterator[bytes], digest: xxh3_128) -> Iterator[bytes]:
        """The bytes; an error at their end keeps the target from having them (see `FileSystem.write`)."""
        size = 0
        for chunk in chunks:
            size += len(chunk)
            if size > file.size:
                break
            self._wait_for_turn(len(chunk))
            digest.update(chunk)
            yield chunk
        if size != file.size:
            found = f"{file.size} bytes were planned, and {'more' if size > file.size else size} came"
            raise SourceChanged(path=file.source, detail=found)

    def _wait_for_turn(self, size: int) -> None:
        if self._limiter is None:
            self.check()
        else:
            self._limiter.acquire(self.check, size)

    def _tries(self) -> Retrying:
        return Retrying(
            retry=retry_if_exception_type(Unreachable),
            stop=stop_after_attempt(TRIES),
            wait=wait_random_exponential(max=_LONGEST_WAIT_SECONDS),
            sleep=self._pause,
            reraise=True,
        )

    def _pause(self, seconds: float) -> None:
        """In short pieces, so that a run that is told to stop does."""
        while seconds > 0:
            self.check()
            self.sleep(min(seconds, _BETWEEN_CHECKS))
            seconds -= _BETWEEN_CHECKS


def _failure(file: FileCopy, error: StorageError) -> Copied:
    return Copied(file.target, code=error.code, message=str(error))


def _lowest(directories: set[CanonicalPath]) -> list[CanonicalPath]:
    """Those that none of the others is in: what is above a directory is made with it."""
    above: set[CanonicalPath] = set()
    for directory in directories:
        step = directory
        while step != step.root and step.parent not in above:
            step = step.parent
            above.add(step)
    return sorted(directories - above)
