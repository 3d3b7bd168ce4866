"""Lines of a stream as records, with their numbers and the bytes that they took."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from toolkit.ingest.errors import RecordTooLong

BLOCK = 1 << 20
"""So many bytes are read at once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Lines:
    r"""A group of whole lines with their numbers and bytes.

    Attributes:
        records: the lines, without their ends (``\\n`` or ``\\r\\n``); a byte order mark before the
            first one, which spreadsheets write, is no part of it.
        first: number of the first line, from 1.
        raw: the bytes that they took, with their ends.
    """

    records: list[bytes]
    first: int
    raw: bytes


@dataclass(kw_only=True, slots=True)
class LineReader:
    """Reads a stream line by line in bounded memory; a last line without an end is a record.

    Attributes:
        read: as `BinaryIO.read`: at most so many bytes, none at the end.
        unit: name of what is read, for errors.
        most_bytes: of one record.
        line: number of the next line.
    """

    read: Callable[[int], bytes]
    unit: str
    most_bytes: int
    line: int = 1

    def lines(self, *, rows: int, max_bytes: int) -> Iterator[Lines]:
        """Yield lines in groups of at most so many, and of about so many bytes.

        Raises:
            RecordTooLong: a line has more bytes than one may have.
        """
        pending: list[bytes] = []
        size = 0
        while data := self.read(min(BLOCK, max_bytes)):
            cut = data.rfind(b"\n") + 1
            if cut:
                yield from self._groups(b"".join((*pending, data[:cut])), rows)
                pending, size = [], 0
            pending.append(data[cut:])
            size += len(data) - cut
            if size > self.most_bytes:
                raise self._too_long()
        if size:
            yield from self._groups(b"".join(pending), rows)

    def _groups(self, whole: bytes, rows: int) -> Iterator[Lines]:
        ends = whole.split(b"\n")
        if not ends[-1]:
            ends.pop()
        start = 0
        for at in range(0, len(ends), rows):
            part = ends[at : at + rows]
            stop = min(start + sum(map(len, part)) + len(part), len(whole))
            if max(map(len, part)) > self.most_bytes:
                self.line += next(place for place, each in enumerate(part) if len(each) > self.most_bytes)
                raise self._too_long()
            if self.line == 1:
                part[0] = part[0].removeprefix(codecs.BOM_UTF8)
            lines = Lines(records=[each.removesuffix(b"\r") for each in part], first=self.line, raw=whole[start:stop])
            self.line, start = self.line + len(part), stop
            yield lines

    def _too_long(self) -> RecordTooLong:
        return RecordTooLong(unit=self.unit, position=self.line, limit=self.most_bytes)
