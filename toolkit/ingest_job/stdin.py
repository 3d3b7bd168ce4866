"""Standard input as a source: read once, in bounded memory.

A rerun of a pipe cannot know what an earlier one has committed. Under a name it can: the progress is the number of
bytes and the digest of all of them, and input that begins with the same bytes is read on behind them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from typing_extensions import override

from toolkit.ingest.errors import UnitChanged
from toolkit.ingest_job.line_reader import BLOCK, LineReader
from toolkit.ingest_job.source import Chunk, IngestSource, Progress, SourceUnit, Stores

UNIT = "stdin"


class InputStream(Protocol):
    """A buffered stream of bytes."""

    def read(self, size: int, /) -> bytes:
        """Read so many bytes, fewer only at the end."""
        ...

    def read1(self, size: int, /) -> bytes:
        """Read at most so many bytes, as soon as there are any."""
        ...


@dataclass(kw_only=True)
class StandardInput(IngestSource):
    """A stream of lines; used by one thread.

    Attributes:
        stream: where they come from.
        most_bytes: of one record.
    """

    stream: InputStream
    most_bytes: int = 64 << 20
    _expected: str = field(default="", init=False)
    _reached: tuple[int, str] = field(default=(0, ""), init=False)

    @property
    @override
    def notes(self) -> Sequence[str]:
        return ()

    @override
    def units(self, progress: Progress) -> Sequence[SourceUnit]:
        offset, self._expected = int(str(progress.get("offset", 0))), str(progress.get("digest", ""))
        return (SourceUnit(name=UNIT, start=offset, end=None),)

    @override
    def read(self, unit: SourceUnit, *, rows: int, max_bytes: int) -> Iterator[Chunk]:
        hashed, line, left, last = hashlib.sha256(), 1, unit.start, b"\n"
        while left and (data := self.stream.read(min(BLOCK, left))):
            hashed.update(data)
            last = data[-1:]
            line, left = line + data.count(b"\n"), left - len(data)
        if unit.start and hashed.hexdigest() != self._expected:
            change = (
                f"its first {unit.start} bytes are not those ingested under this --stdin-name; give it another name"
            )
            raise UnitChanged(unit=UNIT, change=change)
        self._reached = (unit.start, hashed.hexdigest())
        if last != b"\n":
            if self.stream.read1(1):
                raise UnitChanged(unit=UNIT, change="the last record that was ingested was cut off in its middle")
            return
        reader = LineReader(read=self.stream.read1, unit=UNIT, most_bytes=self.most_bytes, line=line)
        offset = unit.start
        for lines in reader.lines(rows=rows, max_bytes=max_bytes):
            hashed.update(lines.raw)
            offset += len(lines.raw)
            self._reached = (offset, hashed.hexdigest())
            positions = range(lines.first, lines.first + len(lines.records))
            yield Chunk(records=lines.records, positions=positions, next=offset)

    @override
    def advanced(self, progress: Progress, unit: SourceUnit, reached: int, *, is_done: bool) -> Progress:
        if self._reached[0] != reached:
            raise ValueError((self._reached[0], reached))
        return {"offset": reached, "digest": self._reached[1]}

    @override
    def is_finished(self, name: str, progress: Progress) -> bool:
        return False  # a pipe has no end that could be known beforehand

    @override
    def finished(self, progress: Progress) -> Sequence[SourceUnit]:
        return ()

    @override
    def put_away(self, unit: SourceUnit, stores: Stores) -> str:
        raise ValueError(unit.name)

    @override
    def close(self) -> None:
        """Do nothing: the stream belongs to the process."""
