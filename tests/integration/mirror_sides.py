"""Sides of a snapshot mirror on real HDFS, and a look at all of one that shares no code with differences."""

from __future__ import annotations

from collections.abc import Callable

from tests.testbed.hdfs import HdfsCluster
from toolkit.el import CanonicalPath
from toolkit.mirror.model import MirrorSide
from toolkit.storage import FileKind, FileSystem, StorageSpec, open_file_system
from toolkit.storage.local.file_system import no_check
from toolkit.storage.webhdfs.snapshots import open_snapshots
from toolkit.transfer.trees import below


def side(
    hdfs: HdfsCluster,
    name: str,
    check: Callable[[], None] = no_check,
    *,
    native: bool = False,
    user: str = "",
    patience: float = 120,
) -> MirrorSide:
    """Return one side, reached by WebHDFS or by Hadoop's own protocol; snapshots are made by WebHDFS anyhow."""
    web = StorageSpec(scheme="webhdfs", authority=f"127.0.0.1:{hdfs.http}", user=user or hdfs.superuser)
    spec = StorageSpec(scheme="hdfs", authority=f"127.0.0.1:{hdfs.rpc}", user=user or hdfs.superuser) if native else web
    return MirrorSide(
        root=CanonicalPath(spec.scheme, spec.authority, f"/mirrors/{name}"),
        system=open_file_system(spec, before_effect=check, patience=patience),
        snapshots=open_snapshots(web, before_effect=check),
    )


def tree_of(system: FileSystem, root: CanonicalPath) -> dict[str, tuple[object, ...]]:
    """Read everything below a directory; shares no code with differences, which leave out times of directories."""
    found: dict[str, tuple[object, ...]] = {}
    for entry in system.list_tree(root):
        path = below(root, entry.name)
        status = system.status(path)
        content = b""
        if status.size:
            with system.read(path) as stream:
                content = stream.read()
        time = status.modified if status.kind is FileKind.FILE else None
        found[entry.name] = (status.kind, content, time, status.owner, status.group, status.permission)
    return found
