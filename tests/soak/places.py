"""Place of a random tree outside of the product: a directory of this machine, or one of an HDFS."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol, TypeAlias

import hdfs_native

from toolkit.storage import StorageSpec

_THREADS = 8


class Kind(StrEnum):
    """What a path is."""

    DIRECTORY = "directory"
    """A directory."""
    FILE = "file"
    """An empty file."""
    LINK = "link"
    """A symbolic link, to any directory of the tree."""


Tree: TypeAlias = dict[str, Kind]
"""Everything below the root of a place, by its path from there."""
OUTSIDE = "/outside"
"""A directory that is no feed's; some links lead to it."""


class Store(Protocol):
    """Store of a feed.

    Attributes:
        endpoint: the URI that the feed's paths are below.
        spec: how the product opens the store.
    """

    @property
    def endpoint(self) -> str: ...
    @property
    def spec(self) -> StorageSpec: ...


class Place(Store, Protocol):
    """An empty directory, which `endpoint` names.

    Attributes:
        has_links: whether symbolic links can be made.
        has_directories: whether directories are there without anything in them; else only keys are.
    """

    @property
    def has_links(self) -> bool: ...
    @property
    def has_directories(self) -> bool: ...

    def build(self, tree: Tree) -> None:
        """Make a whole tree."""
        ...

    def tree(self) -> Tree:
        """Return what is there now; nobody may change it meanwhile."""
        ...

    def has(self, path: str) -> bool:
        """Return whether something is at a path."""
        ...


@dataclass(frozen=True, slots=True)
class LocalPlace:
    """A directory of this machine."""

    root: Path
    has_links: bool = True
    has_directories: bool = True

    @property
    def endpoint(self) -> str:
        return f"file://{self.root}"

    @property
    def spec(self) -> StorageSpec:
        return StorageSpec(scheme="file")

    def build(self, tree: Tree) -> None:
        directories = sorted(path for path, kind in tree.items() if kind is Kind.DIRECTORY)
        for path in sorted(tree, key=lambda each: each.count("/")):
            place = self.root / path[1:]
            if tree[path] is Kind.DIRECTORY:
                place.mkdir()
            elif tree[path] is Kind.FILE:
                place.touch()
            else:
                place.symlink_to(self.root / _any_of(directories, path)[1:])

    def tree(self) -> Tree:
        found = (Path(at) / name for at, dirs, files in os.walk(self.root) for name in [*dirs, *files])
        return {f"/{each.relative_to(self.root)}": _kind(each) for each in found}

    def has(self, path: str) -> bool:
        return os.path.lexists(self.root / path[1:])


@dataclass(frozen=True, slots=True)
class HdfsPlace:
    """A directory of an HDFS.

    Args:
        endpoint: its URI.
        client: for that HDFS.
    """

    endpoint: str
    client: hdfs_native.Client
    has_links: bool = False
    has_directories: bool = True

    @property
    def spec(self) -> StorageSpec:
        return StorageSpec(scheme="hdfs", authority=self.endpoint.split("/")[2])

    @property
    def root(self) -> str:
        """The directory's path."""
        return "/" + self.endpoint.split("/", 3)[3]

    def build(self, tree: Tree) -> None:
        """See `Place`; parents come by themselves."""
        above = {path.rpartition("/")[0] for path in tree}
        leaves = [path for path in tree if path not in above]
        _side_by_side(lambda path: self._make(self.root + path, tree[path]), leaves)

    def tree(self) -> Tree:
        found = self.client.list_status(self.root, recursive=True)
        return {each.path.removeprefix(self.root): Kind.DIRECTORY if each.isdir else Kind.FILE for each in found}

    def has(self, path: str) -> bool:
        try:
            self.client.get_file_info(self.root + path)
        except FileNotFoundError:
            return False
        return True

    def _make(self, path: str, kind: Kind) -> None:
        if kind is Kind.DIRECTORY:
            self.client.mkdirs(path, create_parent=True)
            return
        with self.client.create(path, hdfs_native.WriteOptions(create_parent=True)):
            pass


def _any_of(paths: Sequence[str], about: str) -> str:
    """Always the same one for the same path."""
    return paths[zlib.crc32(about.encode(errors="surrogateescape")) % len(paths)]


def _side_by_side(work: Callable[[str], None], paths: Iterable[str]) -> None:
    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(work, paths))


def _kind(path: Path) -> Kind:
    if path.is_symlink():
        return Kind.LINK
    return Kind.DIRECTORY if path.is_dir() else Kind.FILE
