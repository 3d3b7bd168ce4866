"""Behaviour that all object stores share: keys without directories, and objects without attributes.

A *directory* here is what several keys begin with, or an empty object whose key ends with ``/`` (a marker, as Hadoop's
connectors and many consoles write them). Nothing here writes markers. Where an object and a directory have the same
name, the directory is what `status` tells, since an instance is more likely to be one; `read` still reads the object
and a removal takes both.
"""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from os.path import commonprefix
from typing import BinaryIO, NamedTuple, NoReturn, Protocol

from typing_extensions import override

from toolkit.el import EPOCH, CanonicalPath
from toolkit.storage.attributes import Checksum
from toolkit.storage.base import BasicFileSystem
from toolkit.storage.deletion import refuse_outside
from toolkit.storage.errors import AlreadyExists, BadName, NotFound, StorageFailure, Unsupported, WrongKind
from toolkit.storage.port import Capabilities, ContentSummary, Entry, FileKind, FileStatus
from toolkit.storage.streams import ranged

NEVER = EPOCH
"""The time of the root of a store in which nothing is."""

PARALLEL = 16
"""So many requests at once are good for an object store."""

MOST_KEYS = 1000
"""So many keys are in one page of a listing at most."""

_LONGEST = 1024


def whole_seconds(moment: datetime) -> datetime:
    """In UTC, without the parts of a second that listings have and the answer about one object has not."""
    return moment.astimezone(UTC).replace(microsecond=0)


class NoSuchRange(StorageFailure):
    """An object has no byte where a range of it begins."""


class StoredObject(NamedTuple):
    """An object as a listing shows it."""

    key: str
    size: int
    modified: datetime


class Page(NamedTuple):
    """Part of a listing; `token` asks for the next one and is empty in the last."""

    objects: Sequence[StoredObject]
    prefixes: Sequence[str]
    token: str


class Objects(Protocol):
    """Reading requests to a bucket, or to a container of Azure.

    Attributes:
        root: the path of the bucket.
        is_sorted: listings have the keys in the order of their code points.
    """

    root: CanonicalPath
    is_sorted: bool

    def place(self, key: str) -> CanonicalPath:
        """Return the path for errors; the slash at the end of a prefix is no part of a path."""
        return replace(self.root, path=f"/{key.rstrip('/')}")

    def opened(self, key: str, *, offset: int = 0, length: int | None = None) -> BinaryIO:
        """Return a stream of an object's bytes from one on, so many when there are.

        Raises:
            NotFound: there is no such object.
            NoSuchRange: it has no byte there.
        """
        ...

    def pages(self, prefix: str, *, start: str = "", delimiter: str = "", most: int = MOST_KEYS) -> Iterator[Page]:
        """List the keys that begin with `prefix`, from about `start` on; keys before it may be given too.

        With a delimiter, keys that have it behind the prefix are given as one prefix up to it.

        Raises:
            NotFound: the bucket does not exist.
        """
        ...

    def head(self, key: str) -> StoredObject | None:
        """Return the object with exactly this key, one whose key ends with ``/`` for a marker, None for nothing."""
        ...

    def checksum(self, key: str) -> Checksum | None:
        """Return the store's own checksum of an object.

        Raises:
            NotFound: there is no such object.
        """
        ...


def key_of(path: CanonicalPath, root: CanonicalPath) -> str:
    """Return the key of the object at a path; empty for the bucket's root.

    Raises:
        BadName: no key can be that long, or it is no Unicode text.
        StorageFailure: the path is in another store.
    """
    if path.root != root:
        raise StorageFailure(path=path, detail=f"asked of {root.scheme}://{root.authority}, which is another store")
    key = path.path.removeprefix("/")
    try:
        length = len(key.encode())
    except UnicodeEncodeError as error:
        raise BadName(path=path, detail="not Unicode text") from error
    if length > _LONGEST:
        raise BadName(path=path, detail=f"{length} bytes, at most {_LONGEST} are allowed")
    return key


def byte_range(offset: int, length: int | None) -> str:
    """Return a range as HTTP has it; empty for the whole object."""
    end = "" if length is None else str(offset + length - 1)
    return f"bytes={offset}-{end}" if offset or end else ""


