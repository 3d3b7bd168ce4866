"""A tree of instances on HDFS: made, made whole again, and looked at."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from hdfs_native import Client, WriteOptions

from benchmarks.eviction.checking import Listing, empty_directories
from benchmarks.eviction.trees import FILE, Tree

_THREADS = 64
_CREATE = WriteOptions(create_parent=True, overwrite=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class HdfsTree:
    """The tree on one store.

    Args:
        client: of the store.
        tree: what should be there.
    """

    client: Client
    tree: Tree

    def make(self, numbers: range) -> None:
        """Create these instances, with whatever is above them, from many threads: each mostly waits for the store."""
        with ThreadPoolExecutor(_THREADS) as pool:
            for _ in pool.map(self._create, (numbers[share::_THREADS] for share in range(_THREADS))):
                pass

    def remove(self) -> None:
        """Nothing of it is left."""
        self.client.delete(self.tree.root, recursive=True)

    def check(self, numbers: range) -> int:
        """Look whether exactly these instances are there, each with its file.

        Returns:
            How many empty directories are there besides.

        Raises:
            WrongTree: an instance is missing, or there is one too many.
        """
        return empty_directories(self.tree, numbers, self._listing())

    def _create(self, numbers: range) -> None:
        for path in self.tree.paths(numbers):
            self.client.create(f"{path}/{FILE}", _CREATE).close()

    def _listing(self) -> Listing:
        with ThreadPoolExecutor(_THREADS) as pool:
            names = dict(pool.map(self._names, self.tree.siblings(self.tree.everything)))
        summary = self.client.get_content_summary(self.tree.root)
        return Listing(names=names, files=summary.file_count, directories=summary.directory_count)

    def _names(self, parent: str) -> tuple[str, list[str]]:
        try:
            return parent, sorted(each.path.rpartition("/")[2] for each in self.client.list_status(parent))
        except FileNotFoundError:
            return parent, []
