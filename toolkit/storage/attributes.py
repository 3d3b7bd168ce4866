"""Attributes of a file besides its bytes, and the port to read and set them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from toolkit.el import CanonicalPath

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime


RAW = "/.reserved/raw"
"""Directory of HDFS below which the superuser reads and writes files of encryption zones as they are stored."""
RAW_PREFIX = "raw."
"""Begin of the names of attributes that are seen below `RAW` alone; one of them has the key of an encrypted file."""


def is_raw(path: CanonicalPath) -> bool:
    """Return whether a path is below `RAW`."""
    return path.path.startswith(f"{RAW}/")


def raw_path(path: CanonicalPath) -> CanonicalPath:
    """Return the path of the same file below `RAW`."""
    return path if is_raw(path) else CanonicalPath(path.scheme, path.authority, f"{RAW}{path.path}")


class BlockLayout(NamedTuple):
    """Layout of a file in blocks, which is set when it is written; None: the default of the store.

    Attributes:
        block_size: bytes of a block.
        replication: number of replicas of each block.
    """

    block_size: int | None = None
    replication: int | None = None


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


ANY_LAYOUT = BlockLayout()


class AttributeStore(Protocol):
    """The part of `FileSystem` that is about attributes; `Capabilities` says which of them a store has."""

    def write_in_blocks(
        self, path: CanonicalPath, chunks: Iterable[bytes], layout: BlockLayout, *, overwrite: bool = True
    ) -> None:
        """Write a file as `FileSystem.write` does, with a layout.

        Raises:
            StorageFailure: the store allows no such layout.
            Unsupported: files have no blocks there.
        """
        ...

    def may_use_raw(self, path: CanonicalPath) -> bool:
        """Return whether this identity may read and write a path that is there below `RAW`, as the superuser may.

        Raises:
            NotFound: nothing is there.
            Unsupported: the store has nothing below `RAW`, or no way to it.
        """
        ...

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
        """The extended attributes of users, whose names begin with ``user.``; below `RAW` those of `RAW_PREFIX` too.

        Raises:
            NotFound: nothing is there.
            Unsupported: the store has none.
        """
        ...

    def set_xattr(self, path: CanonicalPath, name: str, value: bytes) -> None:
        """Set one extended attribute, new or not.

        Raises:
            NotFound: nothing is there.
            PermissionDenied: the name does not begin with ``user.`` (or, below `RAW`, with `RAW_PREFIX`), or may not be
                set.
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
