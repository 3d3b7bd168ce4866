"""Listings of HDFS in the order of the port, as they stream in."""

from __future__ import annotations

import heapq
from itertools import islice
from typing import TYPE_CHECKING

from toolkit.storage.errors import StorageFailure
from toolkit.storage.port import Entry, FileKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hdfs_native import FileStatus

    from toolkit.el import CanonicalPath

PAGE = 1000
"""Entries that are taken over at once: as many as a NameNode sends in one answer (``dfs.ls.limit``)."""


def page_of(statuses: Iterator[FileStatus], parent: str) -> list[Entry] | None:
    """The next entries, with one request of the NameNode; none when the listing is over.

    Returns:
        None when the listing is of a file, which HDFS answers with the file itself.
    """
    found = list(islice(statuses, PAGE))
    if len(found) == 1 and found[0].path == parent:
        return None
    return [
        Entry(status.path.rpartition("/")[2], FileKind.DIRECTORY if status.isdir else FileKind.FILE) for status in found
    ]


def by_code_point(entries: Iterable[Entry], path: CanonicalPath) -> Iterator[Entry]:
    """The entries by code point, though HDFS compares names as signed bytes.

    With signed bytes, names that have other characters than ASCII come before those that have the ASCII ones at the
    first place where they differ. So among themselves the two kinds are in order, and of the first kind none comes
    too late: it is held until a name of the second kind is greater.

    Raises:
        StorageFailure: the store lists in another order, and what a caller stops at would be wrong.
    """
    held: list[Entry] = []
    last = ""
    for entry in entries:
        if not entry.name.isascii():
            heapq.heappush(held, entry)
            continue
        if entry.name < last:
            raise StorageFailure(path=path, detail=f"listed {entry.name!r} after {last!r}; expected sorted names")
        last = entry.name
        while held and held[0] < entry:
            yield heapq.heappop(held)
        yield entry
    while held:
        yield heapq.heappop(held)
