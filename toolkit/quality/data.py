"""Identity of validated data: its files as they are, and all that they were validated by."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING

from toolkit.actions.staged_unit import STAGING_DIRECTORY
from toolkit.availability.hidden import is_being_copied, is_hidden
from toolkit.el import EPOCH
from toolkit.ledger.fingerprints import Fingerprint, ListedFile
from toolkit.storage import Entry, FileKind, WrongKind
from toolkit.threads import WorkerPool

if TYPE_CHECKING:
    from toolkit.actions.validation import Part, Written
    from toolkit.el import CanonicalPath
    from toolkit.entities.quality import Suite
    from toolkit.storage import FileSystem


@dataclass(frozen=True, kw_only=True, slots=True)
class DataPrint:
    """Fingerprint of data, wherever it was moved to; equal digests mean equal files.

    Attributes:
        data_digest: of names, sizes and times of change.
        layout_digest: of names and sizes alone, which a copy keeps.
        files: how many.
        bytes: in them.
        unread: why a result would not be on all of it: a file that Spark leaves out without a word, or a link, behind
            which everything may change unseen; empty: it would be.
    """

    data_digest: str
    layout_digest: str
    files: int
    bytes: int
    unread: str = ""


def print_of(
    written: Written, stores: Callable[[CanonicalPath], FileSystem], *, uses_listed: bool = False
) -> DataPrint:
    """List what was written.

    Flags and what begins with a dot or an underscore are no data: they are not validated, and a flag comes later.

    Args:
        written: the data.
        stores: for listing.
        uses_listed: parts that this run has listed before it validates them are not listed again.

    Raises:
        StorageError: it cannot be listed.
    """
    parts = written.parts if uses_listed else [replace(each, listed=None) for each in written.parts]
    return print_of_parts(parts, written.feed.availability_flag, stores, is_flat=written.table is not None)


def print_of_parts(
    parts: Sequence[Part], flag: str | None, stores: Callable[[CanonicalPath], FileSystem], *, is_flat: bool = False
) -> DataPrint:
    """Do as `print_of` does, where nothing but the directories and the name of the flag is known.

    Args:
        parts: the directories; each is listed, several side by side, unless it says what is in it.
        flag: the name of the flag; None: there is none.
        stores: for listing.
        is_flat: each is a table's, whose files lie directly in it.
    """
    found = [(_name(part.place), entries) for part, entries in zip(parts, _listed(parts, flag, stores), strict=True)]
    listed = [
        ListedFile(f"{name}/{each.kind}/{each.name}", each.size, each.modified or EPOCH)
        for name, entries in found
        for each in entries
    ]
    full = Fingerprint.of(listed)
    layout = Fingerprint.of(each._replace(modified=EPOCH) for each in listed)
    return DataPrint(
        data_digest=full.digest,
        layout_digest=layout.digest,
        files=full.files,
        bytes=full.size,
        unread=next(filter(None, (_unread(entries, is_flat=is_flat) for _, entries in found)), ""),
    )


def _name(place: CanonicalPath) -> str:
    """Return the part of a directory's name that publishing keeps: the names of a partition, or the last one."""
    names = [each for each in place.path.split("/") if each != STAGING_DIRECTORY]
    partition = list(takewhile(lambda name: "=" in name, reversed(names)))
    return "/".join(reversed(partition)) or names[-1]


def suites_digest(written: Written, suites: Sequence[Suite]) -> str:
    """Return the digest of everything that a validation depends on besides the data."""
    quality, table = written.quality, written.table
    basis = {
        "names": quality.suites,  # one that is not there validates nothing, and is no reason to take another's result
        "suites": [{"name": each.name, "expectations": [asdict(one) for one in each.expectations]} for each in suites],
        "on_failure": quality.on_failure,
        "format": quality.format,
        "options": dict(quality.options),
        "sample": quality.sample,
        "table": table and [table.format, *(list(each.items()) for each in (table.columns, table.keys, table.options))],
    }
    return hashlib.sha256(json.dumps(basis, sort_keys=True, default=str).encode()).hexdigest()


def _listed(
    parts: Sequence[Part], flag: str | None, stores: Callable[[CanonicalPath], FileSystem]
) -> list[list[Entry]]:
    """Return the files of each part; a table may have tens of thousands of them."""
    found: list[list[Entry]] = [[] for _ in parts]

    def look(at: int) -> None:
        found[at] = list(_files(parts[at], stores(parts[at].place), flag))

    pool = WorkerPool(stores(parts[0].place).capabilities.parallel if parts else 1, "feedctl-listing")
    try:
        pool.run_all(look, range(len(parts)))
    finally:
        pool.shutdown()
    return found


def _files(part: Part, store: FileSystem, flag: str | None) -> Iterator[Entry]:
    for each in _entries(part, store):
        if each.kind is not FileKind.DIRECTORY and not is_hidden(each.name) and each.name != flag:
            yield each


def _entries(part: Part, store: FileSystem) -> Iterable[Entry]:
    if part.listed is not None:
        return [Entry(name, each.kind, each.size, each.modified) for name, each in part.listed.items()]
    try:
        return list(store.list_tree(part.place))
    except WrongKind:  # a feed's instance may be a file
        found = store.status(part.place)
        return [Entry("", found.kind, found.size, found.modified)]


def _unread(entries: Sequence[Entry], *, is_flat: bool) -> str:
    """Return why Spark would not read all files: it reads those directly in a directory, or those of its partitions.

    Of a partition of a table it reads only the former, and Hive both if it is told to.
    """
    layouts: dict[tuple[str, ...], str] = {}
    for each in entries:
        if each.kind is not FileKind.FILE:
            return f"{each.name or 'it'} is no file but a {each.kind}"
        *directories, name = each.name.split("/")
        if is_being_copied(name):
            return f"{each.name} is still being copied, by its name"
        if is_flat and directories:
            return f"{each.name} is in a directory of a partition, where not every reader looks"
        if not all("=" in one for one in directories):
            return f"{each.name} is in a directory that is no partition (key=value), where Spark does not look"
        layouts.setdefault(tuple(one.partition("=")[0] for one in directories), each.name)
    if len(layouts) > 1:
        one, other = list(layouts.values())[:2]
        return f"{one} and {other} are not in partitions of the same keys: Spark does not read both"
    return ""
