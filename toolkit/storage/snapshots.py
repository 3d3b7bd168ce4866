"""The port to snapshots of directories, which HDFS keeps at `.snapshot/NAME`; checked by `tests/contract/snapshots`."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from toolkit.el import CanonicalPath


class DirectorySnapshot(NamedTuple):
    """Snapshot of a directory; its number is greater than those of all that were made before."""

    name: str
    number: int
    created: datetime


class ChangeKind(StrEnum):
    """Kind of an entry of a difference."""

    CREATE = "create"
    """A new file or directory; what is in a new directory is not named."""
    DELETE = "delete"
    """A file or directory that is gone, with all that was in it. A file that was written anew is both."""
    MODIFY = "modify"
    """A file with other bytes or attributes, or a directory with other attributes or names in it."""
    RENAME = "rename"
    """A file or directory with another name or in another directory; what is in it is named only where it changed."""


class TreeChange(NamedTuple):
    """Entry of the difference of two snapshots.

    Attributes:
        path: from the directory down, as the *older* snapshot has it; of a new entry that of its directory in the older
            snapshot, and its name; empty: the directory itself.
        target: of a renamed entry its path in the newer snapshot; else empty.
    """

    kind: ChangeKind
    path: str
    target: str = ""


class SnapshotStore(Protocol):
    """Snapshots of the directories of one store. Calls may come from several threads.

    Every method raises `StorageError`: NotFound for a missing directory or name, `NotSnapshottable`, and
    PermissionDenied. One that changes something raises also what its hook before an effect does; when it was not
    answered, it may have taken effect.
    """

    def allow(self, directory: CanonicalPath) -> None:
        """Let a directory have snapshots; only the administrator of the store may."""
        ...

    def list(self, directory: CanonicalPath) -> Sequence[DirectorySnapshot]:
        """Return the snapshots of a directory, oldest first."""
        ...

    def create(self, directory: CanonicalPath, name: str) -> None:
        """Make a snapshot; raises AlreadyExists when there is one with this name."""
        ...

    def delete(self, directory: CanonicalPath, name: str) -> None:
        """Delete a snapshot, and free what only it has."""
        ...

    def diff(self, directory: CanonicalPath, older: str, newer: str = "") -> Iterator[TreeChange]:
        """Yield the changes from one snapshot to a later one, each once; without a name, to the present state."""
        ...
