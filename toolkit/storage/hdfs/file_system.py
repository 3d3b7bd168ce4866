"""HDFS through a client without a JVM (DESIGN section 5)."""

from __future__ import annotations

import io
import secrets
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from datetime import timedelta
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar, cast

from hdfs_native import AclEntry, Client, WriteOptions
from hdfs_native import FileStatus as HdfsStatus
from typing_extensions import override

from toolkit.storage.attributes import ANY_LAYOUT, BlockLayout
from toolkit.storage.base import BasicFileSystem, moment
from toolkit.storage.calls import BoundedCalls
from toolkit.storage.deletion import refuse_outside
from toolkit.storage.errors import (
    AlreadyExists,
    NotDone,
    NotEmpty,
    NotFound,
    OutsideBase,
    StorageError,
    Unreachable,
    WrongKind,
)
from toolkit.storage.hdfs.acl import acl_parts, full_acl
from toolkit.storage.hdfs.client import (
    PAGE,
    PIECE_BYTES,
    HdfsClient,
    HdfsStream,
    begun_file,
    by_code_point,
    opened_file,
    page_of,
)
from toolkit.storage.hdfs.few_removals import FewRemovals
from toolkit.storage.port import (
    OWN_PREFIX,
    Bindable,
    Capabilities,
    ContentSummary,
    Deleted,
    Entry,
    FileKind,
    FileStatus,
    is_staged,
)
from toolkit.storage.streams import in_pieces, ranged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime
    from typing import BinaryIO

    from hdfs_native._internal import AclEntryScope, AclEntryType, FsAction

    from toolkit.el import CanonicalPath
    from toolkit.storage.look import Look
    from toolkit.storage.port import StorageSpec


_Answer = TypeVar("_Answer")

_AT_A_TIME = 10
_SAME_ACCESS_TIME = 2**64 - 1
"""-1, which leaves the time of the last access alone, as the unsigned number that the library takes."""


def opened(spec: StorageSpec, before_effect: Callable[[], None]) -> HdfsFileSystem:
    """The HDFS of the spec; nothing is asked of it yet.

    Raises:
        InvalidInput: the settings cannot be used, or name another user than this process has.
    """
    return HdfsFileSystem(HdfsClient(spec, BoundedCalls()), before_effect)


