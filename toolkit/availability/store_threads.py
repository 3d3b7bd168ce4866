"""Work on many stores at once, each with threads of its own and all with one deadline."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack
from typing import Generic, TypeVar

from toolkit.threads import WorkerPool

Key = TypeVar("Key")
Found = TypeVar("Found")

AT_ONCE = 16
"""So many calls at once are good for any remote store."""
_BETWEEN_CHECKS = 0.2


class StoreWork(Generic[Found]):
    """Work on one store for one subject; it yields results one by one, so that a late one keeps what it has.

    Args:
        work: is called with a function that takes each result.
    """

    def __init__(self, work: Callable[[Callable[[Found], None]], None]) -> None:
        self._work = work
        self._found: list[Found] = []
        self._future: Future[None] | None = None
        self.found: Sequence[Found] = ()
        self.error: BaseException | None = None
        self.is_late = False

    def start(self, pool: WorkerPool) -> Future[None]:
        """Begin in a thread of the pool, when it has a free one."""
        self._future = pool.submit(self._work, self._found.append)
        return self._future

    def end(self) -> None:
        """Take what was found up to now, and how it ended; later results are lost."""
        self.found = tuple(self._found)
        if self._future is None or not self._future.done() or self._future.cancelled():
            self.is_late = True
        else:
            self.error = self._future.exception()


def work_on_stores(
    by_store: Mapping[str, Sequence[StoreWork[Found]]],
    *,
    deadline: float,
    check: Callable[[], None],
    now: Callable[[], float] = time.monotonic,
) -> None:
    """Do the work of all stores at once; one that hangs keeps no other from its end.

    Args:
        by_store: the work of each store, in the order in which it is begun.
        deadline: seconds after which what has not ended is late; threads that hang are left alone.
        check: asked while it waits; what it raises ends the wait.
        now: seconds of a clock that only goes forward.
    """
    with ExitStack() as pools:
        futures: list[Future[None]] = []
        for store, work in by_store.items():
            pool = WorkerPool(min(AT_ONCE, len(work)), f"feedctl-look-{store}")
            pools.callback(pool.shutdown)
            futures.extend(each.start(pool) for each in work)
        end = now() + deadline
        waiting = set(futures)
        while waiting and (left := end - now()) > 0:
            check()
            _, waiting = wait(waiting, timeout=min(left, _BETWEEN_CHECKS))
        for work in by_store.values():
            for each in work:
                each.end()
