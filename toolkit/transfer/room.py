"""Memory for what is on its way: all copies of a process together hold no more than it has."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

ROOM_BYTES = 128 * 1024 * 1024
"""Memory of all copies of a process: a Python of an executor has few hundred megabytes beside its JVM's."""
_BETWEEN_CHECKS = 0.5


@dataclass(kw_only=True, eq=False)
class Room:
    """Budget of bytes that threads share.

    Attributes:
        most: bytes that are held at once; one who asks for more than that waits until none are held.
    """

    most: int = ROOM_BYTES
    _held: int = field(default=0, init=False)
    _changed: threading.Condition = field(default_factory=threading.Condition, init=False, repr=False)

    @contextmanager
    def of(self, size: int, check: Callable[[], None]) -> Iterator[None]:
        """Have so many bytes while the body runs.

        Args:
            size: how many.
            check: asked while others have them; what it raises ends the wait.
        """
        with self._changed:
            while self._held and self._held + size > self.most:
                check()
                self._changed.wait(_BETWEEN_CHECKS)
            self._held += size
        try:
            yield
        finally:
            with self._changed:
                self._held -= size
                self._changed.notify_all()


OF_PROCESS = Room()
"""Room of all copies of this process."""
