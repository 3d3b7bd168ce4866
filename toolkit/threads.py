"""Daemon threads that work for a caller: a call that hangs keeps no process from its end, as others' pools would."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, wait
from contextlib import ExitStack, contextmanager
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, Generic, ParamSpec, TypeVar

from typing_extensions import override

Answer = TypeVar("Answer")
Thing = TypeVar("Thing")
_Params = ParamSpec("_Params")

IDLE_SECONDS = 10.0
"""A thread that got no call for so long ends, so that a pool that is not used any more leaves nothing behind."""
JOIN_SECONDS = 2.0
"""So long work that ends by an error waits for what is under way."""


class WorkerPool(Executor):
    """Runs calls in so many daemon threads at most, each made when it is first needed.

    Args:
        most: so many threads; less than 1 counts as 1.
        name: of the threads.
        idle_seconds: how long a thread without a call stays.
    """

    def __init__(self, most: int, name: str, *, idle_seconds: float = IDLE_SECONDS) -> None:
        self._most, self._name, self._idle_seconds = max(1, most), name, idle_seconds
        self._calls: SimpleQueue[_Call] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = self._open = 0
        self._is_shut = False

    @property
    def threads(self) -> int:
        """Return the number of live threads."""
        return self._threads

    @override
    def submit(self, fn: Callable[_Params, Answer], /, *args: _Params.args, **kwargs: _Params.kwargs) -> Future[Answer]:
        """Return a cancelled future when the pool was shut down."""
        future: Future[Answer] = Future()
        call = _Call(lambda: fn(*args, **kwargs), future)
        with self._lock:
            if self._is_shut:
                call.cancel()
                return future
            self._open += 1
            is_new = self._open > self._threads and self._threads < self._most
            self._threads += is_new
            self._calls.put(call)
        if is_new:
            threading.Thread(target=self._work, name=self._name, daemon=True).start()
        return future

    def run_all(
        self,
        work: Callable[[Thing], None],
        things: Sequence[Thing],
        *,
        at_once: int | None = None,
        on_interrupt: Callable[[], None] = lambda: None,
    ) -> None:
        """Call a function with each thing, in their order and several at once; returns when nothing is under way.

        Args:
            work: called from any thread of the pool; of this one when only one at a time is asked for.
            things: what to work on.
            at_once: so many calls at once; None: one for each thread.
            on_interrupt: called when the waiting ends (by Ctrl-C) while threads are at work: it makes them end soon,
                and they are waited for a little longer.

        Raises:
            BaseException: what the work raised first; nothing was begun after it.
        """
        most = min(self._most, len(things), at_once or self._most)
        todo, has_failed = iter(things), threading.Event()  # each step of an iterator over a sequence is atomic

        def take_part() -> None:
            for thing in todo:
                with ExitStack() as unfinished:
                    unfinished.callback(has_failed.set)
                    work(thing)
                    unfinished.pop_all()
                if has_failed.is_set():
                    return

        if most <= 1:
            take_part()
            return
        parts: list[Future[None]] = []
        with ExitStack() as unfinished:
            unfinished.callback(wait, parts, JOIN_SECONDS)
            unfinished.callback(on_interrupt)
            unfinished.callback(has_failed.set)
            parts.extend(self.submit(take_part) for _ in range(most))
            wait(parts)
            unfinished.pop_all()
        for part in parts:
            part.result()

    def shutdown(self, wait: bool = False, *, cancel_futures: bool = True) -> None:  # noqa: FBT001, FBT002 - the base's
        """Begin nothing more; threads end by themselves, and running work is not waited for."""
        del wait, cancel_futures
        with self._lock:
            self._is_shut = True
            while True:
                try:
                    self._calls.get_nowait().cancel()
                except Empty:
                    break
            for _ in range(self._threads):
                self._calls.put(_LAST)

    def _work(self) -> None:
        while (call := self._next()) is not None:
            call.run()
            del call
            with self._lock:
                self._open -= 1

    def _next(self) -> _Call | None:
        while True:
            try:
                call = self._calls.get(timeout=self._idle_seconds)
            except Empty:
                with self._lock:
                    # A call that has come in this moment counted on this thread.
                    if self._open < self._threads:
                        self._threads -= 1
                        return None
            else:
                return None if call is _LAST else call


class _Call:
    """A call, and where its answer goes."""

    def __init__(self, call: Callable[[], object], future: Future[Any]) -> None:
        self._call, self._future = call, future

    def run(self) -> None:
        if self._future.set_running_or_notify_cancel():
            with self:
                self._future.set_result(self._call())

    def cancel(self) -> None:
        """Cancel the call, and wake up the thread that waits for its answer, which a future's `cancel` does not."""
        if self._future.cancel():
            self._future.set_running_or_notify_cancel()

    def __enter__(self) -> None:
        """The call begins."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Whatever the call raised goes to who asked for it."""
        if error is not None:
            self._future.set_exception(error)
        return True


_LAST = _Call(lambda: None, Future())
"""Tells a thread that no call follows."""


class JoinedCalls(Generic[Answer]):
    """Calls of a function that answers all callers alike: those that come while one is under way share the next one.

    So each caller has an answer that was asked for after it came, and a slow function is not called once for each.

    Args:
        call: the function.
    """

    def __init__(self, call: Callable[[], Answer]) -> None:
        self._call, self._lock = call, threading.Lock()
        self._under_way: Future[Answer] | None = None
        self._next: Future[Answer] | None = None

    def __call__(self) -> Answer:
        """Return the answer of a call that began after this one, or raise what that raised."""
        with self._lock:
            before, own = self._under_way, self._next
            is_first = own is None
            if own is None:
                own = Future()
                self._under_way, self._next = (own, None) if before is None else (before, own)
        if is_first:
            self._run(own, before)
        return own.result()

    def _run(self, own: Future[Answer], before: Future[Answer] | None) -> None:
        if before is not None:
            wait([before])
            with self._lock:
                self._under_way, self._next = own, None
        _Call(self._call, own).run()
        with self._lock:
            if self._under_way is own:
                self._under_way = None


@contextmanager
def worker_pool(most: int, name: str) -> Iterator[WorkerPool | None]:
    """A pool while the body runs; None for less than two threads. What is under way at the end is left alone."""
    if most <= 1:
        yield None
        return
    pool = WorkerPool(most, name)
    try:
        yield pool
    finally:
        pool.shutdown()
