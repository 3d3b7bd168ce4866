"""The protocol of sources: what is there now, in units with offsets (issue 29, Entrypoint)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem

Stores: TypeAlias = "Callable[[CanonicalPath], FileSystem]"
"""The store that a path is on."""

JsonValue = str | int | bool | None | list["JsonValue"] | dict[str, "JsonValue"]
Progress = Mapping[str, JsonValue]
"""A JSON document that says how far a source was read: kept in the table, in the commit of the data itself."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceUnit:
    """Part of a source that is read from an offset to an end that was fixed when the source was looked at.

    Attributes:
        name: for people and for the ledger: a file's URI, ``TOPIC[3]``, ``stdin``.
        start: where reading goes on: bytes of a file, offsets of a topic.
        end: where it ends; None: it is unknown before it was read (standard input).
        identity: tells it from another unit of the same name: size and digest of a file, id of a topic.
        change: what changed since it was ingested; such a unit is not read, and fails by itself. Empty: nothing.
    """

    name: str
    start: int
    end: int | None
    identity: str = ""
    change: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Chunk:
    """Records that were read in one go.

    Attributes:
        records: in their order; without ends of lines.
        positions: of each record: the number of its line from 1, or its offset in the topic.
        next: where reading goes on when these are committed.
    """

    records: Sequence[bytes]
    positions: Sequence[int]
    next: int


class IngestSource(Protocol):
    """Records that an ingest reads; looked at once in a run."""

    @property
    def notes(self) -> Sequence[str]:
        """Return what the look found besides the units, for the user: files that are too young."""
        ...

    def units(self, progress: Progress) -> Sequence[SourceUnit]:
        """Look at the source, and return what is left to read according to the progress, oldest first.

        Raises:
            DataLost: what comes next according to the progress is not there any more.
            Unavailable: the source does not answer.
        """
        ...

    def complete_at(self, looked: datetime) -> datetime | None:
        """Return an instant of which all that the source had is read once the units are; None: none is known.

        Args:
            looked: the source was looked at then, or later.
        """
        return looked

    @property
    def young(self) -> Collection[str]:
        """Return keys of what `units` has left to a later run, since it may still change."""
        return ()

    def read(self, unit: SourceUnit, *, rows: int, max_bytes: int) -> Iterator[Chunk]:
        """Read a unit from its start to its end, in chunks of at most so many records and about so many bytes.

        A chunk that was yielded may be committed before the next is asked for, and is never ahead of what was read.

        Raises:
            UnitChanged: the unit is not what it was when the source was looked at.
            RecordTooLong: a record has more bytes than the source allows.
        """
        ...

    def advanced(self, progress: Progress, unit: SourceUnit, reached: int, *, is_done: bool) -> Progress:
        """Return the progress after the records before `reached` are committed.

        Args:
            progress: of the commit before.
            unit: what was read.
            reached: `Chunk.next` of the last committed chunk.
            is_done: the unit was read to its end.
        """
        ...

    def committed(self, progress: Progress) -> None:
        """Take note of a progress that is in the table."""
        del progress

    def is_finished(self, name: str, progress: Progress) -> bool:
        """Return whether the unit of a name was read to its end according to the progress."""
        ...

    def finished(self, progress: Progress) -> Sequence[SourceUnit]:
        """Return what was read to its end according to the progress, is still there, and is to be put away."""
        ...

    def put_away(self, unit: SourceUnit, stores: Stores) -> str:
        """Archive or delete a unit that was read to its end, after checking that it is still what was read.

        Args:
            unit: one of `finished`.
            stores: the store that a path is on, open for changes.

        Returns:
            What was done, for people.

        Raises:
            UnitChanged: it is not what was read; nothing was done.
        """
        ...

    def close(self) -> None:
        """End the connections; a later call opens new ones."""
        ...
