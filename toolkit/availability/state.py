"""State of an instance's data, and the port to read it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator
    from datetime import datetime

    from toolkit.el import InstanceSequence


class DataState(StrEnum):
    """State of an instance's data (Falcon feature list, feed instance listing)."""

    AVAILABLE = "available"
    """Data, and the feed's availability flag if it has one."""
    PARTIAL = "partial"
    """Data without the flag: it is still being written, or its writer gave up."""
    EMPTY = "empty"
    """A directory without data: nothing is in it, or the flag alone."""
    MISSING = "missing"
    """Nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundInstance:
    """Data found of an instance.

    Attributes:
        instant: its time, UTC.
        uri: where it is, or would be.
        state: what is there.
        is_ready: whether it may be read: its flag is there, or the directory or file of a feed that has none. An
            empty instance may be ready, too: then it is known to have no data.
        files: directly in it, without the flag; None where that would cost more calls: it has directories, or many.
        bytes: of those files; None as well.
        modified: the last change of those files, UTC; None as well, and where there is no file.
        rows: of an ingested table; else None.
    """

    instant: datetime
    uri: str
    state: DataState
    is_ready: bool
    files: int | None = None
    bytes: int | None = None
    modified: datetime | None = None
    rows: int | None = None


class FeedInstances(Protocol):
    """The instances of one feed on one cluster, as they are at the moment of each call; nothing is changed.

    Every method that looks raises the errors of the store: what could not be looked at is never missing.
    """

    @property
    def sequence(self) -> InstanceSequence:
        """The instances that the feed has there by its validity."""
        ...

    def look(self, instant: datetime) -> FoundInstance:
        """Return the data of one instance, with at most two calls of the store.

        Raises:
            StorageError: the store refuses, or does not answer.
            ElError: the instant has no place.
        """
        ...

    def look_at(self, instants: Iterable[datetime]) -> Iterator[FoundInstance]:
        """Yield the data of instances, in their order, some of them at a time.

        One listing for each directory that holds instances, and one call or two for each that is there. Raises as
        `look` does, while it is iterated.
        """
        ...

    def is_ready(self, instant: datetime) -> bool:
        """Return whether one instance may be read, by one call. Raises as `look` does."""
        ...

    def counted(self) -> Container[datetime]:
        """An `Availability` for `latest`, `future` and ranges of inputs: whether each may be read, asked when needed.

        It remembers what it saw, so take a new one for each look.
        """
        ...
