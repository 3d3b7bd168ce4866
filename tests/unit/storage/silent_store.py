"""A store that is silent when it is told to, and a clock without waiting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from io import BytesIO
from typing import BinaryIO

from toolkit.el import CanonicalPath
from toolkit.storage import (
    BasicFileSystem,
    BlockLayout,
    Capabilities,
    ContentSummary,
    Deleted,
    Entry,
    FileKind,
    FileStatus,
    Look,
    MultipartUpload,
    NotDone,
    NotFound,
    Unreachable,
    UploadedPart,
)

BASE = CanonicalPath("hdfs", "ns1", "/base")
_CAN = Capabilities(
    atomic_rename=True,
    atomic_delete=True,
    directories=True,
    permissions=True,
    times=True,
    conditional_put=True,
    parallel=16,
)


@dataclass(kw_only=True)
class Clock:
    """Time that passes only in `sleep`."""

    seconds: float = 1000.0
    slept: list[float] = field(default_factory=list)

    def now(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds
        self.slept.append(seconds)


@dataclass(kw_only=True)
class SilentStore(BasicFileSystem):
    """Names below `BASE`; a call takes `takes` seconds when it is not answered.

    Attributes:
        silent: how many of the next calls are not answered.
        is_lost: what an unanswered call asked for happens all the same.
        mute: paths about which it never answers.
        breaks_after: a listing breaks off after so many entries; one only when it `breaks_once`.
        busy: how many of the next removals it refuses for now.
        flat: it has keys and no directories; a name with a slash behind it is a common beginning.
    """

    clock: Clock
    names: dict[str, FileKind] = field(default_factory=dict)
    silent: int = 0
    is_lost: bool = False
    mute: frozenset[CanonicalPath] = frozenset()
    takes: float = 30.0
    breaks_after: int = 10**9
    breaks_once: bool = False
    busy: int = 0
    flat: bool = False
    calls: list[str] = field(default_factory=list)
    written: list[bytes] = field(default_factory=list)

    @property
    def capabilities(self) -> Capabilities:
        return replace(_CAN, directories=not self.flat)

    def status(self, path: CanonicalPath) -> FileStatus:
        self._answer("status", path)
        if path.name not in self.names:
            raise NotFound(path=path)
        return FileStatus(path=path, kind=self.names[path.name], size=0, modified=datetime(2020, 1, 1, tzinfo=UTC))

    def list(self, path: CanonicalPath, *, start_from: str = "") -> Iterator[Entry]:
        self._answer("list", path)
        given = 0
        for name in sorted(self.names):
            if name < start_from:
                continue
            if given == self.breaks_after:
                self.breaks_after = 10**9 if self.breaks_once else self.breaks_after
                self._silence(path)
            given += 1
            yield Entry(name.removesuffix("/"), self.names[name])

    def list_tree(self, path: CanonicalPath) -> Iterator[Entry]:
        """As flat stores do; one with directories is asked for one listing after the other."""
        return self.list(path)

    def checksum(self, path: CanonicalPath) -> None:
        self._answer("checksum", path)

    def acl(self, path: CanonicalPath) -> tuple[str, ...]:
        self._answer("acl", path)
        return ()

    def set_acl(self, path: CanonicalPath, entries: tuple[str, ...]) -> None:
        del entries
        self._answer("set_acl", path)

    def xattrs(self, path: CanonicalPath) -> dict[str, bytes]:
        self._answer("xattrs", path)
        return {}

    def set_xattr(self, path: CanonicalPath, name: str, value: bytes) -> None:
        del name, value
        self._answer("set_xattr", path)

    def start_upload(self, path: CanonicalPath, size: int) -> MultipartUpload:
        self._answer("start_upload", path)
        return MultipartUpload(path=path, size=size, part_bytes=1, token="")

    def put_range(self, upload: MultipartUpload, offset: int, chunks: Iterable[bytes]) -> tuple[UploadedPart, ...]:
        self.written = list(chunks)
        self._answer("put_range", upload.path)
        return (UploadedPart(offset, 1, ""),)

    def complete_upload(
        self, upload: MultipartUpload, parts: Iterable[UploadedPart], *, overwrite: bool = True
    ) -> None:
        del parts, overwrite
        self._answer("complete_upload", upload.path)

    def abort_upload(self, upload: MultipartUpload) -> None:
        self._answer("abort_upload", upload.path)

    def abort_uploads(self, below: CanonicalPath) -> int:
        self._answer("abort_uploads", below)
        return 0

    def close(self) -> None:
        self.calls.append("close")

    def read(self, path: CanonicalPath, *, offset: int = 0, length: int | None = None) -> BinaryIO:
        self._answer("read", path)
        return BytesIO(b"content"[offset:][:length])

    def write(self, path: CanonicalPath, chunks: Iterable[bytes], *, overwrite: bool = True) -> None:
        del overwrite
        self.written = list(chunks)
        self._answer("write", path)

    def write_in_blocks(
        self, path: CanonicalPath, chunks: Iterable[bytes], layout: BlockLayout, *, overwrite: bool = True
    ) -> None:
        del chunks, layout, overwrite
        self._answer("write_in_blocks", path)

    def may_use_raw(self, path: CanonicalPath) -> bool:
        self._answer("may_use_raw", path)
        return True

    def mkdirs(self, path: CanonicalPath) -> None:
        self._answer("mkdirs", path)

    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
        del target
        self._answer("rename", source)

    def set_permission(self, path: CanonicalPath, permission: int) -> None:
        del permission
        self._answer("set_permission", path)

    def set_owner(self, path: CanonicalPath, *, owner: str | None = None, group: str | None = None) -> None:
        del owner, group
        self._answer("set_owner", path)

    def set_modified(self, path: CanonicalPath, modified: datetime) -> None:
        del modified
        self._answer("set_modified", path)

    def delete(self, path: CanonicalPath, *, below: CanonicalPath, look: Look | None = None) -> None:
        del below
        if look is not None:
            look.let_through()
        self._answer("delete", path, lambda: self.names.pop(path.name, None))
        if self.busy > 0:
            self.busy -= 1
            raise NotDone(path=path, detail="safe mode")
        if self.names.pop(path.name, None) is None:
            raise NotFound(path=path)

    def delete_all(self, paths: Iterable[CanonicalPath], *, below: CanonicalPath, first: str = "") -> Iterator[Deleted]:
        del first
        for path in paths:
            try:
                self.delete(path, below=below)
            except (NotFound, Unreachable) as error:
                yield Deleted(path, error)
            else:
                yield Deleted(path, None)

    def remove_if_empty(self, path: CanonicalPath, *, below: CanonicalPath) -> bool:
        del below
        self._answer("remove_if_empty", path)
        return True

    def content_summary(self, path: CanonicalPath) -> ContentSummary:
        self._answer("content_summary", path)
        return ContentSummary(files=1, directories=0, size=7)

    def _answer(self, call: str, path: CanonicalPath, effect: Callable[[], object] = lambda: None) -> None:
        self.calls.append(call)
        if self.silent > 0:
            self.silent -= 1
            if self.is_lost:
                effect()
            self._silence(path)
        if path in self.mute:
            self._silence(path)

    def _silence(self, path: CanonicalPath) -> None:
        self.clock.seconds += self.takes
        raise Unreachable(path=path, detail="no answer")
