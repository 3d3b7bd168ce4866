"""Telling somebody how far a run is."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Is told how far a run is."""

    def begin(self, total: int) -> None:
        """So many items will be worked on."""
        ...

    def advance(self, number: int) -> None:
        """So many more of them are over; called from any thread."""
        ...

    def end(self) -> None:
        """Nothing more comes; called however the work ended."""
        ...


class NoProgress:
    """Nobody looks."""

    def begin(self, total: int) -> None:
        """See `Progress.begin`."""

    def advance(self, number: int) -> None:
        """See `Progress.advance`."""

    def end(self) -> None:
        """See `Progress.end`."""
