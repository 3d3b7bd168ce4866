"""Waiting for a store that is silent for a while: a NameNode restarts, S3 asks to slow down (DESIGN section 5)."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import dropwhile
from typing import TYPE_CHECKING, TypeVar

from typing_extensions import override

from toolkit.storage.base import tree_below
from toolkit.storage.calls import PATIENCE_SECONDS
from toolkit.storage.errors import NotBegun, NotDone, NotFound, Unreachable, about_path
from toolkit.storage.port import Deleted, FileKind, FileSystem

if TYPE_CHECKING:
    from datetime import datetime
    from typing import BinaryIO

    from toolkit.el import CanonicalPath
    from toolkit.storage.attributes import BlockLayout, Checksum
    from toolkit.storage.look import Look
    from toolkit.storage.multipart import MultipartUpload, UploadedPart
    from toolkit.storage.port import Capabilities, ContentSummary, Entry, FileStatus

_Answer = TypeVar("_Answer")
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 5.0
_BETWEEN_CHECKS = 0.5


@dataclass(kw_only=True, slots=True)
class Silence:
    """Time for which a store has not answered.

    Attributes:
        since: the first unanswered call after an answer; None: it answers.
        given_up: why it is not asked again; None: it is.
    """

    since: float | None = None
    given_up: str | None = None


@dataclass(kw_only=True)
class PatientFileSystem(FileSystem):
    """Repeats what can be repeated until the store answers, or has been silent for too long.

    The silence counts from the first unanswered call after an answer, over all threads. Once patience is over, every
    further call fails at once: a run with ten thousand items must not wait for each of them. A single call that is
    never answered, while others are, is given up after as long; the store is not.

    Attributes:
        inner: the store.
        check: called while waiting; what it raises ends the wait.
        patience: seconds of silence after which the store is given up.
        now: seconds of a clock that only goes forward.
        sleep: waits so many seconds.
        silence: of the store; shared by all views of it, or each of many runs would wait for a dead store anew.
    """

    inner: FileSystem
    check: Callable[[], None]
    patience: float = PATIENCE_SECONDS
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    silence: Silence = field(default_factory=Silence)

    @property
    @override
    def capabilities(self) -> Capabilities:
        return self.inner.capabilities

    @override
    def status(self, path: CanonicalPath) -> FileStatus:
        return self._call(path, lambda: self.inner.status(path))

    @override
    def list(self, path: CanonicalPath, *, start_from: str = "") -> Iterator[Entry]:
        """Resume a broken listing behind the last entry that was yielded."""
        return self._whole(path, lambda last: self.inner.list(path, start_from=start_from if last is None else last))

    @override
    def list_tree(self, path: CanonicalPath) -> Iterator[Entry]:
        """Resume a broken listing in the same directory; on flat stores list again, and skip what was yielded."""
        if self.capabilities.directories:
            return tree_below(path, self.list)
        return self._whole(path, lambda _: self.inner.list_tree(path))

    def _whole(self, path: CanonicalPath, listed: Callable[[str | None], Iterator[Entry]]) -> Iterator[Entry]:
        """Yield all entries of a listing that can be repeated from a name on; None: from its beginning."""
        last: Entry | None = None
        stalled, wait = last, _Wait(self)
        while True:
            try:
                for entry in self._rest(path, listed, last):
                    self.silence.since = None
                    last = entry
                    yield entry
            except Unreachable as error:
                if last is not stalled:
                    stalled, wait = last, _Wait(self)
                wait.after(error)
            else:
                return

    @override
    def read(self, path: CanonicalPath, *, offset: int = 0, length: int | None = None) -> BinaryIO:
        """Repeat only the opening."""
        return self._call(path, lambda: self.inner.read(path, offset=offset, length=length))

    @override
    def checksum(self, path: CanonicalPath) -> Checksum | None:
        return self._call(path, lambda: self.inner.checksum(path))

    @override
    def acl(self, path: CanonicalPath) -> tuple[str, ...]:
        return self._call(path, lambda: self.inner.acl(path))

    @override
    def set_acl(self, path: CanonicalPath, entries: tuple[str, ...]) -> None:
        self._call(path, lambda: self.inner.set_acl(path, entries))

    @override
    def xattrs(self, path: CanonicalPath) -> Mapping[str, bytes]:
        return self._call(path, lambda: self.inner.xattrs(path))

    @override
    def set_xattr(self, path: CanonicalPath, name: str, value: bytes) -> None:
        self._call(path, lambda: self.inner.set_xattr(path, name, value))

    @override
    def close(self) -> None:
        self.inner.close()

    @override
    def write(self, path: CanonicalPath, chunks: Iterable[bytes], *, overwrite: bool = True) -> None:
        """Repeat only if the chunks are a list, which can be read again, and overwriting is allowed."""
        if overwrite and isinstance(chunks, Sequence):
            self._call(path, lambda: self.inner.write(path, chunks, overwrite=overwrite))
        else:
            self._once(path, lambda: self.inner.write(path, chunks, overwrite=overwrite))

    @override
    def write_in_blocks(
        self, path: CanonicalPath, chunks: Iterable[bytes], layout: BlockLayout, *, overwrite: bool = True
    ) -> None:
        """Never repeat: only copies are written so, whose chunks are read once."""
        self._once(path, lambda: self.inner.write_in_blocks(path, chunks, layout, overwrite=overwrite))

    @override
    def start_upload(self, path: CanonicalPath, size: int) -> MultipartUpload:
        """Repeat: the upload of an unanswered try is not visible to readers."""
        return self._call(path, lambda: self.inner.start_upload(path, size))

    @override
    def put_range(self, upload: MultipartUpload, offset: int, chunks: Iterable[bytes]) -> tuple[UploadedPart, ...]:
        """Repeat only if the chunks are a list, which can be read again."""
        if isinstance(chunks, Sequence):
            return self._call(upload.path, lambda: self.inner.put_range(upload, offset, chunks))
        return self._once(upload.path, lambda: self.inner.put_range(upload, offset, chunks))

    @override
    def complete_upload(
        self, upload: MultipartUpload, parts: Iterable[UploadedPart], *, overwrite: bool = True
    ) -> None:
        """Never repeat, as for a rename."""
        self._once(upload.path, lambda: self.inner.complete_upload(upload, parts, overwrite=overwrite))

    @override
    def abort_upload(self, upload: MultipartUpload) -> None:
        self._call(upload.path, lambda: self.inner.abort_upload(upload))

    @override
    def abort_uploads(self, below: CanonicalPath) -> int:
        return self._call(below, lambda: self.inner.abort_uploads(below))

    @override
    def mkdirs(self, path: CanonicalPath) -> None:
        self._call(path, lambda: self.inner.mkdirs(path))

    @override
    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
        """Never repeat: a second writer and a lost answer look the same."""
        self._once(source, lambda: self.inner.rename(source, target))

    @override
    def may_use_raw(self, path: CanonicalPath) -> bool:
        return self._call(path, lambda: self.inner.may_use_raw(path))

    @override
    def set_permission(self, path: CanonicalPath, permission: int) -> None:
        self._call(path, lambda: self.inner.set_permission(path, permission))

    @override
    def set_owner(self, path: CanonicalPath, *, owner: str | None = None, group: str | None = None) -> None:
        self._call(path, lambda: self.inner.set_owner(path, owner=owner, group=group))

    @override
    def set_modified(self, path: CanonicalPath, modified: datetime) -> None:
        self._call(path, lambda: self.inner.set_modified(path, modified))

    @override
    def delete(self, path: CanonicalPath, *, below: CanonicalPath, look: Look | None = None) -> None:
        """Repeat only what was refused for now: by a second call, what was not answered may have been made anew."""
        is_repeated = False

        def remove() -> None:
            nonlocal is_repeated
            try:
                self.inner.delete(path, below=below, look=look)
            except NotFound:  # the try before may have removed all but the answer
                if not is_repeated:
                    raise
            finally:
                is_repeated = True

        self._call(path, remove, NotDone)

    @override
    def delete_all(self, paths: Iterable[CanonicalPath], *, below: CanonicalPath, first: str = "") -> Iterator[Deleted]:
        """Repeat, as for `delete`, only the paths that were refused for now."""
        waiting, wait, is_repeated = list(paths), _Wait(self), False
        while waiting:
            refused: dict[CanonicalPath, NotDone] = {}
            for deleted in self._deleted_once(waiting, below, first):
                if isinstance(deleted.error, NotDone):
                    refused[deleted.path] = deleted.error
                elif not (is_repeated and isinstance(deleted.error, NotBegun)):  # then the try before may have begun
                    if not isinstance(deleted.error, Unreachable):
                        self.silence.since, wait = None, _Wait(self)
                    is_gone = is_repeated and isinstance(deleted.error, NotFound)
                    yield Deleted(deleted.path, None) if is_gone else deleted
            try:
                for error in list(refused.values())[:1]:
                    wait.after(error)
            except Unreachable:
                yield from (Deleted(path, error) for path, error in refused.items())
                return
            waiting, is_repeated = list(refused), True

    @override
    def remove_if_empty(self, path: CanonicalPath, *, below: CanonicalPath) -> bool:
        return self._call(path, lambda: self.inner.remove_if_empty(path, below=below))

    @override
    def content_summary(self, path: CanonicalPath) -> ContentSummary:
        return self._call(path, lambda: self.inner.content_summary(path))

    def _deleted_once(self, paths: Sequence[CanonicalPath], below: CanonicalPath, first: str) -> Iterator[Deleted]:
        """One try; also a store that breaks off in its middle says something about each path."""
        left = dict.fromkeys(paths)
        try:
            self._refuse_given_up(below)
            for deleted in self.inner.delete_all(paths, below=below, first=first):
                left.pop(deleted.path, None)
                yield deleted
        except Unreachable as error:
            for path in left:
                yield Deleted(path, about_path(error, path))

    def _rest(
        self, path: CanonicalPath, listed: Callable[[str | None], Iterator[Entry]], last: Entry | None
    ) -> Iterator[Entry]:
        """The entries behind the last one that was given; nothing is left out of a listing that did not break off."""
        self._refuse_given_up(path)
        if last is None:
            yield from listed(None)
            return
        listing, given = listed(last.name), self._place(last)
        yield from dropwhile(lambda entry: self._place(entry) <= given, listing)

    def _place(self, entry: Entry) -> str:
        """Return the position of the entry in a listing; see `FileSystem.list`."""
        is_prefix = entry.kind is FileKind.DIRECTORY and not self.capabilities.directories
        return f"{entry.name}/" if is_prefix else entry.name

    def _once(self, path: CanonicalPath, call: Callable[[], _Answer]) -> _Answer:
        self._refuse_given_up(path)
        answer = call()
        self.silence.since = None
        return answer

    def _call(
        self, path: CanonicalPath, call: Callable[[], _Answer], repeated: type[Unreachable] = Unreachable
    ) -> _Answer:
        """The answer; the way without trouble costs next to nothing."""
        wait: _Wait | None = None
        while True:
            try:
                return self._once(path, call)
            except repeated as error:
                wait = wait or _Wait(self)
                wait.after(error)

    def _refuse_given_up(self, path: CanonicalPath) -> None:
        if self.silence.given_up is not None:
            raise Unreachable(path=path, detail=self.silence.given_up)

    def is_over(self, began: float, why: str) -> bool:
        """Return whether waiting ends: for a call that has been silent since then, or for the store.

        Other threads may find an answer meanwhile, so what is decided on is read once.
        """
        now, silence = self.now(), self.silence
        since = silence.since
        if since is None:
            silence.since = since = now
        if silence.given_up is None and now - since >= self.patience:
            silence.given_up = f"no answer for {self.patience:.0f} s, so it is not asked again in this run: {why}"
        return silence.given_up is not None or now - began >= self.patience

    def pause(self, seconds: float) -> None:
        """In short pieces, so that a run that is told to stop does."""
        while seconds > 0:
            self.check()
            self.sleep(min(seconds, _BETWEEN_CHECKS))
            seconds -= _BETWEEN_CHECKS


class _Wait:
    """The waiting of one call, or of one stretch of a listing: longer each time."""

    def __init__(self, system: PatientFileSystem) -> None:
        self._system = system
        self._began: float | None = None
        self._pause = _FIRST_PAUSE

    def after(self, error: Unreachable) -> None:
        """Wait before another try.

        Raises:
            Unreachable: the one that is given, when patience is over.
        """
        if self._began is None:
            self._began = self._system.now()
        if self._system.is_over(self._began, error.detail):
            raise error
        # Not all threads at the same moment.
        self._system.pause(self._pause * random.uniform(0.7, 1.0))  # noqa: S311 - no secret
        self._pause = min(self._pause * 2, _LONGEST_PAUSE)
