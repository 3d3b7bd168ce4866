"""Conditions of copies below `RAW`: bytes of encryption zones are copied as they are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.errors import Failed
from toolkit.storage import RAW, FileStatus, StorageError, find_status

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem


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


def _nearest(system: FileSystem, path: CanonicalPath) -> FileStatus:
    """Return the status of a path, or of the lowest directory above it that is there."""
    found = find_status(system, path)
    while found is None:
        path = path.parent
        found = find_status(system, path)
    return found
