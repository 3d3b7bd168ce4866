"""HDFS over HTTP (DESIGN section 5)."""

from __future__ import annotations

import base64
import io
import secrets
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from typing_extensions import override

from toolkit.storage.attributes import ANY_LAYOUT, BlockLayout
from toolkit.storage.base import BasicFileSystem, find_status
from toolkit.storage.deletion import refuse_outside
from toolkit.storage.errors import (
    AlreadyExists,
    NotEmpty,
    NotFound,
    PermissionDenied,
    StorageError,
    StorageFailure,
    SymlinkRefused,
    Unreachable,
    WrongKind,
)
from toolkit.storage.hadoop_conf import hadoop_settings
from toolkit.storage.hdfs.acl import acl_parts
from toolkit.storage.port import OWN_PREFIX, Bindable, Capabilities, FileKind
from toolkit.storage.streams import ranged
from toolkit.storage.webhdfs.endpoints import name_node_urls, session_of
from toolkit.storage.webhdfs.requests import NameNodes
from toolkit.storage.webhdfs.values import (
    USERS,
    acl_of,
    checksum_of,
    readable_prefixes,
    status_of,
    summary_of,
    was_done,
    xattrs_of,
)
from toolkit.variables import process_variables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime
    from typing import BinaryIO

    from toolkit.el import CanonicalPath
    from toolkit.storage.attributes import Checksum
    from toolkit.storage.look import Look
    from toolkit.storage.port import ContentSummary, Entry, FileStatus, StorageSpec


def opened(spec: StorageSpec, before_effect: Callable[[], None]) -> WebHdfsFileSystem:
    """The WebHDFS of the spec; nothing is asked of it yet.

    Raises:
        InvalidInput: the settings cannot be used, or Kerberos is asked for and not installed.
    """
    return WebHdfsFileSystem(name_nodes(spec), before_effect)


def name_nodes(spec: StorageSpec) -> NameNodes:
    """Return the client of the NameNodes of a spec; raises what `opened` does."""
    variables = process_variables()
    settings = hadoop_settings(spec, variables)
    urls = name_node_urls(spec.scheme, spec.authority, settings)
    return NameNodes(urls, session_of(spec, urls, settings, variables))


