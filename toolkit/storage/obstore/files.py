"""The files and errors of obstore, as a file system and storage errors."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO

import obstore
from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    InvalidPathError,
    PermissionDeniedError,
    PreconditionError,
    UnauthenticatedError,
)
from obstore.store import AzureStore, GCSStore
from typing_extensions import override

from toolkit.el import CanonicalPath
from toolkit.errors import InvalidInput
from toolkit.storage.attributes import Checksum
from toolkit.storage.deletion import delete_each, refuse_outside
from toolkit.storage.errors import (
    AlreadyExists,
    BadName,
    NotFound,
    PermissionDenied,
    StorageError,
    StorageFailure,
    Unreachable,
    WrongKind,
)
from toolkit.storage.flat import NEVER, FlatFileSystem, whole_seconds
from toolkit.storage.hadoop_conf import without_secrets
from toolkit.storage.port import Bindable, ContentSummary, Deleted, Entry, FileKind, FileStatus, StorageSpec

if TYPE_CHECKING:
    from datetime import datetime

    from obstore import ObjectMeta
    from obstore.store import ObjectStore

    from toolkit.storage.look import Look


_KINDS: tuple[tuple[type[Exception], type[StorageError]], ...] = (
    (AlreadyExistsError, AlreadyExists),
    (PreconditionError, AlreadyExists),
    (PermissionDeniedError, PermissionDenied),
    (UnauthenticatedError, PermissionDenied),
    (InvalidPathError, BadName),
)
_SILENCES = ("timed out", "error sending request", "connect error", "status 429", "status 5", "503", "500 internal")


@contextmanager
def translated(path: CanonicalPath) -> Iterator[None]:
    """Turn what obstore raises in the body into a storage error about `path`."""
    try:
        yield
    except FileNotFoundError as error:
        raise NotFound(path=path) from error
    except BaseError as error:
        raise _kind(error)(path=path, detail=without_secrets(str(error).partition("\n")[0])) from error


def _kind(error: BaseError) -> type[StorageError]:
    for raised, kind in _KINDS:
        if isinstance(error, raised):
            return kind
    # Obstore has one error for everything else, also for silence, which only its text tells.
    text = str(error).lower()
    return Unreachable if any(silence in text for silence in _SILENCES) else StorageFailure


_KEYS_AT_ONCE = 100
_PAGE = 1000
_ACCOUNT = re.compile(r"[a-z0-9-]+")


class UnknownContainer(InvalidInput):
    """The container and its account cannot be told from the authority of a path.

    Args:
        authority: what was found.
    """

    def __init__(self, *, authority: str) -> None:
        self.authority = authority
        super().__init__(
            f"abfs://{authority} names no container; expected abfs://CONTAINER@ACCOUNT.dfs.core.windows.net"
        )


def _entry(name: str, size: int, modified: datetime) -> Entry:
    if name.endswith("/"):
        return Entry(name[:-1], FileKind.DIRECTORY)
    return Entry(name, FileKind.FILE, size, whole_seconds(modified))


def opened(spec: StorageSpec, before_effect: Callable[[], None]) -> ObstoreFileSystem:
    """The file system of a bucket or container; credentials are those that obstore finds in the environment.

    Raises:
        InvalidInput: the container and its account cannot be told.
    """
    if spec.scheme == "gs":
        return ObstoreFileSystem(GCSStore(spec.authority), spec, before_effect)
    container, at, host = spec.authority.partition("@")
    account = host.partition(".")[0]
    # The account becomes a part of a host's name, which must not end before Azure's own part of it.
    if not (container and at and _ACCOUNT.fullmatch(account)):
        raise UnknownContainer(authority=spec.authority)
    return ObstoreFileSystem(AzureStore(container, account_name=account), spec, before_effect)


class ObstoreFileSystem(FlatFileSystem, Bindable):
    """File system on an object store, by obstore.

    Args:
        store: obstore's.
        spec: scheme and authority of all paths.
        before_effect: called before every request that changes something.
        first: name of the file that goes before anything else of a path that is removed.
    """

    def __init__(
        self, store: ObjectStore, spec: StorageSpec, before_effect: Callable[[], None], *, first: str = ""
    ) -> None:
        self._store, self._spec, self._before_effect, self._first = store, spec, before_effect, first

    @override
    def bound(self, before_effect: Callable[[], None]) -> ObstoreFileSystem:
        return ObstoreFileSystem(self._store, self._spec, before_effect, first=self._first)

    @override
    def found(self, path: CanonicalPath) -> FileStatus | None:
        """Send one listing of one key, and at most one request for the object."""
        key = self._key(path)
        below = next(self._below(path, key, 1), None)
        if below is not None or not key:
            modified = NEVER if below is None else whole_seconds(below["last_modified"])
            return FileStatus(path=path, kind=FileKind.DIRECTORY, size=0, modified=modified)
        try:
            with translated(path):
                found = obstore.head(self._store, key)
        except NotFound:
            return None
        return FileStatus(
            path=path, kind=FileKind.FILE, size=found["size"], modified=whole_seconds(found["last_modified"])
        )

    @override
    def list(self, path: CanonicalPath, *, start_from: str = "") -> Iterator[Entry]:
        """Hold all names of the directory."""
        key = self._key(path)
        with translated(path):
            found = obstore.list_with_delimiter(self._store, prefix=key or None)
        names = [(f"{prefix.rpartition('/')[2]}/", 0, NEVER) for prefix in found["common_prefixes"]]
        names += [
            (each["path"].rpartition("/")[2], each["size"], each["last_modified"])
            for each in found["objects"]
            if each["path"] != key
        ]
        if not names and self.status(path).kind is not FileKind.DIRECTORY:
            raise WrongKind(path=path)
        yield from (_entry(*each) for each in sorted(names) if each[0] >= start_from)

    @override
    def list_tree(self, path: CanonicalPath) -> Iterator[Entry]:
        """Leave out directory markers, which obstore cannot name."""
        key = self._key(path)
        above, is_empty = len(key) + 1 if key else 0, True
        for each in self._below(path, key, _PAGE):
            is_empty = False
            yield _entry(each["path"][above:], each["size"], each["last_modified"])
        if is_empty and self.status(path).kind is not FileKind.DIRECTORY:
            raise WrongKind(path=path)

    @override
    def read(self, path: CanonicalPath, *, offset: int = 0, length: int | None = None) -> BinaryIO:
        """Hold all bytes of the range."""
        key = self._key(path)
        try:
            with translated(path):
                size = obstore.head(self._store, key)["size"] if key else 0
                end = size if length is None else min(size, offset + length)
                if offset >= end:
                    return io.BytesIO()
                return io.BytesIO(bytes(obstore.get_range(self._store, key, start=offset, end=end)))
        except NotFound:
            self.status(path)
            raise WrongKind(path=path) from None

    @override
    def checksum(self, path: CanonicalPath) -> Checksum | None:
        try:
            with translated(path):
                tag = obstore.head(self._store, self._key(path))["e_tag"]
        except NotFound:
            self.status(path)
            raise WrongKind(path=path) from None
        return Checksum("ETag", tag.strip('"').encode()) if tag else None

    @override
    def write(self, path: CanonicalPath, chunks: Iterable[bytes], *, overwrite: bool = True) -> None:
        """Hold the whole file."""
        key = self._key(path)
        if not key or next(self._below(path, key, 1), None) is not None:
            raise WrongKind(path=path) if overwrite else AlreadyExists(path=path)
        content = b"".join(chunks)
        self._before_effect()
        with translated(path):
            obstore.put(self._store, key, content, mode="overwrite" if overwrite else "create", use_multipart=False)

    @override
    def delete(self, path: CanonicalPath, *, below: CanonicalPath, look: Look | None = None) -> None:
        """Fail when something stays.

        Raises:
            StorageFailure: something stayed, such as a directory's marker, which obstore cannot name.
        """
        refuse_outside(path, below)
        if look is not None:
            look.let_through()
        key = self._key(path)
        found = self.found(path)
        if found is None:
            raise NotFound(path=path)
        if self._first:
            self._remove(path, [f"{key}/{self._first}"])
        keys = (each["path"] for each in self._below(path, key, _PAGE))
        while batch := list(islice(keys, _KEYS_AT_ONCE)):
            self._remove(path, batch)
        self._remove(path, [key])
        self._refuse_rest(path)

    @override
    def delete_all(self, paths: Iterable[CanonicalPath], *, below: CanonicalPath, first: str = "") -> Iterator[Deleted]:
        """Delete one path after the other."""
        system = ObstoreFileSystem(self._store, self._spec, self._before_effect, first=first)
        return delete_each(system, paths, below)

    def _remove(self, path: CanonicalPath, keys: Sequence[str]) -> None:
        """Remove keys; some stores fail for one that is not there, and then each is asked for by itself."""
        self._before_effect()
        try:
            with translated(path):
                obstore.delete(self._store, keys)
        except NotFound:
            for key in keys if len(keys) > 1 else ():
                with suppress(NotFound):
                    self._remove(path, [key])

    def _refuse_rest(self, path: CanonicalPath) -> None:
        if self.found(path) is not None:
            raise StorageFailure(
                path=path, detail="something stayed, perhaps a directory's marker; remove it with the store's own tools"
            )

    @override
    def remove_if_empty(self, path: CanonicalPath, *, below: CanonicalPath) -> bool:
        """Never remove anything, since obstore cannot name a directory marker."""
        refuse_outside(path, below)
        found = self.found(path)
        if found is not None and found.kind is FileKind.FILE:
            raise WrongKind(path=path)
        return False

    @override
    def content_summary(self, path: CanonicalPath) -> ContentSummary:
        key, found = self._key(path), self.status(path)
        if found.kind is FileKind.FILE:
            return ContentSummary(files=1, directories=0, size=found.size)
        files, size, directories = 0, 0, {key}
        for each in self._below(path, key, _PAGE):
            files, size = files + 1, size + each["size"]
            parents = each["path"].split("/")[:-1]
            directories.update("/".join(parents[:depth]) for depth in range(key.count("/") + 2, len(parents) + 1))
        return ContentSummary(files=files, directories=len(directories), size=size)

    def _below(self, path: CanonicalPath, key: str, chunk: int) -> Iterator[ObjectMeta]:
        with translated(path):
            for objects in obstore.list(self._store, prefix=key or None, chunk_size=chunk):
                yield from objects

    def _key(self, path: CanonicalPath) -> str:
        spec = self._spec
        if (path.scheme, path.authority) != (spec.scheme, spec.authority):
            detail = f"asked of {spec.scheme}://{spec.authority}, which is another store"
            raise StorageFailure(path=path, detail=detail)
        return path.path.removeprefix("/")