class HdfsFileSystem(BasicFileSystem, Bindable):
    """A `FileSystem` on HDFS.

    Symbolic links are off on HDFS (HADOOP-10019), so none is ever found. A removal takes the whole tree at once, and
    past the trash. Owners, permissions, quotas and snapshots are the NameNode's own matter; what it says is passed on.

    A call that HDFS does not answer in time raises `Unreachable`, and **may still take effect**.

    Args:
        client: asks the NameNode.
        before_effect: called before every single change; what it raises stops the change.
    """

    capabilities = Capabilities(
        atomic_rename=True,
        atomic_delete=True,
        directories=True,
        permissions=True,
        times=True,
        conditional_put=True,
        parallel=16,
        time_step=timedelta(milliseconds=1),
        acls=True,
        blocks=True,
    )

    def __init__(self, client: HdfsClient, before_effect: Callable[[], None]) -> None:
        self._client, self._before_effect = client, before_effect

    @override
    def bound(self, before_effect: Callable[[], None]) -> HdfsFileSystem:
        return HdfsFileSystem(self._client, before_effect)

    @override
    def status(self, path: CanonicalPath) -> FileStatus:
        found = self._status(path)
        return FileStatus(
            path=path,
            kind=FileKind.DIRECTORY if found.isdir else FileKind.FILE,
            size=0 if found.isdir else found.length,
            modified=moment(found.modification_time / 1000),
            owner=found.owner,
            group=found.group,
            permission=found.permission,
            layout=ANY_LAYOUT if found.isdir else BlockLayout(found.blocksize or None, found.replication or None),
        )

    @override
    def list(self, path: CanonicalPath, *, start_from: str = "") -> Iterator[Entry]:
        """Read pages of 1,000 entries; entries before `start_from` are read as well."""
        for entry in by_code_point(self._pages(path), path):
            if entry.name >= start_from:
                yield entry

    @override
    def read(self, path: CanonicalPath, *, offset: int = 0, length: int | None = None) -> BinaryIO:
        """Limit each read of the stream to the time of a call; a small file is read in one call."""
        reader, content = self._client.bounded(path, lambda client: opened_file(client, path.path))
        if content is not None:
            return io.BytesIO(content[offset:] if length is None else content[offset : offset + length])
        stream = HdfsStream(
            reader,
            bounded=lambda call: self._client.bounded(path, lambda _: call()),
            lost=lambda: Unreachable(path=path, detail="an earlier read of it was not answered; open it again"),
        )
        stream.seek(offset)
        return ranged(cast("BinaryIO", io.BufferedReader(stream, PIECE_BYTES)), length)

    @override
    def write(self, path: CanonicalPath, chunks: Iterable[bytes], *, overwrite: bool = True) -> None:
        """Write under a temporary name in the same directory, then rename.

        In a directory without readers yet (`STAGING_PREFIX`) a file has its own name from the beginning.
        """
        self.write_in_blocks(path, chunks, ANY_LAYOUT, overwrite=overwrite)

    @override
    def write_in_blocks(
        self, path: CanonicalPath, chunks: Iterable[bytes], layout: BlockLayout, *, overwrite: bool = True
    ) -> None:
        if overwrite and is_staged(path):
            self._before_effect()
            with ExitStack() as unfinished:
                unfinished.callback(self._remove_unfinished, path)
                self._write_new(path, path, chunks, layout, overwrite=True)
                unfinished.pop_all()
            return
        self._refuse_directory(path)
        # The name must not depend on the target's, which may be as long as HDFS allows.
        temporary = path.parent.child(f"{OWN_PREFIX}-writing-{secrets.token_hex(8)}")
        self._before_effect()
        with ExitStack() as unfinished:
            unfinished.callback(self._remove_unfinished, temporary)
            self._write_new(path, temporary, chunks, layout, overwrite=False)
            self._change(path, lambda client: client.rename(temporary.path, path.path, overwrite))
            unfinished.pop_all()

    @override
    def mkdirs(self, path: CanonicalPath) -> None:
        self._change(path, lambda client: client.mkdirs(path.path, create_parent=True))

    @override
    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
        """The NameNode itself refuses to move over an entry; of a directory and a file it says the wrong kind."""
        try:
            self._change(target, lambda client: client.rename(source.path, target.path, overwrite=False))
        except (NotFound, WrongKind) as error:
            self._status(source)
            if isinstance(error, NotFound):
                raise
            raise AlreadyExists(path=target, detail=error.detail) from error

    @override
    def set_permission(self, path: CanonicalPath, permission: int) -> None:
        self._change(path, lambda client: client.set_permission(path.path, permission))

    @override
    def set_owner(self, path: CanonicalPath, *, owner: str | None = None, group: str | None = None) -> None:
        self._change(path, lambda client: client.set_owner(path.path, owner, group))

    @override
    def set_modified(self, path: CanonicalPath, modified: datetime) -> None:
        """Set the time with a precision of 1 ms."""
        milliseconds = round(modified.timestamp() * 1000)
        self._change(path, lambda client: client.set_times(path.path, milliseconds, _SAME_ACCESS_TIME))

    @override
    def acl(self, path: CanonicalPath) -> tuple[str, ...]:
        found = self._client.bounded(path, lambda client: client.get_acl_status(path.path))
        return full_acl(found.permission, [_text_of(entry) for entry in found.entries])

    @override
    def set_acl(self, path: CanonicalPath, entries: tuple[str, ...]) -> None:
        parts = acl_parts(path, entries)
        listed = [
            AclEntry(cast("AclEntryType", kind), cast("AclEntryScope", scope), cast("FsAction", action), name or None)
            for scope, kind, name, action in parts
        ]
        self._change(path, lambda client: client.remove_acl(path.path))
        if listed:
            self._change(path, lambda client: client.set_acl(path.path, listed))

    @override
    def delete(self, path: CanonicalPath, *, below: CanonicalPath, look: Look | None = None) -> None:
        """Delete in one call, at once."""
        refuse_outside(path, below)
        if not self._change(path, lambda client: client.delete(path.path, recursive=True), look):
            raise NotFound(path=path)

    @override
    def delete_all(self, paths: Iterable[CanonicalPath], *, below: CanonicalPath, first: str = "") -> Iterator[Deleted]:
        """Ignore `first`, since each path goes at once.

        HDFS has no bulk call. A few removals at a time are handed to one thread, since the handing over costs as
        much as a removal; whether they may happen is asked for all of them just before.
        """
        del first
        waiting = iter(paths)
        while few := list(islice(waiting, _AT_A_TIME)):
            silence: Unreachable | None = None
            for deleted in self._delete_few(few, below):
                yield deleted
                silence = deleted.error if isinstance(deleted.error, Unreachable) else silence
            if silence is not None:
                yield from (Deleted(path, NotDone(path=path, detail=silence.detail)) for path in waiting)

    def _delete_few(self, paths: Sequence[CanonicalPath], below: CanonicalPath) -> Iterator[Deleted]:
        inside = []
        for path in paths:
            try:
                refuse_outside(path, below)
            except OutsideBase as error:
                yield Deleted(path, error)
            else:
                inside.append(path)
        few = FewRemovals(inside)
        for _ in few.paths:
            self._before_effect()
        try:
            self._client.bounded(below, few.remove)
        except Unreachable as error:
            few.give_up(error.detail)
        yield from few.answered()

    @override
    def remove_if_empty(self, path: CanonicalPath, *, below: CanonicalPath) -> bool:
        """Check for a file first, then remove with the non-recursive delete.

        The NameNode removes a directory only when it is empty, in one step. It has no removal that leaves a file
        alone, so what is there is looked at first. A directory that another program replaces by a file of the same
        name between these two calls would lose that file; `hdfs dfs -rmdir` has the same gap. It is under a millisecond
        when nothing waits, but a run also waits in it for its turn (`delete_rate`), and while it is suspended.
        """
        refuse_outside(path, below)
        try:
            if not self._status(path).isdir:
                raise WrongKind(path=path, detail="a file")
            return self._change(path, lambda client: client.delete(path.path, recursive=False))
        except (NotEmpty, NotFound):
            return False

    @override
    def content_summary(self, path: CanonicalPath) -> ContentSummary:
        """Send one call, which the NameNode answers from its memory."""
        found = self._client.bounded(path, lambda client: client.get_content_summary(path.path))
        return ContentSummary(files=found.file_count, directories=found.directory_count, size=found.length)

    def _status(self, path: CanonicalPath) -> HdfsStatus:
        try:
            return self._client.bounded(path, lambda client: client.get_file_info(path.path))
        except WrongKind as error:
            raise NotFound(path=path, detail=error.detail) from error

    def _refuse_directory(self, path: CanonicalPath) -> None:
        with suppress(NotFound):
            if self._status(path).isdir:
                raise WrongKind(path=path, detail="a directory")

    def _change(self, path: CanonicalPath, call: Callable[[Client], _Answer], look: Look | None = None) -> _Answer:
        (self._before_effect if look is None else look.let_through)()
        return self._client.bounded(path, call)

    def _pages(self, path: CanonicalPath) -> Iterator[Entry]:
        """Yield the entries of a listing page by page; the library requests a page when its first entry is taken."""

        def first(client: Client) -> tuple[Iterator[HdfsStatus], list[Entry] | None]:
            statuses = client.list_status(path.path)
            return statuses, page_of(statuses, path.path)

        statuses, page = self._client.bounded(path, first)
        while page is not None:
            yield from page
            if len(page) < PAGE:
                return
            page = self._client.bounded(path, lambda _: page_of(statuses, path.path))
        raise WrongKind(path=path, detail="a file")

    def _remove_unfinished(self, temporary: CanonicalPath) -> None:
        """Nothing that was there changes, so this is done also when the run was told to stop."""
        with suppress(StorageError):
            self._client.bounded(temporary, lambda client: client.delete(temporary.path, recursive=False))

    def _write_new(
        self,
        path: CanonicalPath,
        place: CanonicalPath,
        chunks: Iterable[bytes],
        layout: BlockLayout,
        *,
        overwrite: bool,
    ) -> None:
        """Write a file where it is to be, or under another name for now; errors are those of the path."""
        options = WriteOptions(*layout, overwrite=overwrite, create_parent=False)
        pieces = (piece for chunk in chunks for piece in in_pieces(chunk, PIECE_BYTES))
        first, second = next(pieces, b""), next(pieces, None)
        # A file of one piece is one call: handing it to the thread that has the time limit costs as much as the call.
        writer = self._client.bounded(path, lambda client: begun_file(client, place, options, first, second))
        if second is None:
            return
        for piece in chain([second], pieces):
            self._client.bounded(path, lambda _, piece=piece: writer.write(piece))  # type: ignore[misc]
        self._client.bounded(path, lambda _: writer.close())


def _text_of(entry: AclEntry) -> str:
    start = "default:" if entry.scope == "default" else ""
    return f"{start}{entry.type}:{entry.name or ''}:{entry.permissions}"
