"""A directory that is a source, and what an ingest does with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from toolkit.el import CanonicalPath
from toolkit.ingest_job.directory import DirectorySource
from toolkit.ingest_job.source import IngestSource, Progress, SourceUnit
from toolkit.storage import FileSystem, NotFound

LATER = timedelta(hours=1)


@dataclass(frozen=True, kw_only=True)
class Feeder:
    """A directory on a store."""

    system: FileSystem
    directory: CanonicalPath

    @property
    def archive(self) -> CanonicalPath:
        """Return where consumed files go."""
        return self.directory.parent.child("archive")

    def put(self, name: str, content: bytes) -> None:
        """Write a file."""
        self.system.write(self.directory.child(name), [content])

    def names(self, directory: CanonicalPath | None = None) -> list[str]:
        """Return the names in a directory, by default in that of the source."""
        try:
            return [entry.name for entry in self.system.list(directory or self.directory)]
        except NotFound:  # the last object of a directory is gone
            return []

    def source(
        self,
        *,
        after: str = "keep",
        pattern: str = "*.csv",
        settle: timedelta = timedelta(0),
        most_bytes: int = 1 << 20,
    ) -> DirectorySource:
        """Return the source of a run that begins in an hour."""
        return DirectorySource(
            directory=self.directory,
            pattern=pattern,
            settle=settle,
            now=datetime.now(UTC) + LATER,
            stores=lambda _: self.system,
            after=after,
            archive=self.archive if after == "archive" else None,
            most_bytes=most_bytes,
        )


def consumed(
    source: IngestSource, progress: Progress, *, rows: int = 1000, commits: int | None = None
) -> tuple[list[bytes], Progress]:
    """Read and commit all that is left, a chunk in a commit; at most so many commits."""
    records: list[bytes] = []
    made = 0
    for unit in source.units(progress):
        reached = unit.start
        for chunk in source.read(unit, rows=rows, max_bytes=1 << 20):
            if made == commits:
                return records, progress
            records.extend(chunk.records)
            reached, made = chunk.next, made + 1
            progress = source.advanced(progress, unit, reached, is_done=reached == unit.end)
        if reached != unit.end or unit.start == unit.end:
            progress = source.advanced(progress, unit, reached, is_done=True)
    return records, progress


def names_of(units: Sequence[SourceUnit]) -> list[str]:
    """Return the file names of units."""
    return [unit.name.rsplit("/", 1)[1] for unit in units]
