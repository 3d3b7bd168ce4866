"""Places of polled data: one path, the paths of a feed's instances, or the partitions of a table feed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, cast

from typing_extensions import override

from toolkit.availability import PathInstances, TableInstances
from toolkit.availability.presence import is_there
from toolkit.el import CanonicalPath, ElError, dataset_uri, parse_instant
from toolkit.errors import InvalidInput, Unavailable
from toolkit.planning.polls import missing
from toolkit.triggers.poll_look import look_at_partitions, look_at_path

if TYPE_CHECKING:
    from toolkit.availability import DataAccess
    from toolkit.availability.presence import Presence
    from toolkit.entities import Cluster, Feed
    from toolkit.entities.trigger_vocabulary import PollBy
    from toolkit.planning.polls import PollFingerprint
    from toolkit.storage import FileSystem


class UnpollableDataset(InvalidInput):
    """A dataset with `poll` whose URI is no path of a store.

    Args:
        uri: of the dataset.
    """

    code = "unpollable_dataset"

    def __init__(self, *, uri: str) -> None:
        self.uri = uri
        instead = "remove `poll` and announce its updates by `feedctl event emit`, or give the URI of a path"
        super().__init__(f"the dataset {uri} cannot be polled, since it is no path of a store; {instead}")


class BaseMissing(Unavailable):
    """The directory above announced data is not there: the store may not be mounted, so nothing has vanished.

    Args:
        base: the directory.
    """

    code = "base_missing"

    def __init__(self, *, base: CanonicalPath) -> None:
        self.base = base
        todo = "check that the store is mounted; if the data is gone for good, `feedctl event retract` says so"
        super().__init__(f"{base} is not there, so it is unknown whether the announced data below it is; {todo}")


class PolledPlaces(Protocol):
    """Places of the data of one series; an instance key names one of them, an empty key the series as such."""

    @property
    def store(self) -> str:
        """The name of the store; series of one store share its threads.

        Raises:
            FeedctlError: a place cannot be told.
        """
        ...

    def uri(self, key: str) -> str:
        """Return where the data is. Raises ElError if it has no place."""
        ...

    def look(self, key: str, by: PollBy, *, was_there: bool) -> PollFingerprint | None:
        """Return the fingerprint of the data; None: it is being written.

        Args:
            key: of the instance.
            by: what is compared.
            was_there: it was announced, so that its absence is only believed if the directory above is there.

        Raises:
            BaseMissing: that directory is not there.
            FeedctlError: the data cannot be looked at.
        """
        ...


def places_of_feed(data: DataAccess, feed: Feed, cluster: Cluster) -> PolledPlaces:
    """Return the places of a feed's instances.

    Raises:
        FeedctlError: as `DataAccess.instances_of`.
    """
    if feed.is_table:  # the metastore is opened by the thread that looks
        return PolledPartitions(feed=feed, cluster=cluster, data=data)
    return PolledPaths(reader=cast(PathInstances, data.instances_of(feed, cluster)))


@dataclass(frozen=True, kw_only=True)
class PolledDataset(PolledPlaces):
    """The path of a dataset.

    Attributes:
        dataset: its canonical URI.
        data: read access.
    """

    dataset: str
    data: DataAccess

    @property
    @override
    def store(self) -> str:
        return _store_name(self._path)

    @override
    def uri(self, key: str) -> str:
        return str(self._path)

    @override
    def look(self, key: str, by: PollBy, *, was_there: bool) -> PollFingerprint | None:
        system = self.data.stores(self._path)
        found = look_at_path(system, self._path, by)
        return _believed(system, found, self._path.parent, was_there=was_there)

    @cached_property
    def _path(self) -> CanonicalPath:
        try:
            return dataset_uri.parse(self.dataset).storage_path()
        except ElError as error:
            raise UnpollableDataset(uri=self.dataset) from error


@dataclass(frozen=True, kw_only=True)
class PolledPaths(PolledPlaces):
    """The paths of a feed's instances; what is missing below a missing directory costs no call.

    Attributes:
        reader: of the feed.
    """

    reader: PathInstances

    @property
    @override
    def store(self) -> str:
        return _store_name(self._base)

    @override
    def uri(self, key: str) -> str:
        return str(self.reader.path_of(parse_instant(key)))

    @override
    def look(self, key: str, by: PollBy, *, was_there: bool) -> PollFingerprint | None:
        path = self.reader.path_of(parse_instant(key))
        if not was_there and self._presence.is_absent(path.parent):
            return missing(by)
        found = look_at_path(self._system, path, by, self.reader.flag)
        if found is not None and found.is_missing and not was_there:
            self._presence.note_missing(path.parent)
        return _believed(self._system, found, self._base, was_there=was_there)

    @cached_property
    def _base(self) -> CanonicalPath:
        return self.reader.place(self.reader.template.base)

    @cached_property
    def _system(self) -> FileSystem:
        return self.reader.storage(self._base)

    @cached_property
    def _presence(self) -> Presence:
        return self.reader.presence()


@dataclass(frozen=True, kw_only=True)
class PolledPartitions(PolledPlaces):
    """The partitions of a table feed.

    Attributes:
        feed: the feed.
        cluster: that has the table.
        data: read access to its metastore, and to the files of partitions.
    """

    feed: Feed
    cluster: Cluster
    data: DataAccess

    @property
    @override
    def store(self) -> str:
        return f"metastore of {self.cluster.name}"

    @override
    def uri(self, key: str) -> str:
        return self._reader.address(self._reader.uri.render(parse_instant(key)))

    @override
    def look(self, key: str, by: PollBy, *, was_there: bool) -> PollFingerprint | None:
        def stored(location: str) -> tuple[FileSystem, CanonicalPath]:
            path = self.cluster.place(location)
            return self.data.stores(path), path

        values = self._reader.uri.render(parse_instant(key))
        return look_at_partitions(self._reader.metastore, self._reader.uri, values, by, stored)

    @cached_property
    def _reader(self) -> TableInstances:
        return cast(TableInstances, self.data.instances_of(self.feed, self.cluster))


def _believed(
    system: FileSystem, found: PollFingerprint | None, base: CanonicalPath, *, was_there: bool
) -> PollFingerprint | None:
    """Return what was found, unless it is an absence that a store that is not mounted has as well."""
    is_gone = was_there and found is not None and found.is_missing
    if is_gone and system.capabilities.directories and not is_there(system, base):
        raise BaseMissing(base=base)
    return found


def _store_name(path: CanonicalPath) -> str:
    return f"{path.scheme}://{path.authority}"
