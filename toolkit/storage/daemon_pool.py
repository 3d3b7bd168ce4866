"""A pool of threads that never keep the process from ending, as those of the standard library's pool do."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from toolkit.storage.bounded import IDLE_SECONDS

_Answer = TypeVar("_Answer")
_Params = ParamSpec("_Params")


class DaemonPool(Executor):
    """Runs calls in so many daemon threads at most; a thread without a call for a while ends.

    Args:
        most: so many threads.
        name: of the threads.
        idle_seconds: how long a thread without a call stays.
    """

    def __init__(self, most: int, name: str, *, idle_seconds: float = IDLE_SECONDS) -> None:
        self._most, self._name, self._idle_seconds = most, name, idle_seconds
        self._calls: SimpleQueue[_Call] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = self._open = 0

    @property
    def threads(self) -> int:
        """So many live now."""
        return self._threads

    def submit(
        self, fn: Callable[_Params, _Answer], /, *args: _Params.args, **kwargs: _Params.kwargs
    ) -> Future[_Answer]:
        """See `Executor.submit`."""
        future: Future[_Answer] = Future()
        with self._lock:
            self._open += 1
            is_new = self._open > self._threads and self._threads < self._most
            self._threads += is_new
        self._calls.put(_Call(lambda: fn(*args, **kwargs), future))
        if is_new:
            threading.Thread(target=self._work, name=self._name, daemon=True).start()
        return future

    def _work(self) -> None:
        while (call := self._next()) is not None:
            call.run()
            del call
            with self._lock:
                self._open -= 1

    def _next(self) -> _Call | None:
        while True:
            try:
                return self._calls.get(timeout=self._idle_seconds)
            except Empty:
                with self._lock:
                    # A call that has come in this moment counted on this thread.
                    if self._open < self._threads:
                        self._threads -= 1
                        return None


class _Call:
    """One call, and where its answer goes."""

    def __init__(self, call: Callable[[], object], future: Future[Any]) -> None:
        self._call, self._future = call, future

    def run(self) -> None:
        if self._future.set_running_or_notify_cancel():
            with self:
                self._future.set_result(self._call())

    def __enter__(self) -> None:
        """The call begins."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Whatever the call raised goes to who asked for it."""
        if error is not None:
            self._future.set_exception(error)
        return True
