"""Large files in ranges, each copied by itself, where the target's store joins them (ADR 0031)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import lcm
from typing import TYPE_CHECKING, Self

from toolkit.errors import StopRequested
from toolkit.storage import FileKind, StorageError
from toolkit.transfer.digests import PIECE_BYTES, joined
from toolkit.transfer.plan import Copied, FileCopy, FilePart, failure

if TYPE_CHECKING:
    from types import TracebackType

    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem, MultipartUpload, UploadedPart

LARGE_BYTES = 2 * PIECE_BYTES
"""A file of more bytes is copied in ranges: a smaller one is over before a second connection helps."""


@dataclass(kw_only=True)
class _Open:
    """An upload that is under way, and the outcomes of its ranges by their offsets; None of those that are to come."""

    upload: MultipartUpload
    ranges: dict[int, Copied | None]

    @property
    def is_whole(self) -> bool:
        return all(each is not None and not each.code for each in self.ranges.values())

    def outcome(self) -> Copied:
        """The outcome of the whole file."""
        found = [each for _, each in sorted(self.ranges.items()) if each is not None]
        return Copied(self.upload.path, self.upload.size, joined("".join(each.digest for each in found)))

    def parts(self) -> Iterator[UploadedPart]:
        for each in self.ranges.values():
            yield from each.parts if each else ()


@dataclass(kw_only=True)
class Uploads:
    """The files of one copy that go in ranges; those that were not completed in the body are given up at its end.

    Attributes:
        target: the store that joins them; one that cannot gets whole files.
        check: asked before each upload is begun.
        overwrite: replace what is there; else a file that is there fails.
    """

    target: FileSystem
    check: Callable[[], None]
    overwrite: bool = True
    _open: dict[CanonicalPath, _Open] = field(default_factory=dict, init=False)
    _refused: list[Copied] = field(default_factory=list, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __enter__(self) -> Self:
        """Nothing is begun yet."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give up what is not complete. What even this leaves is for `end_left_uploads` of the next run."""
        for each in self._open.values():
            with suppress(StorageError, StopRequested):
                self.target.abort_upload(each.upload)

    def divided(self, files: Sequence[FileCopy]) -> list[FileCopy]:
        """The same files, large ones in ranges."""
        if not self.target.capabilities.multipart:
            return list(files)
        return [part for file in files for part in self._ranges(file)]

    def add(self, outcome: Copied) -> Copied | None:
        """Add the outcome of a file or a range; called from any thread.

        Returns:
            The outcome of the file as soon as it is known; of one in ranges only when it is complete.
        """
        with self._lock:
            own = self._open.get(outcome.target)
            if own is None:
                return outcome
            own.ranges[outcome.offset] = outcome
            if not own.is_whole:
                return None
            del self._open[outcome.target]
        return self._completed(own)

    def failed(self) -> Iterator[Copied]:
        """Yield the outcome of each incomplete file that has a failed range; a file without outcomes has none."""
        yield from self._refused
        for each in self._open.values():
            failures = (found for found in each.ranges.values() if found is not None and found.code)
            for found in list(failures)[:1]:
                yield found._replace(offset=0, parts=())

    def _ranges(self, file: FileCopy) -> Iterator[FileCopy]:
        if file.size <= LARGE_BYTES or file.kind is not FileKind.FILE or file.part is not None:
            yield file
            return
        self.check()
        try:
            self.target.mkdirs(file.target.parent)
            upload = self.target.start_upload(file.target, file.size)
        except StorageError as error:
            self._refused.append(failure(file, error))
            return
        # Pieces have to be whole for the digest, and parts for the store.
        step = lcm(PIECE_BYTES, upload.part_bytes)
        offsets = range(0, file.size, step)
        self._open[file.target] = _Open(upload=upload, ranges=dict.fromkeys(offsets))
        for offset in offsets:
            yield file._replace(size=min(step, file.size - offset), part=FilePart(upload, offset))

    def _completed(self, own: _Open) -> Copied:
        try:
            self.target.complete_upload(own.upload, own.parts(), overwrite=self.overwrite)
        except StorageError as error:
            with suppress(StorageError, StopRequested):
                self.target.abort_upload(own.upload)
            return Copied(own.upload.path, code=error.code, message=str(error))
        return own.outcome()


def end_left_uploads(system: FileSystem, below: CanonicalPath) -> None:
    """End what killed runs have begun below a directory that is the caller's alone.

    It costs money and is in no listing; who may not list or end it copies all the same.
    """
    if system.capabilities.multipart:
        with suppress(StorageError):
            system.abort_uploads(below)
