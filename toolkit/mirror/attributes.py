"""Attributes that a copy gets besides its bytes."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from toolkit.mirror.model import Attribute

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.storage import FileStatus, FileSystem


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
    if found.modified != has.modified:
        target.set_modified(place, found.modified)
