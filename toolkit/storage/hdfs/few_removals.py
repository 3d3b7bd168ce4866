"""Removals on HDFS that one thread does one after the other."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolkit.storage.errors import NotDone, NotFound, Unreachable
from toolkit.storage.hdfs.errors import hdfs_error
from toolkit.storage.port import Deleted

if TYPE_CHECKING:
    from hdfs_native import Client

    from toolkit.el import CanonicalPath


class FewRemovals:
    """Removes some paths one after the other, in a thread that may be given up while one of them hangs.

    Args:
        paths: what goes; checked before.
    """

    def __init__(self, paths: Sequence[CanonicalPath]) -> None:
        self.paths = paths
        self._known: list[Deleted] = []
        self._lock = threading.Lock()
        self._is_given_up, self._detail = False, ""

    def remove(self, client: Client) -> None:
        """Remove them, up to the first that is not answered; after `give_up` none is begun any more."""
        for path in self.paths:
            if self._is_given_up:
                return
            deleted = _removed(client, path)
            with self._lock:
                self._known.append(deleted)
            if isinstance(deleted.error, Unreachable):
                self.give_up(deleted.error.detail)

    def give_up(self, why: str) -> None:
        """Begin no further removal; the one under way **may still take effect**."""
        self._is_given_up, self._detail = True, why

    def answered(self) -> Sequence[Deleted]:
        """Return the outcome of each path now; the one under way is `Unreachable`, the rest `NotDone`."""
        with self._lock:
            known = list(self._known)
        rest = [Deleted(path, NotDone(path=path, detail=self._detail)) for path in self.paths[len(known) :]]
        if rest and not (known and isinstance(known[-1].error, Unreachable)):  # given up: it may be under way
            rest[0] = Deleted(rest[0].path, Unreachable(path=rest[0].path, detail=self._detail))
        return known + rest


def _removed(client: Client, path: CanonicalPath) -> Deleted:
    try:
        is_gone = client.delete(path.path, recursive=True)
    except (OSError, RuntimeError, ValueError, OverflowError) as error:
        return Deleted(path, hdfs_error(error, path))
    return Deleted(path, None if is_gone else NotFound(path=path))
