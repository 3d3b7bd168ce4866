"""Reports of a run's progress."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from typing_extensions import override

from toolkit.transfer.port import FILE_BYTES


@dataclass(frozen=True, kw_only=True, slots=True)
class Volume:
    """Amount that is copied.

    Attributes:
        files: so many.
        bytes: in them.
    """

    files: int = 0
    bytes: int = 0

    @property
    def work(self) -> int:
        """In bytes, with what a file costs besides its own: time left is told by it, of small files and large ones."""
        return self.bytes + self.files * FILE_BYTES

    def __add__(self, other: Volume) -> Volume:
        """Both."""
        return Volume(files=self.files + other.files, bytes=self.bytes + other.bytes)


NOTHING = Volume()
"""Nothing is copied."""


class Progress(Protocol):
    """Is told how far a run is."""

    def begin(self, total: int, volume: Volume = NOTHING) -> None:
        """Start with the number of items and the amount to copy."""
        ...

    def advance(self, number: int) -> None:
        """Add finished items; called from any thread."""
        ...

    def copied(self, more: Volume) -> None:
        """Add to what was copied; negative bytes when a file starts again. Called from any thread, often."""
        ...

    def end(self) -> None:
        """Nothing more comes; called however the work ended."""
        ...


class NoProgress(Progress):
    """A progress that is not shown."""

    @override
    def begin(self, total: int, volume: Volume = NOTHING) -> None: ...

    @override
    def advance(self, number: int) -> None: ...

    @override
    def copied(self, more: Volume) -> None: ...

    @override
    def end(self) -> None: ...
