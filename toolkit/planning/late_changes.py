"""What of a consumed instance has changed since: two looks at its files, compared (DESIGN section 6, Fingerprints)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import sha256
from operator import itemgetter
from typing import NamedTuple

KEPT_FILES = 10_000
"""Up to so many files a fingerprint keeps its listing; of larger instances it tells that they changed, not what did."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class ListedFile(NamedTuple):
    """A file of an instance.

    Attributes:
        name: the way to it from the instance's directory, with ``/`` between; of a single file its own name.
        size: bytes.
        modified: the last change, UTC; None where the store has none.
    """

    name: str
    size: int
    modified: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Fingerprint:
    """The files of an instance at one time, in short.

    Attributes:
        files: how many.
        size: bytes of all of them.
        newest: the newest time of a file, UTC; None without files, or where the store has no times.
        digest: SHA-256 over name, size and time of each, in hexadecimal; equal means that nothing has changed.
        listing: the files by name; None when there were more than `KEPT_FILES`.
    """

    files: int
    size: int
    newest: datetime | None
    digest: str
    listing: tuple[ListedFile, ...] | None

    @classmethod
    def of(cls, files: Iterable[ListedFile]) -> Fingerprint:
        """The fingerprint of files in any order."""
        ordered = sorted(files, key=itemgetter(0))
        digest = sha256()
        for each in ordered:
            line = f"{each.name}\0{each.size}\0{_microseconds(each.modified)}\0"
            digest.update(line.encode("utf-8", "surrogateescape"))
        return cls(
            files=len(ordered),
            size=sum(each.size for each in ordered),
            newest=max((each.modified for each in ordered if each.modified is not None), default=None),
            digest=digest.hexdigest(),
            listing=tuple(ordered) if len(ordered) <= KEPT_FILES else None,
        )


class Change(StrEnum):
    """What became of a file."""

    ADDED = "added"
    """It was not there."""
    CHANGED = "changed"
    """It has another size or time."""
    REMOVED = "removed"
    """It is not there any more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Changes:
    """What tells two looks apart.

    Attributes:
        files: what became of which file, by name; empty when one of the listings was too long to keep.
        count: files now, less files then.
        size: bytes now, less bytes then.
    """

    files: Mapping[str, Change]
    count: int
    size: int

    def __str__(self) -> str:
        """The changed files in words, at most three by name: ``added part-1, removed part-0``."""
        if not self.files:
            return f"{self.count:+d} files, {self.size:+d} bytes"
        shown = [f"{change} {name}" for name, change in list(self.files.items())[:_SHOWN]]
        more = len(self.files) - len(shown)
        return ", ".join(shown) + (f" and {more} more" if more else "")


_SHOWN = 3


def changes(before: Fingerprint, after: Fingerprint) -> Changes | None:
    """What has changed; None: nothing. Less data is a change as more is (DESIGN section 8, Late checks).

    Args:
        before: when the instance was consumed.
        after: now.
    """
    if before.digest == after.digest:
        return None
    count, size = after.files - before.files, after.size - before.size
    if before.listing is None or after.listing is None:
        return Changes(files={}, count=count, size=size)
    then, now = ({each.name: each for each in look.listing or ()} for look in (before, after))
    files = {name: _change(then.get(name), now.get(name)) for name in sorted(then.keys() | now.keys())}
    return Changes(files={name: change for name, change in files.items() if change is not None}, count=count, size=size)


def _change(then: ListedFile | None, now: ListedFile | None) -> Change | None:
    if then is None:
        return Change.ADDED
    if now is None:
        return Change.REMOVED
    return None if then == now else Change.CHANGED


def _microseconds(moment: datetime | None) -> int | None:
    """A whole number, since a float of the time would be rounded."""
    if moment is None:
        return None
    passed = moment - _EPOCH
    return (passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds
