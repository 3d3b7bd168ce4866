"""Snapshots of HDFS over HTTP; the `hdfs` package has no calls for most of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from typing_extensions import override

from toolkit.el import is_name
from toolkit.storage.base import moment
from toolkit.storage.errors import ReadOnlyStorage
from toolkit.storage.local.file_system import no_check
from toolkit.storage.snapshots import ChangeKind, DirectorySnapshot, SnapshotStore, TreeChange
from toolkit.storage.webhdfs.file_system import name_nodes
from toolkit.storage.webhdfs.values import listed, member, number, text, understood

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.storage.port import StorageSpec
    from toolkit.storage.webhdfs.requests import NameNodes

_FIRST_PAGE = ("", "-1")
_LISTS = ("modifyList", "createList", "deleteList")


def open_snapshots(
    spec: StorageSpec, *, read_only: bool = False, before_effect: Callable[[], None] = no_check
) -> WebHdfsSnapshots:
    """Return the snapshots of the store of a spec with the scheme ``webhdfs`` or ``swebhdfs``; nothing is asked yet.

    Raises InvalidInput when the settings cannot be used.
    """
    return WebHdfsSnapshots(name_nodes=name_nodes(spec), before_effect=before_effect, read_only=read_only)


@dataclass(frozen=True, kw_only=True)
class WebHdfsSnapshots(SnapshotStore):
    """Snapshots of an HDFS; of a path only the part behind scheme and authority is sent.

    Attributes:
        before_effect: called before every single change; what it raises stops the change.
        read_only: every call that changes something fails with `ReadOnlyStorage`.
    """

    name_nodes: NameNodes
    before_effect: Callable[[], None] = no_check
    read_only: bool = False

    @override
    def allow(self, directory: CanonicalPath) -> None:
        self._effect("PUT", directory, "ALLOWSNAPSHOT")

    @override
    def list(self, directory: CanonicalPath) -> Sequence[DirectorySnapshot]:
        """Return the snapshots; the time of a snapshot's root is that of its making."""
        answer = self.name_nodes.long_answer(directory, "GETSNAPSHOTLIST")
        with understood(directory):
            found = [
                DirectorySnapshot(
                    text(member(each, "dirStatus"), "pathSuffix"),
                    number(each, "snapshotID"),
                    moment(number(member(each, "dirStatus"), "modificationTime") / 1000),
                )
                for each in listed(answer, "SnapshotList")
                if not (isinstance(each, dict) and each.get("deletionStatus") == "DELETED")
            ]
        return sorted(found, key=lambda each: each.number)

    @override
    def create(self, directory: CanonicalPath, name: str) -> None:
        self._effect("PUT", directory, "CREATESNAPSHOT", snapshotname=name)

    @override
    def delete(self, directory: CanonicalPath, name: str) -> None:
        self._effect("DELETE", directory, "DELETESNAPSHOT", snapshotname=name)

    @override
    def diff(self, directory: CanonicalPath, older: str, newer: str = "") -> Iterator[TreeChange]:
        """Ask page by page, for the whole where a NameNode gives the same page again and again.

        Hadoop 3.4 counts from the wrong list when a page ends between the deleted names of a directory: names come
        twice, or pages never end.
        """
        pages = self._pages(directory, older, newer)
        if pages is None:
            answer = self.name_nodes.long_answer(
                directory, "GETSNAPSHOTDIFF", oldsnapshotname=older, snapshotname=newer
            )
            with understood(directory):
                for each in listed(member(answer, "SnapshotDiffReport"), "diffList"):
                    yield TreeChange(ChangeKind(text(each, "type").lower()), _path(each), _target(each))
            return
        with understood(directory):
            modified, created, deleted = ([each for page in pages for each in listed(page, name)] for name in _LISTS)
            renamed = {number(each, "fileId") for each in deleted if _target(each)}
            changes = dict.fromkeys(TreeChange(ChangeKind.MODIFY, _path(each)) for each in modified)
            for each in created:
                if number(each, "fileId") not in renamed:
                    changes[TreeChange(ChangeKind.CREATE, _path(each))] = None
            for each in deleted:
                kind = ChangeKind.RENAME if _target(each) else ChangeKind.DELETE
                changes[TreeChange(kind, _path(each), _target(each))] = None
        yield from changes

    def _pages(self, directory: CanonicalPath, older: str, newer: str) -> Sequence[object] | None:
        """Return the pages of a difference; None: they do not end."""
        pages, begin, seen = list[object](), _FIRST_PAGE, set[tuple[str, str]]()
        while begin not in seen:
            seen.add(begin)
            answer = self.name_nodes.long_answer(
                directory,
                "GETSNAPSHOTDIFFLISTING",
                oldsnapshotname=older,
                snapshotname=newer,
                snapshotdiffstartpath=begin[0],
                snapshotdiffindex=begin[1],
            )
            with understood(directory):
                page = member(answer, "SnapshotDiffReportListing")
                begin = (text(page, "lastPath"), str(number(page, "lastIndex")))
            pages.append(page)
            if begin == _FIRST_PAGE:
                return pages
        return None

    def _effect(self, method: str, path: CanonicalPath, op: str, **params: str) -> None:
        if self.read_only:
            raise ReadOnlyStorage(path=path)
        self.before_effect()
        self.name_nodes.answer(method, path, op, **params)


def _path(entry: object) -> str:
    """Return the path of an entry; raises ValueError when it may lead out of the directory."""
    return _inside(text(entry, "sourcePath"))


def _target(entry: object) -> str:
    """Return where an entry was renamed to; empty: it was not."""
    return _inside(text(entry, "targetPath")) if isinstance(entry, dict) and entry.get("targetPath") else ""


def _inside(path: str) -> str:
    if path and not all(map(is_name, path.split("/"))):
        message = f"{path!r} is no way down from the directory"
        raise ValueError(message)
    return path
