"""A NameNode's JSON about one entry, or about a tree, as the port's values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from toolkit.storage.errors import StorageFailure
from toolkit.storage.port import ContentSummary, Entry, FileKind, FileStatus

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath

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
