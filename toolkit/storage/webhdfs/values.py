"""A NameNode's JSON about one entry, or about a tree, as the port's values."""

from __future__ import annotations

import base64
import reprlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from toolkit.storage.attributes import ANY_LAYOUT, RAW_PREFIX, BlockLayout, Checksum, is_raw
from toolkit.storage.base import moment
from toolkit.storage.errors import StorageFailure
from toolkit.storage.hdfs.acl import full_acl
from toolkit.storage.port import ContentSummary, Entry, FileKind, FileStatus
from toolkit.storage.webhdfs.listing import statuses_of

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath


USERS = "user."
"""Start of the names of attributes that users may set."""


def readable_prefixes(path: CanonicalPath) -> tuple[str, ...]:
    """Return the begins of the names of attributes that can be read and set at a path."""
    return (USERS, RAW_PREFIX) if is_raw(path) else (USERS,)


_KINDS = {"FILE": FileKind.FILE, "DIRECTORY": FileKind.DIRECTORY, "SYMLINK": FileKind.SYMLINK}


@contextmanager
def understood(path: CanonicalPath) -> Iterator[None]:
    """An answer without what is looked for comes from something else than WebHDFS."""
    try:
        yield
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise StorageFailure(path=path, detail=f"the answer is not that of WebHDFS: {_shown(error)}") from error


def _shown(error: Exception) -> str:
    """Show what was found in its place; it may be long, or nested too deep for its own `repr`."""
    if isinstance(error, ValueError):
        return str(error)
    return f"{type(error).__name__}({reprlib.repr(error.args[0] if error.args else '')})"


def status_of(path: CanonicalPath, answer: object) -> FileStatus:
    """The status in an answer to GETFILESTATUS.

    Raises:
        StorageFailure: the answer is not one of WebHDFS.
    """
    with understood(path):
        found = member(answer, "FileStatus")
        kind = _KINDS.get(text(found, "type"), FileKind.OTHER)
        return FileStatus(
            path=path,
            kind=kind,
            size=number(found, "length") if kind is FileKind.FILE else 0,
            modified=moment(number(found, "modificationTime") / 1000),
            owner=text(found, "owner"),
            group=text(found, "group"),
            permission=int(text(found, "permission"), 8),
            layout=_layout(found) if kind is FileKind.FILE else ANY_LAYOUT,
            is_encrypted=isinstance(found, dict) and found.get("encBit") is True,
        )


def _layout(found: object) -> BlockLayout:
    """Return the layout of a file; the replicas of an erasure-coded one would be too few without its policy."""
    if isinstance(found, dict) and found.get("ecBit") is True:
        return ANY_LAYOUT
    return BlockLayout(number(found, "blockSize", 0) or None, number(found, "replication", 0) or None)


def entries_of(path: CanonicalPath, body: Iterable[bytes]) -> list[Entry]:
    """Return the entries in an answer to LISTSTATUS, in their order; for a file it is one without a name.

    Args:
        path: the directory.
        body: of the answer, in pieces.

    Raises:
        StorageFailure: the answer is not one of WebHDFS.
    """
    with understood(path):
        return [_entry(each) for each in statuses_of(body)]


def _entry(found: object) -> Entry:
    name, kind = text(found, "pathSuffix"), _KINDS.get(text(found, "type"), FileKind.OTHER)
    if kind is not FileKind.FILE:
        return Entry(name, kind)
    return Entry(name, kind, number(found, "length"), moment(number(found, "modificationTime") / 1000))


def summary_of(path: CanonicalPath, answer: object) -> ContentSummary:
    """The sums in an answer to GETCONTENTSUMMARY, without what only snapshots still have.

    Raises:
        StorageFailure: the answer is not one of WebHDFS.
    """
    with understood(path):
        found = member(answer, "ContentSummary")
        return ContentSummary(
            files=number(found, "fileCount") - number(found, "snapshotFileCount", 0),
            directories=number(found, "directoryCount") - number(found, "snapshotDirectoryCount", 0),
            size=number(found, "length") - number(found, "snapshotLength", 0),
        )


def checksum_of(path: CanonicalPath, answer: object) -> Checksum:
    """The checksum in an answer to GETFILECHECKSUM.

    Raises:
        StorageFailure: the answer is not one of WebHDFS.
    """
    with understood(path):
        found = member(answer, "FileChecksum")
        return Checksum(text(found, "algorithm"), bytes.fromhex(text(found, "bytes"))[: number(found, "length")])


def acl_of(path: CanonicalPath, answer: object) -> tuple[str, ...]:
    """The access control list in an answer to GETACLSTATUS.

    Raises:
        StorageFailure: the answer is not one of WebHDFS.
    """
    with understood(path):
        found = member(answer, "AclStatus")
        entries = member(found, "entries")
        if not isinstance(entries, list):
            raise TypeError(entries)
        return full_acl(int(text(found, "permission"), 8), [str(entry) for entry in entries])


def xattrs_of(path: CanonicalPath, answer: object) -> dict[str, bytes]:
    """The attributes in an answer to GETXATTRS, which has them as base64 behind ``0s``.

    Raises:
        StorageFailure: the answer is not one of WebHDFS.
    """
    with understood(path):
        found = member(answer, "XAttrs")
        if not isinstance(found, list):
            raise TypeError(found)
        prefixes = readable_prefixes(path)
        texts = {text(each, "name"): each.get("value") or "" for each in found}
        return {name: base64.b64decode(text[2:]) for name, text in texts.items() if name.startswith(prefixes)}


def was_done(path: CanonicalPath, answer: object) -> bool:
    """Return whether an operation reports that it did something.

    Raises:
        StorageFailure: the answer is not one of WebHDFS; silence confirms nothing.
    """
    with understood(path):
        found = member(answer, "boolean")
        if not isinstance(found, bool):
            raise TypeError(found)
        return found


def listed(answer: object, key: str) -> list[object]:
    """Return the list under a key of an answer; as the functions below, raises what `understood` takes."""
    found = member(answer, key)
    if not isinstance(found, list):
        raise TypeError(found)
    return found


def member(answer: object, key: str) -> object:
    """Return what is under a key of an answer."""
    if not isinstance(answer, dict):
        raise TypeError(answer)
    found: object = answer[key]
    return found


def text(answer: object, key: str) -> str:
    """Return the text under a key of an answer."""
    found = member(answer, key)
    if not isinstance(found, str):
        raise TypeError(found)
    return found


def number(answer: object, key: str, default: int | None = None) -> int:
    """Return the number under a key of an answer; where older versions do not tell it, the default."""
    if default is not None and isinstance(answer, dict) and key not in answer:
        return default
    found = member(answer, key)
    if not isinstance(found, int):
        raise TypeError(found)
    return found
