"""Conditions of copies below `RAW`: bytes of encryption zones are copied as they are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.el import CanonicalPath
from toolkit.errors import Failed
from toolkit.storage import RAW, RAW_PREFIX, FileStatus, StorageError, find_status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from toolkit.storage import FileSystem

_KEY = f"{RAW_PREFIX}hdfs.crypto.file.encryption.info"
"""Attribute with the key of a file that is encrypted."""


class NotCopiedRaw(StorageError, Failed):  # noqa: N818 - the family of toolkit.errors is named for what happened
    """Bytes of an encryption zone cannot be copied as they are; nothing was copied."""

    code = "not_copied_raw"
    text = "cannot be copied as it is stored (tdeEncryptionEnabled)"


def refuse_raw(stores: Callable[[CanonicalPath], FileSystem], source: CanonicalPath, target: CanonicalPath) -> None:
    """Return when a directory can be copied below `RAW`: from a zone to a zone, or from no zone to none.

    Args:
        stores: the store that a path is on.
        source: is there.
        target: may not be there yet; what is above it counts.

    Raises:
        NotCopiedRaw: it cannot.
    """
    are_encrypted = []
    for side, path in (("source", source), ("target", target)):
        if not stores(path).capabilities.raw:
            detail = f"{path.scheme}: has no attributes of {RAW}; give the {side} cluster a webhdfs: address"
            raise NotCopiedRaw(path=path, detail=detail)
        found = _nearest(stores(path), path)
        if not stores(path).may_use_raw(found.path):
            detail = f"only the superuser of HDFS at the {side} may copy what is below {RAW}; run as it"
            raise NotCopiedRaw(path=path, detail=detail)
        are_encrypted.append(found.is_encrypted)
    if are_encrypted[0] != are_encrypted[1]:
        lacking = target if are_encrypted[0] else source
        detail = f"{lacking} is in no encryption zone, and the other side is, so that nobody could decrypt the copy"
        raise NotCopiedRaw(path=target, detail=f"{detail}; make a zone there with the same key")


def refuse_other_zone(target: FileSystem, place: CanonicalPath, attributes: Iterable[str]) -> None:
    """Return when a file may have its bytes there: encrypted ones in a zone, others in none.

    A zone may lie within what is copied, or begin at it: outside of a zone readers would take ciphertext for data.

    Args:
        target: the store that is written to.
        place: of the copy, below `RAW`, in a directory that is there.
        attributes: names of those of the source file below `RAW`.

    Raises:
        NotCopiedRaw: it may not.
    """
    plain = CanonicalPath(place.scheme, place.authority, place.path.removeprefix(RAW))
    is_encrypted = _KEY in attributes
    if is_encrypted != target.status(plain.parent).is_encrypted:
        has, lies = ("has", "in no encryption zone") if is_encrypted else ("has no", "in an encryption zone")
        detail = f"its source {has} a key, and {plain.parent} is {lies}; make the same zones at both ends"
        raise NotCopiedRaw(path=place, detail=detail)


def _nearest(system: FileSystem, path: CanonicalPath) -> FileStatus:
    """Return the status of a path, or of the lowest directory above it that is there."""
    found = find_status(system, path)
    while found is None:
        path = path.parent
        found = find_status(system, path)
    return found
