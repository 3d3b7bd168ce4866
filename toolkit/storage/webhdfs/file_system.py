"""A NameNode's JSON about one entry, or about a tree, as the port's values."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from toolkit.storage.deletion import delete_each, refuse_outside
from toolkit.storage.errors import (
    AlreadyExists,
    NotEmpty,
    NotFound,
    StorageError,
    StorageFailure,
    SymlinkRefused,
    WrongKind,
)
from toolkit.storage.hadoop_conf import hadoop_settings
from toolkit.storage.port import OWN_PREFIX, Capabilities, ContentSummary, Deleted, Entry, FileKind, FileStatus
from toolkit.storage.webhdfs.endpoints import name_node_urls, session_of
from toolkit.storage.webhdfs.requests import NameNodes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import BinaryIO

    from toolkit.el import CanonicalPath
    from toolkit.storage.look import Look
    from toolkit.storage.port import StorageSpec


_KINDS = {"FILE": FileKind.FILE, "DIRECTORY": FileKind.DIRECTORY, "SYMLINK": FileKind.SYMLINK}


@contextmanager
def understood(path: CanonicalPath) -> Iterator[None]:
    """An answer without what is looked for comes from something else than WebHDFS."""
    try:
        yield
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise StorageFailure(path=path, detail=f"the answer is not that of WebHDFS: {error!r}") from error


def status_of(path: CanonicalPath, answer: object) -> FileStatus:
    """The status in an answer to GETFILESTATUS.

    Raises:
        StorageFailure: the answer is not one of WebHDFS.
    """
    with understood(path):
        found = _member(answer, "FileStatus")
        kind = _KINDS.get(_text(found, "type"), FileKind.OTHER)
        return FileStatus(
            path=path,
            kind=kind,
            size=_number(found, "length") if kind is FileKind.FILE else 0,
            modified=datetime.fromtimestamp(_number(found, "modificationTime") / 1000, UTC),
            owner=_text(found, "owner"),
            group=_text(found, "group"),
            permission=int(_text(found, "permission"), 8),
        )


def entries_of(path: CanonicalPath, answer: object) -> list[Entry]:
    """The entries in an answer to LISTSTATUS, as they came; for a file it is one without a name.

    Raises:
        StorageFailure: the answer is not one of WebHDFS.
    """
    with understood(path):
        found = _member(_member(answer, "FileStatuses"), "FileStatus")
        if not isinstance(found, list):
            raise TypeError(found)
        return [Entry(_text(each, "pathSuffix"), _KINDS.get(_text(each, "type"), FileKind.OTHER)) for each in found]


def summary_of(path: CanonicalPath, answer: object) -> ContentSummary:
    """The sums in an answer to GETCONTENTSUMMARY, without what only snapshots still have.

    Raises:
        StorageFailure: the answer is not one of WebHDFS.
    """
    with understood(path):
        found = _member(answer, "ContentSummary")
        return ContentSummary(
            files=_number(found, "fileCount") - _number(found, "snapshotFileCount", 0),
            directories=_number(found, "directoryCount") - _number(found, "snapshotDirectoryCount", 0),
            size=_number(found, "length") - _number(found, "snapshotLength", 0),
        )


def was_done(path: CanonicalPath, answer: object) -> bool:
    """What an operation says that it did or did not.

    Raises:
        StorageFailure: the answer is not one of WebHDFS; silence confirms nothing.
    """
    with understood(path):
        found = _member(answer, "boolean")
        if not isinstance(found, bool):
            raise TypeError(found)
        return found


def _member(answer: object, key: str) -> object:
    if not isinstance(answer, dict):
        raise TypeError(answer)
    found: object = answer[key]
    return found


def _text(answer: object, key: str) -> str:
    found = _member(answer, key)
    if not isinstance(found, str):
        raise TypeError(found)
    return found


def _number(answer: object, key: str, default: int | None = None) -> int:
    """A number; where older versions do not tell it, the default."""
    if default is not None and isinstance(answer, dict) and key not in answer:
        return default
    found = _member(answer, key)
    if not isinstance(found, int):
        raise TypeError(found)
    return found


def opened(spec: StorageSpec, before_effect: Callable[[], None]) -> WebHdfsFileSystem:
    """The WebHDFS of the spec; nothing is asked of it yet.

    Raises:
        InvalidInput: the settings cannot be used, or Kerberos is asked for and not installed.
    """
    settings = hadoop_settings(spec)
    urls = name_node_urls(spec.scheme, spec.authority, settings)
    return WebHdfsFileSystem(NameNodes(urls, session_of(spec, urls, settings)), before_effect)


class WebHdfsFileSystem:
    """A `FileSystem` on HDFS over HTTP.

    Symbolic links are off on HDFS (HADOOP-10019). A removal takes the whole tree at once, and past the trash. A call
    that is not answered in time raises `Unreachable`, and **may still take effect**.

    Args:
        name_nodes: sends the requests.
        before_effect: called before every single change; what it raises stops the change.
    """

    capabilities = Capabilities(
        atomic_rename=True,
        atomic_delete=True,
        directories=True,
        permissions=True,
        times=True,
        conditional_put=True,
        parallel=8,
    )

    def __init__(self, name_nodes: NameNodes, before_effect: Callable[[], None]) -> None:
        self._name_nodes, self._before_effect = name_nodes, before_effect

    def bound(self, before_effect: Callable[[], None]) -> WebHdfsFileSystem:
        """See `Bindable.bound`."""
        return WebHdfsFileSystem(self._name_nodes, before_effect)

    def status(self, path: CanonicalPath) -> FileStatus:
        """See `FileSystem.status`."""
        try:
            return status_of(path, self._name_nodes.answer("GET", path, "GETFILESTATUS"))
        except WrongKind as error:
            raise NotFound(path=path, detail=error.detail) from error

    def list(self, path: CanonicalPath, *, start_from: str = "") -> Iterator[Entry]:
        """See `FileSystem.list`; WebHDFS gives a whole directory in one answer, all of which is held.

        LISTSTATUS_BATCH would give pages, but Hadoop 3.4 decodes the name to go on behind twice: behind a name with
        ``%`` in it, the next page repeats names or leaves some out.
        """
        entries = entries_of(path, self._name_nodes.answer("GET", path, "LISTSTATUS"))
        if any(not entry.name for entry in entries):
            raise WrongKind(path=path, detail="a file")
        yield from sorted(entry for entry in entries if entry.name >= start_from)

    def read(self, path: CanonicalPath) -> BinaryIO:
        """See `FileSystem.read`; it can't be gone back in. Each piece that is read has the time limit of a call."""
        return self._name_nodes.opened(path)

    def write(self, path: CanonicalPath, chunks: Iterable[bytes], *, overwrite: bool = True) -> None:
        """See `FileSystem.write`; first under a temporary name in the same directory, then moved to its own."""
        with suppress(NotFound):
            if self.status(path).kind is FileKind.DIRECTORY:
                raise WrongKind(path=path, detail="a directory")
        # The name must not depend on the target's, which may be as long as HDFS allows.
        temporary = path.parent.child(f"{OWN_PREFIX}-writing-{secrets.token_hex(8)}")
        is_moved = False
        try:
            self._write_new(path, temporary, chunks)
            self._move(temporary, path, "OVERWRITE" if overwrite else "NONE")
            is_moved = True
        finally:
            if not is_moved:
                # Not a change of anything that was there, so nothing is asked first.
                with suppress(StorageError):
                    self._name_nodes.answer("DELETE", temporary, "DELETE", recursive="false")

    def mkdirs(self, path: CanonicalPath) -> None:
        """See `FileSystem.mkdirs`."""
        self._change("PUT", path, "MKDIRS")

    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
        """See `FileSystem.rename`; the NameNode itself refuses to move over anything.

        HttpFS does not know how to refuse, and would move into a directory, so the target is looked at first.
        """
        if self._is_there(target):
            raise AlreadyExists(path=target)
        if not self._is_there(source):
            raise NotFound(path=source)
        self._move(source, target, "NONE")

    def set_permission(self, path: CanonicalPath, permission: int) -> None:
        """See `FileSystem.set_permission`; HDFS has the nine bits and the sticky one."""
        self._effect("PUT", path, "SETPERMISSION", permission=f"{permission:o}")

    def set_owner(self, path: CanonicalPath, *, owner: str | None = None, group: str | None = None) -> None:
        """See `FileSystem.set_owner`."""
        given = {key: name for key, name in (("owner", owner), ("group", group)) if name is not None}
        if given:
            self._effect("PUT", path, "SETOWNER", **given)
        else:
            self.status(path)

    def set_modified(self, path: CanonicalPath, modified: datetime) -> None:
        """See `FileSystem.set_modified`; to the millisecond, and not before 1970."""
        milliseconds = round(modified.timestamp() * 1000)
        self._effect("PUT", path, "SETTIMES", modificationtime=str(milliseconds), accesstime="-1")

    def delete(self, path: CanonicalPath, *, below: CanonicalPath, look: Look | None = None) -> None:
        """See `FileSystem.delete`; one call, and all of it goes at once."""
        refuse_outside(path, below)
        try:
            (self._before_effect if look is None else look.let_through)()
            if not was_done(path, self._name_nodes.answer("DELETE", path, "DELETE", recursive="true")):
                raise NotFound(path=path)
        except WrongKind as error:
            raise NotFound(path=path, detail=error.detail) from error

    def delete_all(self, paths: Iterable[CanonicalPath], *, below: CanonicalPath, first: str = "") -> Iterator[Deleted]:
        """See `FileSystem.delete_all`; there is no bulk call, and `first` means nothing where all goes at once."""
        del first
        return delete_each(self, paths, below)

    def remove_if_empty(self, path: CanonicalPath, *, below: CanonicalPath) -> bool:
        """See `FileSystem.remove_if_empty`.

        The NameNode removes a directory only when it is empty, in one step. It has no removal that leaves a file
        alone, so what is there is looked at first, as on `hdfs:` storage and by ``hdfs dfs -rmdir``.
        """
        refuse_outside(path, below)
        try:
            found = self.status(path)
            if found.kind is FileKind.SYMLINK:
                raise SymlinkRefused(path=path)
            if found.kind is not FileKind.DIRECTORY:
                raise WrongKind(path=path, detail="a file")
            return self._change("DELETE", path, "DELETE", recursive="false")
        except (NotEmpty, NotFound):
            return False

    def content_summary(self, path: CanonicalPath) -> ContentSummary:
        """See `FileSystem.content_summary`; one call, which the NameNode answers from its memory."""
        return summary_of(path, self._name_nodes.answer("GET", path, "GETCONTENTSUMMARY"))

    def _is_there(self, path: CanonicalPath) -> bool:
        try:
            self.status(path)
        except NotFound:
            return False
        return True

    def _change(self, method: str, path: CanonicalPath, op: str, **params: str) -> bool:
        return was_done(path, self._effect(method, path, op, **params))

    def _effect(self, method: str, path: CanonicalPath, op: str, **params: str) -> object:
        self._before_effect()
        return self._name_nodes.answer(method, path, op, **params)

    def _write_new(self, path: CanonicalPath, temporary: CanonicalPath, chunks: Iterable[bytes]) -> None:
        self._before_effect()
        self._name_nodes.sent(temporary, chunks, about=path)

    def _move(self, source: CanonicalPath, target: CanonicalPath, options: str) -> None:
        try:
            answer = self._effect("PUT", source, "RENAME", destination=target.path, renameoptions=options)
        except WrongKind as error:
            # A directory came to where the file goes, or something to where the directory goes.
            kind = WrongKind if options == "OVERWRITE" else AlreadyExists
            raise kind(path=target, detail=error.detail) from error
        except (AlreadyExists, NotFound) as error:
            raise type(error)(path=target, detail=error.detail) from error
        # With these options a NameNode refuses or is done, and says nothing then; HttpFS does not know them.
        if answer is not None and not was_done(target, answer):
            raise NotFound(path=target.parent, detail="the rename was refused without a reason")
