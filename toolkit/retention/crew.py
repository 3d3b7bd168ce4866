"""Threads that work on one store: daemons, so that a call that hangs keeps no process from its end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from types import TracebackType
from typing import TYPE_CHECKING, Generic, Self, TypeVar

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath

Thing = TypeVar("Thing")

_JOIN_SECONDS = 2.0
"""So long work that ends by an error waits for calls that are under way."""


class Shift(Generic[Thing]):
    """Some things that a crew works on, each once.

    Args:
        work: is called with each of them, from any thread of the crew.
        things: taken in their order.
        hands: so many threads take part.
    """

    def __init__(self, work: Callable[[Thing], None], things: Sequence[Thing], hands: int) -> None:
        self._work = work
        self._todo = iter(things)  # threads may share an iterator over a sequence: each step of it is atomic
        self._hands = hands
        self._lock, self._over = threading.Lock(), threading.Event()
        self._error: BaseException | None = None
        if not hands:
            self._over.set()

    def take_part(self) -> None:
        """Work until nothing is left to begin."""
        with self:
            for thing in self._todo:
                if self._error is not None:
                    break
                self._work(thing)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """One thread has nothing left to do; what it raised is kept for whoever asked for the work."""
        with self._lock:
            self._error = self._error or error
            self._hands -= 1
            if not self._hands:
                self._over.set()
        return True

    def wait(self) -> None:
        """Return when all is done, and nothing is under way any more.

        Raises:
            BaseException: what the work raised first; nothing was begun after it.
        """
        self._over.wait()
        if self._error is not None:
            raise self._error

    def give_up(self, seconds: float) -> None:
        """Begin nothing more, and wait so long for what is under way."""
        self._error = self._error or KeyboardInterrupt()
        self._over.wait(seconds)


class Crew:
    """Some threads, each made when it is first needed.

    Args:
        size: so many at most.
    """

    def __init__(self, size: int) -> None:
        self._size = max(1, size)
        self._threads: list[threading.Thread] = []
        self._waiting: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._give_up: Callable[[float], None] = lambda _: None

    def start(self, work: Callable[[Thing], None], things: Sequence[Thing], at_once: int | None = None) -> Shift[Thing]:
        """Begin to work on some things, after those that were given before.

        Args:
            work: is called with each of them.
            things: what to work on.
            at_once: so many at once; None: one for each thread.
        """
        hands = min(self._size, len(things), at_once or self._size)
        shift = Shift(work, things, hands)
        self._give_up = shift.give_up
        while len(self._threads) < hands:
            thread = threading.Thread(target=self._serve, name=f"feedctl-store-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()
        for _ in range(hands):
            self._waiting.put(shift.take_part)
        return shift

    def send_home(self, *, now: bool) -> None:
        """Let the threads end: when all is done, or before anything more begins."""
        if now:
            self._give_up(_JOIN_SECONDS)
        for _ in self._threads:
            self._waiting.put(None)

    def _serve(self) -> None:
        while (take_part := self._waiting.get()) is not None:
            take_part()


class Crews:
    """A crew for each store; a context manager, which sends them home.

    Args:
        on_error: called first when the body raises.
    """

    def __init__(self, on_error: Callable[[], None]) -> None:
        self._on_error = on_error
        self._crews: dict[tuple[str, str], Crew] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._on_error()
        for crew in self._crews.values():
            crew.send_home(now=error is not None)

    def of(self, path: CanonicalPath, size: int) -> Crew:
        """The crew of the store that a path is on; `size` is that of a new one."""
        return self._crews.setdefault((path.scheme, path.authority), Crew(size))
