"""Random changes of a directory, as hypothesis draws them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from hypothesis import strategies as st

from tests.unit.mirror.memory_hdfs import MemoryHdfs
from toolkit.el import CanonicalPath
from toolkit.storage import FileKind, FileSystem, StorageError
from toolkit.transfer.trees import below

KINDS = ("write", "append", "mkdir", "delete", "rename", "over", "swap", "into", "chmod", "chown")
NAMES = ("a", "b", "c%20 é", "d")


class Draw(NamedTuple):
    """One change; numbers choose among the paths that are there."""

    kind: str
    first: int
    second: int
    name: str


draws = st.lists(
    st.builds(Draw, st.sampled_from(KINDS), st.integers(0, 1000), st.integers(0, 1000), st.sampled_from(NAMES)),
    max_size=14,
)


Append: TypeAlias = Callable[[CanonicalPath, bytes], None]


def change(hdfs: FileSystem, root: CanonicalPath, drawn: list[Draw], append: Append | None = None) -> None:
    """Make changes; those that HDFS refuses are left out, and without `append` those of an HDFS in memory alone."""
    append = hdfs.append if isinstance(hdfs, MemoryHdfs) else append
    for each in drawn:
        try:
            _change(hdfs, root, each, append)
        except StorageError:
            continue


def _change(hdfs: FileSystem, root: CanonicalPath, drawn: Draw, append: Append | None) -> None:
    kinds = {entry.name: entry.kind for entry in hdfs.list_tree(root)}
    paths = [below(root, name) for name in sorted(kinds)]
    directories = [root, *(below(root, name) for name in sorted(kinds) if kinds[name] is FileKind.DIRECTORY)]
    into = directories[drawn.second % len(directories)]
    fresh = into.child(drawn.name)
    if drawn.kind == "write":
        hdfs.write(fresh, [f"{drawn.first}".encode()])
    elif drawn.kind == "mkdir":
        hdfs.mkdirs(fresh)
    elif paths:
        path, other = paths[drawn.first % len(paths)], paths[drawn.second % len(paths)]
        if drawn.kind == "append" and append is not None and hdfs.status(path).kind is FileKind.FILE:
            append(path, b"more")
        else:
            _change_one(hdfs, root, drawn, path, fresh, other)


def _change_one(
    hdfs: FileSystem, root: CanonicalPath, drawn: Draw, path: CanonicalPath, fresh: CanonicalPath, other: CanonicalPath
) -> None:
    if drawn.kind == "delete":
        hdfs.delete(path, below=root)
    elif drawn.kind == "rename":
        hdfs.rename(path, fresh)
    elif drawn.kind == "over" and not path.meets(other):
        hdfs.delete(other, below=root)
        hdfs.rename(path, other)
    elif drawn.kind == "swap" and not path.meets(other):
        between = root.child("between")
        hdfs.rename(path, between)
        hdfs.rename(other, path)
        hdfs.rename(between, other)
    elif drawn.kind == "into":  # the directory goes below a new one that has its old name
        between = root.child("between")
        hdfs.rename(path, between)
        hdfs.mkdirs(path)
        hdfs.rename(between, path.child(drawn.name))
    elif drawn.kind == "chmod":
        hdfs.set_permission(path, 0o700 + drawn.second % 8)
    elif drawn.kind == "chown":
        hdfs.set_owner(path, owner=f"u{drawn.second % 3}", group=f"g{drawn.second % 2}")
