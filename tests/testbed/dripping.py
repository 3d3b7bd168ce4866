"""Passing bytes on in small pieces, with a pause before each."""

from __future__ import annotations

import time
from io import BufferedIOBase
from typing import TYPE_CHECKING

from tests.testbed.faults import Fault

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Drip(BufferedIOBase):
    """Writes so.

    Args:
        inner: where to.
        fault: how large the pieces and how long the pauses are.
    """

    def __init__(self, inner: BufferedIOBase, fault: Fault) -> None:
        self.inner, self._fault = inner, fault

    def write(self, content: ReadableBuffer) -> int:
        left = memoryview(content)
        while left:
            time.sleep(self._fault.seconds)
            self.inner.write(left[: self._fault.piece])
            self.inner.flush()
            left = left[self._fault.piece :]
        return len(memoryview(content))


class Sip(BufferedIOBase):
    """Reads so.

    Args:
        inner: where from.
        fault: how large the pieces and how long the pauses are.
    """

    def __init__(self, inner: BufferedIOBase, fault: Fault) -> None:
        self.inner, self._fault = inner, fault

    def read(self, size: int | None = 0) -> bytes:
        wanted, taken = size or 0, bytearray()
        while len(taken) < wanted:
            time.sleep(self._fault.seconds)
            piece = self.inner.read(min(self._fault.piece, wanted - len(taken)))
            if not piece:
                break
            taken += piece
        return bytes(taken)

    def readline(self, size: int | None = -1) -> bytes:
        return self.inner.readline(size)
