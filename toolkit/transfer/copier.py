"""Copying files from one store to another: streamed, with a digest of what passed, and never a file that changed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from toolkit.errors import Failed
from toolkit.retries import retried
from toolkit.storage import RAW_PREFIX, FileKind, StorageError, Unreachable
from toolkit.storage.bound import RateLimiter
from toolkit.transfer.digests import CHUNK_BYTES, FileDigest
from toolkit.transfer.plan import PLAIN, Copied, CreateOptions, FileCopy, failure
from toolkit.transfer.raw_copies import refuse_other_zone
from toolkit.transfer.room import OF_PROCESS, Room
from toolkit.transfer.uploads import Uploads

if TYPE_CHECKING:
    from typing import BinaryIO

    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem
    from toolkit.threads import WorkerPool

OBJECT_PART_BYTES = 8 * 1024 * 1024
"""So much of an object is gathered before it is sent."""
TRIES = 3
"""So often a file is tried whose store did not answer in the middle; each store has been waited for by then."""
_LONGEST_WAIT_SECONDS = 10.0
_BETWEEN_CHECKS = 0.5


class SourceChanged(StorageError, Failed):  # noqa: N818 - the family of toolkit.errors is named for what happened
    """A file did not have as many bytes as when the plan was made; nothing was written for it."""

    code = "source_changed"
    text = "it was changed while it was copied, so the copy was thrown away; run again when its writer is done"


def tries(check: Callable[[], None], sleep: Callable[[float], None]) -> Retrying:
    """Tries what a store may answer the next time; waits in short pieces, so that a run that is told to stop does.

    Args:
        check: asked between the pieces; what it raises ends the waiting.
        sleep: waits so many seconds.
    """

    def pause(seconds: float) -> None:
        while seconds > 0:
            check()
            sleep(min(seconds, _BETWEEN_CHECKS))
            seconds -= _BETWEEN_CHECKS

    return Retrying(
        retry=retry_if_exception_type(Unreachable),
        stop=stop_after_attempt(TRIES),
        wait=wait_random_exponential(max=_LONGEST_WAIT_SECONDS),
        sleep=pause,
        reraise=True,
    )


@dataclass(frozen=True, kw_only=True)
class Copier:
    """Copies files between two stores; safe between threads.

    Attributes:
        source: read from; asked as often as it is worth, see `PatientFileSystem`.
        target: written to; asks whether an effect may begin before each.
        check: asked between two chunks; what it raises ends the copy, of which nothing stays.
        bandwidth: bytes a second over all threads of this copier; inf: as many as come.
        overwrite: replace what is there; else a file that is there fails.
        create: options with which files are written.
        sleep: waits so many seconds, between two tries.
        room: for what is on its way.
        passed: told of files and bytes that were copied, chunk by chunk; of less than none when a file begins anew.
    """

    source: FileSystem
    target: FileSystem
    check: Callable[[], None]
    bandwidth: float = inf
    overwrite: bool = True
    create: CreateOptions = PLAIN
    sleep: Callable[[float], None] = time.sleep
    room: Room = OF_PROCESS
    passed: Callable[[int, int], None] = lambda files, size: None  # noqa: ARG005 - not used
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
        with Uploads(target=self.target, check=self.check, overwrite=self.overwrite) as uploads:

            def report(outcome: Copied) -> None:
                whole = uploads.add(outcome)
                if whole is not None:
                    self.passed(int(bool(whole.digest)), 0)
                    tell(whole)

            self._copy_all(uploads.divided(files), pool, report, at_once)
            for outcome in uploads.failed():
                tell(outcome)

    def _copy_all(
        self, files: Sequence[FileCopy], pool: WorkerPool, tell: Callable[[Copied], None], at_once: int | None
    ) -> None:
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
            tell(failure(file, errors[0]) if errors else Copied(at))

        # A file whose directory could not be made says so when it is written.
        pool.run_all(make, _lowest(parents), at_once=at_once)
        pool.run_all(copy, files, at_once=at_once)

    def copy(self, file: FileCopy) -> Copied:
        """Copy one file, or a range of one.

        Raises:
            StopRequested: the work was called off.
        """
        try:
            return retried(partial(self._copy_once, file), Unreachable, partial(tries, self.check, self.sleep))
        except StorageError as error:
            return failure(file, error)

    def _copy_once(self, file: FileCopy) -> Copied:
        passing = _Passing(copier=self, file=file)
        with self.room.of(self._held(file), self.check), ExitStack() as unfinished:
            unfinished.callback(passing.take_back)
            copied = self._copied(file, passing)
            unfinished.pop_all()
        return copied

    def _held(self, file: FileCopy) -> int:
        """Return the bytes of a file in memory: a chunk or part, and as much again in the store's client."""
        most = CHUNK_BYTES if self.target.capabilities.directories else OBJECT_PART_BYTES
        return 2 * min(file.size, max(most, file.part.upload.part_bytes if file.part else 0))

    def _copied(self, file: FileCopy, passing: _Passing) -> Copied:
        part, digest = file.part, passing.digest
        if part is None:
            self._write(file, passing)
            return Copied(file.target, file.size, digest.hexdigest())
        # Behind the last range there is nothing, unless the file has grown.
        is_last = part.offset + file.size == part.upload.size
        with self.source.read(file.source, offset=part.offset, length=None if is_last else file.size) as stream:
            parts = self.target.put_range(part.upload, part.offset, passing.chunks(stream))
        return Copied(file.target, file.size, digest.pieces(), offset=part.offset, parts=parts)

    def _write(self, file: FileCopy, passing: _Passing) -> None:
        """Write a file; below `RAW` with its attributes, without which its bytes cannot be decrypted."""
        layout, attributes = self.create.layout(self.source, file.source), dict[str, bytes]()
        if self.create.raw:
            attributes.update(self.source.xattrs(file.source))
            refuse_other_zone(self.target, file.target, attributes)
        with self.source.read(file.source) as stream:
            chunks = passing.chunks(stream)
            if layout is None:
                self.target.write(file.target, chunks, overwrite=self.overwrite)
            else:
                self.target.write_in_blocks(file.target, chunks, layout, overwrite=self.overwrite)
        for name, value in attributes.items():
            if name.startswith(RAW_PREFIX):
                self.target.set_xattr(file.target, name, value)

    def wait_for_rate(self, size: int) -> None:
        """Return when so many bytes may pass."""
        if self._limiter is None:
            self.check()
        else:
            self._limiter.acquire(self.check, size)


