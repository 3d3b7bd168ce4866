"""Calls that must not take for ever, and what is made once (DESIGN section 5)."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Generic, Self, TypeVar

CALL_SECONDS = 30.0
"""So long one call may take before it counts as `Unreachable`; what it was about to do may still happen."""

PATIENCE_SECONDS = 120.0
"""So long a store may go on not answering before a run gives up on it: a NameNode restarts, S3 asks to slow down."""


_Answer = TypeVar("_Answer")

STUCK_CALLS = 64
"""So many calls may hang at once; further ones are refused, or a dead store would cost a thread for each."""


IDLE_SECONDS = 10.0
"""A thread that got no call for so long ends, so that an adapter that is not used any more leaves nothing behind."""


class NoAnswer(Exception):  # noqa: N818 - named for what happened; adapters make a storage error of it
    """The call was not answered in time, and may still take effect; or it was not begun, as too many hang already."""


class BrokenCall(Exception):  # noqa: N818 - as above
    """The library under the call gave up in a way that is no ordinary exception, such as a panic of its own."""


class BoundedCalls:
    """Runs calls that release Python's lock but know no time limit.

    A call that is late is left alone in its thread: it can't be cancelled, so what it was about to do **may still
    happen**. When it ends at last, its thread ends with it. The threads are daemons: none of them keeps the process
    from ending. Calls may come from many threads; each then has a thread of its own here, and gets it again.

    Args:
        seconds: how long one call may take.
        stuck: how many late calls may hang at once before further ones are refused.
        idle_seconds: how long a thread without a call stays.
    """

    def __init__(
        self, seconds: float = CALL_SECONDS, *, stuck: int = STUCK_CALLS, idle_seconds: float = IDLE_SECONDS
    ) -> None:
        self.seconds = seconds
        self._most_stuck, self._idle_seconds = stuck, idle_seconds
        self._counting = threading.Lock()
        self._stuck = 0
        self._idle: deque[_Worker] = deque()

    @property
    def stuck(self) -> int:
        """Return how many late calls hang now."""
        return self._stuck

    def run(self, call: Callable[[], _Answer], goes_on: Callable[[], bool] = lambda: False) -> _Answer:
        """The call's answer; what it raises is raised here.

        Args:
            call: what is asked.
            goes_on: asked when the time is up: whether it moved since, and is waited for as long again.

        Raises:
            NoAnswer: it took too long, or too many others hang.
            BrokenCall: it ended with something that is no `Exception`.
        """
        with self.started(call) as started:
            return started.answer(goes_on)

    def started(self, call: Callable[[], _Answer]) -> StartedCall[_Answer]:
        """The same for who has something to do meanwhile; to be entered at once.

        Raises:
            NoAnswer: too many others hang.
        """
        return StartedCall(self, self._worker(), call)

    def _worker(self) -> _Worker:
        try:
            return self._idle.pop()
        except IndexError:
            pass
        if self._stuck >= self._most_stuck:
            message = f"{self._stuck} calls before this one were not answered and still hang, so it was not begun"
            raise NoAnswer(message)
        return _Worker(self._came_back, self._idle, self._idle_seconds)

    def free(self, worker: _Worker) -> None:
        """Take a thread back that waits for its next call."""
        self._idle.append(worker)

    def abandon(self, worker: _Worker) -> None:
        """Leave a thread alone that has not come back."""
        with self._counting:
            self._stuck += 1
        worker.abandon()

    def _came_back(self) -> None:
        with self._counting:
            self._stuck -= 1


class StartedCall(Generic[_Answer]):
    """A call that runs; leaving its block before its end leaves it running.

    Args:
        calls: whose thread it runs in.
        worker: the thread.
        call: what it runs.
    """

    def __init__(self, calls: BoundedCalls, worker: _Worker, call: Callable[[], _Answer]) -> None:
        self._calls, self._worker, self._call = calls, worker, call
        self._has_ended = self._is_reported = False

    def __enter__(self) -> Self:
        self._worker.begin(self._call)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Also when a signal's handler raised while we waited.
        if not self._has_ended:
            self._calls.abandon(self._worker)
        elif not self._is_reported:
            self._free()

    def has_ended(self) -> bool:
        """Return whether it ends within the time of a call from now on."""
        self._has_ended = self._has_ended or self._worker.has_ended(self._calls.seconds)
        return self._has_ended

    def answer(self, goes_on: Callable[[], bool] = lambda: False) -> _Answer:
        """Wait for the answer and return it, as `BoundedCalls.run` does; called once."""
        while not self.has_ended():
            if not goes_on():
                message = f"no answer within {self._calls.seconds:g} s; what was asked for may still happen"
                raise NoAnswer(message)
        error, answer = self._worker.error, self._worker.answer
        self._free()
        if error is None:
            return answer  # type: ignore[return-value]  # the worker ran this very call
        if isinstance(error, Exception):
            raise error
        message = f"{type(error).__name__}: {error}"
        raise BrokenCall(message) from error

    def _free(self) -> None:
        self._is_reported = True
        self._worker.forget()
        self._calls.free(self._worker)


class _Worker:
    """A daemon thread that runs one call after the other; two locks hand the calls over, which costs little."""

    def __init__(self, came_back: Callable[[], None], idle: deque[_Worker], idle_seconds: float) -> None:
        self.answer: object = None
        self.error: BaseException | None = None
        self._call: Callable[[], object] = self.forget
        self._came_back, self._idle, self._idle_seconds = came_back, idle, idle_seconds
        self._begin, self._end = threading.Lock(), threading.Lock()
        self._begin.acquire()
        self._end.acquire()
        self._leaving = threading.Lock()
        self._has_ended = self._is_abandoned = False
        threading.Thread(target=self._work, name="feedctl-bounded", daemon=True).start()

    def begin(self, call: Callable[[], object]) -> None:
        """Run the call."""
        self._call = call
        self._has_ended = False
        self._begin.release()

    def has_ended(self, seconds: float) -> bool:
        """Return whether the call ends in time; True only once for each call."""
        return self._end.acquire(timeout=seconds)

    def forget(self) -> None:
        """Keep nothing of the last call alive."""
        self._call, self.answer, self.error = self.forget, None, None

    def abandon(self) -> None:
        """The running call is not waited for any more."""
        with self._leaving:
            self._is_abandoned = True
            is_over = self._has_ended
        if is_over:
            self._begin.release()
            self._came_back()

    def __enter__(self) -> None:
        """The call begins."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Keep what the call raised, whatever it is, to be raised again where it was asked for."""
        self.error = error
        return True

    def _work(self) -> None:
        while self._has_been_called():
            with self:
                self.answer = self._call()
            with self._leaving:
                self._has_ended = True
                is_abandoned = self._is_abandoned
            if is_abandoned:
                self._came_back()
                return
            self._end.release()

    def _has_been_called(self) -> bool:
        """Wait for the next call; False when the thread is to end."""
        while not self._begin.acquire(timeout=self._idle_seconds):
            try:
                self._idle.remove(self)
            except (ValueError, IndexError):
                continue  # someone has just taken it to call it
            return False
        with self._leaving:
            is_abandoned, has_ended = self._is_abandoned, self._has_ended
        if is_abandoned and not has_ended:
            # Left alone before this thread had even woken up for it.
            self._came_back()
        return not is_abandoned


_Made = TypeVar("_Made")


class Once(Generic[_Made]):
    """Makes a value at the first call and gives the same one from then on, to all threads.

    Args:
        make: makes the value.
    """

    def __init__(self, make: Callable[[], _Made]) -> None:
        self._make, self._lock = make, threading.Lock()
        self._made: list[_Made] = []

    def __call__(self) -> _Made:
        """The value."""
        if not self._made:
            with self._lock:
                if not self._made:
                    self._made.append(self._make())
        return self._made[0]
