"""Types of the checksums of HDFS, which the DataNode that writes a file chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.storage import StorageFailure

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem


def require_same_type(source: FileSystem, origin: CanonicalPath, target: FileSystem, place: CanonicalPath) -> None:
    """Compare the types of the checksums of a file that has bytes and of its copy.

    Raises:
        StorageFailure: they differ.
    """
    types = []
    for system, path in ((source, origin), (target, place)):
        found = system.checksum(path)
        types.append("none" if found is None else found.algorithm.rpartition("-")[2].lstrip("0123456789"))
    if types[0] != types[1]:
        detail = f"its checksum is of type {types[1]}, and that of the source {types[0]}; set dfs.checksum.type there"
        raise StorageFailure(path=place, detail=detail)