@dataclass(kw_only=True)
class _Passing:
    """The bytes of one try on their way.

    Attributes:
        copier: whose try it is.
        file: that is copied, or the range of it.
        digest: of what has passed.
        size: so many bytes have.
    """

    copier: Copier
    file: FileCopy
    digest: FileDigest = field(default_factory=FileDigest)
    size: int = 0

    def chunks(self, stream: BinaryIO) -> Iterator[bytes]:
        """The bytes; an error at their end keeps the target from having them (see `FileSystem.write`)."""
        planned, found = self.file.size, 0
        while chunk := stream.read(CHUNK_BYTES):
            found += len(chunk)
            if found > planned:
                break
            self.copier.wait_for_rate(len(chunk))
            self.digest.update(chunk)
            self.size = found
            self.copier.passed(0, len(chunk))
            yield chunk
        if found != planned:
            detail = f"{planned} bytes were planned, and {'more' if found > planned else found} came"
            raise SourceChanged(path=self.file.source, detail=detail)

    def take_back(self) -> None:
        """Take back the bytes that were reported: the file starts again."""
        self.copier.passed(0, -self.size)


def _lowest(directories: set[CanonicalPath]) -> list[CanonicalPath]:
    """Return the directories that contain no other one: creating one creates those above it."""
    above: set[CanonicalPath] = set()
    for directory in directories:
        step = directory
        while step != step.root and step.parent not in above:
            step = step.parent
            above.add(step)
    return sorted(directories - above)
