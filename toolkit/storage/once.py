"""What is made at the first use and then shared by all threads, but never by two processes."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

_Made = TypeVar("_Made")


class OncePerProcess(Generic[_Made]):
    """Makes a value at the first call and gives the same one from then on.

    Spark forks its Python workers: a child has neither the threads of a pool that it inherits, nor sockets of its own.

    Args:
        make: makes the value.
    """

    def __init__(self, make: Callable[[], _Made]) -> None:
        self._make = make
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._made: list[_Made] = []

    def __call__(self) -> _Made:
        """The value of this process."""
        if self._process != os.getpid():
            # A thread that the child does not have may have held the lock.
            self._process, self._lock, self._made = os.getpid(), threading.Lock(), []
        if not self._made:
            with self._lock:
                if not self._made:
                    self._made.append(self._make())
        return self._made[0]
