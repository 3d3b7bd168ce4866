"""Attributes that a copy gets besides its bytes."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from toolkit.actions.model import Problem
from toolkit.mirror.model import Attribute
from toolkit.storage import OWN_PREFIX
from toolkit.transfer.checksum_types import require_same_type
from toolkit.transfer.raw_copies import refuse_raw

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.storage import FileStatus, FileSystem


def copy_problem(
    stores: Callable[[CanonicalPath], FileSystem],
    roots: tuple[CanonicalPath, CanonicalPath],
    preserve: AbstractSet[Attribute],
    *,
    is_raw: bool,
) -> Problem | None:
    """Return why copies can never be what a mirror asks for; None: they can.

    Args:
        stores: the store that a path is on.
        roots: the directory at the source, and that at the target.
        preserve: attributes that copies get.
        is_raw: bytes are copied as they are between encryption zones.

    Raises:
        NotCopiedRaw: they cannot.
        StorageError: a side does not answer.
    """
    for root in roots:
        can = stores(root).capabilities
        blocks = {Attribute.BLOCK_SIZE: can.blocks, Attribute.REPLICATION: can.blocks}
        has = {Attribute.ACL: can.acls, Attribute.XATTR: can.xattrs, **blocks}
        has[Attribute.CHECKSUM_TYPE] = can.blocks and can.checksums
        missing = sorted(each.value for each in preserve if not has.get(each, can.permissions))
        if missing:
            hint = " by its own protocol (webhdfs: may have it)" if can.blocks else ""
            message = f"the store of {root} has no {', '.join(missing)}{hint}; remove it from `preserve`"
            return Problem(code="not_preserved", message=message)
    if is_raw:
        refuse_raw(stores, *roots)
    return None


def keep_attributes(
    source: FileSystem, found: FileStatus, target: FileSystem, place: CanonicalPath, preserve: AbstractSet[Attribute]
) -> None:
    """Give a path the attributes of its origin; the time comes last, and says that it has the others too.

    Args:
        source: the store of the origin.
        found: status of the origin.
        target: the store of the path.
        place: the path.
        preserve: what it gets besides the time.
    """
    has = target.status(place)
    owner = found.owner if Attribute.OWNER in preserve and found.owner != has.owner else None
    group = found.group if Attribute.GROUP in preserve and found.group != has.group else None
    if owner is not None or group is not None:
        target.set_owner(place, owner=owner, group=group)
    if Attribute.XATTR in preserve:
        present = target.xattrs(place)
        for name, value in source.xattrs(found.path).items():
            if present.get(name) != value:
                target.set_xattr(place, name, value)
    permission = found.permission
    if Attribute.PERMISSION in preserve and permission is not None and permission != has.permission:
        target.set_permission(place, permission)
    if Attribute.ACL in preserve:  # behind the permission bits, which are those of its mask
        entries = source.acl(found.path)
        if entries != target.acl(place):
            target.set_acl(place, entries)
    if Attribute.CHECKSUM_TYPE in preserve and found.size and f"/{OWN_PREFIX}" in place.path:  # a new copy
        require_same_type(source, found.path, target, place)
    if found.modified != has.modified:
        target.set_modified(place, found.modified)