class WebHdfsFileSystem(BasicFileSystem, Bindable):
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
        time_step=timedelta(milliseconds=1),
        acls=True,
        xattrs=True,
        checksums=True,
        blocks=True,
        raw=True,
    )

    def __init__(self, name_nodes: NameNodes, before_effect: Callable[[], None]) -> None:
        self._name_nodes, self._before_effect = name_nodes, before_effect

    @override
    def bound(self, before_effect: Callable[[], None]) -> WebHdfsFileSystem:
        return WebHdfsFileSystem(self._name_nodes, before_effect)

    @override
    def status(self, path: CanonicalPath) -> FileStatus:
        try:
            return status_of(path, self._name_nodes.answer("GET", path, "GETFILESTATUS"))
        except WrongKind as error:
            raise NotFound(path=path, detail=error.detail) from error

    @override
    def list(self, path: CanonicalPath, *, start_from: str = "") -> Iterator[Entry]:
        """Hold the whole directory, which WebHDFS gives in one answer.

        LISTSTATUS_BATCH would give pages, but Hadoop 3.4 decodes the name to go on behind twice: behind a name with
        ``%`` in it, the next page repeats names or leaves some out.
        """
        entries = self._name_nodes.entries(path)
        if any(not entry.name for entry in entries):
            raise WrongKind(path=path, detail="a file")
        yield from sorted(entry for entry in entries if entry.name >= start_from)

    @override
    def read(self, path: CanonicalPath, *, offset: int = 0, length: int | None = None) -> BinaryIO:
        """Return a stream that is not seekable; each read is limited to the time of a call."""
        try:
            most = None if length is None else max(length, 1)
            return ranged(self._name_nodes.opened(path, offset, most), length)
        except (StorageFailure, Unreachable):
            # To begin at the end or behind it is refused, in one way or another; `status` tells whether that is it.
            if not offset or offset < self.status(path).size:
                raise
            return io.BytesIO()

    @override
    def write(self, path: CanonicalPath, chunks: Iterable[bytes], *, overwrite: bool = True) -> None:
        """Write under a temporary name in the same directory, then rename."""
        self.write_in_blocks(path, chunks, ANY_LAYOUT, overwrite=overwrite)

    @override
    def write_in_blocks(
        self, path: CanonicalPath, chunks: Iterable[bytes], layout: BlockLayout, *, overwrite: bool = True
    ) -> None:
        with suppress(NotFound):
            if self.status(path).kind is FileKind.DIRECTORY:
                raise WrongKind(path=path, detail="a directory")
        # The name must not depend on the target's, which may be as long as HDFS allows.
        temporary = path.parent.child(f"{OWN_PREFIX}-writing-{secrets.token_hex(8)}")
        is_moved = False
        try:
            self._before_effect()
            self._name_nodes.sent(temporary, chunks, about=path, layout=layout)
            self._move(temporary, path, "OVERWRITE" if overwrite else "NONE")
            is_moved = True
        finally:
            if not is_moved:
                # Not a change of anything that was there, so nothing is asked first.
                with suppress(StorageError):
                    self._name_nodes.answer("DELETE", temporary, "DELETE", recursive="false")

    @override
    def mkdirs(self, path: CanonicalPath) -> None:
        self._change("PUT", path, "MKDIRS")

    @override
    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
        """Rely on the NameNode, which refuses to move over an existing entry.

        HttpFS does not know how to refuse, and would move into a directory, so the target is looked at first.
        """
        if find_status(self, target) is not None:
            raise AlreadyExists(path=target)
        self.status(source)
        self._move(source, target, "NONE")

    @override
    def set_permission(self, path: CanonicalPath, permission: int) -> None:
        """Set the nine bits and the sticky one, all that HDFS has."""
        self._effect("PUT", path, "SETPERMISSION", permission=f"{permission:o}")

    @override
    def set_owner(self, path: CanonicalPath, *, owner: str | None = None, group: str | None = None) -> None:
        given = {key: name for key, name in (("owner", owner), ("group", group)) if name is not None}
        if given:
            self._effect("PUT", path, "SETOWNER", **given)
        else:
            self.status(path)

    @override
    def set_modified(self, path: CanonicalPath, modified: datetime) -> None:
        """Set the time with a precision of 1 ms, not before 1970."""
        milliseconds = round(modified.timestamp() * 1000)
        self._effect("PUT", path, "SETTIMES", modificationtime=str(milliseconds), accesstime="-1")

    @override
    def acl(self, path: CanonicalPath) -> tuple[str, ...]:
        return acl_of(path, self._name_nodes.answer("GET", path, "GETACLSTATUS"))

    @override
    def set_acl(self, path: CanonicalPath, entries: tuple[str, ...]) -> None:
        acl_parts(path, entries)
        self._effect("PUT", path, "REMOVEACL")
        if entries:
            self._effect("PUT", path, "SETACL", aclspec=",".join(entries))

    @override
    def xattrs(self, path: CanonicalPath) -> dict[str, bytes]:
        return xattrs_of(path, self._name_nodes.answer("GET", path, "GETXATTRS", encoding="base64"))

    @override
    def may_use_raw(self, path: CanonicalPath) -> bool:
        """Ask for an attribute of administrators: HDFS lets others read much below `RAW`, without what is there."""
        try:
            self._name_nodes.answer("GET", path, "GETXATTRS", encoding="base64", **{"xattr.name": "trusted.feedctl"})
        except PermissionDenied:
            return False
        except StorageFailure:  # the superuser is told that there is none
            self.status(path)
        return True

    @override
    def set_xattr(self, path: CanonicalPath, name: str, value: bytes) -> None:
        if not name.startswith(readable_prefixes(path)):
            raise PermissionDenied(path=path, detail=f"the name {name!r} does not begin with {USERS}")
        flag = "REPLACE" if name in self.xattrs(path) else "CREATE"
        text = f"0s{base64.b64encode(value).decode()}"
        self._effect("PUT", path, "SETXATTR", **{"xattr.name": name, "xattr.value": text, "flag": flag})

    @override
    def checksum(self, path: CanonicalPath) -> Checksum:
        """Ask a DataNode, which computes it from the checksums of the blocks."""
        return checksum_of(path, self._name_nodes.checksum(path))

    @override
    def close(self) -> None:
        self._name_nodes.close()

    @override
    def delete(self, path: CanonicalPath, *, below: CanonicalPath, look: Look | None = None) -> None:
        """Delete in one call, at once."""
        refuse_outside(path, below)
        try:
            (self._before_effect if look is None else look.let_through)()
            if not was_done(path, self._name_nodes.answer("DELETE", path, "DELETE", recursive="true")):
                raise NotFound(path=path)
        except WrongKind as error:
            raise NotFound(path=path, detail=error.detail) from error

    @override
    def remove_if_empty(self, path: CanonicalPath, *, below: CanonicalPath) -> bool:
        """Check for a file first, then remove with the non-recursive delete.

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

    @override
    def content_summary(self, path: CanonicalPath) -> ContentSummary:
        """Send one call, which the NameNode answers from its memory."""
        return summary_of(path, self._name_nodes.answer("GET", path, "GETCONTENTSUMMARY"))

    def _change(self, method: str, path: CanonicalPath, op: str, **params: str) -> bool:
        return was_done(path, self._effect(method, path, op, **params))

    def _effect(self, method: str, path: CanonicalPath, op: str, **params: str) -> object:
        self._before_effect()
        return self._name_nodes.answer(method, path, op, **params)

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
