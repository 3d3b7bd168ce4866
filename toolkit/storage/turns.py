"""One thread at a time works on a place."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath


class Turns:
    """Knows which places are being worked on."""

    def __init__(self) -> None:
        self._busy: set[CanonicalPath] = set()
        self._changed = threading.Condition()

    @contextmanager
    def at(self, place: CanonicalPath) -> Iterator[None]:
        """Wait until nobody else works on the place; then it is this thread's."""
        with self._changed:
            while place in self._busy:
                self._changed.wait()
            self._busy.add(place)
        try:
            yield
        finally:
            with self._changed:
                self._busy.remove(place)
                self._changed.notify_all()
