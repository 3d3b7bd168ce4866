"""The fingerprints of what a process instance reads: the files that its engine would see, one listing an instance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from toolkit.availability.hidden import is_being_copied
from toolkit.availability.visible_files import visible_files
from toolkit.catalog.errors import ForeignLocation
from toolkit.catalog.model import TableName
from toolkit.catalog.written_places import partition_names_of
from toolkit.el import EPOCH, CanonicalPath, format_instant
from toolkit.ledger.fingerprints import Fingerprint, ListedFile, ReadInput
from toolkit.planning.instance_storage import FeedStorage, PartitionExpression
from toolkit.planning.late_schedule import watched_inputs
from toolkit.planning.partition_address import SCHEME, PartitionAddress
from toolkit.runs.recorder import path_text
from toolkit.storage import WrongKind

if TYPE_CHECKING:
    from toolkit.availability import DataAccess
    from toolkit.el.segment import Segment
    from toolkit.entities import Cluster
    from toolkit.planning.process_io import PlannedInput, ProcessSite
    from toolkit.process_runner.resolution import ResolvedInstance
    from toolkit.storage import FileSystem


def read_inputs(
    site: ProcessSite,
    resolved: ResolvedInstance,
    data: DataAccess,
    now: Callable[[], datetime],
    noted: frozenset[str] = frozenset(),
) -> tuple[ReadInput, ...]:
    """Return the inputs of an instance for the ledger: taken before its first step, so that nothing is missed.

    Only the inputs count of which late data is looked for, see `watched_inputs`, and those of temporary data; so most
    processes list nothing.

    Args:
        site: the process on the cluster.
        resolved: the instance, which is ready.
        data: where instances are looked at.
        now: of the wall clock, UTC.
        noted: inputs of temporary data; none counts available instances.

    Raises:
        ElError: an expression that cannot be resolved.
        StorageError: an instance cannot be listed as a whole.
        CatalogError: a metastore refuses, or does not answer.
        Stopped: what the stores let through.
    """
    own = {each.name: each for each in resolved.inputs}
    watched = watched_inputs(site, resolved.nominal_time, own)
    more = noted - {each.name for each in watched}
    watched += [site.input(name, resolved.nominal_time) for name in site.process.inputs if name in more]
    return tuple(found for each in watched for found in _read(site, each, _instants(own[each.name]), data, now))


def _instants(planned: PlannedInput) -> frozenset[datetime]:
    return frozenset(each.instant for each in planned.instances)


def _read(
    site: ProcessSite,
    planned: PlannedInput,
    read: frozenset[datetime],
    data: DataAccess,
    now: Callable[[], datetime],
) -> Iterator[ReadInput]:
    """Yield the fingerprints of inputs; an optional instance that was left out as incomplete was not read."""
    for instance in planned.instances:
        address = site.uri(planned.storage, instance)
        yield ReadInput(
            input=planned.name,
            feed=planned.storage.feed,
            cluster=planned.storage.cluster,
            instance_key=format_instant(instance.instant),
            uri=path_text(address),
            looked_at=now(),
            fingerprint=fingerprint_of_input(data, site, planned.storage.feed, instance.instant, planned.partition)
            if instance.instant in read
            else Fingerprint.of(()),
        )


def fingerprint_of_input(
    data: DataAccess, site: ProcessSite, feed: str, instant: datetime, partition: str = ""
) -> Fingerprint:
    """Return the fingerprint of an instance of a feed that a process reads; arguments and errors as `fingerprint_at`.

    Of an ingested feed it is the number of rows: a commit adds some, and merging files leaves it as it is.
    """
    entity = site.feeds[feed]
    if entity.cluster(site.cluster.name).ingest is None:
        storage = FeedStorage.of(entity, site.cluster)
        return fingerprint_at(data, site.cluster, site.uri(storage, storage.at(instant)), partition)
    found = data.instances_of(entity, site.cluster).look(instant)
    rows = [ListedFile(name="rows", size=found.rows, modified=EPOCH)] if found.rows else []
    return Fingerprint.of(rows)


def fingerprint_at(data: DataAccess, cluster: Cluster, address: str, partition: str = "") -> Fingerprint:
    """The fingerprint of the instance at an address: a path, or that of partitions, whose files count then.

    Args:
        data: where it is looked at.
        cluster: that the address is on.
        address: see `ProcessSite.uri`.
        partition: as for `fingerprint`; of a table there is none.

    Raises:
        ElError: a malformed address or partition, or the location of a partition is no path.
        StorageError: it cannot be listed as a whole.
        CatalogError: the metastore refuses, or does not answer.
        Stopped: what the store lets through.
    """
    if address.startswith(SCHEME):
        return Fingerprint.of(_files_of_partitions(data, cluster, PartitionAddress.parse(address)))
    path = CanonicalPath.parse(address)
    return fingerprint(data.stores(path), path, partition)


def _files_of_partitions(data: DataAccess, cluster: Cluster, address: PartitionAddress) -> Iterator[ListedFile]:
    metastore = data.metastores(cluster)
    table = metastore.table(TableName(address.database, address.table))
    values = {key.lower(): value for key, value in address.values.items()}
    for each in metastore.partitions(table.name, partition_names_of(metastore, table, values)):
        if each.refusal:
            raise ForeignLocation(about=f"{table.name}/{table.partition_name(each)}", detail=each.refusal)
        path = cluster.place(each.location)
        for file in _files(data.stores(path), path, ()):
            yield file._replace(name=f"{table.partition_name(each)}/{file.name}")


def fingerprint(system: FileSystem, path: CanonicalPath, partition: str = "") -> Fingerprint:
    """The files of an instance that an engine reads; of one that is not there, the fingerprint of no file.

    What Hadoop's readers pass over does not count, so that neither a flag that is written anew nor what is in
    ``_temporary`` is late data: names that begin with ``.``, or with ``_`` unless they are a partition (``_day=1``),
    and what is being copied there.

    Args:
        system: the store.
        path: the instance: a directory, or a single file.
        partition: of the input, for example ``*/US``: only what it selects counts.

    Raises:
        ElError: a malformed partition.
        StorageError: it cannot be listed as a whole.
        Stopped: what the store lets through.
    """
    parts = PartitionExpression(partition).parts if partition else ()
    return Fingerprint.of(_files(system, path, parts))


def _files(system: FileSystem, path: CanonicalPath, parts: Sequence[Segment]) -> Iterator[ListedFile]:
    try:
        for entry in visible_files(system, path):
            names = entry.name.split("/")
            if not any(map(is_being_copied, names)) and _is_selected(names, parts):
                yield ListedFile(entry.name, entry.size, entry.modified or EPOCH)
    except WrongKind:
        found = system.status(path)
        yield ListedFile(path.name, found.size, found.modified)


def _is_selected(names: Sequence[str], parts: Sequence[Segment]) -> bool:
    """Return whether a file is below the directories that the parts select."""
    above = names[: len(parts)] if len(names) > len(parts) else None
    return above is not None and all(part.match(name) is not None for part, name in zip(parts, above, strict=True))
