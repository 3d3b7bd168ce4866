"""Attributes of a file besides its bytes, and the port to read and set them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from toolkit.el import CanonicalPath


class Checksum(NamedTuple):
    """Checksum that the store itself has of a file's bytes.

    Two of one algorithm that are equal are of equal bytes, as surely as that algorithm tells. Two that differ tell
    nothing unless the bytes were written in the same way: most algorithms depend on the sizes of blocks or parts.

    Attributes:
        algorithm: as the store names it: ``MD5-of-0MD5-of-512CRC32C`` on HDFS, ``SHA256`` or ``ETag`` on S3.
        value: its bytes; where the store gives a text (an ETag, and what is composed of parts), those of the text.
    """

    algorithm: str
    value: bytes


class AttributeStore(Protocol):
    """The part of `FileSystem` that is about attributes; `Capabilities` says which of them a store has."""

    def set_permission(self, path: CanonicalPath, permission: int) -> None:
        """Set the permission bits.

        Raises:
            NotFound: nothing is there.
            Unsupported: the store has none.
        """
        ...

    def set_owner(self, path: CanonicalPath, *, owner: str | None = None, group: str | None = None) -> None:
        """Set the owner, the group or both; None leaves it.

        Raises:
            NotFound: nothing is there.
            PermissionDenied: usually only the administrator of the store may.
            Unsupported: the store has none.
        """
        ...

    def set_modified(self, path: CanonicalPath, modified: datetime) -> None:
        """Set the time of the last change; that of the last access stays where the store can leave it.

        Raises:
            NotFound: nothing is there.
            Unsupported: the store keeps its own.
        """
        ...

    def acl(self, path: CanonicalPath) -> tuple[str, ...]:
        """The access control list, as ``hdfs dfs -setfacl --set`` takes it: ``user:eve:r-x``, ``default:group::r--``.

        It is empty when there is nothing beyond the permission bits, else complete, with owner, group, mask and other.

        Raises:
            NotFound: nothing is there.
            Unsupported: the store has none.
        """
        ...

    def set_acl(self, path: CanonicalPath, entries: tuple[str, ...]) -> None:
        """Replace the access control list by one as `acl` gives it; an empty one leaves the permission bits alone.

        Two steps on HDFS: for a moment only owner, group and others have rights.

        Raises:
            NotFound: nothing is there.
            StorageFailure: an entry cannot be understood.
            Unsupported: the store has none.
        """
        ...

    def xattrs(self, path: CanonicalPath) -> Mapping[str, bytes]:
        """The extended attributes of users, whose names begin with ``user.``.

        Raises:
            NotFound: nothing is there.
            Unsupported: the store has none.
        """
        ...

    def set_xattr(self, path: CanonicalPath, name: str, value: bytes) -> None:
        """Set one extended attribute, new or not.

        Raises:
            NotFound: nothing is there.
            PermissionDenied: the name does not begin with ``user.``, or may not be set.
            Unsupported: the store has none.
        """
        ...

    def checksum(self, path: CanonicalPath) -> Checksum | None:
        """Return the store's own checksum, without reading the bytes; None: it has none of this file.

        Raises:
            NotFound: nothing is there, on a store that has checksums at all.
            WrongKind: it is a directory there.
        """
        ...
