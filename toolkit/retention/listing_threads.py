"""Threads for listings: daemons, so that a store that hangs keeps no process from its end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TypeVar

Answer = TypeVar("Answer")


class ListingThreads:
    """Calls that go on beside the caller, in the order in which they were given.

    Args:
        most: so many threads, each made when it is first needed.
    """

    def __init__(self, most: int) -> None:
        self._most, self._made, self._is_over = most, 0, False
        self._waiting: SimpleQueue[Callable[[], None] | None] = SimpleQueue()

    def submit(self, call: Callable[[], Answer]) -> Callable[[], Answer]:
        """Begin a call; what is returned waits for its answer, and raises what it raised."""
        future: Future[Answer] = Future()
        self._waiting.put(lambda: self._answer(future, call))
        if self._made < self._most:
            threading.Thread(target=self._work, name=f"feedctl-listing-{self._made}", daemon=True).start()
            self._made += 1
        return future.result

    def end(self) -> None:
        """Begin nothing more; nobody waits for what is under way."""
        self._is_over = True
        for _ in range(self._made):
            self._waiting.put(None)

    def _work(self) -> None:
        while (begin := self._waiting.get()) is not None and not self._is_over:
            begin()

    @staticmethod
    def _answer(future: Future[Answer], call: Callable[[], Answer]) -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - raised again where the walk waits for the answer
            future.set_exception(error)


@contextmanager
def listing_threads(most: int) -> Iterator[ListingThreads | None]:
    """Threads for one walk; None for less than two of them."""
    if most <= 1:
        yield None
        return
    threads = ListingThreads(most)
    try:
        yield threads
    finally:
        threads.end()
