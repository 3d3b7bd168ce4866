"""What is copied: a table with a file in each partition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from benchmarks.replication.shapes import ROOT, START, Shape

TABLE = f"{ROOT}/clicks"


@dataclass(frozen=True, kw_only=True, slots=True)
class TableShape(Shape):
    """Daily instances of a table; `files` is the number of regions, and each is a partition with one file."""

    @property
    def partitions(self) -> int:
        """How many."""
        return self.instances * self.files

    @property
    def end(self) -> str:
        """After the last instance."""
        return f"{START + timedelta(days=self.instances):%Y-%m-%dT%H:%MZ}"

    @property
    def values(self) -> Iterator[tuple[str, str]]:
        """Of the keys `ds` and `region`, by partition."""
        for day in range(self.instances):
            for number in range(self.files):
                yield f"{START + timedelta(days=day):%Y-%m-%d}", f"r{number:04}"

    def names(self) -> Iterator[str]:
        """See `Shape.names`."""
        for ds, region in self.values:
            yield f"clicks/ds={ds}/region={region}/part-00000"
