"""Files of an instance that is exported: of a path feed, or of the partitions of a table feed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolkit.availability.hidden import is_being_copied
from toolkit.availability.visible_files import visible_files
from toolkit.catalog.errors import ForeignLocation, UnsupportedTable
from toolkit.catalog.formats import unsupported_reason
from toolkit.catalog.model import TableName
from toolkit.catalog.partition_name import NULL
from toolkit.catalog.written_places import partition_names_of
from toolkit.el import EPOCH, format_instant
from toolkit.entities import LocationType
from toolkit.entities.vocabulary import DataFormat
from toolkit.errors import Failed, NotYet
from toolkit.ledger.fingerprints import Fingerprint, ListedFile
from toolkit.planning.instance_storage import FeedStorage
from toolkit.storage import WrongKind

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.availability import DataAccess
    from toolkit.catalog.model import StorageDescriptor
    from toolkit.el import CanonicalPath, TableUri
    from toolkit.entities import Cluster, Feed
    from toolkit.storage import FileSystem


_PATTERN = re.compile(r"[{}\[\]*?\\]")


class InputMissing(NotYet):
    """The instance is not there, or not complete."""

    code = "not_available"

    def __init__(self, *, feed: str, cluster: str, instance: str) -> None:
        self.feed, self.cluster, self.instance = feed, cluster, instance
        super().__init__(f"{feed} {instance} is not available on {cluster}; run again when it has come")


class UnusableFiles(Failed):
    """Files that cannot be exported."""

    code = "unusable_files"


@dataclass(frozen=True, kw_only=True, slots=True)
class FilesOfPart:
    """Files of a directory of a path feed, or of a partition.

    Attributes:
        files: their URIs.
        format: of all of them.
        constants: values by partition key, which the files do not have.
    """

    files: tuple[str, ...]
    format: DataFormat
    constants: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceFiles:
    """Files of an instance.

    Attributes:
        parts: with files, in a stable order.
        fingerprint: of names, sizes and times of all files.
    """

    parts: tuple[FilesOfPart, ...]
    fingerprint: Fingerprint


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceReader:
    """Lists the files of instances of a feed on a cluster.

    Attributes:
        feed: the feed.
        cluster: the cluster.
        format: of the files of a path feed.
    """

    feed: Feed
    cluster: Cluster
    format: DataFormat

    def files(self, instant: datetime, data: DataAccess) -> InstanceFiles:
        """Return the files of an instance.

        Raises:
            InputMissing: it is not there, or lacks its flag.
            UnusableFiles: a partition has another format, or a name is a pattern to Spark.
            StorageError, CatalogError: they cannot be listed.
        """
        if not data.instances_of(self.feed, self.cluster).is_ready(instant):
            key = format_instant(instant)
            raise InputMissing(feed=self.feed.name, cluster=self.cluster.name, instance=key)
        storage = FeedStorage.of(self.feed, self.cluster)
        listed: list[ListedFile] = []
        parts: list[FilesOfPart] = []
        for name, place, stored, constants in self._places(storage, instant, data):
            found = sorted(_files(data.stores(place), place))
            pattern = next((uri for uri, _ in found if _PATTERN.search(uri)), None)
            if pattern is not None:
                message = f"{pattern}: Spark takes the name for a pattern that may stand for other files; rename it"
                raise UnusableFiles(message)
            if found:
                listed += [each._replace(name=f"{name}/{each.name}") for _, each in found]
                parts.append(FilesOfPart(files=tuple(uri for uri, _ in found), format=stored, constants=constants))
        return InstanceFiles(parts=tuple(parts), fingerprint=Fingerprint.of(listed))

    def _places(
        self, storage: FeedStorage, instant: datetime, data: DataAccess
    ) -> Iterator[tuple[str, CanonicalPath, DataFormat, Mapping[str, str]]]:
        if storage.table is None:
            yield "", self.cluster.place(storage.at(instant).paths[LocationType.DATA]), self.format, {}
        else:
            yield from self._partitions(storage.table, instant, data)

    def _partitions(
        self, uri: TableUri, instant: datetime, data: DataAccess
    ) -> Iterator[tuple[str, CanonicalPath, DataFormat, Mapping[str, str]]]:
        metastore = data.metastores(self.cluster)
        table = metastore.table(TableName(uri.database, uri.table))
        if reason := unsupported_reason(table):
            raise UnsupportedTable(about=str(table.name), detail=reason)
        values = {key.lower(): value for key, value in uri.render(instant).items()}
        partitions = metastore.partitions(table.name, partition_names_of(metastore, table, values))
        for each in sorted(partitions, key=table.partition_name):
            name = table.partition_name(each)
            if each.refusal:
                raise ForeignLocation(about=f"{table.name}/{name}", detail=each.refusal)
            keys = zip(table.key_names, each.values, strict=True)
            constants = {key: value for key, value in keys if value != NULL}
            yield name, self.cluster.place(each.location), _format(f"{table.name}/{name}", each.storage), constants


def stored_as(storage: StorageDescriptor) -> DataFormat | None:
    """Return the format of a table's or partition's files; None: no exchange reads or writes it."""
    reader = (storage.input_format or "").lower()
    return next((each for each in (DataFormat.PARQUET, DataFormat.ORC) if each in reader), None)


def _format(about: str, storage: StorageDescriptor) -> DataFormat:
    found = stored_as(storage)
    if found is None:
        message = f"{about} is read by {storage.input_format}; only Parquet and ORC partitions can be exported"
        raise UnusableFiles(message)
    return found


def _files(system: FileSystem, place: CanonicalPath) -> Iterator[tuple[str, ListedFile]]:
    """Yield the files that readers see, by their URIs; a file that is the instance itself too."""
    try:
        for entry in visible_files(system, place):
            if not any(map(is_being_copied, entry.name.split("/"))):
                file = ListedFile(entry.name, entry.size, entry.modified or EPOCH)
                yield f"{spark_uri(place).removesuffix('/')}/{entry.name}", file
    except WrongKind:
        status = system.status(place)
        yield spark_uri(place), ListedFile(place.name, status.size, status.modified)


def spark_uri(place: CanonicalPath) -> str:
    """Return a place as Spark names it: it knows S3 by the name of Hadoop's newest client."""
    text = str(place)
    return f"s3a://{text.removeprefix('s3://')}" if text.startswith("s3://") else text