def prefix_of(key: str) -> str:
    """Return how the keys of a directory's content begin; it is also the key of the directory's marker."""
    return f"{key}/" if key else ""


def entries(objects: Objects, prefix: str, start_from: str = "", delimiter: str = "/") -> Iterator[Entry]:
    """List a directory in the order of the keys; the directory's own marker is no entry.

    Without a delimiter the entries of all directories below come too, and of those only the ones with a marker. A store
    that lists in another order than the keys' has all entries of a directory held.
    """
    start = prefix + start_from
    found = _stored(objects, prefix, start if start_from else "", delimiter)
    if delimiter and not objects.is_sorted:
        found = iter(sorted(found, key=attrgetter("key")))
    for each in found:
        if each.key != prefix and each.key >= start:
            yield _entry(each, len(prefix))


def _stored(objects: Objects, prefix: str, start: str, delimiter: str) -> Iterator[StoredObject]:
    for page in objects.pages(prefix, start=start, delimiter=delimiter):
        directories = [StoredObject(each, 0, NEVER) for each in page.prefixes]
        found = [*page.objects, *directories]
        yield from sorted(found, key=attrgetter("key")) if objects.is_sorted else found


def _entry(found: StoredObject, above: int) -> Entry:
    if found.key.endswith("/"):
        return Entry(found.key[above:-1], FileKind.DIRECTORY)
    return Entry(found.key[above:], FileKind.FILE, found.size, whole_seconds(found.modified))


def first_below(objects: Objects, prefix: str) -> StoredObject | None:
    """Return the first object below a directory, which may be its marker; None: there is no such directory."""
    return next((each for page in objects.pages(prefix, most=1) for each in page.objects), None)


def summary_below(objects: Objects, prefix: str) -> ContentSummary | None:
    """Count what is below a directory, itself included; None when it does not exist."""
    files, size, directories, before = 0, 0, 0, ""
    for page in objects.pages(prefix):
        for key, length, _ in page.objects:
            files, size = files + (not key.endswith("/")), size + length
            # Keys of one directory lie together: it is new where this key and the one before differ within its name.
            shared = commonprefix([before, key]) if before else prefix  # noqa: RUF071 - of keys, not of paths
            directories += key.count("/", len(shared)) + (not before)
            before = key
    if not before and prefix:
        return None
    return ContentSummary(files=files, directories=directories or 1, size=size)  # a bucket has its root


