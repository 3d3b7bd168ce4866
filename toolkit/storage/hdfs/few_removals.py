"""Removals on HDFS that one thread does one after the other."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolkit.storage.errors import NotFound, Unreachable
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
        self._silence: str | None = None

    def remove(self, client: Client) -> None:
        """Remove them, up to the first that is not answered; after `give_up` none is begun any more."""
        for path in self.paths:
            if self._silence is not None:
                return
            deleted = _removed(client, path)
            with self._lock:
                self._known.append(deleted)
            if isinstance(deleted.error, Unreachable):
                self.give_up(deleted.error.detail)

    def give_up(self, silence: str) -> None:
        """Begin no further removal; the one under way **may still take effect**."""
        self._silence = silence

    def answered(self) -> Sequence[Deleted]:
        """Return the outcome of each path now; a path without an answer is `Unreachable`."""
        with self._lock:
            known = list(self._known)
        rest = self.paths[len(known) :]
        return known + [Deleted(path, Unreachable(path=path, detail=self._silence or "")) for path in rest]


def _removed(client: Client, path: CanonicalPath) -> Deleted:
    try:
        is_gone = client.delete(path.path, recursive=True)
    except (OSError, RuntimeError, ValueError, OverflowError) as error:
        return Deleted(path, hdfs_error(error, path))
    return Deleted(path, None if is_gone else NotFound(path=path))
