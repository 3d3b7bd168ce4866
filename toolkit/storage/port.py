"""The port to file systems and object stores: what an adapter does, checked by `tests/contract` (DESIGN section 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

from toolkit.storage.attributes import ANY_LAYOUT, AttributeStore, BlockLayout
from toolkit.storage.multipart import MultipartStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime
    from typing import BinaryIO

    from toolkit.el import CanonicalPath
    from toolkit.storage.errors import StorageError
    from toolkit.storage.look import Look


@dataclass(frozen=True, kw_only=True, slots=True)
class StorageSpec:
    """Address and options of a store, without secrets: each machine finds those in its own environment.

    Attributes:
        scheme: as in a `CanonicalPath`: ``file``, ``hdfs``, ``webhdfs``, ``swebhdfs``, ``s3``, ``gs``, ``abfs``.
        authority: name service, host and port, or bucket; empty for ``file``.
        hadoop_conf: settings by their Hadoop names (``dfs.nameservices``, ``fs.s3a.endpoint`` ...), of the cluster
            entity; they stand above those of the files in HADOOP_CONF_DIR.
        user: acts under this name where the store believes what it is told (simple authentication); empty: the one
            of HADOOP_USER_NAME, else that of the process.
    """

    scheme: str
    authority: str = ""
    hadoop_conf: Mapping[str, str] = field(default_factory=dict, hash=False)
    user: str = ""


OWN_PREFIX = ".feedctl"
"""Names that start so belong to feedctl and are never data."""
STAGING_PREFIX = f"{OWN_PREFIX}-copy-"
"""A directory with such a name belongs to one run, and no other program reads in it before it is renamed: a store
may write files there under their own names at once, so that half of one can be seen there while it is written."""
REPLACED_PREFIX = f"{OWN_PREFIX}-old-"
"""Name of replaced data between two renames; recovery of a run that died there gives its own name back."""
EXCHANGE_PREFIX = f"{OWN_PREFIX}-exchange-"
"""A directory with such a name has files that come to a unit, and those that they replace, until all of them did."""
DATA_PREFIX = f"{OWN_PREFIX}-data-"
"""A directory with such a name and the number of a run has data that could not get the place that Hive would choose."""


def is_staged(path: CanonicalPath) -> bool:
    """Return whether a file is in a directory with `STAGING_PREFIX`."""
    return f"/{STAGING_PREFIX}" in path.parent.path


class FileKind(StrEnum):
    """Kind of an entry; symbolic links are never followed to find out."""

    FILE = "file"
    """A regular file, or an object."""
    DIRECTORY = "directory"
    """A directory, or a common prefix of objects."""
    SYMLINK = "symlink"
    """A symbolic link, whatever it points to."""
    OTHER = "other"
    """A socket, a pipe or a device."""


class Entry(NamedTuple):
    """A line of a listing; a tuple, because listings have millions of them.

    Attributes:
        name: in the directory that was listed; of a tree, the way there from where it was listed, with ``/`` between.
        kind: what it is.
        size: bytes of a file, 0 for everything else.
        modified: the last change of a file in UTC, as `FileStatus.modified` has it; None for everything else.
    """

    name: str
    kind: FileKind
    size: int = 0
    modified: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class FileStatus:
    """Status of one entry in the store.

    Attributes:
        size: bytes of a file, 0 for everything else.
        modified: the last change, in UTC.
        owner: user name or number, None where the store has none.
        group: group name or number, None where the store has none.
        permission: the nine permission bits and the three above them, None where the store has none.
        layout: of a file, as far as the store tells; that of an erasure-coded file is not told.
        is_encrypted: it is in an encryption zone, as far as the store tells.
    """

    path: CanonicalPath
    kind: FileKind
    size: int
    modified: datetime
    owner: str | None = None
    group: str | None = None
    permission: int | None = None
    layout: BlockLayout = ANY_LAYOUT
    is_encrypted: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ContentSummary:
    """Number of files and directories at and below a path (itself included), and bytes of the files."""

    files: int
    directories: int
    size: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Capabilities:
    """Capabilities of a store; callers choose their method by them, never by the scheme.

    Attributes:
        atomic_rename: a rename happens at once or not at all.
        atomic_delete: to readers a directory goes at once, with all that is in it; where it does not, the name that
            is given to `delete_all` as `first` goes before the rest.
        directories: directories exist by themselves, also empty ones; else they are common beginnings of keys.
        permissions: entries have owner, group and permission bits.
        times: the time of the last change can be set.
        conditional_put: a write can be made to fail when something is there already.
        parallel: so many calls at once are good for the store.
        time_step: `modified` is cut down to multiples of it; a disk may keep coarser ones still.
        acls: entries have access control lists.
        xattrs: entries have extended attributes.
        checksums: the store says of most files what their bytes are.
        multipart: a file can be written in ranges.
        blocks: files have a `BlockLayout`, which can be chosen.
        raw: files can be read and written below `RAW`, with the attributes that are seen there.
    """

    atomic_rename: bool
    atomic_delete: bool
    directories: bool
    permissions: bool
    times: bool
    conditional_put: bool
    parallel: int
    time_step: timedelta = timedelta(microseconds=1)
    acls: bool = False
    xattrs: bool = False
    checksums: bool = False
    multipart: bool = False
    blocks: bool = False
    raw: bool = False


class Deleted(NamedTuple):
    """Outcome of one path of a bulk removal; `error` is None when nothing is there any more because of it."""

    path: CanonicalPath
    error: StorageError | None


class FileSystem(AttributeStore, MultipartStore, Protocol):
    """A store. Calls may come from several threads at once, and an adapter can be made anew from a `StorageSpec`.

    Every method raises subclasses of `toolkit.storage.errors.StorageError`. One that changes something, or waits for a
    silent store, also lets through what the hook before an effect raises: a `toolkit.errors.StopRequested`, after which
    no further change is sent; whether the one before it happened is for the caller to see.
    """

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities of this store."""
        ...

    def status(self, path: CanonicalPath) -> FileStatus:
        """Return the status of the path, of a symbolic link itself and not its target.

        Raises:
            NotFound: nothing is there, or a parent is a file.
        """
        ...

    def list(self, path: CanonicalPath, *, start_from: str = "") -> Iterator[Entry]:
        """The entries of a directory, sorted by name (code points), from the name `start_from` on, itself included.

        On a store without directories the order is that of the keys: a directory stands where its name with ``/``
        behind it does, and a name may be both an object and a directory. The first entry can be had before the last
        was read where the store allows it. Errors come when the iteration begins, or in its middle. A name that no
        `CanonicalPath` can have (an empty one, ``.`` or ``..``, which keys allow) is given as it is.

        Raises:
            NotFound: the directory does not exist.
            WrongKind: it is no directory.
        """
        ...

    def list_tree(self, path: CanonicalPath) -> Iterator[Entry]:
        """Everything below a directory, named by its way from there, in an order that is the same every time.

        A directory comes before what is in it, and no symbolic link is gone into. On a store without directories those
        alone are told that have a marker, and names are as for `list`. The store is asked once for each directory, or
        page; one page, or a directory where the store gives all of it at once, is held for each level.

        Raises:
            NotFound: the directory does not exist; or, when it names one below, that this went away meanwhile.
            WrongKind: it is no directory.
        """
        ...

    def read(self, path: CanonicalPath, *, offset: int = 0, length: int | None = None) -> BinaryIO:
        """A stream of the file's bytes; the caller closes it.

        Args:
            path: the file.
            offset: from this byte on; behind the end there are none.
            length: so many bytes at most; None: up to the end.

        Raises:
            NotFound: nothing is there.
            WrongKind: it is a directory.
        """
        ...

    def write(self, path: CanonicalPath, chunks: Iterable[bytes], *, overwrite: bool = True) -> None:
        """Write a file, replacing one that is there: a reader sees the old bytes or all of the new ones.

        When `chunks` raises, nothing changes and no partial file stays.

        Raises:
            AlreadyExists: something is there and may not be overwritten; nothing has changed.
            NotFound: the directory above does not exist (on a store that has directories).
            WrongKind: a directory is at the path.
        """
        ...

    def mkdirs(self, path: CanonicalPath) -> None:
        """Make a directory and those above it; one that exists is fine.

        Raises:
            AlreadyExists: a file is at the path.
        """
        ...

    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
        """Move an entry to a free name; the directory above the target exists.

        Callers agree on one writer per target by a lease: between the look at the target and the move another writer
        could still come in.

        Raises:
            NotFound: the source, or the directory above the target, does not exist.
            AlreadyExists: something is at the target; nothing was moved.
            Unsupported: the store has no atomic rename.
        """
        ...

    def delete(self, path: CanonicalPath, *, below: CanonicalPath, look: Look | None = None) -> None:
        """Remove a file, or a directory with all that is in it, strictly below `below`.

        No symbolic link below `below` is followed; one inside the tree is itself removed. On a store that removes
        file by file but has an atomic rename, a directory first gets `ASIDE_PREFIX` in front of its name: to readers
        it goes at once, and a killed removal can be seen and finished by deleting that name. An aside that an earlier
        removal of the same name left is removed first. A removal that is not answered is not repeated.

        Args:
            path: what goes.
            below: nothing at, beside or above it is touched.
            look: the removal relies on it: it asks `Look.let_through` instead of the store's hook.

        Raises:
            OutsideBase: `path` is not strictly below `below`; nothing was touched.
            LookTooOld: only with a `look`: nothing was sent.
            NotFound: nothing is there.
            SymlinkRefused: the path is, or leads through, a symbolic link; nothing was touched.
            MountRefused: something is mounted on or in it, and stays.
            BaseChanged: `below` is not the directory that it was when it was first seen; nothing was touched.
            PermissionDenied: names the entry that could not be removed; the rest stays aside for the next run.
        """
        ...

    def delete_all(self, paths: Iterable[CanonicalPath], *, below: CanonicalPath, first: str = "") -> Iterator[Deleted]:
        """Remove many paths, each as `delete` does; one that fails does not stop the others.

        The store's own bulk call is used where it has one (S3: up to 1,000 keys a request, over several paths). When it
        is called off, a store that knows of which paths no request was sent gives `NotBegun` for each, then raises.

        Args:
            paths: what goes; none may be inside another.
            below: as for `delete`.
            first: on a store without atomic delete, the file of this name directly inside a path goes before
                anything else of that path (the availability flag); when that fails, nothing else of it goes.

        Yields:
            One for each path, in any order, as soon as it is known.
        """
        ...

    def remove_if_empty(self, path: CanonicalPath, *, below: CanonicalPath) -> bool:
        """Remove a directory if nothing is in it, in one step of the store (never look, then delete).

        On a store without directories there is nothing to remove but the empty object that some programs write as a
        directory's marker; it goes when nothing else is there, and nothing else can ever go with it.

        Returns:
            True when this call removed it; False when it is not empty or not there.

        Raises:
            OutsideBase: `path` is not strictly below `below`; nothing was touched.
            SymlinkRefused: the path is, or leads through, a symbolic link; nothing was touched.
            WrongKind: a file is at the path.
        """
        ...

    def content_summary(self, path: CanonicalPath) -> ContentSummary:
        """Count what is at and below the path; symbolic links count as nothing.

        Raises:
            NotFound: nothing is there.
        """
        ...

    def close(self) -> None:
        """End the connections of the client, which other views of the store share; who goes on has new ones made."""
        ...


class Bindable(FileSystem, Protocol):
    """A remote store whose client can be shared by several runs of this process."""

    def bound(self, before_effect: Callable[[], None]) -> FileSystem:
        """A view of the same store through the same client, whose every change asks another hook first."""
        ...