class FlatFileSystem(BasicFileSystem, ABC):
    """The part of `FileSystem` that is the same for every object store.

    Args:
        objects: sends the requests.
    """

    capabilities = Capabilities(
        atomic_rename=False,
        atomic_delete=False,
        directories=False,
        permissions=False,
        times=False,
        conditional_put=True,
        parallel=PARALLEL,
        time_step=timedelta(seconds=1),
        checksums=True,
    )

    @property
    @abstractmethod
    def objects(self) -> Objects:
        """The bucket."""

    def found(self, path: CanonicalPath) -> FileStatus | None:
        """Return what is at the path, None for nothing: at most one listing of one key, and one look at the object.

        Where an object and a directory have one name, it is the directory.
        """
        key = key_of(path, self.objects.root)
        below = first_below(self.objects, prefix_of(key))
        if below is not None or not key:
            modified = NEVER if below is None else whole_seconds(below.modified)
            return FileStatus(path=path, kind=FileKind.DIRECTORY, size=0, modified=modified)
        found = self.objects.head(key)
        return None if found is None else _status(path, found)

    @override
    def status(self, path: CanonicalPath) -> FileStatus:
        """Return the status; `modified` of a directory is that of the first object in it."""
        found = self.found(path)
        if found is None:
            raise NotFound(path=path)
        return found

    @override
    def list(self, path: CanonicalPath, *, start_from: str = "") -> Iterator[Entry]:
        """Hold one page of 1,000 entries where the store sorts its listings, else the directory."""
        return self._listed(path, start_from, "/")

    @override
    def list_tree(self, path: CanonicalPath) -> Iterator[Entry]:
        """List all keys in one listing, holding one page of 1,000."""
        return self._listed(path, "", "")

    def _listed(self, path: CanonicalPath, start_from: str, delimiter: str) -> Iterator[Entry]:
        key = key_of(path, self.objects.root)
        is_empty = True
        for entry in entries(self.objects, prefix_of(key), start_from, delimiter):
            is_empty = False
            yield entry
        if is_empty:
            self._refuse_missing(path)

    def _refuse_missing(self, path: CanonicalPath) -> None:
        """A listing without entries: of a marker alone, of names before the first asked for, or of nothing."""
        found = self.status(path)
        if found.kind is not FileKind.DIRECTORY:
            raise WrongKind(path=path)

    @override
    def checksum(self, path: CanonicalPath) -> Checksum | None:
        key = key_of(path, self.objects.root)
        try:
            if key:
                return self.objects.checksum(key)
        except NotFound:
            pass
        self.status(path)
        raise WrongKind(path=path)

    @override
    def read(self, path: CanonicalPath, *, offset: int = 0, length: int | None = None) -> BinaryIO:
        """Limit each read of the stream to the time of a call."""
        key = key_of(path, self.objects.root)
        most = None if length is None else max(length, 1)  # what asks for no bytes is no range, and gets them all
        try:
            if key:
                return ranged(self.objects.opened(key, offset=offset, length=most), length)
        except NoSuchRange:
            return io.BytesIO()
        except NotFound:
            pass
        self.status(path)
        raise WrongKind(path=path)

    @abstractmethod
    def remove_object(self, path: CanonicalPath, key: str) -> bool:
        """Remove the object of a key at the path, which errors name; return whether it was there."""

    @override
    def remove_if_empty(self, path: CanonicalPath, *, below: CanonicalPath) -> bool:
        """Remove at most the directory marker, by its own key."""
        refuse_outside(path, below)
        key = key_of(path, self.objects.root)
        marker = prefix_of(key)
        page = next(self.objects.pages(marker, most=2))
        found = None if page.objects else self.objects.head(key)
        if found is not None and found.key == key:
            raise WrongKind(path=path)
        is_marker_alone = [(each.key, each.size) for each in page.objects] == [(marker, 0)]
        return is_marker_alone and self.remove_object(path, marker)

    def refuse_directory(self, path: CanonicalPath, *, overwrite: bool) -> str:
        """Return the key of a path that is to be written.

        Raises:
            WrongKind: a directory is there, and may be overwritten.
            AlreadyExists: a directory is there.
        """
        key = key_of(path, self.objects.root)
        if first_below(self.objects, prefix_of(key)) is not None or not key:
            raise WrongKind(path=path) if overwrite else AlreadyExists(path=path)
        return key

    @override
    def content_summary(self, path: CanonicalPath) -> ContentSummary:
        """Count both an object and a directory of one name."""
        key = key_of(path, self.objects.root)
        below, found = summary_below(self.objects, prefix_of(key)), self.objects.head(key) if key else None
        if found is not None and found.key.endswith("/"):
            below, found = below or ContentSummary(files=0, directories=1, size=0), None
        if below is None and found is None:
            raise NotFound(path=path)
        files, directories, size = (0, 0, 0) if below is None else (below.files, below.directories, below.size)
        return ContentSummary(
            files=files + (found is not None),
            directories=directories,
            size=size + (0 if found is None else found.size),
        )

    @override
    def mkdirs(self, path: CanonicalPath) -> None:
        """Check that no object is in the way; no directory marker is written."""
        found = self.found(path)
        if found is not None and found.kind is FileKind.FILE:
            raise AlreadyExists(path=path)

    @override
    def rename(self, source: CanonicalPath, target: CanonicalPath) -> NoReturn:
        raise Unsupported(path=source, detail="objects cannot be renamed")


def _status(path: CanonicalPath, found: StoredObject) -> FileStatus:
    is_marker = found.key.endswith("/")
    kind = FileKind.DIRECTORY if is_marker else FileKind.FILE
    return FileStatus(path=path, kind=kind, size=found.size, modified=whole_seconds(found.modified))
