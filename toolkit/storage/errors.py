"""Errors of a store, under names that every adapter shares.

StorageError            has a stable `code`, the `path` and often a `detail`
├── NotFound            nothing is at the path                              not_found
├── PermissionDenied    the store refused this identity                     permission_denied
├── AlreadyExists       something is at the target                          already_exists
├── NotEmpty            a directory that must be empty is not               not_empty
├── WrongKind           a directory was expected, or a file                 wrong_kind
├── SymlinkRefused      a symbolic link below the base                      symlink_refused
├── MountRefused        another file system is mounted in an instance       mount_refused
├── BaseChanged         a base is not the directory that it was             base_changed
├── BaseBehindLink      a base is reached through another user's link      base_behind_link
├── OutsideBase         the path is not strictly below the given base       outside_base
├── ReadOnlyStorage     a mutating call on storage opened for reading       read_only
├── QuotaExceeded       a quota of names or bytes, or a full disk            quota_exceeded
├── NotSnapshottable    a directory that cannot have snapshots              not_snapshottable
├── BadName             a name that the store cannot have                   bad_name
├── Unsupported         the store cannot do that at all                     unsupported
├── StorageFailure      any other answer of the store                       storage_failure
└── Unreachable         no answer, or too late (retriable)                  unreachable
    └── NotDone         nothing was done, so that a removal can be repeated unreachable
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, ClassVar

from toolkit.errors import Failed, FeedctlError, Unavailable

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath


class StorageError(FeedctlError):
    """Base of what a `FileSystem` raises; `code` is stable and meant for programs.

    Args:
        path: what the call was about.
        detail: what the store itself said, when it said more than the class does.
    """

    code: ClassVar[str] = "storage_failure"
    text: ClassVar[str] = "the storage refused"

    def __init__(self, *, path: CanonicalPath, detail: str = "") -> None:
        self.path, self.detail = path, detail
        super().__init__(f"{path}: {self.text}{f' ({detail})' if detail else ''}")


class NotFound(StorageError, Failed):  # noqa: N818 - the family of toolkit.errors is named for what happened
    """Nothing is at the path."""

    code = "not_found"
    text = "nothing is there; check the path and that the storage is mounted"


class PermissionDenied(StorageError, Failed):  # noqa: N818
    """The store refused the identity that the run has."""

    code = "permission_denied"
    text = "permission denied; give the user of this run access, then run again"


class AlreadyExists(StorageError, Failed):  # noqa: N818
    """Something is already at the target."""

    code = "already_exists"
    text = "something is already there; move it away first"


class NotEmpty(StorageError, Failed):  # noqa: N818
    """A directory that must be empty holds something."""

    code = "not_empty"
    text = "the directory is not empty"


class NotBegun(StorageError, Failed):  # noqa: N818
    """A removal of many was called off before any request was sent about this path."""

    code = "not_begun"
    text = "nothing was asked about it"


class WrongKind(StorageError, Failed):  # noqa: N818
    """A directory was expected and a file found, or the other way round."""

    code = "wrong_kind"
    text = "found another kind of entry than expected"


class SymlinkRefused(StorageError, Failed):  # noqa: N818
    """A symbolic link stands below the base; following it could leave the feed (DESIGN section 5)."""

    code = "symlink_refused"
    text = "a symbolic link is on the way, and none is followed below the base; replace it by a directory"


class MountRefused(StorageError, Failed):  # noqa: N818
    """Another file system is mounted inside what is to be removed; what is on it was never this feed's."""

    code = "mount_refused"
    text = "another file system is mounted here; unmount it, then run again"


class BaseChanged(StorageError, Failed):  # noqa: N818
    """The directory that bounds the effect was exchanged since the run first looked; what is there now may be any."""

    code = "base_changed"
    text = (
        "this is not the directory any more that was here when the run first looked, so nothing more is done below it; "
        "find out who exchanged it, then run again"
    )


class BaseBehindLink(StorageError, Failed):  # noqa: N818
    """A base is a symbolic link, or is reached through one whose owner could lead the run to any other directory.

    Args:
        path: the base.
        link: where the link is.
        owner: whose it is.
    """

    code = "base_behind_link"
    text = (
        "a base may not be a symbolic link, nor be reached through one that is neither root's nor the run's own user's"
    )

    def __init__(self, *, path: CanonicalPath, link: str, owner: str) -> None:
        self.link, self.owner = link, owner
        found = f"{link} is one, of {owner}"
        super().__init__(
            path=path, detail=f"{found}; write the path without it, or name it in `trusted_links` of repo.yaml"
        )


class OutsideBase(StorageError, Failed):  # noqa: N818
    """The path is not strictly below the base that bounds the effect; nothing was touched.

    Args:
        path: what should have been removed.
        below: the base that it had to be below.
    """

    code = "outside_base"
    text = "outside of what may be touched; nothing was done"

    def __init__(self, *, path: CanonicalPath, below: CanonicalPath) -> None:
        self.below = below
        super().__init__(path=path, detail=f"expected a path strictly below {below}")


class ReadOnlyStorage(StorageError, Failed):  # noqa: N818
    """A mutating call reached storage that was opened for reading, as a dry run does."""

    code = "read_only"
    text = "the storage is open for reading only; nothing was touched"


class QuotaExceeded(StorageError, Failed):  # noqa: N818
    """No room: a quota of names or bytes is used up, or the disk is full."""

    code = "quota_exceeded"
    text = "there is no room; free some or have the quota raised, then run again"


class NotSnapshottable(StorageError, Failed):  # noqa: N818
    """The administrator has not allowed snapshots of the directory."""

    code = "not_snapshottable"
    text = "the directory cannot have snapshots"

    def __init__(self, *, path: CanonicalPath, detail: str = "") -> None:
        del detail  # says the same in other words
        command = f"hdfs dfsadmin -allowSnapshot {shlex.quote(path.path)}"
        super().__init__(path=path, detail=f"let an administrator of the cluster run: {command}")


class BadName(StorageError, Failed):  # noqa: N818
    """The store cannot have such a name, for example one with a colon on HDFS."""

    code = "bad_name"
    text = "the store does not allow this name"


class Unsupported(StorageError, Failed):  # noqa: N818
    """The store cannot do this at all; ask its `Capabilities` first."""

    code = "unsupported"
    text = "the store cannot do this"


class StorageFailure(StorageError, Failed):  # noqa: N818
    """The store failed in a way that has no name of its own; not known to be retriable."""

    code = "storage_failure"
    text = "the storage failed"


class Unreachable(StorageError, Unavailable):  # noqa: N818
    """The store did not answer, or not in time; trying again can help."""

    code = "unreachable"
    text = "the storage does not answer; try again later"


class NotDone(Unreachable):
    """Nothing was done: the store answered that it cannot now, or was not asked, as it did not answer just before."""


def about_path(error: StorageError, path: CanonicalPath) -> StorageError:
    """The same error for another path that the same request was about."""
    return type(error)(path=path, detail=error.detail)
