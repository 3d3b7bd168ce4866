"""Leases on the outputs of an instance, and whether retention is removing one of them (ADR 0054)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from toolkit.actions.output_leases import (
    database_lease,
    eviction_of_partition,
    eviction_of_path,
    eviction_of_table_data,
    output_lease,
    resource_name,
    table_lease,
    table_leases,
)
from toolkit.catalog.model import TableName
from toolkit.catalog.written_places import written_places
from toolkit.el import format_instant
from toolkit.entities.mirror_work import HiveMirror
from toolkit.errors import InvalidInput
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.vocabulary import LeaseMode
from toolkit.process_runner.prepare import is_prepared

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.catalog.port import Metastore
    from toolkit.catalog.written_places import WrittenPlaces
    from toolkit.entities import Cluster
    from toolkit.entities.mirror_work import CopyWork
    from toolkit.planning.process_io import PlannedOutput
    from toolkit.process_runner.targets import ProcessTarget


def output_leases(target: ProcessTarget) -> Iterator[Wanted]:
    """Return the leases on all outputs; none if they cannot be resolved, which makes the plan fail.

    They are shared, since several instances may write one output: those of a day, for example, its daily instance. The
    lease on an output that is removed before the first step is exclusive, since what others write would go with it.
    """
    mirror = target.site.process.workflow.mirror
    for mirrored in mirror.given().values() if mirror is not None else ():
        yield from mirror_leases(mirrored)
    try:
        outputs = target.site.outputs(target.nominal_time)
    except InvalidInput:
        return
    for each in outputs:
        key = format_instant(each.instance.instant)
        mode = LeaseMode.EXCLUSIVE if is_prepared(target.site, each.name) else LeaseMode.SHARED
        yield output_lease(each.storage.feed, each.storage.cluster, key, mode)
        if each.storage.table is not None:
            table = TableName(each.storage.table.database, each.storage.table.table)
            yield from table_leases(each.storage.cluster, table, key, LeaseMode.SHARED)


def mirror_leases(work: CopyWork) -> Iterator[Wanted]:
    """Yield the leases on the target of a mirror: exclusive, and shared on each directory around it.

    So no two mirrors write one directory, or one below the other's, whatever their names (ADR 0104). A mirror of whole
    databases keeps other writers of their tables out, and one of single tables those of these.
    """
    base = f"mirror/{work.target_cluster}"
    if isinstance(work, HiveMirror):
        for database in sorted({each.lower() for each in work.source_databases}):
            tables = [TableName(database, each) for each in work.source_tables]
            mode = LeaseMode.SHARED if tables else LeaseMode.EXCLUSIVE
            yield database_lease(work.target_cluster, database, mode)
            yield from (table_lease(work.target_cluster, each) for each in tables)
        return
    directory = PurePosixPath(work.directories()[1])
    yield Wanted(resource=resource_name(f"{base}/directory{directory}"))
    for around in directory.parents[:-1]:
        yield Wanted(resource=resource_name(f"{base}/directory{around}"), mode=LeaseMode.SHARED)


def eviction_in_the_way(
    target: ProcessTarget,
    outputs: Iterable[PlannedOutput],
    work: RunContext,
    metastores: Callable[[Cluster], Metastore],
) -> str:
    """Return why an output must not be written now, or an empty text; the leases on the outputs are held.

    Raises:
        StorageError: a directory cannot be listed.
        CatalogError: a metastore refuses, or does not answer.
        ElError: a location in a metastore is no path.
        Stopped: the ledger cannot be read.
    """
    evictions = work.outputs.evictions()
    if not evictions:
        return ""
    cluster = target.site.cluster
    for each in outputs:
        table, partition = each.storage.table, each.instance.partition
        if table is not None and partition is not None:
            name = TableName(table.database, table.table)
            written = partial(_written, metastores, cluster, name, partition)
            why = eviction_of_partition(name, partition, evictions)
            why = why or eviction_of_table_data(name, written, evictions, work)
            if why:
                return why
        for kind, path in each.instance.paths.items():
            base = cluster.place(each.storage.templates[kind].base)
            why = eviction_of_path(cluster.place(path), base, evictions, work)
            if why:
                return why
    return ""


def _written(
    metastores: Callable[[Cluster], Metastore], cluster: Cluster, name: TableName, values: Mapping[str, str]
) -> WrittenPlaces:
    return written_places(metastores(cluster), name, values, cluster.place)
