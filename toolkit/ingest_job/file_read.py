"""Reading one file of a directory, from an offset to the end that the listing has, on whatever machine."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, BinaryIO

from toolkit.ingest.errors import UnitChanged
from toolkit.ingest_job.line_reader import BLOCK, LineReader
from toolkit.ingest_job.source import Chunk, SourceUnit

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem

DIGEST = 24
"""So many digits of a SHA-256 are kept."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SeenFile:
    """A file of the listing.

    Attributes:
        path: where it is.
        size: in bytes.
        modified: its last change.
    """

    path: CanonicalPath
    size: int
    modified: datetime

    @property
    def mark(self) -> str:
        """Return size and time of the last change as a text."""
        return f"{self.size:x}-{round(self.modified.timestamp() * 1000):x}"

    def check(self, system: FileSystem) -> None:
        """Look at the file again.

        Raises:
            UnitChanged: size or time are not those of the listing.
        """
        status = system.status(self.path)
        now = SeenFile(path=self.path, size=status.size, modified=status.modified)
        if now.mark != self.mark:
            change = f"it has {now.size} bytes of {now.modified}, and had {self.size} of {self.modified}"
            raise UnitChanged(unit=str(self.path), change=change)


@dataclass(kw_only=True)
class FileRead:
    """A file to read; it can be pickled.

    Attributes:
        file: as it was listed.
        unit: what is read of it.
        before: digest of the bytes before the start of the unit.
        most_bytes: of one record.
        reached: offset and digest of all bytes before it, as far as was read.
    """

    file: SeenFile
    unit: SourceUnit
    before: str
    most_bytes: int
    reached: tuple[int, str] = field(init=False)

    def __post_init__(self) -> None:
        self.reached = (self.unit.start, self.before)

    @property
    def size(self) -> int:
        """Return the bytes to read."""
        return (self.unit.end or 0) - self.unit.start

    def chunks(self, system: FileSystem, *, rows: int, max_bytes: int) -> Iterator[Chunk]:
        """Read the file; see `IngestSource.read`."""
        unit, hashed = self.unit, hashlib.sha256()
        with system.read(self.file.path, length=unit.end) as stream:
            first = 1 + _skip(stream, unit, hashed.update)
            if unit.start and hashed.hexdigest()[:DIGEST] != self.before:
                raise UnitChanged(unit=unit.name, change=f"its first {unit.start} bytes are not those ingested before")
            reader = LineReader(read=stream.read, unit=unit.name, most_bytes=self.most_bytes, line=first)
            offset = unit.start
            for lines in reader.lines(rows=rows, max_bytes=max_bytes):
                hashed.update(lines.raw)
                offset += len(lines.raw)
                if offset == unit.end:
                    self.file.check(system)
                self.reached = (offset, hashed.hexdigest()[:DIGEST])
                positions = range(lines.first, lines.first + len(lines.records))
                yield Chunk(records=lines.records, positions=positions, next=offset)
        if offset != unit.end:
            raise UnitChanged(unit=unit.name, change=f"it ends after {offset} bytes; it had {unit.end}")
        self.reached = (offset, hashed.hexdigest()[:DIGEST])


def _skip(stream: BinaryIO, unit: SourceUnit, hashed: Callable[[bytes], None]) -> int:
    """Read the bytes before the start of a unit; return how many lines they are."""
    lines, left = 0, unit.start
    while left and (data := stream.read(min(BLOCK, left))):
        hashed(data)
        lines, left = lines + data.count(b"\n"), left - len(data)
    return lines
