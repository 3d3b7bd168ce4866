"""Which file system holds a path, and whether its locks hold between machines (proc(5), mountinfo)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath

_MOUNT_INFO = Path("/proc/self/mountinfo")
_ESCAPE = re.compile(r"\\([0-7]{3})")
_SHARED = frozenset(
    {
        "9p",
        "acfs",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "fhgfs",
        "fuse",
        "gfs",
        "gfs2",
        "glusterfs",
        "gpfs",
        "kafs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "ocfs2",
        "orangefs",
        "panfs",
        "prl_fs",
        "pvfs2",
        "smb2",
        "smb3",
        "smbfs",
        "vboxsf",
        "virtiofs",
        "vmhgfs",
        "wekafs",
    }
)
_LOCAL_FUSE = frozenset({"fuse.fuse-overlayfs"})
"""The root of a container without root is one, on a local disk."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mount:
    """A file system in the tree.

    Attributes:
        point: where it begins.
        kind: for example ext4.
    """

    point: PurePath
    kind: str

    @property
    def is_shared(self) -> bool:
        """Whether other machines may have the same files, so that a lock here says nothing there.

        FUSE counts as shared unless it is known better: most of what is mounted by it is somewhere else.
        """
        return self.kind in _SHARED or (self.kind.startswith("fuse.") and self.kind not in _LOCAL_FUSE)


def read_mounts(info: str) -> Iterator[Mount]:
    """The mounts in the text of a mountinfo file; lines that are none are left out."""
    for line in info.splitlines():
        fields, separator, system = line.partition(" - ")
        before, after = fields.split(" "), system.split(" ")
        if separator and len(before) > 4 and after[0]:  # noqa: PLR2004 - the fifth field is the mount point
            point = _ESCAPE.sub(lambda found: chr(int(found[1], 8)), before[4])
            yield Mount(point=PurePath(point), kind=after[0])


def mount_of(path: PurePath, mounts: Iterable[Mount]) -> Mount | None:
    """The mount that holds a path: the deepest one, and of several on one point the newest.

    Args:
        path: absolute, without links.
        mounts: in the order of mountinfo.
    """
    holding = [(len(each.point.parts), place, each) for place, each in enumerate(mounts) if _holds(each, path)]
    return max(holding)[2] if holding else None


def own_mounts() -> Iterator[Mount]:
    """The mounts that this process sees; none where the system does not say."""
    try:
        info = _MOUNT_INFO.read_bytes()
    except OSError:
        return
    yield from read_mounts(os.fsdecode(info))


def shared_disk(path: Path, mounts: Iterable[Mount]) -> str | None:
    """The kind of the file system that shares a path with other machines; None: it is local, or nobody can tell.

    Args:
        path: of something that need not be there yet.
        mounts: for example `own_mounts()`, which is read after the automounter has done its work.
    """
    resolved = path.resolve()
    with suppress(OSError):
        resolved.parent.stat()
    found = mount_of(resolved, mounts)
    return found.kind if found is not None and found.is_shared else None


def _holds(mount: Mount, path: PurePath) -> bool:
    return path.is_relative_to(mount.point)
