"""Leases on the outputs of an instance, and whether retention is removing one of them (ADR 0054)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from toolkit.actions.output_leases import eviction_of_partition, eviction_of_path, output_lease, table_leases
from toolkit.catalog.model import TableName
from toolkit.el import format_instant
from toolkit.errors import InvalidInput
from toolkit.ledger.vocabulary import LeaseMode

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.ledger.runs.leases import Wanted
    from toolkit.planning.process_io import PlannedOutput
    from toolkit.process_runner.targets import ProcessTarget


def output_leases(target: ProcessTarget) -> Iterator[Wanted]:
    """Return the leases on all outputs; none if they cannot be resolved, which makes the plan fail.

    They are shared, since several instances may write one output: those of a day, for example, its daily instance.
    """
    try:
        outputs = target.site.outputs(target.nominal_time)
    except InvalidInput:
        return
    for each in outputs:
        key = format_instant(each.instance.instant)
        yield output_lease(each.storage.feed, each.storage.cluster, key, LeaseMode.SHARED)
        if each.storage.table is not None:
            table = TableName(each.storage.table.database, each.storage.table.table)
            yield from table_leases(each.storage.cluster, table, key, LeaseMode.SHARED)


def eviction_in_the_way(target: ProcessTarget, outputs: Iterable[PlannedOutput], work: RunContext) -> str:
    """Return why an output must not be written now, or an empty text; the leases on the outputs are held.

    Raises:
        StorageError: a directory cannot be listed.
        Stopped: the ledger cannot be read.
    """
    cluster = target.site.cluster
    for each in outputs:
        table, partition = each.storage.table, each.instance.partition
        if table is not None and partition is not None:
            why = eviction_of_partition(cluster.name, TableName(table.database, table.table), partition, work)
            if why:
                return why
        for kind, path in each.instance.paths.items():
            base = cluster.place(each.storage.templates[kind].base)
            why = eviction_of_path(cluster.place(path), base, work)
            if why:
                return why
    return ""
