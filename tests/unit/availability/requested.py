"""A store that remembers what it was asked, and a feed on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from toolkit.availability import DataAccess, FeedInstances
from toolkit.el import CanonicalPath, Frequency, parse_instant
from toolkit.entities import Cluster, Feed, FeedCluster, Interface, Interfaces, Locations, Validity
from toolkit.storage import Entry, FileStatus, FileSystem, ReadOnlyFileSystem

HOURLY = "/data/clicks/${YEAR}/${MONTH}/${DAY}/${HOUR}"


@dataclass(frozen=True)
class CountingStore(ReadOnlyFileSystem):
    """Refuses every change, and writes down each look."""

    requested: list[str] = field(default_factory=list)

    def status(self, path: CanonicalPath) -> FileStatus:
        self.requested.append(f"status {path.path}")
        return self.inner.status(path)

    def list(self, path: CanonicalPath, *, start_from: str = "") -> Iterator[Entry]:
        self.requested.append(f"list {path.path}")
        return self.inner.list(path, start_from=start_from)


def instances(
    system: FileSystem,
    *,
    flag: str | None = "_SUCCESS",
    data: str = HOURLY,
    frequency: str = "hours(1)",
    start: str = "2026-03-01T00:00Z",
    endpoint: str = "file:///",
) -> FeedInstances:
    validity = Validity(start=parse_instant(start), end=parse_instant("2099-01-01T00:00Z"))
    feed = Feed(
        name="clicks",
        frequency=Frequency.parse(frequency),
        locations=Locations(data=data),
        availability_flag=flag,
        clusters=(FeedCluster(name="primary", validity=validity),),
    )
    cluster = Cluster(name="primary", interfaces=Interfaces(write=Interface(endpoint=endpoint)))
    return DataAccess(stores=lambda _: system).instances_of(feed, cluster)
